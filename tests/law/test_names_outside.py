"""No list of op names outside the law: what a table says of ops is a property of rows or kinds.

To *use* an op by its name is fine: ``each("mul", …)``, ``emit("add", …)``, ``OPS["exp"]``. To
compare with a name, or to keep names in a table, is to know something that the row should say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import retrograde
from retrograde.ops import OPS, STRUCTURAL

PACKAGE = Path(retrograde.__file__).parent
NAMES = frozenset(OPS) | frozenset(STRUCTURAL)

ROOMS = {
    "ops": "the law itself",
    "learn": "the course: what learners write, under the names they give it",
    "torch": "ops of PyTorch, under the names it gives them",
}
ALLOWED = {
    "__init__.py": ({"take"}, "where a public name is found"),
    "_values/protocols.py": ({"less", "less_equal", "equal"}, "ufuncs of NumPy"),
    "_tensors/protocols.py": ({"less", "less_equal", "equal"}, "ufuncs of NumPy"),
    "errors/tensors.py": (
        {"add", "where", "maximum", "minimum"},
        "ufuncs of NumPy and an argument of ufuncs",
    ),
    "streams/lazy.py": ({"sum"}, "what reduce= may be"),
    "_shared/views.py": ({"sum"}, "a row of the array law that the native core has a kernel for"),
    "errors/arrays.py": ({"add", "where"}, "a ufunc of NumPy and an argument of ufuncs"),
    "check/printed.py": (
        NAMES,
        "the language's primitives on complex numbers, which no row can add to",
    ),
    "_shared/blas.py": ({"mul"}, "the language's product, which a matrix product sums"),
    "program/calls.py": ({"sum", "dot"}, "methods of sequences"),
    "program/choices.py": (
        {"less", "less_equal", "equal", "add", "sub", "mul", "neg", "abs"}
        | {"div", "pow", "reciprocal", "square"},
        "arithmetic of Python's, which no row can add to",
    ),
    "program/choosing.py": ({"take"}, "an instruction that chooses"),
    "program/masks.py": (
        {"less", "less_equal", "equal", "sub", "mul", "maximum"},
        "how conditions are written as numbers: not, and, or",
    ),
    "_shared/loops.py": (NAMES, "the language's primitives by NumPy, which no row can add to"),
    "check/array_engines.py": ({"where"}, "the language's own choice, number by number"),
    "check/rounding.py": ({"sign"}, "a kind"),
    "check/subject.py": ({"sum"}, "how rows are reduced"),
    "program/calling.py": ({"sum"}, "how rows are reduced"),
    "printing/device_text.py": (
        {"div"},
        "the language's quotient, by a shared inverse",
    ),
    "printing/doors.py": ({"sum"}, "how rows are reduced"),
    "program/shaped/calls.py": ({"sum"}, "how rows are reduced"),
    "cli/_page.py": ({"equal"}, "a word"),
    "cli/_suggestions.py": ({"sqrt"}, "what the sign for a root is written as"),
    "explain/paths.py": ({"round"}, "Python's own function"),
    "models/checkpoint.py": ({"round"}, "a key of a checkpoint"),
    "models/training.py": ({"round"}, "a key of a checkpoint"),
    "optim/optimizer.py": ({"square"}, "the same"),
    "optim/methods.py": ({"square"}, "a key of an optimizer's state"),
}
"""Words that happen to be names of ops, by file, and what they are there."""


def words(text: str) -> set[str]:
    """The op names that a literal is or lists."""
    listed = set(text.split())
    return listed & NAMES if text in NAMES or (len(listed) > 1 and listed <= NAMES) else set()


def is_use(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Whether a literal is an operand of a call or an index: there it stands for the op."""
    here, parent = node, above[node]
    while isinstance(parent, ast.IfExp) and here is not parent.test:
        here, parent = parent, above[parent]
    if isinstance(parent, ast.Call):
        return here in parent.args
    return isinstance(parent, ast.Subscript) and here is parent.slice


def known_names(source: str) -> Iterator[tuple[int, str]]:
    """Where a file knows ops by name: line and name."""
    tree = ast.parse(source)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = words(node.value)
            if found and not (len(found) == 1 and is_use(node, above)):
                yield from ((node.lineno, name) for name in sorted(found))


def files() -> list[Path]:
    found = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return [path for path in found if path.parts[0] not in ROOMS]


def test_no_file_outside_the_law_keeps_names_of_ops():
    wrong, met = [], set()
    for path in files():
        allowed = ALLOWED.get(path.as_posix(), (frozenset(), ""))[0]
        for line, name in known_names((PACKAGE / path).read_text(encoding="utf-8")):
            if name in allowed:
                met.add(path.as_posix())
            else:
                wrong.append(f"{path}:{line}: {name!r}: make it a property of the row or its kind")
    assert not wrong, "\n".join(wrong)
    assert met == ALLOWED.keys(), "ALLOWED lists what is no longer there"


@pytest.mark.parametrize(
    "source",
    [
        'EVEN = ("square", "abs")', 'NOUN = {"add": "addition"}', 'if op == "mul": pass',
        'x = op in ("sum", "dot")', 'for name in "exp log sqrt".split(): pass',
        'kind = {"sum": "copy"}.get(op)', 'def f(op="tanh"): pass', 'f(op="tanh")',
        'match op:\n    case "relu": pass',
    ],
)  # fmt: skip
def test_this_test_sees_names(source):
    assert list(known_names(source))


@pytest.mark.parametrize(
    "source", ['each("mul", x, y)', 'OPS["exp"]', 'emit("less" if a else "equal", x)', '"a sum"']
)
def test_a_use_is_no_knowledge(source):
    assert not list(known_names(source))
