"""Build the documentation site and check it, or show it while you write.

    python tools/documentation            build strictly into site/; nothing may load from elsewhere
    python tools/documentation serve      on http://127.0.0.1:8000, built again on every change

Needs the ``docs`` extra. Pages are opened from disk in headless Chromium with the network off:
they must ask for nothing, say nothing on the console, fit a phone, and the search must find.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]
os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # a notice of the theme's, not about this site


MKDOCS = [sys.executable, "-m", "mkdocs"]
CONFIG = ["--config-file", str(ROOT / "mkdocs.yml")]


def build() -> bool:
    """Build the site; whether there was no warning."""
    command = [*MKDOCS, "build", "--strict", "--quiet", *CONFIG]
    return subprocess.run(command, check=False).returncode == 0


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", nargs="?", choices=("build", "serve"), default="build")
    if parser.parse_args(arguments).what == "serve":
        os.execv(sys.executable, [*MKDOCS, "serve", *CONFIG, "--watch", str(ROOT / "src")])

    from documentation.offline import loaded_from_elsewhere, opened_offline

    started = time.monotonic()
    if not build():
        return 1
    print(f"built without a warning in {time.monotonic() - started:.0f} s")
    site = ROOT / "site"
    complaints = loaded_from_elsewhere(site)
    if not complaints:
        print("nothing on any page would be loaded from elsewhere")
        pages, complaints = opened_offline(site)
        if not complaints:
            print(
                f"{pages} pages opened with the network off: no request, no message, search finds"
            )
    for complaint in complaints:
        print(f"documentation: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
