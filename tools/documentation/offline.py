"""Is the built site whole by itself? Once by reading it, once by opening its pages in a browser."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

LOADING = {
    ("script", "src"), ("link", "href"), ("img", "src"), ("img", "srcset"), ("iframe", "src"),
    ("source", "src"), ("source", "srcset"), ("video", "src"), ("audio", "src"), ("embed", "src"),
    ("object", "data"), ("image", "href"), ("use", "href"), ("image", "xlink:href"),
    ("use", "xlink:href"), ("form", "action"), ("base", "href"),
}  # fmt: skip
"""Attributes whose address a browser loads, or sends to, by itself."""

ELSEWHERE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(
    r"""(?:url\(\s*['"]?|@import\s+['"])\s*(?P<address>(?:https?:)?//[^'")\s]+)"""
)
BROWSERS = (
    "chromium-headless-shell",  # without windows to draw: a third of the time
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
)  # fmt: skip
SWITCHES = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WIDTHS = (1280, 390)


class _Loads(HTMLParser):
    """Every address that a page would have the browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.style = tag == "style"
        for name, value in attrs:
            if (tag, name) in LOADING and ELSEWHERE.match(value or ""):
                self.found.append(f"<{tag} {name}={value!r}>")
            if name == "style":
                self.found += addresses_in_style(value or "")

    def handle_data(self, data: str) -> None:
        if self.style:
            self.found += addresses_in_style(data)


def addresses_in_style(style: str) -> list[str]:
    """Addresses elsewhere that a style sheet loads.

    >>> addresses_in_style('@import "https://a.b/c.css"; p { background: url(//d.e/f.png) }')
    ['https://a.b/c.css', '//d.e/f.png']
    """
    return [found["address"] for found in IN_STYLE.finditer(style)]


def loads_elsewhere(html: str) -> list[str]:
    """What a page would load from elsewhere; links to follow do not count.

    >>> loads_elsewhere('<a href="https://a.b"></a><script src="https://c.d/e.js"></script>')
    ["<script src='https://c.d/e.js'>"]
    """
    reader = _Loads()
    reader.feed(html)
    return reader.found


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Every reference of the built site that leads out of it, with its file."""
    complaints = []
    for file in sorted(site.rglob("*")):
        if file.suffix in (".html", ".svg"):
            found = loads_elsewhere(file.read_text(encoding="utf-8"))
        elif file.suffix == ".css":
            found = addresses_in_style(file.read_text(encoding="utf-8"))
        else:
            continue
        complaints += [f"{file.relative_to(site)} loads {address}" for address in found]
    return complaints


def opened_offline(site: Path) -> tuple[int, list[str]]:
    """How many pages were opened with the network off, and what they did that no page may do."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return 0, ["no Chromium on this machine to open the pages with: install chromium"]
    pages = [file for file in sorted(site.rglob("*.html")) if file.name != "404.html"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        try:
            context = browser.new_context(offline=True)
            complaints = _look_at(context, site, pages)
        finally:
            browser.close()
    return len(pages), complaints


def _look_at(context: Any, site: Path, pages: list[Path]) -> list[str]:
    complaints: list[str] = []
    tab = context.new_page()
    here = ""
    tab.on("console", lambda message: complaints.append(f"{here} says {message.text!r}"))
    tab.on("pageerror", lambda error: complaints.append(f"{here} fails: {error}"))

    def asked(request: Any) -> None:
        if not request.url.startswith((site.as_uri(), "data:", "blob:", "about:")):
            complaints.append(f"{here} asks for {request.url}")

    tab.on("request", asked)
    for file in pages:
        here = str(file.relative_to(site))
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 844})
            if width == WIDTHS[0]:
                tab.goto(file.as_uri())
            wide = tab.evaluate("document.documentElement.scrollWidth")
            if wide > width + 1:
                complaints.append(f"{here} is {wide} wide in a window of {width}")
    here = "the search"
    tab.set_viewport_size({"width": WIDTHS[0], "height": 844})
    tab.goto((site / "index.html").as_uri())
    tab.locator("[data-md-component=search-query]").click()
    tab.keyboard.type("jacobian")
    try:
        tab.locator(".md-search-result__link").first.wait_for(state="attached", timeout=10_000)
    except Exception as error:
        complaints.append(f"the search finds nothing: {str(error).splitlines()[0]}")
    return complaints
