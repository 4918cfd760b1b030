"""The page in a real browser: stepping, clicking, keys, the table, access for everyone."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrograde.explain.html import page_html
from retrograde.explain.phrases import seed_words

from ..browser import Opened
from .stories import walkthroughs

CONTRIBUTIONS = """
() => {
  const { story, numbers } = retrograde;
  const found = [];
  for (const value of story.backward) {
    for (let e = story.starts[value]; e < story.starts[value + 1]; e += 1) {
      if (story.given[e]) {
        found.push([story.inputs[e], numbers.partials[e], numbers.amount[e], numbers.after[e]]);
      }
    }
  }
  return found;
}
"""

# ---- the first look -----------------------------------------------------------------------------


def test_the_page_opens_on_the_finished_pass(meeting: Opened) -> None:
    assert meeting.text("h1") == "L = (a*b + c)*(a + b)"
    assert meeting.text("#phase") == "The whole pass"
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient 7"
    assert meeting.box("b").get_attribute("aria-label") == "b: data −3, gradient 2"
    assert meeting.box("c").get_attribute("aria-label") == "c: data 10, gradient −1"
    assert meeting.text("#count") == "0 / 12"


def test_every_number_of_the_story_is_in_the_page(native: Any, show: Callable[..., Opened]) -> None:
    for root in walkthroughs(native).values():
        story = native.story(root)
        page = show(story)
        found = page.run(
            "[Array.from(retrograde.numbers.data), Array.from(retrograde.numbers.grad)]"
        )
        assert found == [[n.data for n in story.nodes], [n.grad for n in story.nodes]]
        contributions = page.run(CONTRIBUTIONS)
        assert contributions == [
            [it.to, it.partial, it.amount, it.after]
            for step in story.backward
            for it in step.contributions
        ]


def test_the_source_stands_beside_the_graph(meeting: Opened) -> None:
    assert 'made["meeting"] = (a * b + c) * (a + b)' in meeting.text("#source-lines")
    meeting.press("End")
    assert 'made["meeting"]' in meeting.text("#source-lines .now code")


# ---- stepping -----------------------------------------------------------------------------------


def test_steps_go_forwards_then_backwards(native: Any, show: Callable[..., Opened]) -> None:
    story = native.story(walkthroughs(native)["meeting"])
    page = show(story)
    nodes = list(story.nodes)
    made = [f"{nodes[it.node].name} = " if nodes[it.node].inputs else "" for it in story.forward]
    words = [f"{name}{step.words}" for name, step in zip(made, story.forward)]
    words += [seed_words("L", 1.0), *(step.words for step in story.backward)]
    seen = []
    for place in range(len(words)):
        page.press("ArrowRight")
        seen.append(words_of(page))
        phase = "Forward" if place < len(story.forward) else "Backward"
        what = "the seed" if place == len(story.forward) else "step"
        assert page.text("#phase").startswith(f"{phase} · {what}")
    assert seen == words
    page.press("ArrowRight")  # nothing comes after the last
    assert page.text("#count") == f"{len(words)} / {len(words)}"
    page.press("ArrowLeft")
    assert words_of(page) == words[-2]


def words_of(page: Opened) -> str:
    return (page.page.text_content("#words") or "").replace("−", "-")


def test_numbers_appear_when_they_are_known(meeting: Opened) -> None:
    meeting.press("ArrowRight")
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, no gradient yet"
    assert "not known yet" in meeting.box("b").get_attribute("aria-label")
    for _ in range(9):  # seven forward steps, the seed, the first two backward steps
        meeting.press("ArrowRight")
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient 4 so far"
    meeting.press("End")
    assert meeting.box("a").get_attribute("aria-label") == "a: data 2, gradient 7"


def test_a_backward_step_shows_what_it_adds(meeting: Opened) -> None:
    meeting.press("End")
    rows = meeting.page.locator("#sums tbody tr")
    assert [" ".join(text.split()) for text in rows.all_inner_texts()] == [
        "a partial −3 × upstream −1 grad 4 → 7 ▲ +3",
        "b partial 2 × upstream −1 grad 4 → 2 ▼ −2",
    ]


def test_nothing_moves_while_stepping(meeting: Opened) -> None:
    places = (
        "Array.from(document.querySelectorAll('#graph g[transform]'),"
        " (it) => it.getAttribute('transform') + it.firstChild.nextSibling.getAttribute('width'))"
    )
    before = meeting.run(places)
    for _ in range(12):
        meeting.press("ArrowRight")
        assert meeting.run(places) == before


def test_the_scrubber_the_buttons_and_the_keys_agree(meeting: Opened) -> None:
    meeting.page.click("#last")
    assert meeting.text("#count") == "12 / 12"
    meeting.page.click("#previous")
    assert meeting.text("#count") == "11 / 12"
    meeting.page.click("#next")
    meeting.page.click("#first")
    assert meeting.text("#count") == "0 / 12"
    meeting.page.locator("#scrubber").fill("5")
    assert meeting.text("#phase") == "Forward · step 5 of 7"
    meeting.page.locator("#scrubber").press("ArrowRight")
    assert meeting.text("#count") == "6 / 12"
    meeting.press("Home")
    assert meeting.text("#phase") == "The whole pass"


def test_play_runs_to_the_end_and_stops(meeting: Opened) -> None:
    meeting.page.select_option("#speed", "4")
    meeting.press("g")
    meeting.page.locator("body").press("Space")
    assert meeting.page.get_attribute("#play", "aria-label") == "Pause"
    meeting.page.wait_for_function("retrograde.position > 1")
    meeting.page.locator("body").press("Space")
    stopped = meeting.text("#count")
    assert meeting.page.get_attribute("#play", "aria-label") == "Play"
    meeting.page.wait_for_timeout(400)
    assert meeting.text("#count") == stopped
    meeting.page.click("#play")
    meeting.page.wait_for_function("retrograde.position === 12 && !retrograde.timer")


def test_a_step_can_be_linked_to(native: Any, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_html(native.story(walkthroughs(native)["relu"])), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri() + "#step-3")
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#phase").inner_text() == "Forward · step 3 of 6"
    page.close()


# ---- the ledger and the table -------------------------------------------------------------------


def test_a_click_on_a_value_shows_its_ledger(meeting: Opened) -> None:
    meeting.box("b").click()
    assert meeting.text("#ledger-name") == "b"
    rows = meeting.page.locator("#ledger-rows tbody tr")
    assert [" ".join(text.split()) for text in rows.all_inner_texts()] == [
        "v3 partial 1 × upstream 4 ▲ +4",
        "v1 partial 2 × upstream −1 ▼ −2",
    ]
    assert meeting.text("#ledger-total") == "2 contributions: 4 − 2 = ▲ +2"
    meeting.page.click("#ledger-rows button >> nth=0")
    assert meeting.text("#ledger-name") == "v3"


def test_a_value_used_twice_has_two_entries(native: Any, show: Callable[..., Opened]) -> None:
    page = show(native.story(walkthroughs(native)["a-plus-a"]))
    assert page.page.locator("#ledger-rows tbody tr").count() == 2
    assert page.text("#ledger-total") == "2 contributions: 1 + 1 = ▲ +2"


def test_the_table_holds_what_the_picture_shows(meeting: Opened) -> None:
    for _ in range(10):
        meeting.press("ArrowRight")
    boxes = meeting.run(
        "Array.from(document.querySelectorAll('#graph .value'), (it) => ["
        "...it.querySelectorAll('.digits')].map((text) => text.textContent))"
    )
    amounts = meeting.run(
        "Array.from(document.querySelectorAll('#graph .amount'), (it) => it.textContent)"
    )
    meeting.press("t")
    rows = meeting.run(
        "Array.from(document.querySelectorAll('#rows tr'),"
        " (row) => Array.from(row.cells, (cell) => cell.innerText))"
    )
    assert [[row[2], row[3]] for row in rows] == boxes
    passed = " ".join(row[4] for row in rows)
    assert all(amount in passed for amount in amounts if amount)
    assert meeting.page.locator("#graph").is_hidden()


def test_the_table_is_walked_with_the_arrow_keys(meeting: Opened) -> None:
    meeting.press("t")
    meeting.page.locator("#rows tr").nth(0).focus()
    meeting.press("ArrowDown", "ArrowDown")
    assert meeting.text("#ledger-name") == "v1"
    assert meeting.text("#rows tr.chosen th") == "v1"


def test_nan_and_infinities_are_shown_as_such(native: Any, show: Callable[..., Opened]) -> None:
    x, y = native.Value(0.0, label="x"), native.Value(math.inf, label="y")
    page = show(native.story((x * y).log() + 1 / x))
    written = page.text("#graph")
    assert "✕ NaN" in written
    assert "∞" in written


# ---- access -------------------------------------------------------------------------------------


def test_everything_can_be_reached_by_keys(meeting: Opened) -> None:
    reached = set()
    for _ in range(60):
        meeting.press("Tab")
        reached.add(
            meeting.run(
                "document.activeElement.id || document.activeElement.getAttribute('aria-label')"
            )
        )
    assert {"as-table", "play", "scrubber", "speed", "Move a", "Value of a"} <= reached
    assert "a: data 2, gradient 7" in reached
    meeting.box("b").focus()
    meeting.press("Enter")
    assert meeting.text("#ledger-name") == "b"


def test_what_can_be_used_has_a_name(meeting: Opened) -> None:
    nameless = meeting.run(
        "Array.from(document.querySelectorAll('button, input, select, [role=button], [tabindex]'))"
        ".filter((it) => it.offsetParent !== null || it.ownerSVGElement)"
        ".filter((it) => !it.getAttribute('aria-label') && !it.textContent.trim())"
        ".filter((it) => !it.labels || !it.labels.length)"
        ".map((it) => it.outerHTML)"
    )
    assert nameless == []


def test_the_sign_is_told_without_colour(meeting: Opened) -> None:
    shown = meeting.run(
        "Array.from(document.querySelectorAll('#graph .positive, #graph .negative, .grad'),"
        " (it) => it.textContent)"
    )
    assert shown
    assert all(text[0] in "▲▼◆✕·" for text in shown)
    assert all(("+" in text) == (text[0] == "▲") for text in shown)
    assert all(("−" in text) == (text[0] == "▼") for text in shown)


def test_nothing_is_animated_for_those_who_ask(native: Any, show: Callable[..., Opened]) -> None:
    story = native.story(walkthroughs(native)["meeting"])
    moving = "Array.from(document.getAnimations(), (it) => it.effect.target.getAttribute('class'))"
    lively, calm = show(story), show(story, reduced_motion="reduce")
    for page in (lively, calm):
        page.press("End")
    assert lively.run(moving)
    assert calm.run(moving) == []
