"""The page one lectures with: it fits its width, is zoomed and presented, asks first, says why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retrograde.explain.html import page_html

from ..browser import Opened
from .stories import walkthroughs

WIDTHS = {1440: 900, 1138: 720, 1000: 900, 390: 844}

TOO_WIDE = """
() => {
  const cut = [];
  for (const it of document.querySelectorAll("body *")) {
    const box = it.getBoundingClientRect();
    const shown = box.width > 0 && !it.closest("svg, #table, .steps, #source-lines, .sums");
    if (shown && (box.right > innerWidth + 1 || box.left < -1)) cut.push(it.id || it.className);
  }
  return cut;
}
"""

IN_SIGHT = """
() => {
  const shell = document.getElementById("graph").getBoundingClientRect();
  return [...document.querySelectorAll("#graph .frame")].every((it) => {
    const box = it.getBoundingClientRect();
    return box.left >= shell.left - 1 && box.right <= shell.right + 1
      && box.top >= shell.top - 1 && box.bottom <= shell.bottom + 1;
  });
}
"""

OVERFLOWS = """
() => [...document.querySelectorAll("#graph :is(.value, .group, .outside)")].filter((it) => {
  const frame = it.querySelector(".frame").getBoundingClientRect();
  return [...it.querySelectorAll("text")].some((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1);
  });
}).map((it) => it.getAttribute("aria-label"))
"""


def network(rg: Any) -> Any:
    """A small network, as the standard script has it: groups, long names, many values."""
    model = rg.nn.MLP(3, [4, 4, 1], seed=1)
    loss = rg.sum([(model([0.5, -1.0, x]) - x) ** 2 for x in (1.0, -1.0)])
    loss.label = "loss"
    return loss


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["meeting", "network"])
def test_the_page_fits_its_width_and_cuts_nothing(
    native: Any, show: Callable[..., Opened], width: int, which: str, scheme: str
) -> None:
    root = walkthroughs(native)["meeting"] if which == "meeting" else network(native)
    story = native.story(root)
    page = show(story, viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme)
    last = page.run("Number(document.getElementById('scrubber').max)")
    assert page.run(IN_SIGHT)
    for position in sorted({*range(0, last, max(1, last // 12)), len(story.forward) + 1, last}):
        page.run("(position) => retrograde.at(position)", position)
        assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run(TOO_WIDE) == []
        assert page.run(OVERFLOWS) == []
    page.press("q")
    page.press("Home", "ArrowRight")
    assert page.run(TOO_WIDE) == []
    page.press("Escape", "p")
    assert page.run(TOO_WIDE) == []
    assert page.run("document.documentElement.scrollHeight") <= WIDTHS[width]


# ---- the seed, and why it is += ------------------------------------------------------------------


def test_the_seed_is_a_step(meeting: Opened) -> None:
    meeting.run("retrograde.at(8)")
    assert meeting.text("#phase") == "Backward · the seed"
    assert meeting.text("#words") == (
        "L moves just as fast as itself: backward starts with 1 as its gradient, the seed"
    )
    assert meeting.box("L").get_attribute("aria-label").endswith("data −4, gradient 1")
    assert meeting.page.locator("#graph g.now.root").count() == 1
    assert meeting.text("#backward-steps .now") == "seed L grad = 1"
    meeting.press("ArrowRight")
    assert meeting.text("#phase") == "Backward · step 1 of 4"


def test_the_second_contribution_says_why_it_is_added(meeting: Opened) -> None:
    meeting.press("End")
    assert meeting.text("#adding") == (
        "a already holds 4 from a + b: both uses count, so it is added. The same goes for b."
    )
    meeting.press("ArrowLeft")
    assert meeting.page.locator("#adding").is_hidden()
    meeting.run("retrograde.move(0, 3)")  # the sentence follows what was moved
    meeting.press("End")
    assert meeting.text("#adding").startswith("a already holds 1 from a + b")


def test_a_value_used_twice_by_one_op_says_so(native: Any, show: Callable[..., Opened]) -> None:
    page = show(native.story(walkthroughs(native)["a-plus-a"]))
    page.press("End")
    assert page.text("#adding") == (
        "a already holds 1 from its other place in a + a: both count, so it is added."
    )


def test_what_is_to_come_does_not_look_like_no_effect(meeting: Opened) -> None:
    meeting.run("retrograde.at(8)")
    assert meeting.page.text_content("#graph [data-ref='0'] .pending") == "○ to come"
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient to come"
    assert meeting.text("#bars .pending >> nth=0") == "○ to come"
    assert "◆" not in (meeting.page.text_content("#graph") or "")
    meeting.press("t")
    assert "○ to come" in meeting.text("#rows")


# ---- the waterfall -------------------------------------------------------------------------------


def test_both_passes_stand_beside_the_graph(meeting: Opened) -> None:
    rows = meeting.page.locator("#backward-steps li")
    assert [" ".join(text.split()) for text in rows.all_inner_texts()] == [
        "seed L grad = 1",
        "1 L = v2 * v3 v2 += −1, v3 += 4",
        "2 v3 = a + b a += 4, b += 4",
        "3 v2 = v1 + c v1 += −1, c += −1",
        "4 v1 = a * b a += 3, b += −2",
    ]
    meeting.page.click("#forward-steps li >> nth=2")
    assert meeting.text("#words").startswith("v1 = a * b = 2 × −3 = −6")
    assert meeting.text("#forward-steps .now") == "3 v1 = a * b = −6"
    assert meeting.text("#forward-steps .later >> nth=0") == "4 c ·"
    boxes = meeting.run(
        "['graph', 'forward-steps', 'backward-steps'].map((id) =>"
        " document.getElementById(id).getBoundingClientRect().left)"
    )
    assert boxes == sorted(boxes)


# ---- predicting ----------------------------------------------------------------------------------


def test_a_step_is_predicted_before_it_is_seen(meeting: Opened) -> None:
    meeting.press("q")
    assert "−4" not in meeting.text("header")
    assert "−4" not in meeting.text("#graph")
    meeting.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert meeting.text("#words") == "v1 = a * b. What is it?"
    page = meeting.text("body")
    assert "−6" not in page
    meeting.page.fill("#guesses input", "-6")
    meeting.press("Enter")
    assert meeting.text("#guesses") == "✓ v1 −6 (guess: -6)"
    assert meeting.text("#tally") == "1 of 1 right"
    assert "−6" in meeting.text("#graph")


def test_guesses_of_a_backward_step_are_told_apart(meeting: Opened) -> None:
    meeting.press("q")
    meeting.run("retrograde.at(12)")
    assert meeting.text("#words") == (
        "v1 = a * b, and −1 arrives at v1. What does each input receive?"
    )
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient 4 so far"
    asked = (
        "[...document.querySelectorAll('#graph .amount')].filter((it) => it.textContent === '?')"
    )
    assert meeting.run(f"{asked}.length") == 2
    fields = meeting.page.locator("#guesses input")
    fields.nth(0).fill("3")
    fields.nth(1).fill("2")
    meeting.page.click("#reveal")
    assert meeting.text("#guesses") == ("✓ a receives 3 (guess: 3) ✗ b receives −2 (guess: 2)")
    assert meeting.text("#tally") == "1 of 2 right"


def test_a_guess_that_was_said_counts(meeting: Opened) -> None:
    meeting.press("q")
    meeting.run("retrograde.at(8)")
    assert meeting.text("#words") == "Backward starts at L. Which gradient does it start with?"
    meeting.page.click("#reveal")
    assert meeting.text("#spoken") == "We said it right or wrong"
    meeting.page.click("#said-right")
    assert meeting.text("#tally") == "1 of 1 right"
    assert meeting.text("#guesses") == "✓ said right"
    assert meeting.page.locator("#spoken").is_hidden()
    meeting.press("PageDown")  # asks the next
    assert meeting.page.locator("#reveal").is_visible()
    meeting.press("PageDown")  # reveals it, nothing guessed
    assert meeting.page.locator("#reveal").is_hidden()
    assert meeting.text("#tally") == "1 of 1 right"


def test_a_guess_may_be_rounded(meeting: Opened) -> None:
    right = "([text, truth]) => retrograde.isRight(text, truth)"
    for text, truth, expected in [
        ("0.33", 1 / 3, True), ("1/3", 1 / 3, True), ("−2", -2.0, True), ("0,5", 0.5, True),
        ("0.3", 0.26, True), ("0.3", 0.2, False), ("3", 4.0, False), ("", 0.0, False),
    ]:  # fmt: skip
        assert meeting.run(right, [text, truth]) is expected, text


# ---- zoom, modes, keys ---------------------------------------------------------------------------


def camera(page: Opened) -> Any:
    return page.run("({ ...retrograde.camera })")


def test_the_picture_is_zoomed_moved_and_fitted(meeting: Opened) -> None:
    meeting.page.emulate_media(reduced_motion="reduce")
    before = camera(meeting)
    meeting.page.click("#zoom-in")
    assert camera(meeting)["k"] == pytest.approx(before["k"] * 1.3)
    box = meeting.page.locator("#graph").bounding_box()
    meeting.page.mouse.move(box["x"] + 300, box["y"] + 30)
    meeting.page.mouse.down()
    meeting.page.mouse.move(box["x"] + 250, box["y"] + 60, steps=4)
    meeting.page.mouse.up()
    assert camera(meeting)["x"] > before["x"]
    meeting.page.keyboard.down("Control")
    meeting.page.mouse.wheel(0, -100)
    meeting.page.keyboard.up("Control")
    assert camera(meeting)["k"] > before["k"] * 1.3
    meeting.press("0")
    assert camera(meeting) == before
    assert meeting.run(IN_SIGHT)


def test_a_drag_that_begins_on_a_value_does_not_choose_it(meeting: Opened) -> None:
    box = meeting.box("c").bounding_box()
    meeting.page.mouse.move(box["x"] + 20, box["y"] + 20)
    meeting.page.mouse.down()
    meeting.page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    meeting.page.mouse.up()
    assert meeting.text("#ledger-name") == "a"
    meeting.box("c").click()
    assert meeting.text("#ledger-name") == "c"


def test_presenting_shows_the_graph_and_the_sentence(meeting: Opened) -> None:
    meeting.run("retrograde.at(12)")
    size = "parseFloat(getComputedStyle(document.getElementById('words')).fontSize)"
    before = meeting.run(size)
    meeting.press("p")
    for hidden in ("header", "#ledger", "#thermometer", "#waterfall", "#source", "footer"):
        assert meeting.page.locator(hidden).is_hidden()
    assert meeting.page.locator("#words").is_visible()
    assert meeting.page.locator("#graph").is_visible()
    assert meeting.run(size) > before * 1.5
    assert meeting.run(IN_SIGHT)
    meeting.press("PageUp")
    assert meeting.text("#count") == "11 / 12"
    meeting.press("Escape")
    assert meeting.page.locator("#ledger").is_visible()


def test_full_screen_and_back(meeting: Opened) -> None:
    meeting.page.click("#full")
    meeting.page.wait_for_function("document.fullscreenElement !== null")
    meeting.press("f")
    meeting.page.wait_for_function("document.fullscreenElement === null")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_switched(native: Any, show: Callable[..., Opened], scheme: str) -> None:
    page = show(native.story(walkthroughs(native)["relu"]), color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.run(paper)
    page.press("d")
    after = page.run(paper)
    assert {before, after} == {"rgb(246, 245, 241)", "rgb(17, 20, 26)"}
    page.page.reload()
    page.page.wait_for_selector("body[data-ready]")
    assert page.run(paper) == after
    page.page.click("#theme")
    assert page.run(paper) == before


@pytest.mark.parametrize(
    "focus", ["#theme", "#speed", "#scrubber", "#sliders input >> nth=0", "#sliders input >> nth=1",
              "#graph [data-ref='0']", "#source-lines", "#forward-steps button >> nth=0"],
)  # fmt: skip
def test_page_down_steps_wherever_the_focus_is(meeting: Opened, focus: str) -> None:
    meeting.page.locator(focus).focus()
    meeting.press("PageDown", "PageDown", "PageUp")
    assert meeting.text("#count") == "1 / 12"


def test_a_clicked_button_gives_the_keys_back(meeting: Opened) -> None:
    meeting.page.click("#next")
    meeting.press("ArrowRight")
    assert meeting.text("#count") == "2 / 12"
    meeting.page.select_option("#speed", "4")
    meeting.page.locator("#sliders input >> nth=0").click()
    meeting.press("ArrowRight")
    assert meeting.text("#count") == "3 / 12"
    meeting.page.click("#theme")
    meeting.press("Space")
    assert meeting.page.get_attribute("#play", "aria-label") == "Pause"
    meeting.press("Space")


# ---- links and files -----------------------------------------------------------------------------


def test_a_step_has_a_link(meeting: Opened) -> None:
    meeting.run("retrograde.at(9)")
    meeting.press("l")
    meeting.page.wait_for_function("location.hash === '#step-9'")
    meeting.page.wait_for_function("document.querySelector('#said').textContent.includes('step')")
    meeting.run("retrograde.at(0)")
    meeting.page.reload()
    meeting.page.wait_for_selector("body[data-ready]")
    assert meeting.text("#count") == "9 / 12"


@pytest.fixture
def saved(
    native: Any, browser: Any, tmp_path: Path
) -> Iterator[Callable[[str], tuple[str, bytes]]]:
    """What a button saves."""
    path = tmp_path / "page.html"
    path.write_text(page_html(native.story(walkthroughs(native)["meeting"])), encoding="utf-8")
    page = browser.new_page(accept_downloads=True)
    page.goto(path.as_uri() + "#step-12")
    page.wait_for_selector("body[data-ready]")

    def save(button: str) -> tuple[str, bytes]:
        with page.expect_download() as download:
            page.click(button)
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    yield save
    page.close()


def test_the_picture_is_saved_as_it_stands(saved: Callable[[str], tuple[str, bytes]]) -> None:
    name, content = saved("#save-svg")
    text = content.decode()
    assert name == "L-step-12.svg"
    assert text.startswith("<svg")
    assert "▲ +7" in text
    assert "http" not in re.sub(r"http://www\.w3\.org/\d+/(svg|xmlns/?)", "", text)
    name, content = saved("#save-png")
    assert name == "L-step-12.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width = int.from_bytes(content[16:20], "big")
    assert width > 1500
    assert len(content) > 20_000


def test_a_saved_picture_looks_like_the_page(
    saved: Callable[[str], tuple[str, bytes]], browser: Any, tmp_path: Path
) -> None:
    _, content = saved("#save-svg")
    path = tmp_path / "saved.svg"
    path.write_bytes(content)
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.localName") == "svg"
    fill = "getComputedStyle(document.querySelector('.now .frame')).fill"
    assert page.evaluate(fill) == "rgb(253, 235, 220)"
    page.close()


def test_a_step_of_a_big_graph_is_large_enough_to_be_presented(
    native: Any, show: Callable[..., Opened]
) -> None:
    page = show(native.story(network(native)), viewport={"width": 1138, "height": 720})
    page.press("p")
    for position in (20, 60, 90):
        page.run("(position) => retrograde.at(position)", position)
        page.press("PageDown")
        page.page.wait_for_function(
            "(document.querySelector('#graph .now .frame') || {getBoundingClientRect: () => ({})})"
            ".getBoundingClientRect().width >= 150"
        )
