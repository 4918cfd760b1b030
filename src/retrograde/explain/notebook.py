"""What notebooks show of a story or a value: text always, the picture and the page where they can
be drawn.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .reading import story as read_story
from .story import Story

if TYPE_CHECKING:
    from ..value import Value
    from .thermometer import Thermometer

MOST_VALUES = 2_000
"""Graphs past this size are not told just because a cell ends in a value."""


def bundle(story: Story) -> dict[str, str]:
    """The story in every form a notebook may choose from."""
    from .html import page_html
    from .svg import graph_svg

    return {
        "text/plain": story.text(),
        "image/svg+xml": graph_svg(story),
        "text/html": _framed(page_html(story), f"the story of {story.spelled(story.root)}"),
    }


def _framed(page: str, title: str) -> str:
    """A whole page inside a notebook: in a frame, so that neither styles the other."""
    return (
        f'<iframe title="{escape(title)}" srcdoc="{escape(page)}" '
        'style="width:100%;height:720px;border:0"></iframe>'
    )


def value_bundle(value: Value) -> dict[str, str]:
    """A value: its repr, and its story where it has one that is quickly told."""
    from ..value import core

    text = {"text/plain": repr(value)}
    if core.in_recording() or value.op == "leaf" or len(core.order((value,))) > MOST_VALUES:
        return text
    return {**bundle(read_story(value)), **text}


def thermometer_bundle(readings: Thermometer) -> dict[str, str]:
    """The readings as text and as a picture."""
    from .svg import thermometer_svg

    picture = thermometer_svg(readings)
    return {
        "text/plain": readings.text(),
        "image/svg+xml": picture,
        "text/html": f"<figure>{picture}</figure>",
    }
