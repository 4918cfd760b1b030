"""What the documentation site is made with: every formula, every name, nothing from elsewhere.

The site itself is built and opened by ``python tools/documentation``, a step of CI.
"""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from retrograde.cli import COMMANDS
from retrograde.ops import OPS
from retrograde.ops.emit.latex import latex

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """A module of the tool, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        return import_module(f"documentation.{name}")


@pytest.mark.parametrize("name", ["rewriting", "mathml", "offline"])
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(load(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_every_formula_of_the_law_has_its_mathml_and_its_curves(op) -> None:
    mathml, section = load("mathml").mathml, load("ops_page").section
    for expression in (op.value, *op.partials):
        assert mathml(latex(expression)).startswith("<math>")
    page = section(op)
    assert page.count("<svg") == op.arity
    assert "nan" not in page.partition("<svg")[2].lower()


def test_a_formula_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="not known here"):
        load("mathml").mathml(r"\int x")


def test_every_public_name_is_on_a_page_of_the_reference() -> None:
    assert "rg.gradcheck" in load("reference").index_page()


def test_a_forgotten_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = load("reference")
    monkeypatch.delitem(reference.CHAPTERS, "derivatives")
    with pytest.raises(ValueError, match=r"on no page of the reference: .*rg\.jacobian"):
        reference.index_page()


def test_the_page_of_ops_keeps_its_later_sections() -> None:
    page = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    made = load("ops_page").site_page(page)
    assert "\n### tanh\n" in made
    assert made.endswith(page[page.index("## Ops of many values") :])


def test_every_command_is_in_its_reference() -> None:
    text = load("pages").commands()
    assert all(f"## {command}" in text for command in COMMANDS)
    assert "--folder" in text.partition("## learn")[2]
    assert max(map(len, text.partition("```text")[2].splitlines())) <= 80


@pytest.mark.parametrize(
    "planted",
    [
        '<link rel="stylesheet" href="https://fonts.example/css">',
        '<img src="//cdn.example/a.png">',
        "<style>@import 'https://a.example/b.css'</style>",
        '<p style="background: url(http://a.example/b.png)">',
    ],
)
def test_what_loads_from_elsewhere_is_found(tmp_path: Path, planted: str) -> None:
    page = tmp_path / "index.html"
    page.write_text('<a href="https://example.org">a link is no load</a>', encoding="utf-8")
    assert load("offline").loaded_from_elsewhere(tmp_path) == []
    page.write_text(planted, encoding="utf-8")
    assert len(load("offline").loaded_from_elsewhere(tmp_path)) == 1
