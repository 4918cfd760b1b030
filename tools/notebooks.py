"""Run the notebooks and keep their outputs; make real notebooks of them.

    python tools/notebooks.py                       run all, write what changed
    python tools/notebooks.py --check               write nothing; exit 1 and show what differs
    python tools/notebooks.py --ipynb FOLDER        run nothing, write them into FOLDER as .ipynb
    python tools/notebooks.py day3_automating_it    only this one; any of the above

A notebook is Markdown as jupytext reads it: blocks marked ``python`` are its cells, and what
follows a cell in blocks marked ``output`` and as pictures is what the cell shows; where a cell
begins with ``# reveal`` it is folded away. Blocks marked ``py`` stand in the text (answers): they
run as well, but are not cells. An .ipynb has no outputs, so that nothing is shown before it was
predicted. Needs the extra ``test``.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "notebooks"
SECONDS: Final = 120
"""The time limit of one cell."""

OUTPUT = r"```output\n(?:.*\n)*?```\n|!\[[^\]\n]*\]\(pictures/[^)\n]*\)\n"
REVEAL, OPENS, CLOSES = (
    "# reveal\n",
    '\n<details markdown="1"><summary>Reveal</summary>\n',
    "\n</details>\n",
)
OUTPUTS = rf"(?:\n*(?:{OUTPUT}))*"
CELL: Final = re.compile(
    r"^```(?P<kind>python|py)\n(?P<source>(?:.*\n)*?)```\n"
    rf"(?P<outputs>(?:{OPENS}{OUTPUTS}{CLOSES})|{OUTPUTS})",
    re.MULTILINE,
)
COLOR: Final = re.compile(r"\x1b\[[\d;]*m")
NUMBER: Final = re.compile(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?")
TITLE: Final = "{http://www.w3.org/2000/svg}title"


class CellError(Exception):
    """A cell raised."""


@dataclass
class Run:
    """What running a notebook gave: its text anew, pictures by file name."""

    name: str
    text: str = ""
    pictures: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def names() -> list[str]:
    """Every notebook, in order."""
    return sorted(path.stem for path in FOLDER.glob("day*.md"))


def text_of(name: str) -> str:
    """The text of a notebook as it is stored."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def execute(sources: Sequence[str]) -> list[list[Any]]:
    """The outputs of cells run one after the other in a fresh kernel."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbformat import v4

    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    with tempfile.TemporaryDirectory(prefix="rg") as folder:
        for setting in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):  # not the user's own Jupyter
            os.environ[f"JUPYTER_{setting}"] = folder
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc")
        manager.connection_file = f"{folder}/kernel.json"
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=SECONDS,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        settings = {"COLUMNS": "80", "IPYTHONDIR": folder, "PYTHONUTF8": "1", "NO_COLOR": "1"}
        try:
            client.execute(cleanup_kc=True, env={**os.environ, **settings})
        except CellExecutionError as error:
            raise CellError(COLOR.sub("", str(error))) from None
    return [cell.outputs for cell in notebook.cells]


def picture_in(output: Any) -> str | None:
    """The drawing an output shows, if it does."""
    drawn = output.get("data", {}).get("image/svg+xml")
    return None if drawn is None else str(drawn)


def plain_text(output: Any) -> str:
    """An output as text, without spaces at the ends of lines."""
    text = output["text"] if output.output_type == "stream" else output.data["text/plain"]
    return "\n".join(line.rstrip() for line in str(text).strip("\n").splitlines())


def run(name: str) -> Run:
    """Run a notebook and put its text together again with what its cells showed."""
    text = text_of(name)
    cells = list(CELL.finditer(text))
    done = Run(name)
    end = 0
    for place, (cell, outputs) in enumerate(zip(cells, execute([c["source"] for c in cells])), 1):
        done.text += text[end : cell.start()] + f"```{cell['kind']}\n{cell['source']}```\n"
        end = cell.end()
        if any(output.get("name") == "stderr" for output in outputs):
            done.complaints.append(f"cell {place} wrote to stderr:\n{cell['source']}")
        done.text += outputs_as_text(cell["source"], outputs, done)
    done.text += text[end:]
    return done


def outputs_as_text(source: str, outputs: Sequence[Any], done: Run) -> str:
    """What stands below a cell; its pictures are put among the others."""
    text = ""
    for output in outputs:
        if (drawn := picture_in(output)) is None:
            text += f"\n```output\n{plain_text(output)}\n```\n"
            continue
        file = f"{done.name}-{len(done.pictures) + 1}.svg"
        done.pictures[file] = drawn
        text += f"\n![{title_of(drawn)}](pictures/{file})\n"
    return f"{OPENS}{text}{CLOSES}" if text and source.startswith(REVEAL) else text


def title_of(drawn: str) -> str:
    """What a drawing shows, in words; raises where it is not well-formed or has no title."""
    title = ElementTree.fromstring(drawn).find(TITLE)
    if title is None or not title.text:
        raise ValueError("a drawing without a title")
    return re.sub(r"[\[\]\s]+", " ", title.text).strip()


def as_notebook(name: str, text: str) -> str:
    """The text and its cells as an .ipynb: no outputs, and answers folded away."""
    import jupytext
    import nbformat

    bare = CELL.sub(
        lambda cell: cell[0] if cell["kind"] == "py" else f"```python\n{cell['source']}```\n", text
    )
    notebook = jupytext.reads(bare, fmt="md")
    notebook.metadata = nbformat.from_dict({
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    })  # fmt: skip
    for place, cell in enumerate(notebook.cells, 1):
        cell["id"], cell["metadata"] = f"{name}-{place}", {}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"


def alike(stored: str, found: str) -> bool:
    """Whether two texts are the same but for rounding, which libraries of other machines do
    otherwise: one unit of the last digit printed, or 1e-12 where numbers are printed in full."""
    if NUMBER.split(stored) != NUMBER.split(found):
        return False
    return all(map(_near, NUMBER.findall(stored), NUMBER.findall(found)))


def _near(stored: str, found: str) -> bool:
    units = []
    for number in (stored, found):
        digits, _, power = number.partition("e")
        units.append(10.0 ** (int(power or 0) - len(digits.partition(".")[2])))
    allowed = 1.01 * units[0] if units[0] == units[1] else 1e-12 * abs(float(stored))
    return stored == found or abs(float(stored) - float(found)) <= allowed


def files_of(done: Run) -> dict[Path, str]:
    """Every file that a run makes, and what should be in it."""
    made = {FOLDER / f"{done.name}.md": done.text}
    made |= {FOLDER / "pictures" / file: drawn for file, drawn in done.pictures.items()}
    made[FOLDER / f"{done.name}.ipynb"] = as_notebook(done.name, done.text)
    return made


def left_over(done: Run) -> list[Path]:
    """Pictures of this notebook that no cell shows any more."""
    stored = (FOLDER / "pictures").glob(f"{done.name}-*.svg")
    return sorted(path for path in stored if path.name not in done.pictures)


def stored_in(path: Path) -> str:
    """What a file holds; nothing where there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds this but for rounding; an .ipynb to the letter."""
    stored = stored_in(path)
    return stored == text if path.suffix == ".ipynb" else alike(stored, text)


def differences(done: Run) -> list[str]:
    """What is stored otherwise than the run gave it, one text a file."""
    found = list(done.complaints)
    for path, text in files_of(done).items():
        if not is_current(path, text):
            title = str(path.relative_to(ROOT))
            before, after = stored_in(path).splitlines(), text.splitlines()
            lines = difflib.unified_diff(before, after, title, "as run", lineterm="")
            found.append("\n".join(lines))
    return found + [f"{path.relative_to(ROOT)}: no cell shows it" for path in left_over(done)]


def write(done: Run) -> None:
    """Store what a run gave: all of its files or, where they are current, none."""
    (FOLDER / "pictures").mkdir(exist_ok=True)
    files = files_of(done)
    if not all(is_current(path, text) for path, text in files.items()):
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        print(f"wrote {done.name}.md and {len(files) - 1} more")
    for path in left_over(done):
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description="Run the notebooks and keep their outputs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="notebooks; all if none is named")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing, show what differs")
    what.add_argument(
        "--ipynb", type=Path, metavar="FOLDER", help="write them here as .ipynb, nothing run"
    )
    chosen = parser.parse_args(arguments)
    if unknown := sorted({*chosen.names} - {*names()}):
        parser.error(f"no such notebook: {', '.join(unknown)}; there are {', '.join(names())}")
    failed = 0
    if chosen.ipynb is not None:
        chosen.ipynb.mkdir(parents=True, exist_ok=True)
        for name in chosen.names or names():
            notebook = as_notebook(name, text_of(name))
            (chosen.ipynb / f"{name}.ipynb").write_text(notebook, encoding="utf-8")
            print(f"wrote {chosen.ipynb / name}.ipynb")
        return 0
    for name in chosen.names or names():
        try:
            done = run(name)
        except CellError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        found = differences(done) if chosen.check else done.complaints
        if not chosen.check:
            write(done)
        for complaint in found:
            print(complaint, file=sys.stderr)
        failed += bool(found)
        print(f"{name}: {'as stored' if chosen.check and not found else 'run'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
