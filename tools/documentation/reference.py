"""Which names stand on which page of the reference. The text is in the docstrings, read by
mkdocstrings; a name of the package that is on no page is an error.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

import retrograde
from retrograde.ops import OPS

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Entry:
    """Something documented: how it is spelled, where it is defined, which members are shown."""

    spelled: str
    defined: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """A page of the reference."""

    title: str
    preface: str
    entries: tuple[Entry, ...]
    sections: dict[str, str] = field(default_factory=dict)
    """A heading to put before an entry, by how the entry is spelled."""


def _named(prefix: str, room: str, names: str) -> tuple[Entry, ...]:
    return tuple(Entry(f"{prefix}{name}", f"{room}.{name}") for name in names.split())


def _public(room: str) -> tuple[Entry, ...]:
    """What a room's ``__init__`` offers, each where it is defined."""
    home = SOURCE / "retrograde" / room / "__init__.py"
    found = []
    for node in ast.parse(home.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if alias.asname and alias.name not in ("describe", "place"):
                    defined = f"retrograde.{room}.{node.module}.{alias.name}"
                    found.append(Entry(f"rg.{room}.{alias.name}", defined))
    return tuple(sorted(found, key=lambda entry: entry.spelled.lower()))


NO_MEMBERS = ("members: false", "show_bases: true")

VALUE = """\
`Value(data)` is a number that remembers how it was made. Operators take values, numbers, NumPy
scalars and arrays on either side; comparisons and truth go by `data`; every op of
[the law](../ops.md) is a method.

| operator | op | |
|---|---|---|
| `x + y`, `x - y`, `x * y`, `x / y`, `-x` | `add`, `sub`, `mul`, `div`, `neg` | |
| `x ** y` | `square`, `reciprocal`, `mul`, `pow` | [by the exponent](../conventions.md#powers) |
| `abs(x)` | `abs` | |
| `x < y`, `x == y`, … | | a `bool`; inside `rg.compile` a condition |
| `float(x)`, `x // y`, `math.exp(x)` | | raise, and say what to write instead |
"""

FUNCTIONS = """\
Functions of values or numbers: values give a value, numbers a float, arrays an array of values.
Formulas, curves and awkward points are on [the page of ops](../ops.md).
"""

CHAPTERS = {
    "value": Chapter("Value", VALUE, (Entry("Value", "retrograde._native.Value"),)),
    "functions": Chapter(
        "Functions of values",
        FUNCTIONS,
        (
            *_named("rg.", "retrograde._native", "sum dot"),
            *_named("rg.", "retrograde._values.functions", "mean norm softmax logsumexp"),
            *_named("rg.", "retrograde._values.take", "take"),
            *_named("rg.", "retrograde._values.scanning", "scan"),
            *_named("rg.", "retrograde._values.graph", "backward order"),
            *_named(
                "rg.", "retrograde._values.bulk", "data grads assign zero_grad freeze unfreeze"
            ),
            *_named("rg.", "retrograde._values.modes", "no_grad anomaly grad_enabled any_bits"),
            *_named("rg.", "retrograde._values.elementwise", " ".join(sorted(OPS))),
        ),
        {
            "rg.sum": "Of many values",
            "rg.backward": "The graph",
            "rg.data": "Many values at once",
            "rg.no_grad": "Modes",
            "rg.abs": "The ops",
        },
    ),
    "tensors": Chapter(
        "Tensors",
        "Arrays in the same graph as values; [Arrays: tensors](../tensors.md) is the guide, and "
        "[every row](../array-rows.md) says what an op computes and hands back. Functions take "
        "tensors, values, numbers and arrays.",
        (
            Entry("rg.Tensor", "retrograde._native.Tensor"),
            *_named(
                "rg.",
                "retrograde._tensors.functions",
                "matmul einsum outer tensordot stack concatenate split flip roll pad tril triu "
                "diag sort cumsum gather scatter embedding conv1d conv2d max_pool avg_pool "
                "log_softmax cross_entropy",
            ),
            *_named("rg.", "retrograde._tensors.equations", "solve cholesky inverse slogdet det"),
        ),
        {"rg.matmul": "Functions"},
    ),
    "derivatives": Chapter(
        "Derivatives",
        "Derivatives as functions. None of them reads or writes any `.grad`, and they compose to "
        "any order.",
        _named(
            "rg.",
            "retrograde._derivatives.derivatives",
            "grad value_and_grad gradients jacobian hessian hvp vjp jvp",
        ),
    ),
    "custom": Chapter(
        "Ops of your own",
        "A function with partials of its own becomes an op; `rg.ops` holds the rows of "
        "[the law](../ops.md) themselves.",
        (
            Entry("rg.custom_op", "retrograde._values.custom.custom_op"),
            Entry("CustomOp", "retrograde._values.custom.CustomOp"),
            Entry("Op", "retrograde.ops.op.Op"),
            Entry("Edge", "retrograde.ops.op.Edge"),
            Entry("HookHandle", "retrograde._shared.hooks.HookHandle"),
            Entry("Site", "retrograde._shared.sites.Site"),
        ),
    ),
    "compile": Chapter(
        "Compiled functions",
        "[Record once, replay over rows](../compile.md) is the guide; "
        "[how the program works](../how-it-works/program.md) is behind it.",
        (
            Entry("rg.compile", "retrograde.program.compiled.compile"),
            Entry("rg.uniform", "retrograde.program.rows.uniform"),
            Entry("rg.rows", "retrograde.program.rows.rows"),
            Entry("rg.columns", "retrograde.frames.binding.columns"),
            Entry("rg.load", "retrograde.program.loaded.load"),
            Entry("Compiled", "retrograde.program.compiled.Compiled", ("inherited_members: true",)),
            Entry("Loaded", "retrograde.program.loaded.Loaded"),
        ),
    ),
    "explain": Chapter(
        "Explanations",
        "[Seeing a backward pass](../story.md) is the guide.",
        (
            Entry("rg.story", "retrograde.explain.reading.story"),
            Entry("rg.ledger", "retrograde.explain.ledger.ledger"),
            Entry("rg.thermometer", "retrograde.explain.thermometer.thermometer"),
            Entry("rg.explain.Story", "retrograde.explain.story.Story"),
            Entry("rg.explain.Ledger", "retrograde.explain.ledger.Ledger"),
            Entry("rg.explain.Thermometer", "retrograde.explain.thermometer.Thermometer"),
            Entry("rg.explain.explain", "retrograde.explain.printing.explain"),
            Entry("page_html", "retrograde.explain.html.page_html"),
            Entry("graph_svg", "retrograde.explain.svg.graph_svg"),
            Entry("graph_dot", "retrograde.explain.dot.graph_dot"),
            Entry("thermometer_svg", "retrograde.explain.thermometer_svg.thermometer_svg"),
        ),
        {
            "rg.story": "From values",
            "rg.explain.Story": "The data",
            "rg.explain.explain": "The views",
        },
    ),
    "check": Chapter(
        "Checks",
        "[Is this gradient right?](../checking.md) and [the doctor](../doctor.md) are the guides.",
        (
            Entry("rg.gradcheck", "retrograde.check.gradcheck.gradcheck"),
            Entry("rg.assert_gradients", "retrograde.check.gradcheck.assert_gradients"),
            Entry("rg.compare", "retrograde.check.compare.compare"),
            Entry("rg.births", "retrograde.diagnose.births.births"),
            Entry(
                "rg.doctor",
                "retrograde.diagnose.doctor.Doctor",
                ('members: ["__call__", "watch"]', "filters: []"),
            ),
            Entry("rg.memory", "retrograde.diagnose.memory.memory"),
        ),
    ),
    "nn": Chapter("Modules", "`rg.nn`: [the guide](../training.md).", _public("nn")),
    "optim": Chapter("Optimizers", "`rg.optim`: [the guide](../training.md).", _public("optim")),
    "models": Chapter("Models", "`retrograde.models`: microgpt, end to end.", _public("models")),
    "optimize": Chapter(
        "SciPy",
        "SciPy's solvers with gradients wired in. They need SciPy when they are called.",
        _named(
            "rg.", "retrograde._derivatives.optimize", "minimize least_squares root root_scalar"
        ),
    ),
    "learn": Chapter(
        "Learning",
        "What `retrograde learn` and `retrograde grade` are made of; "
        "[for learners](../learn.md), [for teachers](../teach.md).",
        (
            Entry("grade_source", "retrograde.learn.grading.grade_source"),
            Entry("Grade", "retrograde.learn.grading.Grade"),
            Entry("card", "retrograde.learn.cards.card"),
            Entry("engine", "retrograde.learn.faults.engine"),
            Entry("rule_card_svg", "retrograde.learn.exhibits.rule_card_svg"),
            Entry("exhibit_svg", "retrograde.learn.exhibits.exhibit_svg"),
            Entry("waterfall_svg", "retrograde.learn.exhibits.waterfall_svg"),
            Entry("curve", "retrograde.learn.curves.curve"),
            Entry("curve_svg", "retrograde.learn.curves.curve_svg"),
        ),
    ),
    "torch": Chapter(
        "PyTorch programs",
        "`rg.torch` is loaded when it is asked for, and needs PyTorch. "
        "[The guide](../torch.md) shows it at work.",
        (
            *_named(
                "rg.torch.",
                "retrograde.torch.public",
                "watch ledger births memory story assert_healthy",
            ),
            Entry("Watch", "retrograde.torch.watching.Watch"),
            Entry("ArrayLedger", "retrograde.explain.array_ledger.ArrayLedger"),
            Entry("Use", "retrograde.explain.array_ledger.Use"),
            Entry("Summary", "retrograde.passes.summary.Summary"),
        ),
    ),
    "errors": Chapter(
        "Errors",
        "Every exception is in `retrograde.errors`, derives from `RetrogradeError` and from the "
        "built-in exception a caller would expect, and says what was done, where, and what to "
        "write instead.",
        (),
    ),
}

PYTEST = """\
# The pytest plugin

It comes with the package and is loaded by pytest by itself; the engine is imported when the first
marked test runs. [Use it in pytest](../how-to/use-in-pytest.md) shows it at work.

## The marker

`@pytest.mark.gradients(*names, order=1, **point)` turns a test into a check of gradients. The test
is called on values and returns the value to check.

| argument | meaning |
|---|---|
| `**point` | arguments of the test by name, each a number or a nest of numbers |
| `*names` | arguments whose numbers come from elsewhere: `parametrize`, fixtures |
| `order` | 2 to check second derivatives too |

A gradient that is wrong or not finite fails the test with the text of
[`GradcheckError`](errors.md#retrograde.errors.checks.GradcheckError); no traceback is printed.
"""


def _errors() -> tuple[Entry, ...]:
    found = []
    for entry in _public("errors"):
        name = entry.spelled.removeprefix("rg.errors.")
        found.append(Entry(name, entry.defined, NO_MEMBERS))
    return tuple(found)


def chapters() -> dict[str, Chapter]:
    """Every chapter by the name of its page."""
    errors = CHAPTERS["errors"]
    return {**CHAPTERS, "errors": Chapter(errors.title, errors.preface, _errors())}


def reference_pages() -> dict[str, str]:
    """Every page of the reference, by its place."""
    pages = {f"reference/{name}.md": _page(chapter) for name, chapter in chapters().items()}
    return {**pages, "reference/pytest.md": PYTEST}


def _page(chapter: Chapter) -> str:
    parts = [f"# {chapter.title}", chapter.preface.rstrip()]
    alone = len(chapter.entries) == 1
    for entry in chapter.entries:
        if heading := chapter.sections.get(entry.spelled):
            parts.append(f"## {heading}")
        level = 2 if alone or not chapter.sections else 3
        options = [f"heading_level: {level}", "show_root_heading: true", *entry.options]
        if alone:
            options.append("show_root_toc_entry: false")
        else:
            options.append(f'heading: "{entry.spelled}"')
            options.append(f'toc_label: "{entry.spelled}"')
        lines = "\n".join(f"      {option}" for option in options)
        parts.append(f"::: {entry.defined}\n    options:\n{lines}")
    return "\n\n".join(parts) + "\n"


def places() -> dict[str, str]:
    """Where a name is explained: ``rg.grad`` -> ``reference/derivatives.md#…``."""
    return {
        entry.spelled: f"reference/{name}.md#{entry.defined}"
        for name, chapter in chapters().items()
        for entry in chapter.entries
        if entry.spelled.startswith("rg.") or name in ("value", "errors")
    }


def index_page() -> str:
    """All public names, each with where it is explained; a forgotten one raises."""
    known = places()
    rooms = {
        "rg.errors",
        "rg.nn",
        "rg.optim",
        "rg.ops",
        "rg.explain",
        "rg.RetrogradeError",
        "rg.Value",
    }
    public = {f"rg.{name}" for name in dir(retrograde) if name[0].isalpha()}
    modules = {
        f"rg.{file.stem}"
        for file in (SOURCE / "retrograde").glob("*")
        if not file.stem.startswith("_")
    }
    missing = sorted(public - modules - rooms - set(known))
    if missing:
        raise ValueError(f"on no page of the reference: {', '.join(missing)}")
    parts = [
        "# Reference",
        "Everything below is made from docstrings, stubs, parsers and [the law](../ops.md) while "
        "the site is built. `rg` stands for `import retrograde as rg`.",
    ]
    for name, chapter in chapters().items():
        names = ", ".join(
            f"[`{entry.spelled}`]({name}.md#{entry.defined})" for entry in chapter.entries
        )
        parts.append(f"## [{chapter.title}]({name}.md)\n\n{names}")
    parts.append("## [The pytest plugin](pytest.md)\n\n`@pytest.mark.gradients`")
    parts.append("## [Command line](commands.md)\n\nEvery command and option of `retrograde`.")
    parts.append(
        "## File formats\n\n[Program files](../file-format.md), [stories](../story-format.md), "
        "[checkpoints](../checkpoint-format.md)."
    )
    return "\n\n".join(parts) + "\n"
