"""Write every file that is derived from the law, or check that they are current.

    python tools/regenerate.py            write them
    python tools/regenerate.py --check    write nothing; exit 1 and name what is stale

Needs a plain checkout and nothing else: the law is loaded by itself, without the engine.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]

REGION_OPENS = "    # Generated op methods: tools/regenerate.py writes from here\n"
REGION_CLOSES = "    # to here.\n"


def load_law(root: Path) -> ModuleType:
    """The package ``src/retrograde/ops`` under a name of its own: the engine is not imported."""
    home = root / "src" / "retrograde" / "ops"
    spec = importlib.util.spec_from_file_location(
        "law", home / "__init__.py", submodule_search_locations=[str(home)]
    )
    if spec is None or spec.loader is None:
        raise SystemExit(f"{home} holds no law")
    for name in [name for name in sys.modules if name.partition(".")[0] == "law"]:
        del sys.modules[name]
    law = sys.modules["law"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(law)
    return law


def with_region(text: str, region: str, path: str) -> str:
    """A hand-written file with its generated region replaced."""
    before, opening, rest = text.partition(REGION_OPENS)
    _, closing, after = rest.partition(REGION_CLOSES)
    if not opening or not closing:
        raise SystemExit(f"{path} has lost the marks around its generated region")
    return f"{before}{opening}\n{region}\n{closing}{after}"


def generate(root: Path = ROOT) -> Mapping[str, str]:
    """Every derived file, by its path from the root: what it should hold."""
    ops = load_law(root).OPS.values()
    c, docs, kernels, stubs = (
        import_module(f"law.emit.{name}") for name in ("c", "docs", "kernels", "stubs")
    )
    array, array_page = import_module("law.array"), import_module("law.arrays.page")
    native_stub = "src/retrograde/_native.pyi"
    written_by_hand = (root / native_stub).read_text(encoding="utf-8")
    return {
        "native/ops.gen.h": c.header(ops),
        "native/kernels/rows.gen.h": kernels.header(ops),
        "native/kernels/maps.gen.h": kernels.maps(ops),
        "docs/ops.md": docs.page(ops),
        "docs/array-rows.md": array_page.page(array.ARRAYS, array.CHOICES),
        "src/retrograde/_values/elementwise.pyi": stubs.module(ops),
        native_stub: with_region(written_by_hand, stubs.methods(ops), native_stub),
    }


def stale(root: Path = ROOT) -> list[str]:
    """The derived files that are missing or do not hold what the law says."""
    return [path for path, text in generate(root).items() if _read(root / path) != text]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def regenerate(root: Path = ROOT, say: Callable[[str], object] = print) -> None:
    """Write the derived files that are not current."""
    for path, text in generate(root).items():
        if _read(root / path) == text:
            say(f"current  {path}")
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        say(f"written  {path}")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if any is stale"
    )
    if not parser.parse_args(arguments).check:
        regenerate()
        return 0
    outdated = stale()
    for path in outdated:
        print(f"stale: {path}: run python tools/regenerate.py", file=sys.stderr)
    if not outdated:
        print("every generated file is current")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
