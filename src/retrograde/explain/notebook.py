"""What notebooks show of a story or a value: text always, the picture and the page where they can
be drawn.
"""

from __future__ import annotations

from .story import Story


def bundle(story: Story) -> dict[str, str]:
    """The story in every form a notebook may choose from."""
    from .html import page_html
    from .svg import graph_svg

    return {
        "text/plain": story.text(),
        "image/svg+xml": graph_svg(story),
        "text/html": page_html(story),
    }
