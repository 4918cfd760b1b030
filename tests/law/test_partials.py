"""Every row's value and partials, checked to third order; and the checker, checked with wrong rows.

Derivatives are taken twice, by ways that share nothing: numerically, from the row's value alone,
with fifty digits; and by the law, from its partials.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import total_ordering
from itertools import chain, product
from math import isfinite
from typing import Any

import pytest

from retrograde.ops import OPS, Op
from retrograde.ops.expr import Compare, Num, Var, walk
from retrograde.ops.special import ROUTINES

from .exact import mp
from .exact import value as mp_value
from .expressions import NotStated, distance_to_kink, evaluate

Point = tuple[float, ...]

every_row = pytest.mark.parametrize("op", OPS.values(), ids=OPS)
every_partial = pytest.mark.parametrize(
    ("op", "index"),
    [(op, i) for op in OPS.values() for i in range(op.arity) if op.inputs[i] not in op.absent],
    ids=[f"{op.name}-{it}" for op in OPS.values() for it in op.inputs if it not in op.absent],
)

TEXTBOOK = {
    "square": lambda x: x**2,
    "reciprocal": lambda x: 1 / x,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "relu": lambda x: max(x, 0),
    "leaky_relu": lambda x, slope: x if x > 0 else slope * x,
    "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "gelu": lambda x: x * mp.ncdf(x),
    "norm_cdf": mp.ncdf,
    "sign": mp.sign,
    "hypot": lambda x, y: mp.sqrt(x**2 + y**2),
    "maximum": max,
    "minimum": min,
    "clip": lambda x, low, high: sorted((low, x, high))[1],
    "where": lambda condition, x, y: x if condition else y,
    "exp2": lambda x: mp.power(2, x),
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": mp.cbrt,
    "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
    "xlogy": lambda x, y: x * mp.log(y),
    "logit": lambda x: mp.log(x) - mp.log(1 - x),
    "logsigmoid": lambda x: -mp.log(1 + mp.exp(-x)),
    "elu": lambda x, alpha: x if x > 0 else alpha * (mp.exp(x) - 1),
    "celu": lambda x, alpha: max(x, 0) + min(0, alpha * (mp.exp(x / alpha) - 1)),
    "selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * mp.expm1(x)),
    "mish": lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))),
    "softsign": lambda x: x / (1 + abs(x)),
    "relu6": lambda x: min(max(x, 0), 6),
    "hardtanh": lambda x, low, high: min(max(x, low), high),
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "sinc": mp.sincpi,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.floor(x) if x > 0 else mp.ceil(x),
    "round": mp.nint,
    "remainder": lambda x, y: x - y * mp.floor(x / y),
    "fmod": lambda x, y: x - y * int(x / y),
    "log_ndtr": lambda x: mp.log(mp.ncdf(x)),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfinv": mp.erfinv,
    "ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "digamma": mp.digamma,
    "trigamma": lambda x: mp.zeta(2, x),
    "betaln": lambda x, y: mp.log(mp.beta(x, y)),
}


def random_points(op: Op, count: int = 24) -> Iterator[Point]:
    """Seeded points of a row's domain, away from its kinks."""
    rng = random.Random(op.name)
    while count:
        point = tuple(rng.uniform(*bounds) for bounds in op.domain)
        if distance_to_kink(op, point) > 0.01:
            count -= 1
            yield point


def pinned_points(op: Op) -> Iterator[tuple[Point, int]]:
    """Points where an input equals a number the row singles out, and which input that is.

    There the row may jump along that input; along the others it has slopes like anywhere.
    """
    expressions = (op.value, *op.partials)
    for node in chain.from_iterable(map(walk, expressions)):
        if not isinstance(node, Compare) or node.symbol not in ("==", "!="):
            continue
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(side, Var) and side.name in op.inputs and isinstance(other, Num):
                index = op.inputs.index(side.name)
                for near in random_points(op, 4):
                    point = (*near[:index], other.value, *near[index + 1 :])
                    if isfinite(op.evaluate(*point)):
                        yield point, index


def numeric_derivative(op: Op, point: Point, wrt: tuple[int, ...]) -> Any:
    """The derivative of the row's value along some of its inputs, from values alone."""
    orders = tuple(wrt.count(index) for index in range(op.arity))
    return mp.diff(lambda *inputs: mp_value(op, inputs), tuple(map(mp.mpf, point)), orders)


@total_ordering
@dataclass(eq=False)
class Dual:
    """``value + tangent·ε`` with its own ε a level; both parts may be duals of lower levels."""

    level: int
    value: Any
    tangent: Any

    def __lt__(self, other: Any) -> bool:
        return bool(number_under(self) < number_under(other))

    def __eq__(self, other: object) -> bool:
        return bool(number_under(self) == number_under(other))


def number_under(thing: Any) -> Any:
    while isinstance(thing, Dual):
        thing = thing.value
    return thing


def law_call(name: str, *args: Any) -> Any:
    """A function the law names, on duals: differentiated by the row of that name, or, of a
    routine that is no row, through its steps."""
    if name not in ROUTINES:
        return law_value(OPS[name], args)
    it = ROUTINES[name]
    known = dict(zip(it.inputs, args))
    for step, expression in it.steps:
        known[step] = evaluate(expression, known, law_call, mp.mpf)
    return evaluate(it.value, known, law_call, mp.mpf)


