"""Statements of the array law carried out by NumPy: all turns of the loops at once.

An index becomes an array over the letters it names, a reference a view where its indices are plain
letters and a gathered copy where not. Sums of products go to ``einsum``; what remains is computed
over the box of all loops and added up. ``ops/arrays/oracle.py`` says what the result has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from ..ops import OPS
from ..ops.arrays.bodies import Arithmetic
from ..ops.emit import ieee
from ..ops.expr import Call, Expr
from ..ops.index import (
    Atom,
    Chosen,
    Index,
    Letter,
    Quotient,
    Read,
    Ref,
    Remainder,
    Statement,
    Term,
    letters_of,
    refs,
)
from .numerics import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.intp]
Arrays = Mapping[str, Any]

SMALL = 4096
"""Up to so many turns, looking for a better way to add them takes longer than adding them."""


def run(statement: Statement, arrays: Arrays) -> Numbers:
    """What a statement makes of arrays.

    >>> from ..ops.array import ARRAYS
    >>> x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])
    >>> run(ARRAYS["matmul"].state({"x": x.shape, "y": y.shape}), {"x": x, "y": y})
    array([12., 34.])
    """
    result = np.full(statement.shape, 1.0 if statement.how == "*=" else 0.0)
    with np.errstate(all="ignore"):
        for term in statement.terms:
            if all(length for _, length in term.loops):
                _Turns(term, arrays).into(result, statement.how)
    return result


def choose(chosen: Chosen, array: Numbers) -> tuple[Places, ...]:
    """The places that a row finds by looking: one array for each name."""
    if chosen.by == "argsort":
        return (np.argsort(array, axis=chosen.axes[0], kind="stable"),)
    if len(chosen.axes) == 1 and array.size:  # the usual case, without detours
        find = array.argmax if chosen.by == "argmax" else array.argmin
        return (np.asarray(find(chosen.axes[0])),)
    over = tuple(array.shape[axis] for axis in chosen.axes)
    moved = np.moveaxis(array, chosen.axes, range(array.ndim - len(over), array.ndim))
    free = moved.shape[: array.ndim - len(over)]
    if 0 in over:
        raise ValueError(f"{chosen.by} of no numbers: nothing to choose from")
    if 0 in array.shape:
        return tuple(np.zeros(free, np.intp) for _ in over)
    flat = moved.reshape(*free, prod(over))
    found = np.argmax(flat, -1) if chosen.by == "argmax" else np.argmin(flat, -1)
    return tuple(np.asarray(part) for part in np.unravel_index(found, over)) if over else ()


class _Turns:
    """All turns of one term's loops."""

    def __init__(self, term: Term, arrays: Arrays) -> None:
        self.term, self.arrays = term, arrays
        self.names = [name for name, _ in term.loops]
        self.box = tuple(length for _, length in term.loops)
        grid = np.ogrid[tuple(slice(0, length) for length in self.box)] if self.box else ()
        self.letter = dict(zip(self.names, grid))

    def into(self, result: Numbers, how: str) -> None:
        """Write, add or multiply the term's amounts into what it makes."""
        holds = self.holding()
        if how == "*=":
            amounts = np.broadcast_to(self.amounts(), self.box)
            if holds is not None:
                amounts = np.where(holds, amounts, 1.0)
            axes, to = self.kept()
            result[...] = result * self.placed(np.multiply.reduce(amounts, axis=axes), to, result)
            return
        amounts, left = self.summed(holds) if how == "+=" else (self.amounts(), self.names)
        if holds is not None and left != self.names:  # a place is reached if any turn reaches it
            gone = tuple(n for n, name in enumerate(self.names) if name not in left)
            holds = np.any(holds, axis=gone)
        self.scatter(result, amounts, left, how, holds)

    def kept(self) -> tuple[tuple[int, ...], list[str]]:
        """The loops that are multiplied over, by number, and the letters that stay."""
        stay = [name for index in self.term.to.at for name in letters_of(index)]
        return tuple(n for n, name in enumerate(self.names) if name not in stay), stay

    def placed(self, made: Numbers, to: list[str], result: Numbers) -> Numbers:
        """Products in the order of the result's axes; an axis without a letter has length 1."""
        order = [name for name in self.names if name in to]
        turned = np.transpose(made, [order.index(name) for name in to])
        return turned.reshape(result.shape)

    # ---- indices, conditions, references ---------------------------------------------------

    def whole(self, index: Index) -> Any:
        """An index in all turns: an array over its letters, or a number."""
        total: Any = 0
        for atoms, factor in index.parts:
            value: Any = factor
            for atom in atoms:
                value = value * self.atom(atom)
            total = total + value
        return total

    def atom(self, atom: Atom) -> Any:
        """One part of an index in all turns."""
        if isinstance(atom, Letter):
            return self.letter[atom.name]
        if isinstance(atom, Quotient):
            return self.whole(atom.of) // self.whole(atom.by)
        if isinstance(atom, Remainder):
            return self.whole(atom.of) % self.whole(atom.by)
        assert isinstance(atom, Read), "sizes and given numbers are settled when a row is bound"
        return self.arrays[atom.array][tuple(self.whole(part) for part in atom.at)]

    def holding(self) -> Any:
        """Where the conditions hold; None if there are none."""
        holds: Any = None
        for test in self.term.where:
            one = _TESTS[test.symbol](self.whole(test.left), self.whole(test.right))
            holds = one if holds is None else holds & one
        return holds

    def numbers(self, ref: Ref) -> Numbers:
        """A reference in all turns, with an axis for each loop (of length 1 if it has none)."""
        array = self.arrays[ref.array]
        walked = [index.letter for index in ref.at]
        names = [it.name for it in walked if it is not None]
        fixed = [index.number for index in ref.at]
        plain = all(
            n is not None if it is None else self.length(it.name) <= length
            for it, n, length in zip(walked, fixed, array.shape)
        )
        if plain and len(set(names)) == len(names):
            view = array[tuple(slice(self.length(it.name)) if it else n
                               for it, n in zip(walked, fixed))]  # fmt: skip
            order = [name for name in self.names if name in names]
            turned = np.transpose(view, [names.index(name) for name in order])
            shape = [self.length(name) if name in names else 1 for name in self.names]
            return np.asarray(turned.reshape(shape))
        if array.size == 0:  # no turn that counts reads it
            return np.zeros((1,) * len(self.names))
        at = [self.whole(index) for index in ref.at]
        if self.term.where:
            at = [np.clip(one, 0, length - 1) for one, length in zip(at, array.shape)]
        return np.asarray(array[tuple(at)])

    def length(self, name: str) -> int:
        """How long a loop is."""
        return self.box[self.names.index(name)]

    # ---- amounts -------------------------------------------------------------------------

    def amounts(self) -> Numbers:
        """The body in all turns, broadcastable to the box."""
        found = refs(self.term.body)
        body = ARRAYWISE.body(self.term.body, found)
        return np.asarray(body(*map(self.numbers, found)), dtype=float)

    def summed(self, holds: Any) -> tuple[Numbers, list[str]]:
        """The amounts, added up over the letters that the left side does not name."""
        stay = [name for index in self.term.to.at for name in letters_of(index)]
        left = [name for name in self.names if name in stay]
        over = tuple(n for n, name in enumerate(self.names) if name not in stay)
        if not over:
            return self.amounts(), self.names
        by_products = self.contracted(left, holds)
        if by_products is not None:
            return by_products, left
        amounts = np.broadcast_to(self.amounts(), self.box)
        if holds is not None:
            amounts = np.where(holds, amounts, 0.0)
        return np.asarray(amounts.sum(axis=over)), left

    def contracted(self, left: list[str], holds: Any) -> Numbers | None:
        """A sum of products of references by einsum; None where that would not be the same.

        Conditions make factors 0 outside; where another factor is not finite, 0 times it would be
        NaN, so such sums take the long way.
        """
        factors = _product_of(self.term.body)
        if factors is None or (len(factors) == 1 and holds is None):
            return None
        code = {name: chr(97 + n) if n < 26 else chr(39 + n) for n, name in enumerate(self.names)}
        operands, walks = [], []
        for ref in factors:
            numbers = self.numbers(ref)
            named = {name for index in ref.at for name in letters_of(index)}
            axes = [n for n, name in enumerate(self.names) if name not in named]
            operands.append(np.squeeze(numbers, tuple(axes)) if numbers.ndim else numbers)
            walks.append([name for name in self.names if name in named])
        finite = all(np.isfinite(operand).all() for operand in operands)
        if holds is not None:
            if not finite:
                return None
            mask = np.asarray(holds, dtype=float)
            shown = [n for n, length in enumerate(mask.shape) if length == self.box[n]]
            kept = [n for n in shown if mask.shape[n] != 1 or self.box[n] == 1]
            operands.append(mask.reshape([mask.shape[n] for n in kept]))
            walks.append([self.names[n] for n in kept])
        alone = [name for name in self.names if not any(name in walk for walk in walks)]
        for name in alone:  # a loop that only repeats
            operands.append(np.ones(self.length(name)))
            walks.append([name])
        said = ",".join("".join(code[name] for name in walk) for walk in walks)
        out = "".join(code[name] for name in left)
        # another order of several factors is the same sum only where all are finite
        reorder = prod(self.box) > SMALL and (len(operands) == 2 or finite)
        return np.asarray(np.einsum(f"{said}->{out}", *operands, optimize=reorder))

    # ---- places ---------------------------------------------------------------------------

    def scatter(
        self, result: Numbers, amounts: Numbers, left: list[str], how: str, holds: Any
    ) -> None:
        """Bring amounts over some letters to their places."""
        lengths = [self.length(name) for name in left]
        grid = np.ogrid[tuple(slice(0, n) for n in lengths)] if lengths else ()
        self.letter = dict(zip(left, grid))
        amounts = np.broadcast_to(amounts, lengths)
        walked = [index.letter for index in self.term.to.at]
        names = [it.name for it in walked if it is not None]
        if len(names) == len(walked) and sorted(names) == sorted(left) and holds is None:
            turned = np.transpose(amounts, [left.index(name) for name in names])
            if result.shape == turned.shape:
                if how == "=":
                    result[...] = turned
                else:
                    result += turned
                return
        at = [np.broadcast_to(self.whole(index), lengths) for index in self.term.to.at]
        if holds is not None:
            chosen = np.broadcast_to(holds, lengths)
            at, amounts = [one[chosen] for one in at], amounts[chosen]
        if not at:  # one number; its turns are added up already
            result[()] = amounts.sum() + (result[()] if how == "+=" else 0.0)
        elif how == "=":
            result[tuple(at)] = amounts
        else:
            np.add.at(result, tuple(at), amounts)


