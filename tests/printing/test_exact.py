"""The arithmetic that printed files bring along: fma, fmod, rint and sqrt without libm."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from retrograde.printing import kernels
from retrograde.program.interpreter import fma

from .support import build, needs_compiler, same_bits

pytestmark = needs_compiler

FACE = """
void test_fma(size_t n, const double *x, const double *y, const double *z, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = rg_soft_fma(x[i], y[i], z[i]);
}
void test_fmod(size_t n, const double *x, const double *y, const double *z, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = rg_fmod(x[i], y[i]), (void)z;
}
void test_rint(size_t n, const double *x, const double *y, const double *z, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = rg_rint(x[i]), (void)y, (void)z;
}
void test_sqrt(size_t n, const double *x, const double *y, const double *z, double *out) {
    for (size_t i = 0; i < n; i++) out[i] = rg_sqrt(x[i]), (void)y, (void)z;
}
"""
AWKWARD = (0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, math.inf,
           -math.inf, math.nan, 0.5, 1.5, 2.5, 4503599627370497.5, 1 + 2**-52)  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    return build(kernels.text("exact.h") + FACE, folder, flags=("-O1", "-ffp-contract=off"))


def drawn():
    """Numbers of every size, triples whose product nearly cancels among them."""
    draw = np.random.default_rng(1)
    words = draw.integers(0, 2**64, (3, 4000), dtype=np.uint64).view(np.float64)
    near = draw.normal(size=(3, 2000))
    near[2] = -near[0] * near[1] * (1 + draw.integers(-2, 3, 2000) * 2.0**-52)
    tiny = np.ldexp(draw.normal(size=(3, 2000)), draw.integers(-560, -500, (3, 2000)))
    tiny[2] = np.ldexp(draw.normal(size=2000), draw.integers(-1100, -1020, 2000))
    grid = np.array([(x, y, z) for x in AWKWARD for y in AWKWARD for z in AWKWARD]).T
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(np.concatenate([words, near, tiny, grid], axis=1))


def run(library, name, x, y, z):
    out = np.empty(len(x))
    double = ctypes.POINTER(ctypes.c_double)
    given = [np.ascontiguousarray(each) for each in (x, y, z)]
    pointers = [each.ctypes.data_as(double) for each in (*given, out)]
    getattr(library, name)(ctypes.c_size_t(len(x)), *pointers)
    return out


def test_fma_rounds_once(library):
    x, y, z = drawn()
    expected = [fma(*each) for each in zip(x.tolist(), y.tolist(), z.tolist())]
    same_bits(run(library, "test_fma", x, y, z), expected)


def test_fmod_is_exact(library):
    x, y, _ = drawn()
    with np.errstate(all="ignore"):
        same_bits(run(library, "test_fmod", x, y, np.zeros(len(x))), np.fmod(x, y))


def test_rint_and_sqrt(library):
    x, _, _ = drawn()
    ones = np.ones(len(x))
    with np.errstate(all="ignore"):
        same_bits(run(library, "test_rint", x, ones, ones), np.rint(x))
        same_bits(run(library, "test_sqrt", x, ones, ones), np.sqrt(x))
