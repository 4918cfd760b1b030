"""What-if: the page works out values and gradients as Python does, for every op."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from retrograde.explain.marks import brief
from retrograde.ops import OPS
from retrograde.ops.emit.javascript import law

from ..browser import Opened
from ..law.test_engines_agree import awkward_points
from .stories import every_op

NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def number(text: float | str) -> float:
    return NUMBERS[text] if isinstance(text, str) else float(text)


def close(left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return left == right or abs(left - right) <= 1e-9 * max(abs(left), abs(right))


def moved_numbers(page: Opened, leaves: dict[int, float]) -> tuple[list[float], list[float]]:
    plain = "(numbers) => Array.from(numbers, (x) => Number.isFinite(x) ? x : String(x))"
    for value, x in leaves.items():
        page.run("([value, x]) => retrograde.move(value, x)", [value, x])
    data = page.run(f"({plain})(retrograde.numbers.data)")
    grad = page.run(f"({plain})(retrograde.numbers.grad)")
    return [number(x) for x in data], [number(x) for x in grad]


def test_numbers_look_as_they_do_in_python(meeting: Opened) -> None:
    numbers = [0.1, -2.5, 123456.0, 99999.6, 100000.0, 1e-4, 0.00009999996, 1e-300, 1 / 3, 1e22]
    for x in numbers:
        meeting.run("(x) => retrograde.move(0, x)", x)
        assert meeting.box("a").get_attribute("aria-label").startswith(f"a: data {brief(x)}, ")


def test_moving_a_leaf_moves_values_and_gradients(meeting: Opened) -> None:
    meeting.page.get_by_label("Value of a").fill("5")
    assert meeting.text("#moved").startswith("L was −4 and is now −10")
    assert meeting.box("a").get_attribute("aria-label") == "a: data 5, gradient −11"
    assert meeting.box("b").get_attribute("aria-label") == "b: data −3, gradient 5"
    meeting.page.click("#reset")
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient 7"


def test_a_slider_moves_by_keys(meeting: Opened) -> None:
    slider = meeting.page.get_by_label("Move c")
    slider.focus()
    slider.press("ArrowRight")
    assert meeting.run("retrograde.moved.size") == 1
    assert meeting.text("#count") == "0 / 12"  # the slider's key is not a step


def test_the_page_computes_every_op_as_python_does(
    native: Any, show: Callable[..., Opened]
) -> None:
    root, leaves = every_op(native)
    story = native.story(root)
    page = show(story)
    for shift in (-0.3, 0.2, 0.45):
        _, moved = every_op(native, shift)
        found = moved_numbers(page, {story.find(v): m.data for v, m in zip(leaves, moved)})
        again, _ = every_op(native, shift)
        expected = native.story(again)
        for node, data, grad in zip(expected.nodes, *found, strict=True):
            assert close(data, node.data), node
            assert close(grad, node.grad), node


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_a_row_means_the_same_in_the_browser(browser_law: Any, op: Any) -> None:
    points = list(awkward_points(op))
    points = points[:: max(1, len(points) // 500)] + points[-50:]
    found = browser_law(op.name, points)
    for point, (value, *partials) in zip(points, found, strict=True):
        expected = op.evaluate(*point)
        assert close(value, expected), point
        for got, wanted in zip(partials, op.evaluate_partials(*point, expected), strict=True):
            assert close(got, wanted), point


@pytest.fixture(scope="module")
def browser_law(browser: Any) -> Iterator[Callable[[str, list[tuple[float, ...]]], Any]]:
    """Value and partials of a row at many points, computed by the browser."""
    page = browser.new_page()
    page.evaluate(f"() => {{ {law(OPS, OPS)} window.law = law; }}")

    def evaluate(name: str, points: list[tuple[float, ...]]) -> Any:
        names = {str(x): text for text, x in NUMBERS.items()}
        given = json.dumps([[names.get(str(x), x) for x in point] for point in points])
        found = page.evaluate(
            "([name, given]) => JSON.parse(given).map((point) => { point = point.map(Number);"
            " const row = window.law[name]; const z = row.value(...point);"
            " return [z, ...row.partials.map((partial) => partial(...point, z))]"
            ".map((x) => Number.isFinite(x) ? x : String(x)); })",
            [name, given],
        )
        return [[number(x) for x in row] for row in found]

    yield evaluate
    page.close()


def test_ops_written_in_python_stay_where_they_are(
    native: Any, show: Callable[..., Opened]
) -> None:
    @native.custom_op
    def cube(x: float) -> tuple[float, tuple[float]]:
        return x**3, (3 * x**2,)

    a, b = native.Value(2.0, label="a"), native.Value(3.0, label="b")
    page = show(native.story(cube(a) * b))
    assert page.page.get_by_label("Value of a").count() == 0
    page.page.get_by_label("Value of b").fill("5")
    assert page.box("a").get_attribute("aria-label") == "a: data 2, gradient 60"
    assert "written in Python" in page.run("document.getElementById('whatif-why').textContent")


def test_data_changed_after_the_fact_cannot_be_moved(
    native: Any, show: Callable[..., Opened]
) -> None:
    a = native.Value(2.0, label="a")
    root = a * a
    a.data = 7.0
    page = show(native.story(root))
    assert "Nothing can be moved here" in page.text("#whatif-why")
    assert page.page.locator("#sliders li").count() == 0
