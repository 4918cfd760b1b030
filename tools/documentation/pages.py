"""Pages of the site that are no files in docs/: the reference, the command line, notebooks,
examples, and the files of the root. Each is Markdown as text, with the file it came from.
"""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass
from pathlib import Path

from documentation.reference import index_page, reference_pages

ROOT = Path(__file__).resolve().parents[2]

ROOT_FILES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/README.md": "examples/index.md",
}
"""Files of the repository, and the pages they become."""


@dataclass(frozen=True)
class Page:
    """A page to be made: where it goes, its text, and the file of the repository it comes from."""

    place: str
    text: str
    source: str = ""


def made_pages() -> list[Page]:
    """Every page that is not a file in docs/."""
    pages = [
        Page(place, (ROOT / source).read_text(encoding="utf-8"), source)
        for source, place in ROOT_FILES.items()
    ]
    pages += [Page(place, text) for place, text in reference_pages().items()]
    pages += [Page("reference/index.md", index_page()), Page("reference/commands.md", commands())]
    pages += [*examples(), *notebooks()]
    return pages


def examples() -> list[Page]:
    """A page for each example, its source under what its docstring says first."""
    pages = []
    for file in sorted((ROOT / "examples").glob("*.py")):
        source = file.read_text(encoding="utf-8")
        text = f"# {file.stem}\n\n`python examples/{file.name}`\n\n````python\n{source}````\n"
        pages.append(Page(f"examples/{file.stem}.md", text, f"examples/{file.name}"))
    return pages


def notebooks() -> list[Page]:
    """The notebooks as pages: their Markdown, without the header that jupytext keeps."""
    folder = ROOT / "notebooks"
    if not folder.is_dir():
        return []
    pages = []
    for file in sorted(folder.glob("*.md")):
        text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        place = "index.md" if file.name == "README.md" else file.name
        pages.append(Page(f"notebooks/{place}", text, f"notebooks/{file.name}"))
    return pages


def title_of(text: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    if found is None:
        raise ValueError("a page without a heading of the first level")
    return found[1].replace("`", "").replace("*", "")


def commands() -> str:
    """The help of every command, as its parser prints it at 80 columns."""
    from retrograde.cli import COMMANDS, parser_of

    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        parser = parser_of()
        parts = [
            "# Command line",
            "`retrograde`, or `python -m retrograde`. Every command has `--json`, keeps to 80 "
            "columns, leaves out colour in a pipe or under `NO_COLOR`, and ends with 0 when done, "
            "1 when it failed, 2 when it was called wrongly, 130 when interrupted. What follows is "
            "what `--help` prints.",
            _help(parser),
        ]
        (subparsers,) = (
            action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
        )
        for name in COMMANDS:
            parts += [f"## {name}", _help(subparsers.choices[name])]
        return "\n\n".join(parts) + "\n"
    finally:
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns


def _help(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help().rstrip()}\n```"
