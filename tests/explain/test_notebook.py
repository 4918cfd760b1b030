"""What notebooks show: text, the picture and the page, of values and of stories."""

from __future__ import annotations

from .support import WALKTHROUGHS


def test_a_story_and_a_value_offer_text_picture_and_page(rg):
    root = WALKTHROUGHS["gate"][0](rg)
    story = rg.story(root)
    shown = story._repr_mimebundle_()
    assert shown["text/plain"] == story.text()
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/html"].startswith('<iframe title="the story of relu(a*b + d)" srcdoc="')
    value = root._repr_mimebundle_()
    assert value["text/plain"] == repr(root) == "Value(data=4.0, grad=0.0)"
    assert value["image/svg+xml"] == shown["image/svg+xml"]
    assert set(value) == set(shown)
    assert root.grad == 0.0


def test_the_page_cannot_break_out_of_its_frame(rg):
    x = rg.Value(1.0, label='"><script>alert(1)</script>')
    page = rg.story(x * x)._repr_mimebundle_()["text/html"]
    assert page.count("<") == 2
    assert page.count('"') == 6


def test_leaves_and_very_large_graphs_are_text_only(rg):
    x = rg.Value(1.0)
    assert set(x._repr_mimebundle_()) == {"text/plain"}
    y = x
    for _ in range(2_000):
        y = y * 1.0
    assert set(y._repr_mimebundle_()) == {"text/plain"}


def test_the_thermometer_offers_text_and_picture(rg):
    readings = rg.thermometer(WALKTHROUGHS["gate"][0](rg))
    shown = readings._repr_mimebundle_()
    assert shown["text/plain"] == readings.text()
    assert "<svg" in shown["image/svg+xml"]
    assert "<svg" in shown["text/html"]