def law_value(op: Op, inputs: tuple[Any, ...]) -> Any:
    """A row's value on duals, differentiated by the row's partials."""
    level = max((thing.level for thing in inputs if isinstance(thing, Dual)), default=0)
    if level == 0:
        return mp_value(op, inputs)
    top = [isinstance(thing, Dual) and thing.level == level for thing in inputs]
    values = tuple(thing.value if on_top else thing for thing, on_top in zip(inputs, top))
    result = law_value(op, values)
    variables = {**dict(zip(op.inputs, values)), "z": result}
    tangent = mp.mpf(0)
    for partial, thing, on_top in zip(op.partials, inputs, top):
        if on_top:
            slope = evaluate(partial, variables, law_call, mp.mpf)
            tangent = law_call("add", tangent, law_call("mul", slope, thing.tangent))
    return Dual(level, result, tangent)


def law_derivative(op: Op, point: Point, wrt: tuple[int, ...]) -> Any:
    """The same derivative by the law: partials, and the partials of what they are made of."""
    inputs = list(map(mp.mpf, point))
    for level, index in enumerate(wrt, start=1):
        inputs = [Dual(level, thing, mp.mpf(i == index)) for i, thing in enumerate(inputs)]
    result = law_value(op, tuple(inputs))
    for level in range(len(wrt), 0, -1):
        varies = isinstance(result, Dual) and result.level == level
        result = result.tangent if varies else mp.mpf(0)
    return result


def close(got: Any, expected: Any) -> bool:
    """Equal but for the rounding of the law's own constants and of double arithmetic."""
    return abs(got - expected) <= 1e-12 * (1 + abs(expected))


def wrong_partials(op: Op) -> set[int]:
    """The inputs whose partial, on floats, is not the slope of the row's value."""
    wrong = set()
    samples = [(point, None) for point in random_points(op)] + list(pinned_points(op))
    for point, pinned in samples:
        partials = op.evaluate_partials(*point, op.evaluate(*point))
        stated = {i for i, name in enumerate(op.inputs) if name not in op.absent}
        for index in stated - {pinned}:
            if not close(partials[index], numeric_derivative(op, point, (index,))):
                wrong.add(index)
    return wrong


def wrong_derivatives(op: Op, order: int) -> set[tuple[int, ...]]:
    """The derivatives of one order that the law gets wrong, each named by its inputs."""
    found = set()
    for wrt in product(range(op.arity), repeat=order):
        for point in random_points(op, 6):
            try:
                by_the_law = law_derivative(op, point, wrt)
            except NotStated:
                continue
            if not close(by_the_law, numeric_derivative(op, point, wrt)):
                found.add(wrt)
    return found


@every_row
def test_the_value_on_floats_is_the_expression_in_fifty_digits(op: Op) -> None:
    for point in random_points(op):
        assert close(op.forward(*point), mp_value(op, tuple(map(mp.mpf, point)))), point


@pytest.mark.parametrize("name", TEXTBOOK)
def test_the_value_is_the_textbook_function(name: str) -> None:
    for point in random_points(OPS[name]):
        expected = TEXTBOOK[name](*map(mp.mpf, point))
        assert close(OPS[name].forward(*point), expected), point


@every_row
def test_every_partial_is_the_slope_of_the_value(op: Op) -> None:
    assert wrong_partials(op) == set()


@every_row
@pytest.mark.parametrize("order", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_derivatives_of_the_partials_by_the_law_are_those_of_the_value(op: Op, order: int) -> None:
    assert wrong_derivatives(op, order) == set()


@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_pow_is_smooth_in_its_exponent_at_whole_numbers(exponent: float) -> None:
    for wrt in chain.from_iterable(product((0, 1), repeat=order) for order in (1, 2, 3)):
        by_the_law = law_derivative(OPS["pow"], (2.0, exponent), wrt)
        assert close(by_the_law, numeric_derivative(OPS["pow"], (2.0, exponent), wrt)), wrt


def test_every_function_the_law_calls_has_a_row_to_differentiate_it_by() -> None:
    named = frozenset().union(*(it.calls for it in (*OPS.values(), *ROUTINES.values())))
    assert named <= OPS.keys() | ROUTINES.keys()


def with_partial(op: Op, index: int, partial: Any) -> Op:
    return replace(op, partials=(*op.partials[:index], partial, *op.partials[index + 1 :]))


def test_derivatives_end_where_no_partial_is_stated_and_nowhere_else() -> None:
    ends = set()
    for op in OPS.values():
        for order in (1, 2, 3):
            try:
                law_derivative(op, next(random_points(op)), (0,) * order)
            except NotStated:
                ends.add((op.name, order))
                break
    assert ends == {("trigamma", 1), ("digamma", 2), ("lgamma", 3)}


@every_partial
def test_the_checker_finds_a_partial_that_is_one_per_mille_off(op: Op, index: int) -> None:
    right = op.partials[index]
    wrong = right + 0.001 if right == Num(0) else right * 1.001
    assert wrong_partials(with_partial(op, index, wrong)) == {index}


@every_partial
@pytest.mark.parametrize("order", [2, pytest.param(3, marks=pytest.mark.sweep)])
def test_the_checker_finds_a_partial_bent_at_higher_order(op: Op, index: int, order: int) -> None:
    bend = Var(op.inputs[index])
    wrong = op.partials[index] + 0.001 * (bend * bend * bend)
    try:
        law_derivative(op, next(random_points(op)), (index,) * order)
    except NotStated:
        return
    assert (index,) * order in wrong_derivatives(with_partial(op, index, wrong), order)