def _product_of(body: Expr) -> list[Ref] | None:
    """The references a body is the product of; None if it is no such product."""
    if isinstance(body, Ref):
        return [body]
    if isinstance(body, Call) and body.name == "mul":
        left, right = map(_product_of, body.args)
        return [*left, *right] if left and right else None
    return None


_TESTS: Mapping[str, Callable[..., Any]] = {
    "<=": np.less_equal, "<": np.less, ">=": np.greater_equal, "!=": np.not_equal,
}  # fmt: skip

_OURS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "div": "divide", "pow": "power", "abs": "absolute",
}  # fmt: skip
_DIRECT = (
    "sqrt exp expm1 log log1p log2 log10 tanh sin cos tan sinh cosh hypot floor fmod where".split()
)
_LIFTED = ["erf", "erfc", *(name for name, row in OPS.items() if row.tuned)]


def _lifted(name: str) -> Callable[..., Any]:
    """A function that NumPy does not have, number by number."""
    return lambda x: np.asarray(_each(name)(x), dtype=float)


@cache
def _each(name: str) -> Callable[..., Any]:
    each: Callable[..., Any] = np.frompyfunc(getattr(ieee, name), 1, 1)
    return each


ARRAYWISE = Arithmetic(
    {
        **{name: getattr(np, theirs) for name, theirs in _OURS.items()},
        **{name: getattr(np, name) for name in _DIRECT},
        **{name: _lifted(name) for name in _LIFTED},
    }
)
"""The law's functions on NumPy arrays."""
