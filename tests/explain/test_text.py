"""The waterfall, the ledger and the thermometer as text: golden outputs, widths, colour."""

from __future__ import annotations

import importlib
import io
import math
import re

import pytest

from retrograde.explain.html import page_html

from .support import WALKTHROUGHS, agrees_with_golden, leaves, plain_story

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def lines_of(rg):
    return importlib.import_module(f"{rg.__name__}._text.lines")


@pytest.mark.parametrize("name", WALKTHROUGHS)
def test_the_walkthroughs_read_as_they_should(rg, name):
    story = plain_story(rg, WALKTHROUGHS[name][0](rg))
    agrees_with_golden(f"{name}.txt", story.text())


@pytest.mark.parametrize("width", [60, 120])
def test_other_widths_read_as_they_should(rg, width):
    story = plain_story(rg, WALKTHROUGHS["two_routes"][0](rg))
    agrees_with_golden(f"two_routes_{width}.txt", story.text(width))


def test_the_ledger_and_the_thermometer_read_as_they_should(rg):
    story = plain_story(rg, WALKTHROUGHS["two_routes"][0](rg))
    agrees_with_golden("two_routes_ledger.txt", rg.ledger(story, "a").text())
    agrees_with_golden("two_routes_thermometer.txt", rg.thermometer(story).text())


def awkward(rg):
    """Everything at once: long names, infinities, a long sum, deep nesting."""
    x, y = leaves(rg, a_rather_long_name_for_a_weight=1234.5678, y=0.0)
    terms = [rg.exp(x * 0.001 * k) for k in range(12)]
    return rg.log(y) * rg.sum(terms) - rg.dot(terms, terms) / x


@pytest.mark.parametrize("width", [*range(40, 90, 3), 100, 150, 200])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_asked(rg, width, color):
    roots = [awkward(rg), *(make(rg) for make, _, _ in WALKTHROUGHS.values())]
    for root in roots:
        story = plain_story(rg, root, note="A note of some length that has to be folded too.")
        texts = [story.text(width, color), rg.thermometer(story).text(width, color)]
        texts.append(rg.ledger(story, story.leaves[0]).text(width, color))
        for line in "\n".join(texts).splitlines():
            bare = ESCAPE.sub("", line)
            assert len(bare) <= width
            assert bare == bare.rstrip()


