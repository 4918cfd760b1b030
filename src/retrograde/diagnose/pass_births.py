"""Births in a pass over arrays: where what is not finite was made, forward and backward.

A value is known by its summary, and not every value is: a birth is where what is known below is
finite. An infinity that is absorbed on its way (a mask's, by a softmax) is never met, since the
walk begins at the roots.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence

from .._shared.birth import BACKWARD, FORWARD, Birth, Operand, Step
from .._shared.sites import Site
from ..passes.flat import Pass
from ..passes.summary import Summary, place_of, shape_text
from .births import Births

MOST = 8
CURES = {
    "inverse": "keep its operand above 0: log(x + 1e-8), log1p, or log_softmax for log(softmax(x))",
    "root": "add a small number below the root: sqrt(x + 1e-8); its slope at 0 is infinite",
    "quotient": "keep the denominator away from 0: x / (y + 1e-8), or clamp it",
    "itself": "bound what is exponentiated, or subtract its maximum first, as softmax does",
    "power": "keep the base away from 0 where the exponent is below 1, and bound large ones",
    "length": "add a small number below the root: the slope of a norm at 0 is not defined",
    "share": "see that a row is not constant, or give the norm a larger eps",
    "weigh": "its operands are too large for their dtype: scale them down, or compute in float32",
}
"""By kind of rule: what keeps it finite."""
MASKED = "see that no row is masked altogether: torch.finfo(dtype).min for -inf stays finite"
GIVEN = "look at its operands there, and check data with torch.isfinite before it goes in"
SLOPE = "give its rule a slope that is finite there: keep what it divides by away from 0"


def births_of(
    graph: Pass, roots: Sequence[int], oddities: Sequence[Birth] = (), given: Birth | None = None
) -> Births:
    """The births of a pass. ``oddities`` are contributions that were seen to go bad while backward
    ran, ``given`` is what came in from outside of the graph, said where the graph has no birth."""
    arrays = graph.arrays
    assert arrays is not None
    found = [_forward(graph, index) for index in born_forward(graph, roots)[:MOST]]
    odd = sum(bool(each and each.odd) for each in arrays.values)
    finite = not any(v.odd for r in roots if (v := arrays.values[r]) is not None)
    if not found and given is not None and not finite:
        found = [given]
    backward = tuple(oddities) or tuple(_backward(graph)) if finite or not found else ()
    grads = sum(bool(each and each.odd) for each in arrays.grads)
    return Births(tuple(found), backward, odd, grads, finite)


def born_forward(graph: Pass, roots: Sequence[int]) -> list[int]:
    """The values at which what is not finite in the roots was born, nearest to the leaves first."""
    assert graph.arrays is not None
    values = graph.arrays.values
    born, pending, seen = [], list(roots), set[int]()
    while pending:
        index = pending.pop()
        if index in seen:
            continue
        seen.add(index)
        value = values[index]
        below = known_below(graph, index)
        odd = [i for i in below if (v := values[i]) is not None and v.odd]
        nans = [i for i in below if (v := values[i]) is not None and v.nans]
        if value is not None and value.odd and (not odd or (value.nans and not nans)):
            source = _origin(graph, index) if odd else index
            masked = source == index or graph.arrays.kinds[source] in ("choose", "leaf")
            born.append(index if masked else source)  # a mask's infinity is meant, a log's is not
        else:
            pending += odd
    return sorted(set(born))


def known_below(graph: Pass, index: int) -> list[int]:
    """The nearest values below that something is known of."""
    assert graph.arrays is not None
    found, pending, seen = [], _inputs(graph, index), set[int]()
    while pending:
        target = pending.pop()
        if target in seen:
            continue
        seen.add(target)
        if graph.arrays.values[target] is not None:
            found.append(target)
        else:
            pending += _inputs(graph, target)
    return found


def _inputs(graph: Pass, index: int) -> list[int]:
    edges = graph.inputs[graph.starts[index] : graph.starts[index + 1]].tolist()
    return [target for target in edges if target >= 0]


def _forward(graph: Pass, index: int) -> Birth:
    arrays = graph.arrays
    assert arrays is not None
    value = arrays.values[index]
    assert value is not None
    below = known_below(graph, index)
    infinite = [i for i in below if (v := arrays.values[i]) is not None and v.infs and not v.nans]
    because = ""
    if infinite and value.nans:
        source = _origin(graph, infinite[0])
        because = f"the infinities come from {_named(graph, source)}{_line(graph.site(source))}"
    operands = [
        Operand(f"{_named(graph, i)} {shape_text(arrays.shapes[i])}: {arrays.values[i]}", 0.0)
        for i in below[:4]
    ]
    kind = arrays.kinds[index]
    usual = GIVEN if value.nans and below and not infinite else MASKED
    leaf = kind == "leaf"
    if leaf:
        because = because or "an earlier step made it: the update before this pass was not finite"
    return Birth(
        FORWARD, "", "leaf" if leaf else (arrays.calls[index] or graph.name(index)),
        arrays.parameters.get(index), float("nan") if value.nans else float("inf"),
        tuple(operands), site=graph.site(index), source=_source(graph.site(index)),
        cure=CURES.get(kind) or usual, route=_route(graph, index),
        index=place_of(value.first, arrays.shapes[index]) if value.first >= 0 else (),
        how_many=value.odd, because=because, group=arrays.groups[index],
    )  # fmt: skip


def _origin(graph: Pass, index: int) -> int:
    """The value that an infinity comes from: down through what hands it on."""
    assert graph.arrays is not None
    values = graph.arrays.values
    while True:
        odd = [i for i in known_below(graph, index) if (v := values[i]) is not None and v.infs]
        if not odd:
            return index
        index = odd[0]


def _backward(graph: Pass) -> list[Birth]:
    """Where the gradient handed on is not finite, and the one received is."""
    arrays = graph.arrays
    assert arrays is not None
    for index in arrays.order:
        above = arrays.grads[index]
        if above is None or above.odd:
            continue
        for edge in range(int(graph.starts[index]), int(graph.starts[index + 1])):
            target = int(graph.inputs[edge])
            seen = arrays.amount(edge, target) if target >= 0 else None
            if seen is not None and seen.odd:
                return [backward_birth(graph, index, target, seen)]
    return []


def backward_birth(
    graph: Pass, index: int, target: int, seen: Summary,
    at: tuple[int, ...] = (), numbers: dict[str, float] | None = None,
) -> Birth:  # fmt: skip
    """A contribution that is not finite, though the gradient it was made from is."""
    arrays = graph.arrays
    assert arrays is not None
    numbers = numbers or {}
    operands = [
        Operand(f"{'its ' if name != 'upstream' else ''}{name} there is {number:.6g}", number)
        for name, number in numbers.items()
        if name != "gradient"
    ]
    result = numbers.get("gradient", float("nan") if seen.nans else float("inf"))
    site, kind = graph.site(index), arrays.kinds[index]
    because = _masked(graph, index, kind, numbers)
    return Birth(
        BACKWARD, "its slope there is not finite", arrays.calls[index] or graph.name(index), None,
        result, tuple(operands), target=_named(graph, target), upstream=numbers.get("upstream"),
        site=site, source=_source(site), cure=CURES.get(kind, SLOPE), route=_route(graph, index),
        index=at, how_many=seen.odd, because=because, group=arrays.groups[index],
    )  # fmt: skip


def _masked(graph: Pass, index: int, kind: str, numbers: dict[str, float]) -> str:
    """A zero upstream and an infinite slope: the other side of a mask or a where."""
    if numbers.get("upstream") != 0.0:
        return ""
    at, seen = index, 0
    while graph.uses.get(at) and seen < 16:
        at, seen = int(graph.owners[graph.uses[at][0]]), seen + 1
        assert graph.arrays is not None
        if graph.arrays.kinds[at] == "choose":
            name = graph.arrays.calls[at] or graph.name(at)
            return (
                f"the upstream gradient is 0, because the {name}{_line(graph.site(at))} takes the "
                "other side there, and 0 × inf is NaN: mask the operand as well as the result"
            )
    return "the upstream gradient is 0, and 0 × inf is NaN"


def described(
    op: str, site: Site | None, group: str, words: Sequence[str], result: float, because: str,
    how_many: int,
) -> Birth:  # fmt: skip
    """A birth outside of the graph: data that came in, a call that takes no gradient."""
    return Birth(
        FORWARD, "", op, None, result, tuple(Operand(each, 0.0) for each in words), site=site,
        source=_source(site), because=because, how_many=how_many, group=group, cure=GIVEN,
    )  # fmt: skip


def _named(graph: Pass, index: int) -> str:
    assert graph.arrays is not None
    name = graph.arrays.parameters.get(index)
    return f"'{name}'" if name else graph.arrays.calls[index] or graph.name(index)


def _line(site: Site | None) -> str:
    return f" on line {site.line}" if site else ""


def _source(site: Site | None) -> str:
    return linecache.getline(site.file, site.line).strip() if site else ""


def _route(graph: Pass, index: int, most: int = 8) -> tuple[Step, ...]:
    """The lines from a value up to a root, each once."""
    assert graph.arrays is not None
    route: list[Step] = []
    last = graph.site(index)
    at: int | None = index
    walked = 0
    uses: Callable[[int], list[int]] = lambda i: graph.uses.get(i, [])  # noqa: E731
    while at is not None and len(route) < most and walked < 10_000:
        above = uses(at)
        at = int(graph.owners[above[-1]]) if above else None
        walked += 1
        if at is not None and graph.site(at) != last:
            last = graph.site(at)
            route.append(Step(graph.arrays.calls[at] or graph.name(at), None, last))
    return tuple(route)
