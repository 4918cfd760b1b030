"""Pages in the browser that all tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retrograde.explain.html import page_html

from ..browser import Opened
from .stories import walkthroughs


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open the page of a root; when the test is over it must have been quiet."""
    opened: list[Opened] = []

    def show_page(story: Any, **options: Any) -> Opened:
        path = tmp_path / f"page{len(opened)}.html"
        path.write_text(page_html(story), encoding="utf-8")
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield show_page
    for page in opened:
        page.close()


@pytest.fixture
def meeting(native: Any, show: Callable[..., Opened]) -> Opened:
    """(a*b + c) * (a + b) at a=2, b=-3, c=10."""
    root = walkthroughs(native)["meeting"]
    root.backward()
    return show(native.story(root))
