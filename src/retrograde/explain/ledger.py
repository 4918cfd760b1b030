"""The ledger of a value: where its gradient comes from, itemised.

The entries are the contributions of the pass, in its order, and add up to the gradient exactly.
What takes whole routes from the root into account is worked out by walks over the graph, never by
listing routes, of which there may be 10¹⁶: groups by one forward walk of slopes, cancellation by
one backward walk on absolute partials, the strongest routes by keeping the best few at every value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any, overload

from ..errors import StoryError
from ..ops.sentences import shown
from ..passes.tensors import holds_tensors
from ..tensor import Tensor
from ..value import Value
from .stored import jsonable
from .story import Story

if TYPE_CHECKING:
    from .array_ledger import ArrayLedger

MOST_ROUTES = 100
"""The most routes one ledger lists: the work grows with them."""


IN_ONE_LINE = 6
"""Shares that the ledger's line names; the rest is added up."""


@dataclass(frozen=True)
class Entry:
    """One contribution: ``source`` used the value at ``position`` and handed this on."""

    source: int
    name: str
    position: int
    partial: float
    upstream: float
    amount: float
    before: float
    after: float


@dataclass(frozen=True)
class Share:
    """What reaches the value by the routes through one chosen value; None: through none of them."""

    through: int | None
    name: str
    amount: float


@dataclass(frozen=True)
class Route:
    """One way from the root to the value, and the product of the partials on it times the seed."""

    nodes: tuple[int, ...]
    names: tuple[str, ...]
    amount: float


@dataclass(frozen=True)
class Ledger:
    """Where one value's gradient comes from; see :func:`ledger`.

    ``absolute`` is the sum of the absolute values of all routes, ``cancellation`` that over the
    absolute gradient: 1 where every route pulls the same way, large where they cancel out.
    ``routes`` is how many there are, about, past 2⁵³.
    """

    node: int
    name: str
    root: str
    gradient: float
    entries: tuple[Entry, ...]
    shares: tuple[Share, ...]
    absolute: float
    cancellation: float
    routes: float
    strongest: tuple[Route, ...]

    def words(self) -> str:
        """The ledger in one line: ``7 = 3 through a*b + 4 through a+b``."""
        return _in_one_line(self)

    def to_json(self) -> dict[str, Any]:
        """Plain data; NaN and the infinities as texts."""
        plain: dict[str, Any] = jsonable(asdict(self))
        return plain

    def text(self, width: int = 80, color: bool = False) -> str:
        """The ledger as a table of text."""
        from .tables import ledger_text

        return ledger_text(self, width, color)

    def __str__(self) -> str:
        return self.text()


@overload
def ledger(
    root: Value | Story,
    value: Value | str | int,
    through: Sequence[Any] | None = None,
    *,
    strongest: int = 3,
    seed: float = 1.0,
) -> Ledger: ...


@overload
def ledger(
    root: Value,
    value: Tensor,
    through: Sequence[Any] | None = None,
    *,
    index: None = None,
    seed: float = 1.0,
) -> ArrayLedger: ...


@overload
def ledger(
    root: Value,
    value: Tensor,
    *,
    index: int | tuple[int, ...],
    most: int = 12,
    seed: float = 1.0,
) -> Ledger: ...


