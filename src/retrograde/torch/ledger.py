"""Where the gradient of a tensor comes from: use by use, through chosen tensors, and of one number
row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from .._shared.sites import Site
from ..explain.array_ledger import ArrayLedger, Use
from ..explain.ledger import Ledger, Share
from ..explain.term_ledger import Term, added, ledger_of_terms
from .graph import nodes_under
from .kinds import LEAF, VIEWS, op_of
from .rules import rows_by_rule
from .summaries import summary


@dataclass
class Found:
    """One use while it is taken apart: the node, which of its inputs, what it was handed and what
    it gave, and the views that lead down to the tensor."""

    node: Any
    position: int
    upstream: Any
    amount: Any
    chain: tuple[Any, ...]
    op: str
    site: Site | None = None
    group: str = ""
    shape: tuple[int, ...] = ()


Places = Mapping[Any, tuple[Site | None, str]]
"""By node: the line and module it was made in, where somebody saw that."""


def uses_of(loss: torch.Tensor, t: torch.Tensor, places: Places) -> tuple[Any, list[Found]]:
    """The gradient of a tensor, and every use of it with what it contributed. No ``.grad``
    changes."""
    live = list(nodes_under([loss.grad_fn]))
    top = get_gradient_edge(t).node
    chains: dict[Any, tuple[Any, ...]] = {top: ()}
    for node in live:  # inputs before uses
        if len(node.next_functions) == 1 and op_of(node) in VIEWS:
            below = node.next_functions[0][0]
            if below in chains and node is not top:
                chains[node] = (node, *chains[below])
    found: list[Found] = []

    def catch(node: Any, wanted: list[int]) -> Any:
        def hook(given: Any, received: Any) -> None:
            for place in wanted:
                if given[place] is not None:
                    chain = chains[node.next_functions[place][0]]
                    site, group = places.get(node, (None, ""))
                    amount, upstream = given[place].detach(), received[0]
                    shape = tuple(amount.shape)
                    found.append(
                        Found(node, place, upstream, amount, chain, op_of(node), site, group, shape)
                    )

        return hook

    handles = []
    for node in live:
        if node in chains and node is not top:
            continue
        wanted = [k for k, (below, _) in enumerate(node.next_functions) if below in chains]
        if wanted:
            handles.append(node.register_hook(catch(node, wanted)))
    try:
        gradient, *_ = torch.autograd.grad(
            loss, [t, *_leaves(live, t)], retain_graph=True, allow_unused=True
        )
    finally:
        for handle in handles:
            handle.remove()
    for each in found:
        for view in each.chain:
            each.amount = view(each.amount)
    return gradient, found


def _leaves(live: Sequence[Any], t: torch.Tensor) -> list[torch.Tensor]:
    """The leaves beside a tensor. Asked for one gradient alone, a rule may take another kernel
    and round differently than in ``backward()``, which asks for all of them."""
    return [node.variable for node in live if op_of(node) == LEAF and node.variable is not t]


def by_use(loss: torch.Tensor, t: torch.Tensor, name: str, places: Places) -> ArrayLedger:
    """The ledger use by use."""
    gradient, found = uses_of(loss, t, places)
    shape = tuple(t.shape)
    if gradient is None:
        return ArrayLedger(name, shape, summary(torch.zeros_like(t)), (), True, 0.0)
    gradient = _dense(gradient)
    amounts = [_dense(each.amount) for each in found]
    total = _added(amounts, gradient)
    uses = tuple(
        _use(each.op, each.site, each.group, amount, gradient)
        for each, amount in zip(found, amounts)
    )
    residue = float((total - gradient).abs().max()) if gradient.numel() else 0.0
    exact = torch.equal(total, gradient)
    return ArrayLedger(name, shape, summary(gradient), uses, exact, residue)


def through(
    loss: torch.Tensor, t: torch.Tensor, chosen: Mapping[str, torch.Tensor], name: str
) -> ArrayLedger:
    """The gradient grouped by the chosen tensors its routes meet first on their way up: by
    linearity, one partial backward pass a chosen tensor with the gradient stopped at the others."""
    nodes = {label: each.grad_fn for label, each in chosen.items() if each.grad_fn is not None}
    edges = [GradientEdge(node, 0) for node in nodes.values()]
    totals = torch.autograd.grad(loss, edges, retain_graph=True, allow_unused=True)
    leaves = _leaves(list(nodes_under([loss.grad_fn])), t)
    whole, *_ = torch.autograd.grad(loss, [t, *leaves], retain_graph=True, allow_unused=True)
    whole = torch.zeros_like(t) if whole is None else _dense(whole)

    def stopped(roots: Any, seeds: Any, stops: Sequence[Any]) -> Any:
        handles = [node.register_prehook(_nothing) for node in stops]
        try:
            (got,) = torch.autograd.grad(
                roots, t, grad_outputs=seeds, retain_graph=True, allow_unused=True
            )
        finally:
            for handle in handles:
                handle.remove()
        return torch.zeros_like(t) if got is None else _dense(got)

    parts = {}
    for (label, node), edge, total in zip(nodes.items(), edges, totals):
        if total is not None:
            others = [other for other in nodes.values() if other is not node]
            parts[label] = stopped([edge], [total], others)
    parts["none of these"] = stopped([loss], None, list(nodes.values()))
    total = _added(list(parts.values()), whole)
    uses = tuple(_use("", None, label, part, whole) for label, part in parts.items())
    residue = float((total - whole).abs().max()) if whole.numel() else 0.0
    exact = torch.equal(total, whole)
    return ArrayLedger(name, tuple(t.shape), summary(whole), uses, exact, residue, True)


def _nothing(grads: Any) -> Any:
    return tuple(None if grad is None else torch.zeros_like(grad) for grad in grads)


def _dense(t: torch.Tensor) -> torch.Tensor:
    t = t.detach()
    return t.to_dense() if t.layout is not torch.strided else t


def _added(parts: list[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """The sum in the engine's own order: first to last."""
    if not parts:
        return torch.zeros_like(like)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _use(op: str, site: Site | None, group: str, amount: Any, gradient: Any) -> Use:
    a, g = amount.double().flatten(), gradient.double().flatten()
    along, squares, size = float(a @ g), float(g @ g), summary(amount)
    lengths = size.norm * squares**0.5
    share = along / squares if squares else 0.0
    return Use(op, site, group, size, share, along / lengths if lengths else 0.0)


