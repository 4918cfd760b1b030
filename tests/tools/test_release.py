"""What a release says of itself: one address, one list of Pythons, links that work anywhere."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOME = PROJECT["project"]["urls"]["Homepage"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The metadata, as the source distribution has it."""
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is in the extra 'test'")
    pytest.importorskip("hatch_fancy_pypi_readme", reason="it is in the extra 'test'")
    target = tmp_path_factory.mktemp("metadata")
    code = "from scikit_build_core.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, target], cwd=ROOT, check=True, capture_output=True)
    (archive,) = target.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        (name,) = {name for name in files.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name)}
        written = files.extractfile(name)
        assert written is not None
        return email.message_from_bytes(written.read())


def test_nothing_is_left_out(metadata) -> None:
    assert metadata["Author"] == "The retrograde developers"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    labels = {line.partition(",")[0] for line in metadata.get_all("Project-URL")}
    assert labels == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}


def test_links_of_the_long_description_work_anywhere(metadata) -> None:
    text = metadata.get_payload(decode=True).decode()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20
    assert not [t for t in targets if not t.startswith(("https://", "#"))]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", readme):
        assert (ROOT / target).exists(), target
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    raw = HOME.replace("github.com", "raw.githubusercontent.com") + "/main/"
    assert pictures
    assert all(picture.startswith(raw) for picture in pictures)


def test_there_is_one_address() -> None:
    """Whoever hosts the project elsewhere has it in few places, all the same."""
    owner = HOME.removeprefix("https://github.com/")
    for name in ("CITATION.cff", "pyproject.toml", ".github/ISSUE_TEMPLATE/config.yml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        found = set(re.findall(r"(?:github|githubusercontent)\.com/([\w.-]+/[\w.-]+)", text))
        assert found == {owner}, name


def test_the_same_pythons_everywhere() -> None:
    prefix = "Programming Language :: Python :: 3."
    classifiers = PROJECT["project"]["classifiers"]
    stated = {int(line[len(prefix) :]) for line in classifiers if line.startswith(prefix)}
    first, last = min(stated), max(stated)
    assert stated == set(range(first, last + 1))
    assert PROJECT["project"]["requires-python"] == f">=3.{first}"
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp3{minor}-*" for minor in sorted(stated)]
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    assert f"CPython 3.{first} to 3.{last}" in page
    tests = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert {int(minor) for minor in re.findall(r'"3\.(\d+)"', tests)} >= stated - {12}
    assert 'python-version: "3.12"' in tests


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_what_there_is_and_may_do_little(workflow: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra 'docs'")
    read = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert read["permissions"] == {"contents": "read"}
    for name in re.findall(r"(?:\.ci|tools)/\w+(?:\.py)?", workflow.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name
    for job in read["jobs"].values():
        assert "timeout-minutes" in job or len(job["steps"]) < 3
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"] == {"persist-credentials": False}


def test_only_the_publishing_job_may_be_known_to_the_index() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra 'docs'")
    read = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    asking = [
        name for name, job in read["jobs"].items() if "id-token" in job.get("permissions", ())
    ]
    assert asking == ["publish"]
    assert read["jobs"]["publish"]["if"] == "github.ref_type == 'tag'"
    assert set(read["jobs"]["publish"]["needs"]) == {"wheels", "source"}


def test_policies_are_there_and_linked() -> None:
    for name in ("SECURITY.md", "CITATION.cff", "docs/stability.md", "docs/platforms.md"):
        assert (ROOT / name).exists(), name
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "stability.md" in navigation
    assert "platforms.md" in navigation
