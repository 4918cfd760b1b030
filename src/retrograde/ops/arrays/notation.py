"""Statements as text, the way people write index notation, and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..emit.latex import latex as expression_latex
from ..expr import Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
from ..index import (
    Atom,
    Given,
    Index,
    Letter,
    Quotient,
    Read,
    Ref,
    Remainder,
    Size,
    Statement,
    Term,
    Test,
    letters_of,
    map_refs,
    refs,
)
from .slopes import MARK, routine, substituted

SIGNS = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / "}
SYMBOLS = {"<=": r"\le", "<": "<", ">=": r"\ge", "!=": r"\ne"}


def text(statement: Statement) -> str:
    """A statement, one term a line.

    >>> from ..array import ARRAYS
    >>> print(text(ARRAYS["cumsum"].shown()))
    z[i] += x[k] where k <= i
    """
    return "\n".join(term_text(term, statement.how) for term in statement.terms)


def term_text(term: Term, how: str) -> str:
    """One term."""
    tests = ", ".join(map(test_text, term.where))
    line = f"{body_text(term.to)} {how} {body_text(term.body)}"
    return f"{line} where {tests}" if tests else line


def test_text(test: Test) -> str:
    """One condition on loops."""
    return f"{index_text(test.left)} {test.symbol} {index_text(test.right)}"


def index_text(index: Index) -> str:
    """An index: ``2*t + s - 1``."""
    said = ""
    for atoms, factor in index.parts:
        size = "*".join(([str(abs(factor))] if abs(factor) != 1 or not atoms else []) + [
            _atom(atom) for atom in atoms
        ])  # fmt: skip
        sign = "-" if factor < 0 else "+"
        said += f" {sign} {size}" if said else (f"-{size}" if factor < 0 else size)
    return said or "0"


def body_text(node: Expr | Condition, inside: bool = False) -> str:
    """A body as a formula; a call of a row by its name."""
    if isinstance(node, Ref):
        return f"{node.array}[{', '.join(map(index_text, node.at))}]"
    if isinstance(node, Var):
        return node.name
    if isinstance(node, Num):
        return f"{node.value:g}"
    if isinstance(node, Call) and node.name in SIGNS:
        left, right = (body_text(arg, True) for arg in node.args)
        said = f"{left}{SIGNS[node.name]}{right}"
        return f"({said})" if inside else said
    if isinstance(node, Call) and node.name == "neg":
        return f"-{body_text(node.args[0], True)}"
    if isinstance(node, Call):
        return f"{node.name.replace(MARK, chr(39))}({', '.join(map(body_text, node.args))})"
    if isinstance(node, Where):
        parts: tuple[Expr | Condition, ...] = (node.condition, node.then, node.otherwise)
        return f"where({', '.join(map(body_text, parts))})"
    if isinstance(node, Compare):
        return f"{body_text(node.left, True)} {node.symbol} {body_text(node.right, True)}"
    if isinstance(node, (Both, Either)):
        word = "and" if isinstance(node, Both) else "or"
        return f"({body_text(node.left)} {word} {body_text(node.right)})"
    raise TypeError(f"no text for {type(node).__name__}")


def summed(term: Term) -> tuple[str, ...]:
    """The letters of a term that do not stand on its left."""
    left = {name for index in term.to.at for name in letters_of(index)}
    found = (
        name
        for ref in term.refs
        for index in ref.at
        for name in letters_of(index)
        if name not in left
    )
    return tuple(dict.fromkeys(found))


def latex(statement: Statement, name: Callable[[str], str] | None = None) -> str:
    r"""A statement as LaTeX; ``name`` says how to write the name of an array.

    >>> from ..array import ARRAYS
    >>> print(latex(ARRAYS["matmul"].shown()))
    z_{i,j} = \sum_{k} x_{i,k}\,y_{k,j}
    """
    called = name or array_latex
    return r" \\ ".join(_term_latex(term, statement.how, called) for term in statement.terms)


def _term_latex(term: Term, how: str, name: Callable[[str], str]) -> str:
    over = summed(term)
    plain = all(not index.parts or index.letter for index in term.to.at)
    sign = "=" if how == "=" or (over and plain) else r"\mathrel{+}="
    sum_sign = {"*=": r"\prod"}.get(how, r"\sum")
    if over:
        tests = ", ".join(_test_latex(test) for test in term.where)
        under = ",".join(over) + (rf":\, {tests}" if tests else "")
        body = f"{sum_sign}_{{{under}}} {_body_latex(term.body, name)}"
    else:
        body = _body_latex(term.body, name)
        if term.where:
            tests = ", ".join(_test_latex(test) for test in term.where)
            body += rf" \quad ({tests})"
    return f"{_ref_latex(term.to, name)} {sign} {body}"


def _body_latex(body: Expr, name: Callable[[str], str]) -> str:
    """By the printer of the scalar law: each reference stands for a moment under one letter."""
    found = refs(body)
    stands = {ref: chr(0x1D4D0 + number) for number, ref in enumerate(found)}
    line = expression_latex(_printable(map_refs(body, lambda ref: Var(stands[ref]))))
    for ref, mark in stands.items():
        line = line.replace(mark, _ref_latex(ref, name))
    return line


def _printable(body: Expr) -> Expr:
    """Derivatives of routines are written out: the scalar printer does not know their names."""
    if not isinstance(body, Call):
        if isinstance(body, Where):
            return Where(body.condition, _printable(body.then), _printable(body.otherwise))
        return body
    args = tuple(map(_printable, body.args))
    if MARK not in body.name:
        return Call(body.name, args)
    it = routine(body.name)
    values: dict[str, Expr] = dict(zip(it.inputs, args))
    for step, made in it.steps:
        values[step] = substituted(made, values)
    return _printable(substituted(it.value, values))


def _ref_latex(ref: Ref, name: Callable[[str], str]) -> str:
    if not ref.at:
        return name(ref.array)
    return f"{name(ref.array)}_{{{','.join(map(_index_latex, ref.at))}}}"


def array_latex(name: str) -> str:
    """The name of an array: a number behind it is a subscript."""
    word = re.fullmatch(r"(\w)(\d+)", name)
    return f"{word[1]}^{{({word[2]})}}" if word else name


def _test_latex(test: Test) -> str:
    return f"{_index_latex(test.left)} {SYMBOLS[test.symbol]} {_index_latex(test.right)}"


def _index_latex(index: Index) -> str:
    said = ""
    for atoms, factor in index.parts:
        size = r"\,".join(([str(abs(factor))] if abs(factor) != 1 or not atoms else []) + [
            _atom_latex(atom) for atom in atoms
        ])  # fmt: skip
        sign = "-" if factor < 0 else "+"
        said += f" {sign} {size}" if said else (f"-{size}" if factor < 0 else size)
    return said or "0"


def _atom_latex(atom: Atom) -> str:
    if isinstance(atom, Read):
        return f"{atom.array}_{{{','.join(map(_index_latex, atom.at))}}}"
    if isinstance(atom, Size):
        return rf"\lvert {atom.array} \rvert" + (f"_{{{atom.axis}}}" if atom.axis else "")
    if isinstance(atom, Quotient):
        return rf"\lfloor ({_index_latex(atom.of)}) / {_index_latex(atom.by)} \rfloor"
    if isinstance(atom, Remainder):
        return rf"(({_index_latex(atom.of)}) \bmod {_index_latex(atom.by)})"
    word = re.fullmatch(r"([a-z])(\d+)", atom.name)
    return f"{word[1]}_{{{word[2]}}}" if word else atom.name if len(atom.name) == 1 else (
        rf"\mathrm{{{atom.name}}}"
    )  # fmt: skip


def _atom(atom: Atom) -> str:
    if isinstance(atom, (Letter, Given)):
        return atom.name + "..." * (isinstance(atom, Letter) and atom.many)
    if isinstance(atom, Size):
        return f"|{atom.array}|" + (str(atom.axis) if atom.axis else "")
    if isinstance(atom, Read):
        return f"{atom.array}[{', '.join(map(index_text, atom.at))}]"
    sign = {Quotient: "//", Remainder: "%"}[type(atom)]
    of, by = index_text(atom.of), index_text(atom.by)
    return f"({f'({of})' if len(atom.of.parts) > 1 else of} {sign} {by})"
