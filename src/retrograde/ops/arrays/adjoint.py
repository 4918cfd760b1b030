"""The one adjoint rule: from how a result is made to how gradients go back.

``z[f] += body(x[p])`` gives ``x'[p] += z'[f] * dbody/dx``: the loops and the conditions stay, the
two sides change places, and the partial comes from the scalar law. What comes out is again a
statement of the notation, so the same rule differentiates it again.

A product ``z[f] *= body(x[p])`` over one loop k obeys it too: the partial of a product along one
factor is the product of the others, which is itself a statement, ``*=`` where l != k.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from ..expr import Call, Expr, Num
from ..index import (
    RESULT,
    Atom,
    Index,
    Letter,
    Ref,
    Shape,
    Statement,
    Term,
    Test,
    differs,
    letter,
    letters_of,
    map_refs,
    map_term,
    rewritten,
)
from ..scalar import OPS
from .slopes import slope, substituted, times

UPSTREAM, OWN, OTHERS = "g", "r", "o"
"""What adjoints call the upstream gradient, the result they go back through, and the product of the
other factors; numbered where a name is taken."""


@dataclass(frozen=True)
class Adjoint:
    """How one operand receives its gradient.

    ``statement`` makes it. Of the names it reads, ``upstream`` is the gradient of the result,
    ``own`` the result, ``others`` the array that another statement has to make first; the rest are
    the operands.
    """

    statement: Statement
    upstream: str
    own: str
    others: tuple[tuple[str, Statement], ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Every array of numbers it reads: what has to be there when a gradient comes back."""
        made = [name for name, _ in self.others]
        first = [name for _, statement in self.others for name in statement.reads]
        rest = [name for name in self.statement.reads if name not in made]
        return tuple(dict.fromkeys((*first, *rest)))


def adjoint(statement: Statement, operand: str, shape: Shape) -> Adjoint:
    """The gradient of one operand, which has the given shape.

    >>> from ..array import ARRAYS
    >>> from .notation import text
    >>> forward = ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)})
    >>> print(text(adjoint(forward, "x", (3, 4)).statement))
    z[i, k] += g[i, j] * y[k, j]
    """
    taken = {RESULT, *statement.reads, *statement.wholes}
    upstream, own = _fresh(UPSTREAM, taken), _fresh(OWN, taken)
    if statement.how == "*=":
        return _of_product(statement, operand, shape, upstream, own, taken)
    terms = []
    for term in statement.terms:
        body = _by_its_result(term, own) if statement.how == "=" else None
        for ref in term.refs:
            partial = slope(term.body, ref) if ref.array == operand else None
            if partial is not None:
                if body is not None:
                    partial = body[ref]
                terms.append(_turned(term, ref, Ref(upstream, term.to.at), partial))
    return Adjoint(Statement(tuple(terms), shape, _how(terms)), upstream, own)


def saves(statement: Statement, takers: Collection[str] | None = None) -> tuple[str, ...]:
    """What has to be kept for backward: operands, the result as ``z``, chosen or given places.

    ``takers`` are the operands that take gradients; all of them unless told.

    >>> from ..array import ARRAYS
    >>> saves(ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)}))
    ('x', 'y')
    >>> saves(ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)}), ["x"])
    ('y',)
    >>> saves(ARRAYS["exp"].state({"x": (3,)})), saves(ARRAYS["sum"].state({"x": (3,)}))
    (('z',), ())
    >>> saves(ARRAYS["max"].state({"x": (3,)}))
    ('m',)
    """
    found: dict[str, None] = {}
    for operand in statement.reads if takers is None else takers:
        back = adjoint(statement, operand, ())
        for name in back.reads:
            if name == back.own:
                found[RESULT] = None
            elif name != back.upstream:
                found[name] = None
        found.update(dict.fromkeys(back.statement.wholes))
    order = (*statement.reads, RESULT, *statement.wholes)
    return tuple(name for name in order if name in found)


