"""What ``rg.torch`` offers: functions of a loss, and a watch around a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .._shared.sites import Site
from ..diagnose.births import Births
from ..diagnose.memory import Memory, memory_of
from ..diagnose.report import Report
from ..diagnose.thresholds import Thresholds
from ..errors import TorchProgramError, UnhealthyError
from ..explain.array_ledger import ArrayLedger
from ..explain.ledger import Ledger
from ..explain.story import Story
from . import board
from .finding import births_in
from .graph import Reading, nodes_under
from .kinds import LEAF, op_of
from .ledger import by_use, of_one
from .ledger import through as by_routes
from .modules import Modules
from .naming import names_now
from .passing import doubling
from .pulling import Pulling
from .samples import sample
from .sites import calling, site_of
from .summaries import summary
from .watching import Watch, watching_now


def watch(
    *models: torch.nn.Module,
    examine: Callable[[int], bool] = doubling,
    pictures: bool = False,
    log: Any = None,
    **thresholds: float,
) -> Watch:
    """Watch every backward pass inside the block; the program stays as it is, bit for bit.

    Models are given, or found when they are called. ``examine`` says of a pass, by its number from
    1 on, whether everything is looked at; by default passes 1, 2, 4, 8, …. ``log`` is a path for a
    CSV file of the norms, or anything with ``add_scalar``, as TensorBoard's writer. Thresholds are
    those of the doctor.

    >>> import torch, retrograde as rg
    >>> model = torch.nn.Linear(3, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    >>> with rg.torch.watch(model) as w:
    ...     for _ in range(3):
    ...         optimizer.zero_grad()
    ...         model(torch.ones(4, 3)).pow(2).mean().backward()
    ...         optimizer.step()
    >>> w.report().healthy, sorted(w.norms)
    (True, ['bias', 'weight'])
    """
    _check_models("watch", models)
    return Watch(models, examine, Thresholds.chosen(thresholds), pictures, log)


def ledger(
    loss: torch.Tensor,
    tensor: torch.Tensor,
    index: Sequence[int] | int | None = None,
    *,
    through: Mapping[str, torch.Tensor] | None = None,
    name: str | None = None,
) -> ArrayLedger | Ledger:
    """Where the gradient of ``tensor`` comes from; no ``.grad`` is read or written.

    Use by use, adding up to the gradient bit for bit; with ``index`` of one number, by sample and
    position; with ``through``, tensors by name, grouped by those its routes meet first.

    >>> import torch, retrograde as rg
    >>> w = torch.tensor([2.0, -1.0], requires_grad=True)
    >>> loss = (3 * w).sum() + (w**2).sum()
    >>> account = rg.torch.ledger(loss, w)
    >>> account.exact, {use.op: round(use.share, 3) for use in account.uses}
    (True, {'pow': 0.52, 'mul': 0.48})
    >>> rg.torch.ledger(loss, w, index=(0,)).gradient
    7.0
    """
    _check("ledger", loss)
    if not isinstance(tensor, torch.Tensor):
        raise TorchProgramError.not_a_tensor("ledger", tensor)
    if tensor.is_complex():
        raise TorchProgramError.complex_numbers("ledger", str(tensor.dtype)[6:])
    called = name or names_now({id(tensor)}).get(id(tensor)) or "the tensor"
    if not tensor.requires_grad:
        raise TorchProgramError.not_in_graph(called)
    if through is not None:
        return by_routes(loss, tensor, through, called)
    places = _places(loss)
    if index is None:
        found = by_use(loss, tensor, called, places)
        if not found.uses and tensor is not loss:
            raise TorchProgramError.not_in_graph(called)
        return found
    at = (index,) if isinstance(index, int) else tuple(index)
    fits = len(at) == tensor.dim() and all(-n <= k < n for k, n in zip(at, tensor.shape))
    if not fits or not all(isinstance(k, int) for k in at):
        raise TorchProgramError.index(index, tensor.shape)
    at = tuple(k % n for k, n in zip(at, tensor.shape))
    return of_one(loss, tensor, at, called, places)


def births(loss: torch.Tensor, model: torch.nn.Module | None = None) -> Births:
    """Where NaN and infinities under a loss come from, forward and backward; no ``.grad`` changes.

    Lines are known inside ``rg.torch.watch``; outside, what autograd keeps is looked at.

    >>> import torch, retrograde as rg
    >>> x = torch.tensor([1.0, 0.0], requires_grad=True)
    >>> found = rg.torch.births(torch.sqrt(x).sum())
    >>> found.backward[0].op, found.backward[0].index
    ('sqrt', (1,))
    """
    reading, pulling = _looked_at("births", loss, model)
    graph = reading.whole()
    found = births_in(graph, reading, pulling.oddities, None)
    _clear()
    return found


def memory(loss: torch.Tensor, model: torch.nn.Module | None = None) -> Memory:
    """What autograd keeps for the backward pass of a loss, in bytes, by line, op and module.

    >>> import torch, retrograde as rg
    >>> x = torch.ones(1000, requires_grad=True)
    >>> report = rg.torch.memory(torch.exp(x).sum())
    >>> report.recorded, report.by_op[0].name
    (4000, 'exp')
    """
    _check("memory", loss)
    reading = Reading([loss], _names(model), _lines())
    reading.weigh()
    return memory_of(reading.whole())


def story(loss: torch.Tensor, model: torch.nn.Module | None = None) -> Story:
    """The story of the backward pass from a loss: every step with shapes, norms and words.

    >>> import torch, retrograde as rg
    >>> w = torch.tensor([2.0, -1.0], requires_grad=True)
    >>> print(rg.torch.story((3 * w).sum()).backward[0].words)  # doctest: +ELLIPSIS
    sum copies the upstream gradient to every input...
    """
    from ..explain.array_story import told_arrays

    reading, _ = _looked_at("story", loss, model, pictures=True)
    graph = reading.whole()
    _clear()
    return told_arrays(graph)


def assert_healthy(
    step: Callable[[], Any], *models: torch.nn.Module, steps: int = 5, **thresholds: float
) -> Report:
    """Run a training step a few times and raise :class:`UnhealthyError` if there is an alarm.

    >>> import torch, retrograde as rg
    >>> model = torch.nn.Linear(3, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    >>> def step():
    ...     optimizer.zero_grad()
    ...     model(torch.ones(4, 3)).pow(2).mean().backward()
    ...     optimizer.step()
    >>> rg.torch.assert_healthy(step, model).healthy
    True
    """
    if not callable(step):
        raise TorchProgramError.no_step(step, site_of(calling()))
    _check_models("assert_healthy", models)
    with Watch(models, doubling, Thresholds.chosen(thresholds)) as seen:
        for _ in range(steps):
            step()
    report = seen.report()
    if not report.healthy:
        raise UnhealthyError.of(report.text())
    return report


# ---- a loss, looked at ------------------------------------------------------------------------


def _check_models(function: str, models: Sequence[Any]) -> None:
    for each in models:
        if not isinstance(each, torch.nn.Module):
            raise TorchProgramError.no_module(function, each)


def _check(function: str, loss: Any) -> None:
    if not isinstance(loss, torch.Tensor):
        raise TorchProgramError.not_a_tensor(function, loss)
    if loss.numel() != 1:
        raise TorchProgramError.not_a_number(function, loss.shape)
    if loss.grad_fn is None:
        now = watching_now()
        lost = now.lines.lost[-1] if now is not None and now.lines.lost else None
        cut = (
            TorchProgramError.cut_at(lost.how, lost.site)
            if lost is not None
            else TorchProgramError.cut_unknown()
        )
        raise TorchProgramError.no_history(function, loss.shape, cut)


def _clear() -> None:
    if watching_now() is None:  # else the calls of the pass that is on have rows there
        board.clear()


def _lines() -> Any:
    now = watching_now()
    return now.lines if now is not None else None


def _names(model: torch.nn.Module | None) -> dict[int, str]:
    now = watching_now()
    known = {} if now is None else now.patients.names_by_id()
    models = (model,) if model is not None else ()
    named = Modules(models).parameters()
    return {**known, **{id(p): name for name, p in named.items()}}


def _places(loss: torch.Tensor) -> dict[Any, tuple[Site | None, str]]:
    """By node: the line and module, as far as a watch has seen them."""
    lines = _lines()
    if lines is None:
        return {}
    reading = Reading([loss], {}, lines)
    return {node: (reading.sites[i], reading.groups[i]) for i, node in enumerate(reading.live)}


def _looked_at(
    function: str, loss: torch.Tensor, model: torch.nn.Module | None, pictures: bool = False
) -> tuple[Reading, Pulling]:
    """A loss with its backward pass run beside it: no ``.grad`` changes."""
    _check(function, loss)
    names = _names(model)
    leaves = [node.variable for node in nodes_under([loss.grad_fn]) if op_of(node) == LEAF]
    unknown = {id(leaf) for leaf in leaves} - names.keys()
    if unknown:
        names = {**names_now(unknown, 3), **names}
    reading = Reading([loss], names, _lines())
    reading.look_at_leaves()
    reading.look_at_saved()
    reading.values[reading.roots[0]] = summary(loss)
    reading.weigh()
    pulling = Pulling(reading, sample if pictures else None)
    now = watching_now()
    try:
        if leaves:
            with now.resting() if now is not None else torch.enable_grad():
                torch.autograd.grad(loss, leaves, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        if "second time" in str(error):
            raise TorchProgramError.freed(function) from None
        raise
    finally:
        pulling.remove()
    pulling.settle()
    return reading, pulling
