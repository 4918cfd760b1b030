"""The page's data: nothing of the story is lost, and what the page works out again has its bits."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from typing import Any

import pytest

from retrograde.explain.html import PLAIN, page_html
from retrograde.explain.page_data import columns_of, plain, plains

from .stories import layers, walkthroughs


def data_in(page: str) -> dict[str, Any]:
    """The story's columns, as a page holds them."""
    found = re.search(
        r'<script type="application/json" id="story"([^>]*)>(.*?)</script>', page, re.S
    )
    assert found is not None
    form, text = found.groups()
    if "gzip" in form:
        text = gzip.decompress(base64.b64decode(text)).decode("utf-8")
    columns: dict[str, Any] = json.loads(text)
    return columns


def rebuilt(columns: dict[str, Any]) -> dict[str, list[float]]:
    """Gradients and contributions, worked out as the page does."""
    number = float
    starts = [0]
    for arity in columns["arity"]:
        starts.append(starts[-1] + arity)
    grads = [0.0] * len(columns["op"])
    grads[columns["root"]] = number(columns["seed"])
    amounts, afters = [], []
    for step, value in enumerate(columns["backward"]):
        kept = columns["kept"].get(str(step))
        if kept:
            grads[value] = number(kept[0])
        for position in range(columns["arity"][value]):
            edge = starts[value] + position
            to = columns["inputs"][edge]
            if kept:
                given = [it for it in kept[1] if it[0] == position]
                if not given:
                    continue
                amount, grads[to] = number(given[0][1]), number(given[0][2])
            elif columns["takes"][to]:
                amount = number(columns["partials"][edge]) * grads[value]
                grads[to] += amount
            else:
                continue
            amounts.append(amount)
            afters.append(grads[to])
    return {"grads": grads, "amounts": amounts, "afters": afters}


def check(story: Any) -> dict[str, Any]:
    columns = data_in(page_html(story))
    found = rebuilt(columns)
    contributions = [it for step in story.backward for it in step.contributions]
    expected = {
        "grads": [node.grad for node in story.nodes],
        "amounts": [it.amount for it in contributions],
        "afters": [it.after for it in contributions],
    }
    assert {k: list(map(repr, v)) for k, v in found.items()} == {
        k: list(map(repr, v)) for k, v in expected.items()
    }
    assert columns["names"] == [node.name for node in story.nodes]
    assert [float(x) for x in columns["data"]] == pytest.approx(
        [node.data for node in story.nodes], rel=0, abs=0, nan_ok=True
    )
    assert columns["forward_words"] == [step.words for step in story.forward]
    assert columns["backward_words"] == [step.words for step in story.backward]
    return columns


def test_walkthroughs_come_back_to_the_bit(rg: Any) -> None:
    for root in walkthroughs(rg).values():
        assert check(rg.story(root))["kept"] == {}


def test_a_network_comes_back_to_the_bit(rg: Any) -> None:
    check(rg.story(layers(rg, depth=2, width=5, points=2)))


def test_nan_infinities_and_numbers_come_back(rg: Any) -> None:
    x, y = rg.Value(0.0, label="x"), rg.Value(math.inf, label="y")
    check(rg.story((x * y).log() + 1 / x + 3.0 * y - (-0.0)))


def test_rules_written_in_python_are_kept_whole(rg: Any) -> None:
    @rg.custom_op
    def scaled(x: float) -> float:
        return 3 * x

    @scaled.vjp
    def _(upstream: float, x: float) -> tuple[float]:
        return (3 * upstream,)

    a = rg.Value(0.1, label="a")
    check(rg.story(scaled(a * 0.7) * scaled(a)))


def test_a_value_alone_has_a_page(rg: Any) -> None:
    check(rg.story(rg.Value(1.0, label="a") + 2.0))
    check(rg.story(-rg.Value(1.0)))


def test_big_stories_are_packed_and_pages_are_the_same_every_time(native: Any) -> None:
    root = layers(native, depth=3, width=8, points=2)
    page = page_html(native.story(root))
    assert 'data-form="gzip"' in page
    assert len(json.dumps(data_in(page))) > PLAIN
    assert page == page_html(native.story(root))


def test_both_cores_make_the_same_page(native: Any, reference: Any) -> None:
    for name, root in walkthroughs(native).items():
        ours = columns_of(native.story(root), list(native.story(root).nodes))
        other = walkthroughs(reference)[name]
        theirs = columns_of(reference.story(other), list(reference.story(other).nodes))
        assert {**ours, "sites": 0, "site": 0} == {**theirs, "sites": 0, "site": 0}


def test_text_in_a_story_cannot_end_its_element(rg: Any) -> None:
    a = rg.Value(1.0, label="</script><script>alert(1)</script>")
    page = page_html(rg.story(a * 2.0))
    assert "alert(1)</script>" not in page
    assert data_in(page)["names"][0] == a.label


def test_numbers_survive_json() -> None:
    numbers = [0.1, -0.0, 5e-324, 1e308, math.inf, -math.inf, math.nan, 3.0, 2.0**53, 1e15]
    for wrapped in (list(map(plain, numbers)), plains(numbers)):
        back = [float(x) for x in json.loads(json.dumps(wrapped, allow_nan=False))]
        assert list(map(repr, back)) == list(map(repr, numbers))
