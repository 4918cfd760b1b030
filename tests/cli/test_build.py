"""``retrograde build``: a function of a file as C, with header, library and test program."""

from __future__ import annotations

import subprocess

import pytest

from ..printing.support import COMPILERS, needs_compiler

pytestmark = needs_compiler

MODEL = """
import retrograde as rg

def price(S, K, sigma):
    return S * rg.norm_cdf(rg.log(S / K) / sigma)

def path(Z, s):
    for z in Z:
        s = s * rg.exp(0.1 * z)
        if s > 3.0:
            return s * 0.5
    return s

@rg.compile
def known(x):
    return [x * 2.0, x if x > 0.0 else -x]

known(1.0), known(-1.0)
"""


@pytest.fixture
def model(tmp_path, native):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


@pytest.fixture
def build(model, capsys):
    from retrograde.cli import main

    def run(target, *options):
        code = main(["build", f"{model}:{target}", *options])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def checked(folder, stem):
    """What the test program of a file says."""
    files = [folder / f"{stem}_test.c", folder / f"{stem}.c"]
    flags = ["-Wall", "-Werror", "-DRG_ONE"]
    subprocess.run([COMPILERS[0], *flags, *files, "-o", folder / "test"], check=True)
    done = subprocess.run([folder / "test"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_file_its_header_a_library_and_a_test(build, tmp_path):
    out = tmp_path / "price.c"
    at = ("--at", "S=[90, 100, 110], K=95.0, sigma=0.2", "--rows", "S", "--wrt", "S,sigma")
    more = ("--hessian", "--test", "--so", "--flags=-O0")
    code, printed, _ = build("price", "-o", str(out), *at, *more)
    assert code == 0
    names = [line.rpartition("/")[2] for line in printed.split()]
    assert names == ["price.c", "price.h", "price_test.c", "price.so"]
    assert "price_hvp" in (tmp_path / "price.h").read_text()
    assert checked(tmp_path, "price") == (0, "all bits are as in Python\n")
    test = tmp_path / "price_test.c"
    test.write_text(test.read_text().replace("is_d_S[] = {", "is_d_S[] = {9.0 + ", 1))
    code, printed = checked(tmp_path, "price")
    assert code == 1
    assert "price_gradient: d_S[0] is" in printed


def test_rows_of_sequences_and_branches(build, tmp_path):
    at = ("--at", "Z=[[1, 2, 3], [9, 9, 9]], s=1.0", "--rows", "Z", "--test")
    assert build("path", "-o", str(tmp_path / "p.c"), *at)[0] == 0
    assert checked(tmp_path, "p") == (0, "all bits are as in Python\n")


NESTS = """
from dataclasses import dataclass
import numpy as np
import retrograde as rg

@dataclass
class Weights:
    a: object
    b: object

def of_dict(p, x): return p["a"] * x + p["b"] * x * x
def of_list(p, x): return p[0] * x + p[1][0] * x * x
def of_fields(p, x): return p.a * x + p.b * x * x
def of_numbers(p, q, x): return p[0] * x + p[1] * x * x
def of_uniform(p, x): return [p[1][0] * x, p[0] - p[1][1]]

rows = np.array([1.0, 2.0, 4.0])
points = {
    "of_dict": ({"a": 2.0, "b": rows}, 3.0),
    "of_list": ([rows, [rows + 1.0]], 2.0),
    "of_fields": (Weights(rows, 3.0), 1.5),
    "of_numbers": ([1.0, 2.0], [], 3.0),
    "of_uniform": ([7.0, rg.uniform([1.0, 2.0])], rg.rows([3, 4])),
}
"""


@pytest.mark.parametrize("name", ["of_dict", "of_list", "of_fields", "of_numbers", "of_uniform"])
def test_arguments_may_be_nests(build, model, tmp_path, name):
    model.write_text(NESTS)
    assert build(name, "-o", str(tmp_path / "n.c"), "--test")[0] == 0
    assert checked(tmp_path, "n") == (0, "all bits are as in Python\n")


def test_without_arguments(build, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert build("price")[0] == 0
    assert "const double *sigma" in (tmp_path / "price.h").read_text()
    code, _, told = build("path")
    assert code == 1
    assert "path cannot be recorded on numbers made up. Give arguments like those" in told
    assert "--rows x. What was raised: CompileError: " in told
    assert build("known", "-o", "k.c")[0] == 0
    assert "value_1" in (tmp_path / "k.h").read_text()
    assert "give --at" in build("known", "-o", "k.c", "--test")[2]


def test_misuse_is_told(build, model, monkeypatch):
    assert "--rows names 'Q'; price has S, K, sigma." in build("price", "--rows", "Q")[2]
    assert "no function 'cost'" in build("cost")[2]
    assert "wrt names 'q'" in build("price", "--wrt", "q")[2]
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.chdir(model.parent)
    assert "--so needs a C compiler" in build("price", "--so")[2]


@pytest.mark.parametrize("name", ["price.h", "price.so"])
def test_a_name_that_its_header_or_library_would_take(build, tmp_path, name):
    code, _, error = build("price", "-o", str(tmp_path / name), "--so")
    assert code == 1
    assert "the name of the C file" in error
    assert not (tmp_path / name).exists()


def test_flags_whose_quotes_stay_open(build, tmp_path):
    code, _, error = build("price", "-o", str(tmp_path / "p.c"), "--so", "--flags", "-O2 '")
    assert code == 1
    assert "no closing quotation. Close its quotes." in error
