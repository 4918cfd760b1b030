"""Everything one run found out, as plain data: what is printed, judged and written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from measure import Timing


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the numbers come from."""

    python: str
    platform: str
    cores: int


@dataclass(frozen=True, slots=True)
class Presence:
    """An engine that was asked to take part, and why it could not if it is absent."""

    engine: str
    title: str
    version: str | None
    absent: str | None


@dataclass(frozen=True, slots=True)
class Weight:
    """What an engine's graph costs besides time."""

    engine: str
    operations: int
    one_input_bytes: float
    two_input_bytes: float
    collections: int
    """Runs of the cycle collector in one pass of the mlp and one of the chain."""


@dataclass(slots=True)
class Results:
    """One run. Sections that were not asked for are empty."""

    machine: Machine
    quick: bool
    engines: list[Presence]
    mlp: list[Timing] = field(default_factory=list)
    weighted_sum: list[Timing] = field(default_factory=list)
    dot: list[Timing] = field(default_factory=list)
    chain: list[Timing] = field(default_factory=list)
    memory: list[Weight] = field(default_factory=list)

    def title(self, key: str) -> str:
        """The name under which an engine is shown."""
        return next(presence.title for presence in self.engines if presence.engine == key)
