"""The example programs in C and C++ build with default flags and print what Python computes."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from ..models.support import ROOT
from .support import COMPILERS, needs_compiler

pytestmark = needs_compiler
EXAMPLE = ROOT / "examples" / "embedding"
PATHS = """
import retrograde as rg

@rg.compile
def payoff(path, spot, sigma):
    price, total = spot, 0.0
    for z in path:
        price = price * rg.exp(sigma * z)
        total = total + price
    return total / len(path)
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedding")
    subprocess.run([sys.executable, EXAMPLE / "model.py", folder], check=True)
    assert sorted(path.name for path in folder.iterdir()) == ["price.c", "price.h"]
    return folder


def numbers(text):
    return [float(word) for word in text.split() if word[0].isdigit() or word[0] == "-"]


def expected():
    sys.path.insert(0, str(EXAMPLE))
    try:
        from model import price
    finally:
        sys.path.remove(str(EXAMPLE))
    spots = np.array([40.0, 90.0, 100.0, 110.0])
    value, slopes = price.value_and_grad(spots, 95.0, 0.03, 0.2, 1.0, wrt=("S", "sigma"))
    product = price.hvp(
        spots, 95.0, 0.03, 0.2, 1.0, wrt=("S", "sigma"), vector=(np.ones(4), np.zeros(4))
    )
    return np.stack([value, *slopes], axis=1), [float(part[2]) for part in product]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_plain_c_program(printed, tmp_path, compiler):
    program = tmp_path / "main"
    done = subprocess.run(
        [compiler, "-Wall", "-Wextra", "-Werror", f"-I{printed}", EXAMPLE / "main.c",
         printed / "price.c", "-o", program], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
    rows, _ = expected()
    assert [numbers(line) for line in lines[:4]] == rows.tolist()
    assert numbers(lines[4].partition(":")[2]) == rows[2].tolist()
    assert all(line.endswith("the row is done") for line in lines[:4])


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_a_program_in_cpp(printed, tmp_path):
    made = [tmp_path / "main.o", tmp_path / "price.o"]
    for command in (
        ["g++", "-Wall", "-Werror", f"-I{printed}", "-c", EXAMPLE / "main.cpp", "-o", made[0]],
        [COMPILERS[0], "-c", printed / "price.c", "-o", made[1]],
        ["g++", *made, "-o", tmp_path / "main"],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    text = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    rows, product = expected()
    lines = text.splitlines()
    assert [numbers(line) for line in lines[:4]] == rows.tolist()
    assert numbers(lines[4]) == product


@pytest.mark.skipif(
    not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64")),
    reason="no compiler and emulator of ARM64",
)
def test_a_file_with_a_loop_on_arm(tmp_path):
    """The program that proves a built file does so there too: NEON's vectors, the same bits."""
    (tmp_path / "model.py").write_text(PATHS)
    paths = np.random.default_rng(0).normal(size=(19, 21)).round(3).tolist()
    at = ["--at", f"path={paths}, spot=100.0, sigma=0.02", "--rows", "path", "--wrt", "spot,sigma"]
    build = [sys.executable, "-m", "retrograde", "build", "model.py:payoff", *at]
    subprocess.run([*build, "--test", "-o", "payoff.c"], cwd=tmp_path, check=True)
    sources = ["payoff.c", "payoff_test.c", "-o", "payoff"]
    arm = ["aarch64-linux-gnu-gcc", "-static", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*arm, *sources], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["qemu-aarch64", "./payoff"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "all bits are as in Python\n")
