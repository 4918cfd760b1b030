"""The files derived from the law are current, and the check that says so can fail."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regenerate", ROOT / "tools" / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load_tool()
DERIVED = set(tool.generate(ROOT))
OF_ARRAYS = {"docs/array-rows.md"}
"""What comes from the array law; the rest comes from the scalar law."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The law, the tool and the derived files, by themselves."""
    for path in ("tools/regenerate.py", *DERIVED):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    law = "src/retrograde/ops"
    shutil.copytree(ROOT / law, tmp_path / law, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def check(checkout: Path) -> subprocess.CompletedProcess[str]:
    """``regenerate.py --check`` with the standard library alone: no engine, no NumPy."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(checkout / "tools" / "regenerate.py"), "--check"],
        text=True,
        capture_output=True,
    )


def test_every_generated_file_is_current() -> None:
    assert tool.stale(ROOT) == [], "run: python tools/regenerate.py"


def test_every_file_that_says_it_is_generated_is_known_to_the_check() -> None:
    folders = (ROOT / folder for folder in ("native", "docs", "src"))
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    texts = {path: path.read_bytes() for path in files if path.suffix in (".h", ".md", ".pyi")}
    marked = {
        path for path, text in texts.items() if b"by tools/regenerate.py: do not edit" in text
    }
    assert marked == {ROOT / path for path in DERIVED - {"src/retrograde/_native.pyi"}}


@pytest.mark.parametrize("path", sorted(DERIVED - {"src/retrograde/_native.pyi"}))
def test_a_generated_file_says_so_in_its_first_line(path: str) -> None:
    first = (ROOT / path).read_text(encoding="utf-8").splitlines()[0]
    table = "array.py" if path in OF_ARRAYS else "scalar.py"
    assert f"Generated from src/retrograde/ops/{table}" in first
    assert "do not edit" in first


def test_the_check_needs_only_a_plain_checkout(checkout: Path) -> None:
    done = check(checkout)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", sorted(DERIVED))
def test_the_check_names_what_is_stale_and_writes_nothing(checkout: Path, path: str) -> None:
    file = checkout / path
    made, *by_hand = file.read_text(encoding="utf-8").partition(tool.REGION_CLOSES)
    outdated = "".join(("tahn".join(made.rsplit("tanh", 1)), *by_hand))
    file.write_text(outdated, encoding="utf-8")
    done = check(checkout)
    assert done.returncode == 1
    assert done.stderr == f"stale: {path}: run python tools/regenerate.py\n"
    assert file.read_text(encoding="utf-8") == outdated


def test_an_edited_row_makes_every_file_of_its_law_stale(checkout: Path) -> None:
    table = checkout / "src" / "retrograde" / "ops" / "scalar.py"
    row = '"tan", tan(x), (1 + z * z,)'
    text = table.read_text(encoding="utf-8")
    assert row in text
    edited = '"tan", tan(x) * 1, (1 + z * z + 0,)'
    table.write_text(text.replace(row, edited), encoding="utf-8")
    done = check(checkout)
    assert done.returncode == 1
    assert {line.split(": ")[1] for line in done.stderr.splitlines()} == DERIVED - OF_ARRAYS


def test_an_edited_row_on_arrays_makes_their_page_stale(checkout: Path) -> None:
    table = checkout / "src" / "retrograde" / "ops" / "array.py"
    row = "adds(term(z[i], x[k], k <= i)"
    text = table.read_text(encoding="utf-8")
    assert row in text
    table.write_text(text.replace(row, "adds(term(z[i], x[k], k < i)"), encoding="utf-8")
    done = check(checkout)
    assert done.returncode == 1
    assert {line.split(": ")[1] for line in done.stderr.splitlines()} == OF_ARRAYS
