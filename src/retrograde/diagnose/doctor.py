"""``rg.doctor``: what is wrong with the gradients of a pass, or of a training loop, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._values.cuts import watching_cuts
from .._values.watch import WatchedPass, watching
from ..errors import DoctorError, NotAValueError
from ..optim.watching import watching_steps
from ..value import Value
from .histories import AnyHistory, history_of
from .judge import report_of
from .parameters import Grouping, parameters_of
from .report import Report
from .thresholds import Thresholds


class Watched:
    """What the doctor has seen so far inside ``rg.doctor.watch``."""

    def __init__(self, history: AnyHistory) -> None:
        self._history = history

    @property
    def passes(self) -> int:
        """How many backward passes were examined."""
        return self._history.passes

    def report(self) -> Report:
        """The report on all passes so far; it may be asked for at any time."""
        if not self._history.passes:
            raise DoctorError.unwatched()
        self._history.close()
        return report_of(self._history)

    def __repr__(self) -> str:
        return f"<the doctor, having seen {self.passes} passes>"


class Doctor:
    """The doctor, as ``rg.doctor``: call it on one pass, or let it ``watch`` many."""

    def __call__(
        self,
        loss: Value,
        parameters: Any,
        *,
        groups: Grouping | None = None,
        **thresholds: float,
    ) -> Report:
        """Examine the pass from ``loss`` to ``parameters``; no ``.grad`` is read or written.

        ``parameters`` are a list, a dict, a nest of them, or anything with ``parameters()``.
        ``groups`` maps a parameter's name to its group. Thresholds are listed in docs/doctor.md.

        >>> import retrograde as rg
        >>> w, unused = rg.Value(2.0, label="w"), rg.Value(1.0, label="unused")
        >>> report = rg.doctor((w * 3.0 - 1.0) ** 2, [w, unused])
        >>> for verdict in report.alarms:
        ...     print(verdict)
        'unused': unreachable, no path from the loss leads there. It is not used, or was cut off \
by .data, detach() or no_grad().
        """
        if not isinstance(loss, Value):
            raise NotAValueError.of("doctor", loss)
        history = _history(parameters, groups, thresholds)
        history.observe((loss,), (1.0,))
        return report_of(history)

    @contextmanager
    def watch(
        self, parameters: Any, *, groups: Grouping | None = None, **thresholds: float
    ) -> Iterator[Watched]:
        """Examine every backward pass inside the block; memory does not grow with their number.

        A verdict is about how it is now, and says with which pass it began; what is over is a
        note.

        >>> import retrograde as rg
        >>> w = rg.Value(2.0, label="w")
        >>> with rg.doctor.watch([w]) as watched:
        ...     for _ in range(3):
        ...         rg.zero_grad([w])
        ...         ((w * 3.0 - 1.0) ** 2).backward()
        ...         w.data -= 0.01 * w.grad
        >>> watched.report().healthy
        True
        """
        history = _history(parameters, groups, thresholds)

        def begun(this: WatchedPass) -> None:
            history.begin()

        def done(this: WatchedPass) -> None:
            history.end(this.roots, this.seeds, this.site)

        with (
            watching(done, begun=begun),
            watching_cuts(history.cut),
            watching_steps(history.stepping),
        ):
            yield Watched(history)
        history.close()


def _history(parameters: Any, groups: Grouping | None, thresholds: dict[str, float]) -> AnyHistory:
    chosen = Thresholds.chosen(thresholds)
    found = parameters_of(parameters, groups)
    if not len(found):
        raise DoctorError.empty("doctor")
    return history_of(found, chosen)


doctor = Doctor()
"""The doctor: ``rg.doctor(loss, parameters)`` and ``rg.doctor.watch(parameters)``."""