def ledger(
    root: Value | Story,
    value: Value | Tensor | str | int,
    through: Sequence[Any] | None = None,
    *,
    index: int | tuple[int, ...] | None = None,
    strongest: int = 3,
    most: int = 12,
    seed: float = 1.0,
) -> Ledger | ArrayLedger:
    """Where the gradient of ``value`` comes from in the pass from ``root``, itemised.

    ``through`` groups all routes by the first of the chosen values they meet on their way up from
    the value; by default they are grouped by the direct uses. Values are given as such, or by
    name. No ``.grad`` is read or written.

    Of a tensor it is a ledger use by use, whose contributions are arrays. With an ``index`` it is
    that of one number: the ``most`` largest of the products it is the sum of, the rest as one, and
    what their summation rounds, which add up to its bits. So is that of a value under tensors.

    >>> import retrograde as rg
    >>> a, b, c = (rg.Value(x, label=name) for x, name in ((2.0, "a"), (-3.0, "b"), (10.0, "c")))
    >>> account = rg.ledger((a * b + c) * (a + b), a)
    >>> account.gradient, [entry.amount for entry in account.entries]
    (7.0, [4.0, 3.0])
    >>> account.words()
    '7 = 3 through a*b + 4 through a+b'
    >>> account.cancellation, account.routes
    (1.0, 2)
    >>> X, W = rg.Tensor([[1.0, 2.0], [3.0, 4.0]], label="X"), rg.Tensor([[10.0], [1.0]], label="W")
    >>> [(use.op, use.share) for use in rg.ledger((X @ W).sum(), W).uses]
    [('matmul', 1.0)]
    >>> account = rg.ledger((X @ W).sum(), W, index=(1, 0))
    >>> account.gradient, [(entry.name, entry.amount) for entry in account.entries]
    (6.0, [('X[1, 1]', 4.0), ('X[0, 1]', 2.0)])
    """
    from .reading import story

    if isinstance(root, Value) and holds_tensors((root,)):
        from .tensor_ledger import tensor_ledger

        return tensor_ledger(root, value, index, through, seed, most)
    if index is not None:
        raise StoryError.index(index, ())
    told = root if isinstance(root, Story) else story(root, seed)
    if not 0 <= strongest <= MOST_ROUTES:
        raise StoryError.routes(strongest, MOST_ROUTES)
    return _itemised(told, told.find(value), through, strongest)


def _itemised(told: Story, node: int, through: Sequence[Any] | None, strongest: int) -> Ledger:
    """The ledger of one value of a story."""
    entries = _entries(told, node)
    above = _above(told, node)
    chosen = None if through is None else [told.find(each) for each in through]
    gradient = told.pulled.grads[node]
    absolute = _absolute(told, node)
    return Ledger(
        node,
        told.spelled(node),
        told.spelled(told.root),
        gradient,
        entries,
        _by_use(told, entries) if chosen is None else _shares(told, node, chosen, above),
        absolute,
        _cancellation(absolute, gradient),
        _count(told, node, above),
        _strongest(told, node, above, strongest),
    )


def _entries(story: Story, node: int) -> tuple[Entry, ...]:
    order, grads = story.pulled.order, story.pulled.grads
    found = []
    for step, it in story.contributions_to(node):
        source = order[step]
        found.append(
            Entry(
                source,
                story.spelled(source),
                it.position,
                it.partial,
                grads[source],
                it.amount,
                it.before,
                it.after,
            )
        )
    return tuple(found)


def _by_use(story: Story, entries: Sequence[Entry]) -> tuple[Share, ...]:
    """One share a use; a value that stands twice in one use has one share of it."""
    amounts: dict[int, float] = {}
    for entry in entries:
        amounts[entry.source] = amounts.get(entry.source, 0.0) + entry.amount
    return tuple(Share(use, story.spelled(use), amount) for use, amount in amounts.items())


def _above(story: Story, node: int) -> list[int]:
    """The values computed from ``node``, itself first: all that routes to it can pass."""
    inputs, takes = story.columns.inputs, story.columns.requires_grad
    reached = bytearray(story.root + 1)
    if takes[node]:
        reached[node] = 1
    for index in range(node + 1, story.root + 1):
        for operand in inputs[index]:
            if reached[operand]:
                reached[index] = takes[index]
                break
    return [index for index in range(node, story.root + 1) if reached[index]]


def _shares(
    story: Story, node: int, chosen: Sequence[int], above: Sequence[int]
) -> tuple[Share, ...]:
    """One forward walk: the slope of every value by ``node`` along routes that meet no chosen value
    before it. A chosen value hands its slope no further, so each route is counted once."""
    columns = story.columns
    stops = set(chosen) - {node}
    slopes = dict.fromkeys(above, 0.0)
    if node in slopes:
        slopes[node] = 1.0
    for index in above[1:]:
        slopes[index] = sum(
            partial * slopes[operand]
            for operand, partial in zip(columns.inputs[index], columns.partials[index])
            if operand in slopes and operand not in stops
        )
    grads = story.pulled.grads
    shares = [
        Share(index, story.spelled(index), slopes.get(index, 0.0) * grads[index])
        for index in dict.fromkeys(chosen)
        if index != node
    ]
    if story.root not in stops and slopes.get(story.root):
        shares.append(Share(None, "none of these", slopes[story.root] * story.seed))
    return tuple(shares)


