"""What mkdocs calls while it builds: pages from elsewhere are added, links led to where their
target is on the site, formulas and figures set into the page.
"""

from __future__ import annotations

import posixpath
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tools", "src"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from documentation.live import PICTURES, build_playground, frame, live_pages  # noqa: E402
from documentation.mathml import mathml  # noqa: E402
from documentation.ops_page import site_page  # noqa: E402
from documentation.pages import made_pages, title_of  # noqa: E402
from documentation.reference import places  # noqa: E402
from documentation.rewriting import outside_fences, redirect, session_blocks  # noqa: E402

FORMULA = re.compile(r"\$`([^`]+)`\$|\$([a-z])\$")
PICTURE = re.compile(r"^!\[[^\]]*\]\((?P<source>[^)\s]+\.svg)\)$", re.MULTILINE)
PAGE = re.compile(r"^!\[(?P<title>[^\]]*)\]\((?P<source>[^)\s]+)\)$", re.MULTILINE)
PLACE = re.compile(r'<div data-drawing="(?P<source>[^"]+)"></div>')
NAMED = re.compile(r'(?P<before>\b(?:id|aria-labelledby)="|url\(#)(?P<names>[^")]+)')
CODE = re.compile(
    r"<a [^>]*>.*?</a>|<h\d.*?</h\d>|<pre.*?</pre>"  # names in these are left alone
    r"|<code>(?P<name>(?:rg\.)?\w+(?:\.\w+)*)(?:\([^<]*\))?</code>",
    re.DOTALL,
)

log = get_plugin_logger("retrograde")

INDEXES = ("/index.md", "/README.md")

_site_places: dict[str, str] = {}
"""Files of the repository by the page they are on the site; filled anew by every build."""

_sources: dict[str, str] = {}
"""The other way round."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the folders of pages that the navigation leaves open."""
    pages = {page.place: page.text for page in made_pages()}
    for file in (ROOT / "docs" / "decisions").glob("*.md"):
        pages[f"decisions/{file.name}"] = file.read_text(encoding="utf-8")
    config["nav"] = _filled(config["nav"], pages)
    return config


def _filled(nav: list[Any], pages: dict[str, str]) -> list[Any]:
    """Each ``folder/`` of the navigation as the pages it holds, its index first."""
    filled: list[Any] = []
    for item in nav:
        ((title, inner),) = item.items() if isinstance(item, dict) else ((None, item),)
        if isinstance(inner, list):
            filled.append({title: _filled(inner, pages)})
        elif not inner.endswith("/"):
            filled.append(item)
        elif held := [place for place in sorted(pages) if place.startswith(inner)]:
            index = [place for place in held if place.endswith(INDEXES)]
            named = [{title_of(pages[place]): place} for place in held if place not in index]
            filled.append({title: [*index, *named]})
    return filled


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and learn where everything of the repository is."""
    _site_places.clear()
    _sources.clear()
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        place = f"notebooks/{notebook.name}"
        files.append(File.generated(config, place, abs_src_path=str(notebook)))
        _site_places[place] = place
    for page in made_pages():
        files.append(File.generated(config, page.place, content=page.text))
        if page.source:
            _site_places[page.source] = page.place
    for place, html in live_pages().items():
        files.append(File.generated(config, place, content=html))
    for file in files:
        if file.generated_by is None and not file.src_uri.startswith("assets/"):
            _site_places[f"docs/{file.src_uri}"] = file.src_uri
        elif file.generated_by is None:
            file.inclusion = InclusionLevel.INCLUDED
    _site_places["README.md"] = "index.md"
    _sources.update({place: source for source, place in _site_places.items()})
    _sources["index.md"] = "docs/index.md"
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page as it is written for a code host becomes one of the site."""
    here = page.file.src_uri
    folder = posixpath.dirname(_sources.get(here, ""))
    markdown = PAGE.sub(lambda found: _living(found, here), markdown)
    markdown = PICTURE.sub(lambda found: _place_of_drawing(found, folder), markdown)
    if here == "ops.md":
        markdown = site_page(markdown)
    if here in _sources:
        markdown = redirect(markdown, lambda target: _place(target, here))
    markdown = outside_fences(markdown, lambda text: FORMULA.sub(_formula, text))
    return session_blocks(markdown)


def _living(found: re.Match[str], here: str) -> str:
    """A picture of a page as the page itself."""
    for source, place in PICTURES.items():
        if found["source"].endswith(source):
            return frame(posixpath.relpath(place, posixpath.dirname(here) or "."), found["title"])
    return found[0]


def on_post_build(config: MkDocsConfig) -> None:
    """Serve the playground with the site."""
    if not build_playground(Path(config["site_dir"])):
        log.warning("the playground has no Python: npm could not fetch pyodide")


def _formula(found: re.Match[str]) -> str:
    return mathml(unescape(found[1] or found[2]))


def _place(target: str, here: str) -> str | None:
    """A link of the repository as a link of the site; None where the site has no such page."""
    path, mark, anchor = target.partition("#")
    if "://" in target or not path:
        return target
    source = posixpath.normpath(posixpath.join(posixpath.dirname(_sources[here]), path))
    place = _site_places.get(source) or _site_places.get(f"{source}/README.md")
    if place is None:
        return None
    return posixpath.relpath(place, posixpath.dirname(here) or ".") + mark + anchor


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Set drawings into the page, where they take its colours; link each name to the reference."""
    count = iter(range(1_000))
    html = PLACE.sub(lambda found: _drawing(found["source"], next(count)), html)
    if page.file.src_uri.startswith(("reference/", "changelog")):
        return html
    known = places()
    met: set[str] = set()

    def linked(found: re.Match[str]) -> str:
        place = known.get(found["name"] or "")
        if place is None or found["name"] in met:
            return found[0]
        met.add(found["name"])
        uri, _, anchor = place.partition("#")
        target = files.get_file_from_path(uri)
        assert target is not None
        return f'<a class="name" href="{target.url_relative_to(page.file)}#{anchor}">{found[0]}</a>'

    return CODE.sub(linked, html)


def _place_of_drawing(found: re.Match[str], folder: str) -> str:
    """Where a drawing goes; it is set in once Markdown is done, which would misread its style."""
    file = posixpath.normpath(posixpath.join(folder, found["source"]))
    if not (ROOT / file).is_file():
        raise FileNotFoundError(f"{file}: a page shows it")
    if "<foreignObject" in (ROOT / file).read_text(encoding="utf-8"):
        return found[0]  # a page within a picture: its style would become that of this page
    return f'\n<div data-drawing="{file}"></div>\n'


def _drawing(file: str, number: int) -> str:
    """An SVG as part of the page, its names made its own."""
    svg = (ROOT / file).read_text(encoding="utf-8")

    def own(found: re.Match[str]) -> str:
        names = " ".join(f"{name}-{number}" for name in found["names"].split())
        return found["before"] + names

    svg = NAMED.sub(own, svg[svg.index("<svg") :].strip())
    return f'<div class="drawing">{svg}</div>'
