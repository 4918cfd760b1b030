"""A real browser for tests of the page: found on the machine, never downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = (
    "chromium-headless-shell",  # without windows to draw: a third of the time
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
)  # fmt: skip
SWITCHES = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def executable() -> str:
    """Where Chromium is; skips where it is not."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium on this machine: install chromium")


@contextmanager
def running_browser() -> Iterator[Any]:
    """Headless Chromium with a profile of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="install playwright")
    path = executable()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page that is open, and everything it did that a page must not do."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "offline": True, **options}
        )
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.url = path.as_uri()
        self.page.goto(self.url)
        self.page.wait_for_selector("body[data-ready]")

    def close(self) -> None:
        """Close it; it must have been quiet, and have asked for nothing but itself."""
        self.context.close()
        assert self.complaints == []
        assert {url for url in self.requests if not url.startswith("data:")} == {self.url}

    def text(self, selector: str) -> str:
        return " ".join(self.page.locator(selector).inner_text().split())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def run(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def box(self, name: str) -> Any:
        """The box of a value, by its name."""
        return self.page.locator(f"#graph [role=button][aria-label^='{name}:']").or_(
            self.page.locator(f"#graph [role=button][aria-label^='{name} =']")
        )