def test_colour_changes_nothing_but_colour(rg):
    story = plain_story(rg, WALKTHROUGHS["two_routes"][0](rg))
    colored = story.text(80, True)
    assert "\x1b[" in colored
    assert ESCAPE.sub("", colored) == story.text(80, False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_explain_prints_colour_on_a_terminal_and_plain_text_elsewhere(rg, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    root = WALKTHROUGHS["gate"][0](rg)
    there, here = Terminal(), io.StringIO()
    assert root.explain(file=there) is None
    root.explain(file=here)
    assert "\x1b[" in there.getvalue()
    assert max(map(len, ESCAPE.sub("", there.getvalue()).splitlines())) == 100
    assert "\x1b[" not in here.getvalue()
    assert max(map(len, here.getvalue().splitlines())) == 80
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    root.explain(file=plain)
    assert "\x1b[" not in plain.getvalue()


def test_width_and_colour_can_be_asked_for(rg, capsys):
    root = WALKTHROUGHS["gate"][0](rg)
    root.explain(width=60, color=True)
    printed = capsys.readouterr().out
    assert "\x1b[" in printed
    assert max(map(len, ESCAPE.sub("", printed).splitlines())) == 60


def test_a_stream_without_our_signs_gets_their_nearest_spelling(rg):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    WALKTHROUGHS["two_routes"][0](rg).explain(file=stream)
    stream.flush()
    printed = stream.buffer.getvalue().decode("ascii")
    assert "2 * -3 = -6" in printed
    assert "|####" in printed
    assert "?" not in printed


def test_a_long_story_shows_its_ends_and_says_so(rg):
    (x,) = leaves(rg, x=1.0)
    y = x
    for _ in range(500):
        y = y * 1.01
    text = plain_story(rg, y).text()
    assert "… 477 more steps …" in text
    assert "… 476 more steps …" in text
    assert text.count("\n") < 160


def test_a_long_story_says_which_lines_made_most_values(rg):
    leaves_ = [rg.Value(float(i)) for i in range(20)]
    total = leaves_[0]
    for leaf in leaves_:
        scaled = leaf * 2.0
        total = total + scaled
    text = rg.story(total).text()
    assert "LINES  where 60 values were made" in text
    assert "×20  test_text.py:" in text
    assert "scaled = leaf * 2.0" in text
    assert "… and 8 weaker ones …" in text
    assert "(weakest)" not in text


def test_wide_signs_take_two_columns(rg):
    lines = lines_of(rg)
    assert lines.width_of("重み") == 4
    assert lines.width_of("e\u0301") == 1
    x = rg.Value(2.0, label="重み")
    text = plain_story(rg, x * x).text(60)
    assert all(lines.width_of(line) <= 60 for line in text.splitlines())


# ---- thermometer ------------------------------------------------------------------------------


def test_readings_in_words(rg):
    a, b, c, d, e = leaves(rg, a=1.0, b=1.0, c=1.0, d=1.0, e=1.0)
    root = rg.sum([a * -3.0, b, c * 0.5, d * 0.0, e * 0.125])
    root.label = "L"
    readings = rg.thermometer(root).readings
    assert [reading.words for reading in readings] == [
        "increase a by a little and L falls three times as fast",
        "increase b by a little and L rises just as fast",
        "increase c by a little and L rises half as fast",
        "increase d by a little and L does not move",
        "increase e by a little and L rises 0.125 times as fast",
    ]
    assert [reading.rank for reading in readings] == ["strongest", "", "", "weakest", ""]
    assert readings[0].share == -1.0
    assert readings[1].share == pytest.approx(1 / 3)


def test_readings_of_chosen_values_in_their_order(rg):
    a, b = leaves(rg, a=2.0, b=-3.0)
    product = a * b
    chosen = rg.thermometer(product + a, [product, "b"]).readings
    assert [reading.gradient for reading in chosen] == [1.0, 2.0]


def test_readings_without_numbers(rg):
    (x,) = leaves(rg, x=0.0)
    steep = rg.thermometer(rg.sqrt(x))
    assert steep.readings[0].words == (
        "x stands at an edge: increase it by a little and sqrt(x) rises without bound, "
        "decrease it and sqrt(x) has no finite value"
    )
    assert steep.readings[0].share == 1.0
    lost = rg.thermometer(rg.sqrt(x) * 0.0)
    assert lost.readings[0].words == "the gradient of x is NaN: it says nothing"
    assert "NaN: it says nothing" in lost.text()
    assert math.isnan(lost.readings[0].gradient)
    assert lost.to_json()["readings"][0]["gradient"] == "NaN"


def test_nothing_to_read(rg):
    x = rg.Value(1.0, requires_grad=False)
    assert "nothing to read" in rg.thermometer(x).text()


def test_the_sign_is_shown_by_side_and_shape(rg):
    a, b = leaves(rg, a=2.0, b=-3.0)
    falls, rises = rg.thermometer(a * b).text().splitlines()
    assert re.search(r"◀█+│ ", falls)
    assert re.search(r" │█+▶", rises)


@pytest.mark.parametrize("width", [72, 80, 100])
def test_long_names_are_folded_at_dots(rg, width):
    total = rg.Value(0.0, label="total")
    for layer in range(3):
        w = rg.Value(0.1 * layer, label=f"model.layers[{layer}].neurons[0].w[1]")
        total = total + w * rg.Value(2.0, label=f"model.layers[{layer}].neurons[0].b")
    lines = rg.story(total).text(width).splitlines()
    assert max(map(len, lines)) <= width
    at = next(line.index("BACKWARD") for line in lines if "BACKWARD" in line)
    forward = [line[:at].strip() for line in lines]
    assert not any(re.search(r"\[\d*$", line) or line.startswith("]") for line in forward)
    assert "model.layers[2].neurons[0].w[1]" in "".join(forward).replace(" ", "")


def test_leaves_of_other_layers_have_other_names_in_the_thermometer(rg):
    leaves = [rg.Value(1.0, label=f"model.layers[{k}].neurons[0].w[{i}]")
              for k in range(3) for i in range(4)]  # fmt: skip
    lines = rg.thermometer(rg.sum(leaves), leaves).text(80).splitlines()
    assert len({line.split()[0] for line in lines if "rises" in line}) == len(leaves)


def test_a_sign_is_not_worked_out_twice(rg):
    text = rg.story(-rg.Value(0.5, label="x")).text(80)
    assert "= -0.5 = -0.5" not in text
    assert "= -0.5" in text


def test_the_title_names_a_root_that_the_readings_call_by_a_number(rg):
    a, b, c = (rg.Value(number, label=name) for name, number in zip("abc", (1.0, 2.0, 3.0)))
    deep = rg.story(rg.minimum(rg.minimum(a, b), c))
    long = deep.text()
    assert long.splitlines()[0] == "v2 = minimum(minimum(a, b), c) = 1"
    assert "v2 does not move" in long
    assert ">v2 = minimum(minimum(a, b), c)</h1>" in page_html(deep)
    short = rg.story(rg.minimum(a, b))
    assert short.text().splitlines()[0] == "minimum(a, b) = 1"
    assert ">minimum(a, b)</h1>" in page_html(short)
