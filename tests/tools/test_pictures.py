"""The README's pictures: what the tool prints today, and nothing that a browser would fetch."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"


@pytest.fixture
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 keeps no columns")
def test_the_terminal_is_shown_as_it_prints(pictures):
    expected = (PICTURES / "terminal.svg").read_text(encoding="utf-8")
    made = pictures.terminal(pictures.printed(), pictures.command())
    assert made == expected, "run python tools/pictures.py"


def test_a_picture_says_what_was_printed_in_its_places(pictures):
    made = pictures.terminal("\x1b[1mL\x1b[0m = 2 < 3\n", "retrograde explain")
    words = [text.text for text in ElementTree.fromstring(made).findall(".//{*}text")]
    assert words == ["$ ", "retrograde explain", "L", " = 2 < 3"]


@pytest.mark.parametrize("name", ["terminal", "page", "two-routes"])
def test_a_picture_loads_and_runs_nothing(name):
    text = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    tree = ElementTree.fromstring(text)
    assert not tree.findall(".//{*}script")
    assert not re.findall(r"""(?:href|src)=["'](?!#)|@import|url\((?!["']?#)""", text)
