"""What the documents say is true: examples run on both cores, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import retrograde
from retrograde import cli
from retrograde.value import core_name

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(retrograde.__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """The Python of a page that is no session, in order."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [block for block in found if not block.lstrip().startswith(">>>")]


WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]
TESTS = ROOT / "docs" / "how-to" / "use-in-pytest.md"
WITH_PROGRAMS = [page for page in PAGES if blocks(page) and page != TESTS]


def named(pages):
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


@pytest.fixture(params=["native", "reference"])
def run(request, tmp_path):
    """Run code in a process of its own, on one core, in an empty folder."""
    if request.param == "native" and core_name != "native":
        pytest.skip("no native core here")

    def code(text, *arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", text, *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(SOURCE),
                "PYTHONUTF8": "1",
                "RETROGRADE_CORE": request.param,
            },
        )

    code.core = request.param
    return code


OTHERS = ("micrograd", "torch", "jax", "pandas", "polars", "pyarrow", "dask")


def need(text):
    """Skip where something that a snippet imports is not installed."""
    for name in OTHERS:
        if re.search(rf"^(?:>>> )?(?:import|from) {name}\b|against=\"{name}\"", text, re.MULTILINE):
            pytest.importorskip(name, reason=f"install {name}")


@pytest.mark.slow
@pytest.mark.bank(every=4)
@pytest.mark.parametrize("page", named(WITH_EXAMPLES))
def test_examples_are_true(run, page):
    need(page.read_text(encoding="utf-8"))
    done = run(
        "import doctest, sys;"
        "found = doctest.testfile(sys.argv[1], module_relative=False, encoding='utf-8');"
        "sys.exit(found.failed or not found.attempted)",
        str(page),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.bank(every=4)
@pytest.mark.parametrize("page", named(WITH_PROGRAMS))
def test_programs_print_what_their_comments_say(run, page):
    code = "\n".join(blocks(page))
    need(code)
    promised = re.findall(r"^ *print\(.*\) +# (.*)$", code, re.MULTILINE)
    done = run(code)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert len(printed) == len(promised) > 0
    for line, promise in zip(printed, promised):
        assert line == promise.partition(": ")[0]


def test_the_tests_of_the_page_on_pytest_do_what_it_says(run, tmp_path):
    (tmp_path / "test_page.py").write_text("\n".join(blocks(TESTS)), encoding="utf-8")
    done = run(
        "import os, sys; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\n"
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))",
        "-q", "-p", "no:cacheprovider", "-p", "retrograde_pytest", "-c", "/dev/null",
        "--rootdir", str(tmp_path), str(tmp_path / "test_page.py"),
    )  # fmt: skip
    assert "1 failed, 5 passed" in done.stdout, done.stdout + done.stderr
    (shown,) = re.findall(r"^```text\n(gradcheck.*?)^```", TESTS.read_text("utf-8"), re.M | re.S)
    assert shown in done.stdout


def commands(page):
    """Every call of ours in the shell blocks of a page, as arguments."""
    for block in re.findall(
        r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        for line in block.splitlines():
            if line.startswith("retrograde "):
                yield shlex.split(line, comments=True)[1:]


WITH_COMMANDS = [page for page in PAGES if any(commands(page))]
CHEAP = (["explain"], ["grade", "cards"], ["grade", "exhibit"])


@pytest.mark.parametrize("page", named(WITH_COMMANDS))
def test_shown_commands_can_be_called(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in commands(page):
        ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
        options, more = cli.parser_of().parse_known_args(ours)
        command = import_module(f"retrograde.cli.{options.command}")
        assert not more or getattr(command, "TAKES_MORE", False), arguments
        files = any(word.endswith(".py") for word in arguments)
        cheap = any(arguments[: len(words)] == words for words in CHEAP)
        if cheap and not files and "--open" not in arguments:
            assert cli.main(arguments) == 0, arguments


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
