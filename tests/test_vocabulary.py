"""One word, one meaning: what the table in ARCHITECTURE.md calls by one name has no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("src", "native", "docs", "benchmarks", "tools", "examples")
ENDINGS = (".py", ".pyi", ".c", ".h", ".md", ".txt")

MISUSED = {
    r"(native|reference|eager|both|either) engines?": "an implementation of values is a core",
    r"this engine|our engine": "say retrograde, its core or its values",
    r"recorded (graph|history|steps? by)": "only rg.compile records; values have a history",
}


def texts():
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix in ENDINGS and "__pycache__" not in path.parts:
                yield path, path.read_text(encoding="utf-8")
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        yield ROOT / name, (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("phrase", MISUSED)
def test_words_mean_one_thing(phrase):
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}: {MISUSED[phrase]}"
        for path, text in texts()
        for match in re.finditer(rf"\b(?:{phrase})\b", re.sub(r"\s+", " ", text))
    ]
    assert not found, "\n".join(found)


def test_the_table_has_every_word():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    words = {
        word for row in re.findall(r"^\| ([\w, ]+) \|", text, re.M) for word in row.split(", ")
    }
    assert {"core", "engine", "record", "recording", "step", "nest", "value", "site"} <= words