# ---- one number -------------------------------------------------------------------------------


def of_one(
    loss: torch.Tensor, t: torch.Tensor, index: tuple[int, ...], name: str, places: Places,
    most: int = 12,
) -> Ledger:  # fmt: skip
    """Who pulls one number of a tensor: the samples, positions or outputs whose products add up to
    its gradient, as a ledger of numbers: partial × upstream = amount.

    Products of float32 numbers are exact in float64, so the sum of the terms is the exact
    gradient; what PyTorch's own summation rounds off is an entry of its own."""
    whole, found = uses_of(loss, t, places)
    gradient = 0.0 if whole is None else float(_dense(whole)[index])
    leading = _leading(loss, [each.node for each in found])
    terms: list[Term] = []
    shares = []
    for number, use in enumerate(found):
        rows = rows_by_rule(use, t, index, leading.get(use.node)) or _by_masking(use, index)
        where = f"line {use.site.line}" if use.site else use.group or use.op
        amount = added(row[3] for row in rows)
        shares.append(Share(number, f"{use.op} ({where})", amount))
        several = f"{use.op} " if len(found) > 1 else ""
        terms += [Term(several + label, p, u, a) for label, p, u, a in rows]
    called = f"{name}[{', '.join(map(str, index))}]"
    rounding = f"{str(t.dtype)[6:]} rounding"
    return ledger_of_terms(called, "loss", gradient, terms, shares, rounding, most)


def _leading(loss: torch.Tensor, nodes: list[Any]) -> dict[Any, tuple[int, ...]]:
    """The shape that a flattened product had before: what it is viewed as by the node above."""
    wanted, found = set(nodes), {}
    for above in nodes_under([loss.grad_fn]):
        for below, _ in above.next_functions:
            if below in wanted and op_of(above) in ("view", "unsafeview"):
                found[below] = tuple(above._input_metadata[0].shape[:-1])
    return found


def _by_masking(use: Found, index: tuple[int, ...]) -> list[tuple[str, float, float, float]]:
    """Any op at all: a rule is linear in the gradient it is handed, so handing it on sample by
    sample takes the contribution apart by sample."""
    rows = []
    upstream = use.upstream.detach()
    count = upstream.shape[0] if upstream.dim() else 1
    for sample in range(count):
        masked = torch.zeros_like(upstream)
        masked[sample if upstream.dim() else ...] = upstream[sample if upstream.dim() else ...]
        with torch.no_grad():
            given = use.node(masked)
        amount = given[use.position] if isinstance(given, tuple) else given
        if amount is None:
            continue
        amount = _dense(amount).sum_to_size(use.shape)  # called alone, a node undoes no broadcast
        for view in use.chain:
            amount = view(amount)
        number = float(_dense(amount)[index])
        label = f"sample {sample}" if upstream.dim() and prod(upstream.shape) > 1 else use.op
        rows.append((label, 1.0, number, number))
    return rows