def _absolute(story: Story, node: int) -> float:
    """The absolute adjoint: the pass run on absolute partials."""
    columns = story.columns
    inputs, partials, takes = columns.inputs, columns.partials, columns.requires_grad
    scale = [0.0] * (story.root + 1)
    scale[story.root] = abs(story.seed)
    for index in range(story.root, node, -1):
        upstream = scale[index]
        if upstream and takes[index]:
            for operand, partial in zip(inputs[index], partials[index]):
                scale[operand] += abs(partial) * upstream
    return scale[node] if takes[node] else 0.0


def _cancellation(absolute: float, gradient: float) -> float:
    if gradient != 0.0:
        return absolute / abs(gradient)
    return 1.0 if absolute == 0.0 else float("inf")


def _count(story: Story, node: int, above: Sequence[int]) -> float:
    """How many routes there are: exact up to 2⁵³, about beyond."""
    counts = dict.fromkeys(above, 0.0)
    if node in counts:
        counts[node] = 1.0
    for index in above[1:]:
        counts[index] = sum(counts.get(operand, 0.0) for operand in story.columns.inputs[index])
    count = counts.get(story.root, 0.0)
    return int(count) if count < 2**53 else count


_Way = tuple[float, float, int, int]
_Ways = dict[int, list[_Way]]


def _strongest(story: Story, node: int, above: Sequence[int], most: int) -> tuple[Route, ...]:
    """The routes with the largest absolute amounts, by keeping the best few ways to each value.

    A way is (strength, amount, the use it comes through, which of that one's ways).
    """
    if not most or not above or above[-1] != story.root:
        return ()
    columns = story.columns
    ways: _Ways = {story.root: [(abs(story.seed), story.seed, -1, 0)]}
    passable = set(above)
    for index in reversed(above):
        if index != story.root:
            ways[index] = nlargest(most, ways.get(index, ()), key=_strength)
        if index == node:
            break
        for operand, partial in zip(columns.inputs[index], columns.partials[index]):
            if operand in passable:
                into = ways.setdefault(operand, [])
                for rank, (_, amount, _, _) in enumerate(ways[index]):
                    onward = amount * partial
                    into.append((abs(onward), onward, index, rank))
                if len(into) > 64 * most:
                    ways[operand] = nlargest(most, into, key=_strength)
    return tuple(_route(story, ways, node, rank) for rank in range(len(ways.get(node, ()))))


def _strength(way: _Way) -> float:
    return way[0] if way[0] == way[0] else float("inf")


def _route(story: Story, ways: _Ways, node: int, rank: int) -> Route:
    """Follow a way back up to the root."""
    amount = ways[node][rank][1]
    nodes = []
    while node != -1:
        nodes.append(node)
        _, _, node, rank = ways[node][rank]
    nodes.reverse()
    return Route(tuple(nodes), tuple(story.spelled(each) for each in nodes), amount)


def _way(share: Share) -> str:
    return "otherwise" if share.through is None else f"through {share.name.replace(' ', '')}"


def _in_one_line(account: Ledger) -> str:
    shares = account.shares
    if account.name == account.root and not shares:
        return f"{shown(account.gradient)}: the seed"
    if not shares:
        return f"{shown(account.gradient)}: no use of {account.name} reaches {account.root}"
    if len(shares) > IN_ONE_LINE:
        shares = tuple(nlargest(IN_ONE_LINE, shares, key=lambda share: abs(share.amount)))
    shares = tuple(sorted(shares, key=lambda share: (share.through is None, share.through)))
    terms = [(share.amount, _way(share)) for share in shares]
    if len(account.shares) > len(shares):
        kept = {share.through for share in shares}
        rest = [share.amount for share in account.shares if share.through not in kept]
        terms.append((sum(rest), f"through {len(rest):,} more"))
    texts = [f"{'-' if x < 0 else '+'} {shown(abs(x))} {way}" for x, way in terms]
    texts[0] = texts[0][2:] if terms[0][0] >= 0 or terms[0][0] != terms[0][0] else (
        "-" + texts[0][2:]
    )  # fmt: skip
    return f"{shown(account.gradient)} = {' '.join(texts)}"