def written_once(term: Term) -> bool:
    """Whether it is plain that no two turns of its loops write to the same place.

    A place tells its letters where it is a sum of them in which each step is longer than all
    shorter ones together: ``i``, ``n - 1 - i``, or ``4*i + j`` with j below 4.
    """
    lengths = {name: length for name, length in term.loops if length != 1}
    loops = set(lengths)
    for index in term.to.at:
        found = index.affine
        if found is not None:
            reach = 0
            steps = sorted((abs(step), name) for name, step in found[0].items() if name in loops)
            for step, name in steps:
                if step <= reach:
                    break
                reach += step * (lengths[name] - 1)
            else:
                loops -= {name for _, name in steps}
    return not loops


def _how(terms: list[Term]) -> str:
    return "=" if not terms or (len(terms) == 1 and written_once(terms[0])) else "+="


def _turned(term: Term, ref: Ref, up: Expr, partial: Expr) -> Term:
    """The two sides change places."""
    return replace(term, to=Ref(RESULT, ref.at), body=times(up, partial))


def _by_its_result(term: Term, own: str) -> Mapping[Ref, Expr] | None:
    """The partials of a body that is one row of the law on references, by the result where the row
    states them so: then the result is kept, and nothing is computed twice."""
    body = term.body
    if not (isinstance(body, Call) and body.name in OPS and written_once(term)):
        return None
    row = OPS[body.name]
    if not all(isinstance(arg, (Ref, Num)) for arg in body.args) or len(set(body.args)) < row.arity:
        return None
    values = {**dict(zip(row.inputs, body.args)), RESULT: Ref(own, term.to.at)}
    return {
        arg: substituted(partial, values)
        for arg, partial in zip(body.args, row.partials)
        if isinstance(arg, Ref)
    }


def _of_product(
    statement: Statement, operand: str, shape: Shape, upstream: str, own: str, taken: set[str]
) -> Adjoint:
    """Back through ``*=``: the partial along one factor is the product of the others."""
    terms: list[Term] = []
    made: list[tuple[str, Statement]] = []
    for term in statement.terms:
        kept = [name for index in term.to.at for name in letters_of(index)]
        (over,) = [name for name, _ in term.loops if name not in kept]
        lengths = dict(term.loops)
        others = _fresh(OTHERS, taken)
        taken.add(others)
        places = (*term.to.at, letter(over))
        made.append((others, _others(term, over, (*statement.shape, lengths[over]))))
        for ref in term.refs:
            partial = slope(term.body, ref) if ref.array == operand else None
            if partial is not None:
                up = times(Ref(upstream, term.to.at), Ref(others, places))
                terms.append(_turned(term, ref, up, partial))
    gradient = Statement(tuple(terms), shape, _how(terms))
    needed = tuple((name, it) for name, it in made if name in gradient.reads)
    return Adjoint(gradient, upstream, own, needed)


def _others(term: Term, over: str, shape: Shape) -> Statement:
    """``o[f, k] *= body(l) where l != k``."""
    names = [name for name, _ in term.loops]
    new = next(name for name in _names() if name not in names)

    def moved(index: Index) -> Index:
        def change(atom: Atom) -> Index | None:
            return letter(new) if isinstance(atom, Letter) and atom.name == over else None

        return rewritten(index, change)

    inner = map_term(term, lambda _, at: tuple(map(moved, at)), moved)
    length = dict(term.loops)[over]
    tests: tuple[Test, ...] = (*inner.where, differs(letter(new), letter(over)))
    to = Ref(RESULT, (*term.to.at, letter(over)))
    loops = (*term.loops, (new, length))
    return Statement((Term(to, inner.body, tests, loops),), shape, "*=")


def renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    """A statement whose bodies read the same arrays under other names."""

    def new(ref: Ref) -> Ref:
        return Ref(names.get(ref.array, ref.array), ref.at)

    terms = tuple(replace(term, body=map_refs(term.body, new)) for term in statement.terms)
    return replace(statement, terms=terms)


def _fresh(name: str, taken: Collection[str]) -> str:
    number, new = 1, name
    while new in taken:
        number += 1
        new = f"{name}{number}"
    return new


def _names() -> Iterator[str]:
    yield from "klmnpqstuvwabcdefh"
    number = 0
    while True:
        yield f"k{(number := number + 1)}"
