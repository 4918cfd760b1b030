"""Every notebook runs from top to bottom in a fresh kernel and shows what is stored."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

import retrograde
from retrograde.value import core_name

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(retrograde.__file__).parent.parent
COMPILES = ("day7_record_and_replay",)
SIZED_FOR_THE_NATIVE_CORE = ("day6_neuron_to_gpt", *COMPILES)


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["notebooks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load_tool()
NAMES = tool.names()
CASES = [(name, "native") for name in NAMES] + [
    (name, "reference") for name in NAMES if name not in SIZED_FOR_THE_NATIVE_CORE
]


def run_tool(root: Path, *arguments: str, core: str = "native") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "tools" / "notebooks.py"), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", "RETROGRADE_CORE": core},
    )


@pytest.fixture
def copy(tmp_path):
    """A checkout with a tool and one short notebook, to be changed at will."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "notebooks.py", tmp_path / "tools")
    (tmp_path / "notebooks").mkdir()
    page = tmp_path / "notebooks" / "day1_short.md"
    page.write_text("# Short\n\n```python\nprint(0.1 + 0.2)\n```\n\nText.\n", encoding="utf-8")
    return tmp_path, page


def test_there_are_eight_with_their_titles():
    assert [tool.text_of(name).splitlines()[0] for name in NAMES] == [
        "# The backward pass by hand",
        "# Automating it",
        "# Reading gradients",
        "# When gradients go wrong",
        "# From a neuron to a GPT",
        "# Record and replay",
        "# Debugging PyTorch: five sick networks",
        "# From scalars to arrays",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "core"), CASES)
def test_it_runs_and_shows_what_is_stored(name, core):
    if core == "native" and core_name != "native":
        pytest.skip("no native core here")
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.10 keeps no columns, so values do not go by their variables there")
    if "import torch" in tool.text_of(name) and importlib.util.find_spec("torch") is None:
        pytest.skip("it asks PyTorch for its gradients")
    done = run_tool(ROOT, "--check", name, core=core)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_has_its_six_parts():
    parts = re.findall(r"^## (Part \d)\. ", tool.text_of("day2_backward_pass"), re.MULTILINE)
    assert parts == [f"Part {number}" for number in range(1, 7)]
    assert "(a*b + c) * (a + b)" in tool.text_of("day2_backward_pass")


@pytest.mark.parametrize("name", NAMES)
def test_it_has_exercises_with_answers_folded_away(name):
    _, _, exercises = tool.text_of(name).partition("\n## Exercises\n")
    asked = re.findall(r"^\*\*\d+\.\*\*", exercises, re.MULTILINE)
    answers = exercises.count('<details markdown="1"><summary>Answer</summary>\n\n')
    assert len(asked) == answers >= 4
    assert exercises.count("</details>") == answers


@pytest.mark.parametrize("name", [*NAMES, "README"])
def test_links_and_pictures_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", tool.text_of(name))
    assert not [link for link in links if not (tool.FOLDER / link).exists()]


def test_every_picture_is_well_formed_and_shown():
    shown = {
        picture
        for name in NAMES
        for picture in re.findall(r"pictures/(\S+\.svg)", tool.text_of(name))
    }
    stored = {path.name for path in (tool.FOLDER / "pictures").iterdir()}
    assert shown == stored
    for picture in stored:
        root = ElementTree.parse(tool.FOLDER / "pictures" / picture).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("name", NAMES)
def test_the_real_notebook_is_that_of_the_text_and_shows_nothing_before_it_is_run(name):
    import nbformat

    path = tool.FOLDER / f"{name}.ipynb"
    assert path.read_text(encoding="utf-8") == tool.as_notebook(name, tool.text_of(name))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    texts = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    shown = re.sub(r"<summary>Answer</summary>.*?</details>", "", texts, flags=re.DOTALL)
    assert "```output" not in shown
    assert "pictures/" not in shown
    assert "<summary>Reveal" not in texts


@pytest.mark.parametrize("name", NAMES)
def test_what_is_to_be_predicted_is_folded_away(name):
    text = tool.text_of(name)
    cells = [cell for cell in tool.CELL.finditer(text) if cell["kind"] == "python"]
    for asked in re.finditer(r"\*Predict[^*]*\*", text):
        shown = next(it for it in cells if it.start() > asked.end() and it["outputs"].strip())
        assert shown["source"].startswith(tool.REVEAL), shown["source"]
        assert shown["outputs"].startswith(tool.OPENS)


def test_no_output_holds_a_path_of_the_machine_that_made_it():
    for path in tool.FOLDER.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"ipykernel_|/tmp/|/home/|/root/", text), path.name


@pytest.mark.slow
def test_a_changed_output_is_found_and_written_anew(copy):
    root, page = copy
    assert run_tool(root, "--check").returncode == 1
    assert run_tool(root).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "```\n\n```output\n0.30000000000000004\n```\n\nText.\n" in text
    assert run_tool(root, "--check").returncode == 0
    page.write_text(text.replace("0.30000000000000004", "0.4"), encoding="utf-8")
    found = run_tool(root, "--check")
    assert found.returncode == 1
    assert "-0.4" in found.stderr
    assert "+0.30000000000000004" in found.stderr


@pytest.mark.slow
def test_a_cell_that_raises_or_warns_is_told(copy):
    root, page = copy
    page.write_text("```python\n1 / 0\n```\n", encoding="utf-8")
    done = run_tool(root, "--check")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "\x1b" not in done.stderr
    page.write_text("```python\nimport warnings\nwarnings.warn('ill')\n```\n", encoding="utf-8")
    done = run_tool(root, "--check")
    assert done.returncode == 1
    assert "cell 1 wrote to stderr" in done.stderr


def test_all_can_be_had_as_real_notebooks(copy):
    import nbformat

    root, _ = copy
    assert run_tool(root, "--ipynb", str(root / "made")).returncode == 0
    made = nbformat.read(root / "made" / "day1_short.ipynb", as_version=4)
    nbformat.validate(made)
    assert [cell.cell_type for cell in made.cells] == ["markdown", "code", "markdown"]
    assert made.cells[1].outputs == []


@pytest.mark.parametrize(
    ("stored", "found", "same"),
    [
        ("loss 2.43", "loss 2.44", True),
        ("loss 2.43", "loss 2.45", False),
        ("7 values", "8 values", False),
        ("1.0e-08", "1.1e-08", True),
        ("1.0e-08", "1.0e-07", False),
        ("a 1.5", "b 1.5", False),
        ("0.3", "0.30000000000000004", True),
        ("0.4", "0.30000000000000004", False),
    ],
)
def test_decimals_may_differ_by_one_unit_of_the_last(stored, found, same):
    assert tool.alike(stored, found) is same
