"""Say which core runs here, and why: what to paste into a bug report."""

from __future__ import annotations

import argparse
import json
import platform
from importlib import metadata
from typing import Final, TypedDict

from .. import __version__
from .._shared.threads import threads_here
from .._text.console import Row, print_line, print_rows
from .._text.terminal import console
from ..learn.sandbox import boundary_here
from ..printing.compiler import compiler
from ..value import core_name, core_reason, native_core

PACKAGES: Final = {
    "numpy": "needed: arrays in and out",
    "rich": "needed: this terminal",
    "torch": "gradients compared",
    "jax": "gradients compared",
    "scipy": "tests",
    "mpmath": "tests",
    "hypothesis": "tests",
    "pytest": "tests",
    "micrograd": "benchmarks",
    "xad": "benchmarks",
    "autograd": "benchmarks",
}
"""Packages worth knowing about, and what each is for."""


QUIET = "dim"

_ABOUT_REFERENCE = (
    "The reference core is pure Python: the same results, many times slower. "
    "RETROGRADE_CORE=native asks for the native core and says what is missing."
)


class Package(TypedDict):
    """One package; ``version`` is None where it is not installed."""

    name: str
    version: str | None
    purpose: str


class Info(TypedDict):
    """What ``retrograde info`` knows; ``simd`` is None on the reference core.

    ``compiler`` is what ``backend="cc"`` calls; None where there is none. ``boundary`` is what
    keeps students' code apart in ``retrograde grade``; "none" where nothing.
    """

    retrograde: str
    core: str
    reason: str
    simd: str | None
    python: str
    platform: str
    compiler: str | None
    threads: int
    threads_reason: str
    boundary: str
    packages: list[Package]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    found = gather()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        _show(found)
    return 0


def gather() -> Info:
    """The facts, as data. Packages are looked up, not imported."""
    threads = threads_here()
    return {
        "retrograde": __version__,
        "core": core_name,
        "reason": core_reason,
        "simd": simd_level(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
        "compiler": compiler_words(),
        "threads": threads.number,
        "threads_reason": threads.why,
        "boundary": boundary_here(),
        "packages": [
            {"name": name, "version": _version(name), "purpose": purpose}
            for name, purpose in PACKAGES.items()
        ],
    }


def simd_level() -> str | None:
    """The SIMD level of the native kernels; None on the reference core, which has none."""
    if core_name != "native":
        return None
    return native_core.simd_level()


def compiler_words() -> str | None:
    """The C compiler that compiled functions may use; None where none was found."""
    found = compiler()
    return None if found is None else found.words


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _show(found: Info) -> None:
    page = console()
    facts: list[Row] = [
        (("core ", QUIET), (f"{found['core']}: {found['reason']}", "bold")),
        (("SIMD ", QUIET), (found["simd"] or "not used by the reference core", "")),
        (("Python ", QUIET), (found["python"], "")),
        (("platform ", QUIET), (found["platform"], "")),
        (
            ("compiler ", QUIET),
            (found["compiler"] or "none: backend='cc' is the interpreter", ""),
        ),
        (("threads ", QUIET), (f"{found['threads']}: {found['threads_reason']}", "")),
        (("boundary ", QUIET), (f"{found['boundary']}, around students' code in grade", "")),
    ]
    packages: list[Row] = [
        (
            (f"{package['name']} ", QUIET),
            (f"{package['version'] or 'not installed'} ", "" if package["version"] else QUIET),
            (package["purpose"], QUIET),
        )
        for package in found["packages"]
    ]
    print_line(page, ("retrograde", "bold"), (f" {found['retrograde']}", ""))
    page.print()
    print_rows(page, facts, "ll", indent=2)
    page.print()
    print_rows(page, packages, "lll", indent=2)
    if found["core"] == "reference":
        page.print()
        print_line(page, (_ABOUT_REFERENCE, ""))
