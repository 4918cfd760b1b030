"""The ledger of an array: where its gradient comes from, use by use, as data and as text.

Contributions are arrays, so what adds up is said twice: the arrays add up to the gradient bit by
bit in the engine's order, and their shares (each one's part along the gradient) add up to one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from .._shared.birth import spelled
from .._shared.sites import Site
from ..passes.summary import Summary, shape_text


@dataclass(frozen=True)
class Use:
    """One use of an array, or all routes through a chosen one: what it contributed. ``share`` is
    its part along the gradient, ``cosine`` how far it points the same way."""

    op: str
    site: Site | None
    group: str
    amount: Summary
    share: float
    cosine: float


@dataclass(frozen=True)
class ArrayLedger:
    """Where the gradient of one array comes from. ``exact`` says whether the contributions add up
    to it bit for bit, ``residue`` by how much they do not; ``cancellation`` is the sum of their
    norms over the norm of the gradient."""

    name: str
    shape: tuple[int, ...]
    gradient: Summary
    uses: tuple[Use, ...]
    exact: bool
    residue: float
    through: bool = False

    @property
    def cancellation(self) -> float:
        """1 where every use pulls the same way, large where they cancel out."""
        total = fsum(use.amount.norm for use in self.uses)
        return total / self.gradient.norm if self.gradient.norm else float("inf") * bool(total)

    def words(self) -> str:
        """The ledger in one line.

        >>> ArrayLedger("w", (2,), Summary.number(0.0), (), True, 0.0).words()
        'nothing uses w on the way to the loss'
        """
        if not self.uses:
            return f"nothing uses {self.name} on the way to the loss"
        strongest = sorted(self.uses, key=lambda use: -abs(use.share))
        parts = [f"{100 * use.share:.0f} % through {_place(use)}" for use in strongest[:4]]
        more = f" and {len(strongest) - 4} more" if len(strongest) > 4 else ""
        return f"{self.name} learns {', '.join(parts)}{more}"

    def to_json(self) -> dict[str, Any]:
        """Plain data; NaN and the infinities as texts."""
        plain: dict[str, Any] = spelled(asdict(self))
        for use, told in zip(self.uses, plain["uses"]):
            told["site"] = use.site._asdict() if use.site else None
        return {**plain, "cancellation": spelled(self.cancellation)}

    def text(self) -> str:
        """The ledger as a table of text."""
        exactly = "bit for bit" if self.exact else f"up to {self.residue:.1e}"
        kind = "routes" if self.through else "uses"
        lines = [
            f"The gradient of {self.name} {shape_text(self.shape)}: {self.gradient}",
            f"{len(self.uses)} {kind}; their contributions add up to it {exactly}, and are "
            f"{self.cancellation:.3g} times as long in all",
        ]
        for use in sorted(self.uses, key=lambda use: -abs(use.share)):
            where = f"line {use.site.line}" if use.site else ""
            lines.append(
                f"  {100 * use.share:6.1f} %  {use.op:<14} {where:<9} {use.group:<24} norm "
                f"{use.amount.norm:<9.3g} cosine {use.cosine:+.2f}"
            )
        return "\n".join(line.rstrip() for line in lines)

    def __str__(self) -> str:
        return self.text()


def _place(use: Use) -> str:
    where = f" (line {use.site.line})" if use.site else ""
    return f"{use.group or use.op}{where}"
