"""What the documents say is true: examples run on both cores, links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde
from retrograde.value import core_name

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(retrograde.__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")])
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]


def named(pages):
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


@pytest.fixture(params=["native", "reference"])
def run(request):
    """Run code in a process of its own, on one core."""
    if request.param == "native" and core_name != "native":
        pytest.skip("no native core here")

    def code(text, *arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", text, *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={
                **os.environ,
                "PYTHONPATH": str(SOURCE),
                "PYTHONUTF8": "1",
                "RETROGRADE_CORE": request.param,
            },
        )

    code.core = request.param
    return code


NATIVE_ONLY = ("compile.md",)
"""Pages about what only the native core does; there the reference core must say so."""


@pytest.mark.parametrize("page", named(WITH_EXAMPLES))
def test_examples_are_true(run, page):
    done = run(
        "import doctest, sys;"
        "found = doctest.testfile(sys.argv[1], module_relative=False, encoding='utf-8');"
        "sys.exit(found.failed or not found.attempted)",
        str(page),
    )
    if run.core == "reference" and page.name in NATIVE_ONLY:
        assert "rg.compile needs the native core" in done.stdout
        return
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_prints_what_its_comments_say(run):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL))
    promised = re.findall(r"^ *print\(.*\) +# (.*)$", code, re.MULTILINE)
    done = run(code)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert len(printed) == len(promised) > 3
    for line, promise in zip(printed, promised):
        assert line == promise.partition(": ")[0]


@pytest.mark.parametrize("page", named(PAGES))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if "://" not in link and not (page.parent / link).exists()]


def test_the_readme_has_the_two_commands_for_a_fresh_machine():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (
        "\npython3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/retrograde explain\n"
        in readme
    )
    assert (
        "\npython3 -m venv .venv && .venv/bin/pip install -q '.[test,torch,jax]' && "
        ".venv/bin/python -m pytest -n auto\n"
    ) in readme


def test_scripts_named_by_the_documents_exist():
    for page in ("CONTRIBUTING.md", "README.md", "ARCHITECTURE.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for script in re.findall(r"python ((?:tools|benchmarks)/\w+\.py)", text):
            assert (ROOT / script).exists(), f"{page} names {script}"
