"""What lives on the site: pages of stories, made while it is built, and the playground.

Pyodide comes from its npm package, once, into ``build/pyodide``; the site serves it itself, so no
reader's browser asks another server for anything.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLAYGROUND = Path(__file__).parent / "playground"

PYODIDE = "314.0.7"
INTEGRITY = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOtty"
    "McWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
"""The version that is served, and what npm says its package is."""

SERVED = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
PARTS = (".py", ".js", ".css", ".html", ".json", ".md", ".txt")
"""Endings of the package's files that run anywhere."""

PICTURES = {"pictures/page.svg": "live/two-routes.html"}
"""Pictures of pages, and the living page that stands in their place on the site."""


def _two_routes() -> Any:
    import retrograde as rg

    a, b, c = (rg.Value(x, label=name) for name, x in (("a", 2.0), ("b", -3.0), ("c", 10.0)))
    root = (a * b + c) * (a + b)
    root.label = "L"
    return root


def _network() -> Any:
    import retrograde as rg

    model = rg.nn.MLP(2, [3, 1], seed=1)
    loss = (model([1.0, 2.0]) - 1.0) ** 2 + (model([-1.0, 0.5]) + 1.0) ** 2
    loss.label = "loss"
    return loss


LIVE: dict[str, Callable[[], Any]] = {
    "live/two-routes.html": _two_routes,
    "live/network.html": _network,
}


def live_pages() -> dict[str, str]:
    """Every living page by its place."""
    from retrograde.explain.html import page_html
    from retrograde.explain.reading import read

    return {place: page_html(read([made()], [1.0], note="")) for place, made in LIVE.items()}


def frame(place: str, title: str) -> str:
    """A living page inside another."""
    return (
        f'<iframe class="live" src="{place}" title="{title}" loading="lazy" '
        'allow="fullscreen; clipboard-write"></iframe>'
    )


def build_playground(site: Path) -> bool:
    """Put the playground into a site; False where Pyodide cannot be had, as its page then says."""
    target = site / "playground"
    target.mkdir(parents=True, exist_ok=True)
    for file in PLAYGROUND.iterdir():
        if file.suffix != ".py":
            shutil.copyfile(file, target / file.name)
    write_package(target / "retrograde.zip")
    pyodide = pyodide_files()
    if pyodide is None:
        return False
    for name in SERVED:
        shutil.copyfile(pyodide / name, target / name)
    return True


def write_package(target: Path) -> None:
    """The package and the playground's own module as an archive, the same bytes every time."""
    package = ROOT / "src"
    files = [(file, file.relative_to(package)) for file in (package / "retrograde").rglob("*")]
    files.append((PLAYGROUND / "playground.py", Path("playground.py")))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, place in sorted(files, key=lambda each: str(each[1])):
            if file.suffix in PARTS and "__pycache__" not in file.parts:
                entry = zipfile.ZipInfo(place.as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())


def pyodide_files() -> Path | None:
    """The folder with Pyodide's files, fetched from npm if need be; None without npm."""
    folder = ROOT / "build" / "pyodide" / PYODIDE
    if all((folder / name).is_file() for name in SERVED):
        return folder
    npm = shutil.which("npm")
    if npm is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", f"pyodide@{PYODIDE}", "--silent"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    (packed, *_) = [*folder.glob("pyodide-*.tgz"), None]
    if done.returncode or packed is None:
        return None
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        packed.unlink()
        raise ValueError(f"the npm package pyodide {PYODIDE} is not the one this was written for")
    with tarfile.open(packed) as archive:
        for name in SERVED:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())
    packed.unlink()
    return folder
