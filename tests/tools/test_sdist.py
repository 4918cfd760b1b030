"""The source distribution holds the whole checkout, so its tests pass from it as well."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("build", reason="build is in the extra 'test'")


def tracked() -> set[str]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout of git: there is nothing to compare with")
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def test_every_file_is_in_it(tmp_path: Path) -> None:
    wanted = tracked()
    code = "from scikit_build_core.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert not wanted - names
