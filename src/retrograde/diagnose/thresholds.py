"""The doctor's thresholds: what counts as vanishing, exploding, dead or saturated.

They are data: stated in every verdict, documented in ``docs/doctor.md``, and adjustable one by one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from .._shared.numerics import np
from ..errors import DoctorError
from ..ops import OPS, Op, kind_of
from ..passes.survey import CARRIES, CHOOSE, COUNTS, FLAT, GATE, SATURATE, SOFT
from ..value import core


@dataclass(frozen=True)
class Thresholds:
    """What the doctor calls sick; every field may be given to ``rg.doctor`` by name."""

    vanishing: float = 1e-6
    """Mean gradient at the deepest level over the largest nearer the loss: sick below this."""
    exploding: float = 1e6
    """Largest mean gradient at any level over that nearest the loss: sick above this."""
    faint: float = 1e-8
    """A group's root-mean-square gradient over the largest group's: sick below this."""
    steep: float = 1e8
    """Gradient norm × weight norm over the loss (or over 1 where it is smaller): sick above."""
    saturated: float = 1e-3
    """A slope at most this share of the op's steepest counts as shut (tanh, sigmoid, …)."""
    shut_units: float = 0.9
    """Dead or saturated units over all units of a group: sick from this share on."""
    rows: int = 8
    """Fewer rows than this are too few to call a unit or a gate dead."""
    persistence: float = 0.5
    """Watched over many passes: the share of passes an illness must show in."""
    patience: int = 3
    """What was not there from the beginning must have lasted this many passes."""
    updated: float = 1.0
    """Parameters changed but never reached over all of a group: sick from this share on."""
    hasty: float = 0.5
    """Update over weight, of all that moves: too long above this where the loss does not fall."""
    idle: float = 1e-6
    """Update over weight, of all that moves: too short below this from the first step on."""
    blown: float = 1e3
    """The loss of a network of arrays over the first one: sick above this."""

    def __post_init__(self) -> None:
        for each in fields(self):
            number = getattr(self, each.name)
            if isinstance(number, bool) or not isinstance(number, (int, float)) or number < 0:
                raise DoctorError.threshold(each.name, number)

    @classmethod
    def chosen(cls, given: dict[str, Any]) -> Thresholds:
        """The defaults with some replaced."""
        known = {each.name for each in fields(cls)}
        for name in given:
            if name not in known:
                raise DoctorError.unknown(name, sorted(known))
        return cls(**given)

    def as_dict(self) -> dict[str, float]:
        """The thresholds as plain data."""
        return asdict(self)


_KINDS = {
    "copy": CARRIES, "copy-flip": CARRIES, "flip": CARRIES,
    "swap": CARRIES | COUNTS, "weigh": CARRIES | COUNTS, "quotient": CARRIES | COUNTS,
    "gate": GATE | COUNTS, "window": GATE | COUNTS, "saturate": SATURATE | COUNTS,
    "soft-gate": SOFT | COUNTS, "choose": CHOOSE, "flat": FLAT, "leaf": 0,
}  # fmt: skip
"""What an op is to the survey, by the kind of its rule; any other counts as depth."""


def _steepest(op: Op) -> float:
    """The steepest slope of an activation, where that is less than 1: of sigmoid, a quarter."""
    others = tuple((low + high) / 2 for low, high in op.domain[1:])
    slopes = []
    for step in range(-12, 13):
        at = (step / 4.0, *others)
        slopes.append(abs(op.evaluate_partials(*at, op.evaluate(*at))[0]))
    return min(1.0, max(slopes))


_CODES = core.OP_NAMES
_BY_NAME = (_KINDS.get(kind_of(name), COUNTS) for name in _CODES)
KINDS = bytes([*_BY_NAME, *[COUNTS] * (256 - len(_CODES))])
"""What each op is to the survey, by its code; custom ops are past the end of the names."""


@cache
def limits_of(thresholds: Thresholds) -> bytes:
    """By op: how small a slope counts as shut."""
    limits = np.zeros(256)
    for code, name in enumerate(_CODES):
        if KINDS[code] & 7 in (SATURATE, SOFT):
            limits[code] = thresholds.saturated * _steepest(OPS[name])
    return limits.tobytes()
