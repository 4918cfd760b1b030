"""The doctor's report, as data: groups, units, a profile along depth, births, and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .._shared.birth import spelled
from .._shared.sites import Site
from .births import Births
from .history import Moment, Profile
from .thresholds import Thresholds

ALARM, NOTE = "alarm", "note"


@dataclass(frozen=True)
class Verdict:
    """One illness, or something worth knowing: an "alarm" or a "note".

    ``group`` is the group of parameters it is about ('' for the whole pass), of several the one
    nearest to the loss, and ``groups`` are all of them. ``site`` is the line to blame where one is
    known, ``parameters`` how many it concerns. ``began`` is the pass it began
    with (0: not known), ``ended`` the last pass of what is over. ``cure`` says what to change.
    ``source`` is the line that computed a zero factor. ``consequences`` are the verdicts that
    follow from this one; they are no alarms of their own.
    """

    kind: str
    severity: str
    group: str
    sentence: str
    site: Site | None = None
    parameters: int = 0
    cure: str = ""
    began: int = 0
    ended: int = 0
    groups: tuple[str, ...] = ()
    source: Site | None = None
    consequences: tuple[Verdict, ...] = ()

    def __str__(self) -> str:
        return self.sentence

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        plain: dict[str, Any] = {
            "kind": self.kind,
            "severity": self.severity,
            "group": self.group,
            "groups": list(self.groups),
            "sentence": self.sentence,
            "cure": self.cure,
            "site": self.site._asdict() if self.site else None,
            "parameters": self.parameters,
            "began": self.began,
            "ended": self.ended,
            "consequences": [each.as_dict() for each in self.consequences],
        }
        return plain


@dataclass(frozen=True)
class Group:
    """A group of parameters: what its gradients are like.

    ``norm`` is the Euclidean norm of its gradients (the root mean square over the latest passes),
    ``share`` its part of the squares of all, ``ratio`` norm over the norm of the weights. ``depth``
    is how many products and functions lie between it and the loss; -1 where it is not reached.
    """

    name: str
    parameters: int
    reached: int
    zeros: int
    norm: float
    share: float
    weight: float
    ratio: float
    depth: int
    units: int = 0
    dead: int = 0
    saturated: int = 0


@dataclass(frozen=True)
class Report:
    """What the doctor found in one pass, or in all passes watched."""

    passes: int
    nodes: int
    edges: int
    loss: float
    groups: tuple[Group, ...]
    profile: Profile
    verdicts: tuple[Verdict, ...]
    births: Births
    history: tuple[Moment, ...]
    thresholds: Thresholds

    @property
    def alarms(self) -> tuple[Verdict, ...]:
        """The illnesses."""
        return tuple(verdict for verdict in self.verdicts if verdict.severity == ALARM)

    @property
    def notes(self) -> tuple[Verdict, ...]:
        """What is worth knowing, and may be meant."""
        return tuple(verdict for verdict in self.verdicts if verdict.severity == NOTE)

    @property
    def healthy(self) -> bool:
        """Whether there is no alarm."""
        return not self.alarms

    def kinds(self) -> set[str]:
        """The kinds of the alarms."""
        return {verdict.kind for verdict in self.alarms}

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON; numbers that are not finite are strings."""
        plain: dict[str, Any] = spelled({
            "healthy": self.healthy,
            "passes": self.passes,
            "nodes": self.nodes,
            "edges": self.edges,
            "loss": self.loss,
            "verdicts": [each.as_dict() for each in self.verdicts],
            "groups": _plain(self.groups),
            "profile": asdict(self.profile),
            "births": self.births.as_dict(),
            "history": _plain(self.history),
            "thresholds": self.thresholds.as_dict(),
        })  # fmt: skip
        return plain

    def text(self) -> str:
        """The report as text, 80 columns wide."""
        from .doctor_text import as_text

        return as_text(self)

    def html(self) -> str:
        """The report as one self-contained HTML page."""
        from .doctor_html import as_page

        return as_page(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from .doctor_html import as_fragment

        return as_fragment(self)


def _plain(items: Iterable[Any]) -> list[dict[str, Any]]:
    return [asdict(item) for item in items]
