"""Modes: no_grad, anomaly and any_bits. All are thread-local and nest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

from ..value import core


@contextmanager
def no_grad() -> Iterator[None]:
    """Compute without recording: values made here have no history and take no gradient.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> with rg.no_grad():
    ...     y = x * 2
    >>> y.data, y.requires_grad
    (6.0, False)

    Also a decorator: ``@rg.no_grad()``.
    """
    core.enter_no_grad()
    try:
        yield
    finally:
        core.leave_no_grad()


@contextmanager
def anomaly() -> Iterator[None]:
    """Raise :class:`AnomalyError` at the birth of a NaN or an infinity, forward or backward.

    A NaN always stops; an infinity stops unless an operand was infinite already, so deliberate
    infinities (masks) pass.

    >>> import retrograde as rg
    >>> with rg.anomaly():
    ...     rg.Value(0.0, label="p").log()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    retrograde.errors.AnomalyError: log produced -inf in the forward pass.
    ...
    """
    core.enter_anomaly()
    try:
        yield
    finally:
        core.leave_anomaly()


@contextmanager
def any_bits() -> Iterator[None]:
    """Allow NumPy's matrix product, in whatever order that adds.

    Large products of tensors (from 256 cubed on: ``@``, ``einsum``, ``tensordot``, ``dot``) made in
    here, and their gradients, are computed by the BLAS of NumPy with as many threads as it takes.
    Their last bits may then differ between machines, versions and runs; elsewhere they depend on
    the shapes alone. The nodes say so: ``story`` and ``explain`` tell which they are.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> x = rg.Tensor(np.ones((300, 300)))
    >>> with rg.any_bits():
    ...     y = x @ x
    >>> y[0, 0].data
    300.0

    Also a decorator: ``@rg.any_bits()``.
    """
    core.enter_any_bits()
    try:
        yield
    finally:
        core.leave_any_bits()


@contextmanager
def unwatched() -> Iterator[None]:
    """Suspend anomaly(): while a function is recorded, its numbers are those of some row only."""
    depth = 0
    while core.in_anomaly():
        core.leave_anomaly()
        depth += 1
    try:
        yield
    finally:
        for _ in range(depth):
            core.enter_anomaly()


def grad_enabled() -> bool:
    """Whether this thread records (it does outside ``no_grad()``)."""
    return not core.in_no_grad()


class _Recorded(local):
    """Whether this thread records a function on tensors."""

    on_tensors = False


_recorded = _Recorded()


@contextmanager
def on_tensors() -> Iterator[None]:
    """Inside, a function on tensors is recorded: arrays that a transform is given are tensors."""
    before, _recorded.on_tensors = _recorded.on_tensors, True
    try:
        yield
    finally:
        _recorded.on_tensors = before


def recording_tensors() -> bool:
    """Whether this thread records a function on tensors."""
    return _recorded.on_tensors


class ArraysRecorded(Exception):  # noqa: N818  a turn of the way, no error
    """The function computes with tensors: it is recorded on them (``program/shaped/``)."""


def needs_tensors() -> bool:
    """The same where something on tensors is recorded that values do not have: a recording of
    values begins again."""
    if core.in_recording() and not _recorded.on_tensors:
        raise ArraysRecorded
    return _recorded.on_tensors


def arrays_are_whole() -> bool:
    """Whether a transform takes arrays as tensors; recordings of values take them as sequences."""
    return _recorded.on_tensors or not core.in_recording()
