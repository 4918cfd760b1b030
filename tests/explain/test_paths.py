"""Which path a program took: comparisons recorded, sources looked through, pages that refuse."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrograde.explain.html import page_html
from retrograde.explain.page_data import columns_of

from ..browser import Opened

BRANCHING = """\
import retrograde as rg

def leaky(x):
    if x > 0:
        return x
    return 0.1 * x

a = rg.Value(1.0, label="a")
b = rg.Value(-3.0, label="b")
L = leaky(a * b + 5) + a
L.backward()
"""

LOOPING = """\
import retrograde as rg

x = rg.Value(2.0, label="x")
guess = x
turns = 0
while abs(guess * guess - x) > 1e-3:
    guess = (guess + x / guess) / 2
    turns += 1
guess.backward()
"""

BY_DATA = """\
import retrograde as rg

a = rg.Value(1.0, label="a")
y = a * a if a.data > 0 else -a
y.backward()
"""


def paths(story: Any) -> Any:
    return columns_of(story, list(story.nodes))["paths"]


@pytest.fixture
def page_of(show: Callable[..., Opened], browser: Any, tmp_path: Path) -> Any:
    """The page of a script, as the command line writes it."""
    opened: list[Opened] = []

    def page(source: str) -> Opened:
        script, target = tmp_path / "script.py", tmp_path / "script.html"
        script.write_text(source, encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "retrograde", "explain", str(script), "--html", str(target)],
            check=True,
            capture_output=True,
        )
        opened.append(Opened(browser, target))
        return opened[-1]

    yield page
    for each in opened:
        each.close()


# ---- what is recorded ----------------------------------------------------------------------------


def test_comparisons_are_logged_inside_the_block_only(rg: Any) -> None:
    comparing = importlib.import_module(f"{rg.__name__}._values.compared").comparing
    own = rg.Value.__dict__["__lt__"], rg.Value.__dict__["__bool__"]
    x, y = rg.Value(2.0), rg.Value(3.0)
    with comparing() as log:
        assert x < y
        assert not x > 5
        assert max([x, y]) is y
        assert x != None  # noqa: E711
        assert bool(x)
    assert x < y
    assert (rg.Value.__dict__["__lt__"], rg.Value.__dict__["__bool__"]) == own
    assert [(it.left, it.symbol, it.right, it.outcome) for it in log] == [
        (x, "<", y, True), (x, ">", 5, False), (y, ">", x, True), (x, "!=", 0.0, True),
    ]  # fmt: skip
    assert len({x, y}) == 2


def test_a_story_told_while_following_knows_its_comparisons(rg: Any) -> None:
    with rg.explain.following():
        x = rg.Value(2.0, label="x")
        y = x * x if x - 1 > 0 else -x
        story = rg.story(y)
    found = paths(story)
    assert found["unknown"] == ""
    ((left, symbol, right, outcome, where, condition),) = found["checks"]
    assert (symbol, right, outcome, condition) == (">", [0.0], 1, "x - 1 > 0")
    assert where.startswith("test_paths.py line ")
    assert found["extra"] == [["sub", [story.find("x"), [1.0]]]]
    assert left == len(story.nodes)


def test_comparisons_of_other_things_are_no_part_of_the_path(rg: Any) -> None:
    with rg.explain.following():
        x, z = rg.Value(2.0, label="x"), rg.Value(7.0)
        assert z * 2 > 3
        story = rg.story(x * x)
    assert paths(story)["checks"] == []


def test_what_was_not_recorded_is_looked_for_in_the_source(rg: Any) -> None:
    x = rg.Value(2.0, label="x")
    y = x * x if x > 1 else -x
    unknown = paths(rg.story(y))["unknown"]
    assert "decides by x > 1, and whether that would come out otherwise was not recorded" in unknown
    assert "explain.following()" in unknown


def test_conditions_that_no_value_can_decide_are_passed_over(rg: Any) -> None:
    def plain(flag: bool = True, mode: str = "sum") -> Any:
        total = rg.Value(0.0)
        for turn in range(3):
            if flag and mode == "sum" and turn % 2 == 0 and total is not None:
                total = total + turn
        return total

    assert paths(rg.story(plain()))["unknown"] == ""


# ---- on the page ---------------------------------------------------------------------------------


def test_a_branch_that_would_turn_is_told_before_anything_moves(page_of: Any) -> None:
    page = page_of(BRANCHING)
    page.page.get_by_label("Value of a").fill("1.5")
    assert page.text("#moved").startswith("L was 3 and is now 2")
    assert "2, moved from 3," in page.text("header")
    page.page.get_by_label("Value of a").fill("2")
    assert page.text("#refused") == (
        "a = 2 takes another path: script.py line 4, x > 0 was true and would be false. "
        "Nothing was moved: run the program again with a = 2."
    )
    assert page.run("retrograde.numbers.data[retrograde.story.root]") == 2.0  # as at a = 1.5
    page.page.get_by_label("Value of a").blur()
    assert page.page.get_by_label("Value of a").input_value() == "1.5"
    page.page.click("#reset")
    assert page.page.locator("#refused").is_hidden()


def test_a_loop_that_would_run_on_is_told(page_of: Any) -> None:
    page = page_of(LOOPING)
    page.page.get_by_label("Value of x").fill("2.0001")
    assert page.page.locator("#refused").is_hidden()
    page.page.get_by_label("Value of x").fill("9")
    assert "script.py line 6" in page.text("#refused")
    assert "takes another path" in page.text("#refused")


@pytest.mark.parametrize("a", [-2.0, -0.5, 0.3, 1.2, 1.6, 1.7, 3.0])
def test_no_number_is_shown_that_the_program_would_not_compute(page_of: Any, a: float) -> None:
    page = page_of(BRANCHING)
    page.run("([value, x]) => retrograde.move(value, x)", [0, a])
    made: dict[str, Any] = {}
    exec(BRANCHING.replace('Value(1.0, label="a")', f"Value({a}, label='a')"), made)
    if page.run("retrograde.refused === null"):
        assert page.run("retrograde.numbers.data[retrograde.story.root]") == pytest.approx(
            made["L"].data, rel=1e-12
        )
        assert page.run("retrograde.numbers.grad[0]") == pytest.approx(made["a"].grad, rel=1e-12)
    else:
        assert made["a"].data * -3.0 + 5 <= 0


def test_a_condition_on_plain_numbers_stops_what_if(page_of: Any) -> None:
    page = page_of(BY_DATA)
    assert page.page.locator("#sliders li").count() == 0
    assert "decides by a.data > 0, a plain number" in page.text("#whatif-why")
    page.page.click("#anyway")
    assert "along the recorded path" in page.text("#whatif-why")
    page.page.get_by_label("Value of a").fill("3")
    assert page.text("#moved").startswith("y was 1 and is now 9")


def test_the_thermometer_follows_what_was_moved(page_of: Any) -> None:
    page = page_of(
        "import retrograde as rg\na = rg.Value(2.0, label='a')\ny = a * a\ny.backward()\n"
    )
    page.page.get_by_label("Value of a").fill("3")
    assert page.text("#bars .grad") == "▲ +6"
    assert page.text("#reading") == "Increase a by a little and y rises six times as fast."
    page.page.get_by_label("Value of a").fill("0")
    assert page.text("#reading") == "No leaf shown here moves y."


def test_a_leaf_moved_onto_a_kink_is_not_told_as_still(native: Any, show: Any) -> None:
    x = native.Value(1.0, label="x")
    page = show(native.story(native.relu(x)))
    page.run("retrograde.move(0, 0)")
    assert page.text("#reading").startswith("x now stands at a corner")


def test_pages_of_stories_without_a_source_still_open(native: Any) -> None:
    made: dict[str, Any] = {"rg": native}
    exec("x = rg.Value(2.0)\ny = x * x if x > 1 else x", made)
    assert "<!doctype html>" in page_html(native.story(made["y"]))
