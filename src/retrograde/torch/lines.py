"""Which line of the program made which nodes of the autograd graph, and which lines cut it.

Autograd numbers its nodes as they are made. A ``TorchFunctionMode`` sees every call into PyTorch
from Python: the numbers before and after a call are the nodes it made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .._shared.sites import Site
from ..passes.summary import Summary
from . import board
from ._private import find, made_so_far, number_of
from .guards import Guards
from .modules import Modules
from .sites import Made, calling, site_of
from .summaries import Look, is_plain, look, settled, summary

Tensor = torch.Tensor

LEAVING = {
    "item": ".item()", "tolist": ".tolist()", "numpy": ".numpy()", "__array__": "numpy",
    "__float__": "float()", "__int__": "int()", "__bool__": "bool()", "__index__": "an index",
}  # fmt: skip
"""Calls that hand out plain numbers, and how a reader writes them."""

PEEKING = frozenset((".item()", ".tolist()", "float()", "int()", "bool()", "an index"))
"""Of these, the ones that programs use to print and to decide."""

DRAWING = frozenset("bernoulli binomial multinomial normal poisson".split())
"""Calls that draw at random: no gradient comes back through what was drawn."""

WRITING = frozenset(
    "__setitem__ __iadd__ __imul__ __isub__ __itruediv__ __ipow__ __iand__ __ior__".split()
)
INTEGERS, TRUTH = "whose result is made of integers", "whose result is true or false"
"""How results are told that no gradient can come back from."""
OFTEN = 2
"""How often one line's cuts are looked under; later ones each time the count has doubled."""

KEPT = 8
"""Of how many passes calls are kept: a graph may serve several of them."""

_DATA, _GRAD, _DETACH_ = Tensor.data, Tensor.grad, Tensor.detach_
_SET_ENABLED = find("set_enabled")
_SILENT = frozenset(("__get__", "size", "dim", "numel", "stride", "is_floating_point", "__len__"))
_SHAPED = ("_like", "new_")
"""How the names of functions end, or begin, that take only a shape from a tensor."""


@dataclass
class Lost:
    """Where history was lost: how, on which line, in which module, which leaves lay under it,
    how many nodes had been made by then, whether it was a leaf itself that lost it, and whether
    it had been computed from a random draw, as the probability of an action is."""

    how: str
    made: Made
    module: str
    leaves: frozenset[int]
    number: int
    of_leaf: bool = False
    scores: bool = False

    @property
    def site(self) -> Site | None:
        """The line."""
        return site_of(self.made)

    @property
    def strength(self) -> int:
        """How likely the line is to blame: 0 where programs print or update by hand, 1 where they
        compare, 2 where they choose by argmax, 3 where they cut, 4 where they hand out how likely
        a draw was: what was drawn never has a history, so that number is all there is to learn
        from."""
        if self.scores:
            return 4
        if (self.of_leaf and not self.module) or self.how in PEEKING:
            return 0
        return 1 if TRUTH in self.how else 2 if INTEGERS in self.how else 3


@dataclass(slots=True)
class Call:
    """One call into PyTorch: its name, line and module, the nodes it made, what came out."""

    name: str
    made: Made | None
    module: str
    first: int
    last: int
    values: list[Look] = field(default_factory=list)
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    operands: list[tuple[tuple[int, ...], Summary]] = field(default_factory=list)
    sample: Any = None

    @property
    def site(self) -> Site | None:
        """The line."""
        return site_of(self.made)


