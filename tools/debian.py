"""Packages of Debian unpacked into a folder, for any processor and suite; nothing is installed.

An apt of its own, which knows nothing of this machine, fetches a package with all it depends on.
An interpreter that was unpacked like this runs by the loader and the C library it came with.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import scratch

KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"
NEEDED = ("apt-get", "dpkg-deb")

LAUNCHER = """\
#!/bin/sh
exec '{loader}' --library-path '{libraries}' --argv0 "$0" '{program}' "$@"
"""


def missing() -> list[str]:
    """What is needed and not there."""
    lacking = [name for name in NEEDED if not shutil.which(name)]
    return lacking if Path(KEY).exists() else [*lacking, KEY]


def unpack(home: Path, suites: Sequence[str], processor: str, packages: Sequence[str]) -> Path:
    """Unpack packages below ``home``, unless they are there; the folder for the root."""
    root, apt = home / "root", home / "apt"
    finished = home / "finished"
    if finished.exists() and finished.read_text(encoding="utf-8") == " ".join(packages):
        return root
    for folder in ("lists/partial", "archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    lines = [f"deb [signed-by={KEY}] http://deb.debian.org/debian {suite} main" for suite in suites]
    (apt / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (apt / "apt.conf").write_text(
        f'Dir::State "{apt}"; Dir::State::status "{apt}/status"; Dir::Cache "{apt}";\n'
        f'Dir::State::lists "{apt}/lists"; Dir::Etc::sourcelist "{apt}/sources.list";\n'
        'Dir::Etc::sourceparts "/dev/null"; APT::Sandbox::User "root";\n'
        f'APT::Architecture "{processor}"; APT::Architectures {{ "{processor}"; }};\n',
        encoding="utf-8",
    )
    own = {**os.environ, "APT_CONFIG": str(apt / "apt.conf")}
    scratch.run(["apt-get", "-q", "update"], environment=own)
    quiet = ("-q", "-y", "--no-install-recommends", "--download-only")
    scratch.run(["apt-get", *quiet, "install", *packages], environment=own)
    for package in sorted((apt / "archives").glob("*.deb")):
        scratch.run(["dpkg-deb", "-x", package, root])
    finished.write_text(" ".join(packages), encoding="utf-8")
    return root


def python(home: Path, name: str, suites: Sequence[str] = ("sid",)) -> Path:
    """A Python of this processor with its headers, unpacked below ``home``: its executable.

    ``name`` is as "3.14", or "pypy3".
    """
    processor = scratch.run(["dpkg", "--print-architecture"]).strip()
    is_pypy = name.startswith("pypy")
    own = (name, f"{name}-dev") if is_pypy else (f"python{name}", f"libpython{name}-dev")
    root = unpack(home, suites, processor, (*own, "libstdc++6"))
    executable = (root / "usr" / "bin" / (name if is_pypy else f"python{name}")).resolve()
    real = executable.with_name(f"real-{executable.name}")
    if not real.exists():
        executable.rename(real)
        loader = next(root.glob("usr/lib*/ld-linux-*.so.*"))
        folders = [*root.glob("usr/lib/*-linux-gnu"), *root.glob("lib/*-linux-gnu")]
        libraries = ":".join(map(str, folders))
        text = LAUNCHER.format(loader=loader, libraries=libraries, program=real)
        executable.write_text(text, encoding="utf-8")
        executable.chmod(0o755)
        if not is_pypy:
            _settle_headers(root, name)
    return executable


def _settle_headers(root: Path, version: str) -> None:
    """Debian's pyconfig.h points to one a processor, in a folder compilers do not look into."""
    pointing = root / "usr" / "include" / f"python{version}" / "pyconfig.h"
    for own in (root / "usr" / "include").glob(f"*-linux-gnu/python{version}/pyconfig.h"):
        if re.search(r"#\s*include\s*<", pointing.read_text(encoding="utf-8")):
            shutil.copy(own, pointing)
