"""SVG, DOT and thermometer of the walkthroughs, to the byte, and what must hold of any drawing.

``RETROGRADE_GOLDEN=1`` writes the expected files anew; look at them before keeping them.
"""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from retrograde.explain.dot import graph_dot
from retrograde.explain.groups import READABLE
from retrograde.explain.html import page_html
from retrograde.explain.marks import stored
from retrograde.explain.svg import graph_svg
from retrograde.explain.thermometer_svg import MOST, thermometer_html, thermometer_svg

from .stories import layers, walkthroughs

GOLDEN = Path(__file__).with_name("golden")
NAMES = ["sum-times-c", "relu", "product-plus-c", "a-plus-a", "meeting"]
SVG = "{http://www.w3.org/2000/svg}"


def story_of(rg: Any, name: str) -> Any:
    root = walkthroughs(rg)[name]
    root.backward()
    return rg.story(root)


def check(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("RETROGRADE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} has changed"


@pytest.mark.parametrize("name", NAMES)
def test_the_drawing_is_the_expected_one(rg: Any, name: str) -> None:
    check(f"{name}.svg", graph_svg(story_of(rg, name)))


@pytest.mark.parametrize("name", NAMES)
def test_the_dot_text_is_the_expected_one(rg: Any, name: str) -> None:
    check(f"{name}.dot", graph_dot(story_of(rg, name)))


def test_the_thermometer_is_the_expected_one(rg: Any) -> None:
    check("thermometer.svg", thermometer_svg(rg.thermometer(story_of(rg, "meeting"))))


def texts(drawing: str) -> list[str]:
    return [it.text or "" for it in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def test_the_numbers_of_a_walkthrough_are_in_its_drawing(rg: Any) -> None:
    """(a*b + c) * (a + b) at a=2, b=-3, c=10: gradients 7, 2 and -1."""
    written = texts(graph_svg(story_of(rg, "meeting")))
    assert {"−4", "▲ +7", "▲ +2", "▼ −1"} <= set(written)
    assert {"+3", "+4", "−2"} <= set(written)  # the contributions, on their lines


def test_both_directions_of_flow_are_drawn(rg: Any) -> None:
    tree = ElementTree.fromstring(graph_svg(story_of(rg, "a-plus-a")))
    kinds = [it.get("class") for it in tree.iter(f"{SVG}path")]
    assert kinds.count("line") == kinds.count("pull") == 2


def test_a_drawing_says_what_it_is_to_those_who_do_not_see_it(native: Any) -> None:
    for drawing in (
        graph_svg(story_of(native, "relu")),
        thermometer_svg(native.thermometer(story_of(native, "relu"))),
    ):
        tree = ElementTree.fromstring(drawing)
        assert tree.get("role") == "img"
        named = (tree.get("aria-labelledby") or "").split()
        found = {it.get("id"): it.text for it in tree}
        assert all(found[name] for name in named)


def test_a_story_too_big_to_read_is_grouped_and_says_so(native: Any) -> None:
    story = native.story(layers(native, depth=12, width=4, points=2))
    drawing = graph_svg(story)
    tree = ElementTree.fromstring(drawing)
    boxes = [it for it in tree.iter(f"{SVG}rect") if it.get("class") == "frame"]
    assert len(boxes) <= READABLE
    assert any("values are too many to read at once" in text for text in texts(drawing))
    assert "layer* ×12" in texts(drawing)
    assert f"{len(story.nodes):,} values are too many" in graph_dot(story)


def test_nan_and_infinities_are_shown_as_such(rg: Any) -> None:
    x, y = rg.Value(0.0, label="x"), rg.Value(math.inf, label="y")
    written = texts(graph_svg(rg.story((x * y).log() + 1 / x)))
    assert "NaN" in written
    assert "∞" in written
    assert any("✕ NaN" in text for text in written)


def test_any_name_can_be_drawn(rg: Any) -> None:
    x = rg.Value(1.0, label='<b> & "c" \x00 \ud800 {|}')
    story = rg.story(x * 2.0 + x)
    ElementTree.fromstring(graph_svg(story))
    assert "<b>" not in page_html(story)
    thermometer_svg(rg.thermometer(story))
    assert "\\<b\\>" in graph_dot(story)


def test_a_value_that_takes_no_gradient_says_so(rg: Any) -> None:
    x = rg.Value(1.0, label="x", requires_grad=False)
    assert "takes none" in texts(graph_svg(rg.story(x * rg.Value(2.0, label="y"))))


def test_dot_text_is_well_formed(native: Any) -> None:
    text = r'"(?:[^"\\]|\\.)*"'
    attribute = rf"\w+=(?:{text}|\w+)"
    statement = rf"  (?:n\d+(?: -> n\d+)?|node) \[{attribute}(?:, {attribute})*\];|  rankdir=LR;"
    for story in (
        native.story(layers(native, depth=2, width=3, points=1)),
        native.story(native.Value(1.0, label='a "quoted" | {name}') * 2.0),
    ):
        lines = [line for line in graph_dot(story).splitlines() if not line.startswith("//")]
        assert (lines[0], lines[-1]) == ("digraph story {", "}")
        assert all(re.fullmatch(statement, line) for line in lines[1:-1])


def test_a_thermometer_of_many_values_shows_the_strongest(native: Any) -> None:
    leaves = [native.Value(float(i), label=f"x{i}") for i in range(MOST + 20)]
    drawing = thermometer_svg(native.thermometer(native.dot(leaves, leaves)))
    assert drawing.count('class="tube"') == MOST
    assert f"The {MOST} strongest of {MOST + 20} values." in drawing
    assert f">x{MOST + 19}<" in drawing
    assert ">x0<" not in drawing


def test_the_thermometer_as_html_holds_drawing_and_table(native: Any) -> None:
    page = thermometer_html(native.thermometer(story_of(native, "meeting")))
    assert "<svg" in page
    assert page.count('<th scope="row">') == 3


# ---- contrast -----------------------------------------------------------------------------------


def themes() -> list[dict[str, str]]:
    """The colours of the light and the dark theme."""
    light, dark = re.findall(r"\.retrograde \{(.*?)\}", stored("graph.css"), re.S)
    named = [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in (light, dark)]
    assert named[0].keys() == named[1].keys()
    return named


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_has_enough_contrast(theme: int) -> None:
    colours = themes()[theme]
    inks = ("ink", "quiet", "forward", "backward", "positive", "negative", "zero")
    grounds = ("paper", "card", "box", "soft", "forward-soft", "backward-soft")
    poor = [
        (ink, ground, round(contrast(colours[ink], colours[ground]), 2))
        for ink in inks
        for ground in grounds
        if contrast(colours[ink], colours[ground]) < 4.5
    ]
    assert not poor


WIDE = ("MOMENTUM_WARMUPS", "mmmwwwmmmwwwmmmmwww", "WWMM_HIDDEN_WW", "a_result_with_a_long_name")

OVERFLOWING = """
() => [...document.querySelectorAll("g > text.name")].filter((name) => {
  const symbol = name.parentNode.querySelector(":scope > text.symbol");
  const frame = name.parentNode.querySelector(":scope > rect:last-of-type").getBBox();
  const end = symbol && symbol.textContent ? symbol.getBBox().x : frame.x + frame.width;
  const box = name.getBBox();
  return box.x + box.width > end;
}).map((name) => name.textContent)
"""


def test_wide_names_stay_in_their_boxes(native: Any, browser: Any, tmp_path: Path) -> None:
    first, second, third, last = WIDE
    made = native.minimum(native.Value(1.0, label=first), native.Value(2.0, label=second))
    made.label = third
    root = made + native.Value(3.0, label="WWWWWW")
    root.label = last
    path = tmp_path / "wide.svg"
    path.write_text(graph_svg(native.story(root)), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.querySelectorAll('g > text.name').length") == 5
    assert page.evaluate(OVERFLOWING) == []
    page.close()