class Lines(TorchFunctionMode):
    """Watches calls. Every result is summed up once, and calls that gave numbers which are not
    finite are remembered with their operands; ``sample`` also keeps a small sample of each."""

    def __init__(self, modules: Modules, sample: Any = None) -> None:
        super().__init__()
        self.modules, self.sample = modules, sample
        self.on = True
        self.read: set[int] = set()  # the tensors whose .grad was read or written, by id
        self._guards = Guards()
        self._times: dict[tuple[Made, str], int] = {}
        self.ends: list[int] = []  # one past the last node of each call
        self.calls: list[Call] = []
        self.writes: list[tuple[int, Call]] = []
        self._unsettled: list[Call] = []
        self._passes = deque[int](maxlen=KEPT)
        self.forget()

    def forget(self) -> None:
        """A new pass: what went wrong before is another's. The calls of the last few are kept,
        since a graph may serve several passes."""
        self._passes.append(made_so_far())
        place = bisect_right(self.ends, self._passes[0])
        self.ends, self.calls = self.ends[place:], self.calls[place:]
        self.writes = [each for each in self.writes if each[1].last > self._passes[0]]
        self.lost: list[Lost] = []
        self.births: list[Call] = []
        self._drawn: set[int] = set()  # where in memory draws lie
        self._scored: set[int] = set()  # nodes that were computed with a draw

    def settle(self) -> None:
        """Summaries that were on their way, while the board still has them."""
        for call in self._unsettled:
            call.values = [each for look in call.values if (each := settled(look)) is not None]
        self._unsettled.clear()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = made_so_far()
        under = leaves_under(args[0]) if func is _DETACH_ and self.on else frozenset[int]()
        result = func(*args, **kwargs) if kwargs else func(*args)
        if not self.on:
            return result
        after = made_so_far()
        name = func.__name__
        if func is _SET_ENABLED:
            self._guards.changed(bool(args[0]))
        if under:
            self._lose("detach_()", under, False)
        if self._drawn or name in DRAWING:
            self._follow_draws(name, args, kwargs, result, range(before, after))
        if after != before:
            if name not in ("backward", "grad"):
                self._see(name, args, kwargs, result, before, after, calling())
        else:
            of = getattr(func, "__self__", None)
            if of is _GRAD:
                self.read.add(id(args[0]))
            elif name != "__get__" or of is _DATA:
                self._look_for_cut(name, args, kwargs, result)
            if name not in _SILENT and isinstance(result, Tensor):
                self._see(name, args, kwargs, result, before, after, calling())
        return result

    # ---- cuts ---------------------------------------------------------------------------------

    def _follow_draws(self, name: str, args: Any, kwargs: Any, result: Any, made: range) -> None:
        """Draws from what was computed, and the nodes whose calls take one in."""
        computed = name in DRAWING and next(_tensors(args, kwargs), None) is not None
        if computed and isinstance(result, Tensor):
            self._drawn.add(result.untyped_storage().data_ptr())
        elif made and self._drawn:
            for each in _tensors(args, kwargs):
                dense = is_plain(each) and each.layout is torch.strided
                if dense and each.untyped_storage().data_ptr() in self._drawn:
                    self._scored.update(made)

    def _look_for_cut(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        if isinstance(result, Tensor):
            if name.startswith(_SHAPED[1]) or name.endswith(_SHAPED[0]):
                return
            if result.requires_grad and (torch.is_grad_enabled() or _owner(result) is result):
                return
        elif name not in LEAVING:
            return
        given = [_owner(t) for t in _tensors(args, kwargs) if t.requires_grad]
        if given:
            alone = len(given) == 1 and given[0].is_leaf
            self._lose(_how(name, result), given, alone)

    def _lose(self, how: str, given: list[Tensor] | frozenset[int], of_leaf: bool) -> None:
        """History ends here: of some tensors, or of the leaves that are known to lie under one."""
        made = calling()
        if made is None:
            return
        module = self.modules.here()
        times = self._times[made, module] = self._times.get((made, module), 0) + 1
        if times > OFTEN and times & (times - 1):
            return
        scores = False
        if isinstance(given, frozenset):
            leaves = given
        else:
            leaves = frozenset[int]().union(*map(leaves_under, given))
            scores = bool(self._scored) and any(map(self._has_scored, given))
        if leaves:
            how, made, module = self._guards.blamed(how, made, module)
            self.lost.append(Lost(how, made, module, leaves, made_so_far(), of_leaf, scores))

    def _has_scored(self, t: Tensor) -> bool:
        return any(number_of(node) in self._scored for node in nodes_under(t))

    # ---- values -------------------------------------------------------------------------------

    def _see(
        self, name: str, args: Any, kwargs: Any, result: Any, first: int, last: int,
        made: Made | None,
    ) -> None:  # fmt: skip
        call = Call(name, made, self.modules.here(), first, last)
        odd = 0
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(each, Tensor) and each.is_floating_point() and is_plain(each):
                call.shapes.append(tuple(each.shape))
                seen = look(each)
                call.values.append(seen)
                odd += seen.odd
        if call.values and not isinstance(call.values[0], Summary):
            self._unsettled.append(call)
        if last != first and self.sample is not None and isinstance(result, Tensor):
            call.sample = self.sample(result)
        board.go()
        if odd and "empty" not in name:
            call.operands = [
                (tuple(t.shape), summary(t))
                for t in _tensors(args, kwargs)
                if t.is_floating_point() and is_plain(t)
            ]
            self.births.append(call)
        if (name.endswith("_") and not name.endswith("__")) or name in WRITING:
            target = args[0] if args else None
            if isinstance(target, Tensor) and is_plain(target) and not target.is_sparse:
                self.writes.append((target.untyped_storage().data_ptr(), call))
        if last != first:
            place = bisect_right(self.ends, last)
            self.ends.insert(place, last)
            self.calls.insert(place, call)

    def applied(self, function: Any, args: Any, result: Any, first: int) -> None:
        """A ``torch.autograd.Function`` of the program: no call of PyTorch's own. Its node is made
        before its forward runs, so calls inside of that come after it."""
        if self.on and made_so_far() != first:
            self._see(function.__name__, args, None, result, first, first + 1, calling())

    def made_elsewhere(self, first: int, name: str, made: Made | None) -> None:
        """Nodes that were made since ``first`` without a call: the graph of a backward pass."""
        last = made_so_far()
        if last != first:
            self.ends.append(last)
            self.calls.append(Call(name, made, self.modules.here(), first, last))

    # ---- reading ------------------------------------------------------------------------------

    def of(self, number: int) -> Call | None:
        """The call that made a node, by the node's number; None for one made elsewhere."""
        place = bisect_right(self.ends, number)
        if place < len(self.calls) and self.calls[place].first <= number:
            return self.calls[place]
        return None


def _how(name: str, result: Any) -> str:
    if name in LEAVING:
        return LEAVING[name]
    if name == "__get__":
        return ".data"
    if name in ("detach", "detach_"):
        return f"{name}()"
    if not torch.is_grad_enabled():
        return f"no_grad() around {name}"
    if isinstance(result, Tensor) and not (result.is_floating_point() or result.is_complex()):
        return f"{name}, {TRUTH if result.dtype is torch.bool else INTEGERS},"
    return name


def _tensors(args: Any, kwargs: Any) -> Iterator[Tensor]:
    for each in (*args, *(kwargs or {}).values()):
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (tuple, list)):
            yield from (t for t in each if isinstance(t, Tensor))


def _owner(t: Tensor) -> Tensor:
    """What a view was taken of where no history was kept: such a view still says that it requires
    a gradient, and none goes on to its owner."""
    owner = t._base
    if owner is None:
        return t
    try:
        return owner if t.grad_fn is None else t
    except RuntimeError:  # its owner has been written to since, so that PyTorch refuses it
        return t


def nodes_under(t: Tensor) -> Iterator[Any]:
    """The nodes of the graph under a tensor, each once."""
    if t.grad_fn is None:
        return
    seen: set[Any] = {t.grad_fn}
    pending: list[Any] = [t.grad_fn]
    while pending:
        node = pending.pop()
        yield node
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                pending.append(below)


def leaves_under(t: Tensor) -> frozenset[int]:
    """The ids of the leaves under a tensor that take gradients."""
    if t.grad_fn is None:
        return frozenset((id(t),)) if t.requires_grad else frozenset()
    variables = (getattr(node, "variable", None) for node in nodes_under(t))
    return frozenset(id(variable) for variable in variables if variable is not None)
