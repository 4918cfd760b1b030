"""Badges as text: what another engine says about the gradients of an explanation's leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text.lines import Line, as_text, width_of
from ..ops.sentences import shown
from .tables import heading

if TYPE_CHECKING:
    from ..value import Value
    from .story import Story


def badges_text(
    story: Story, root: Value, against: str, width: int = 80, color: bool = False
) -> str:
    """One line a leaf that takes gradients: both gradients, and how far they are apart.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> print(badges_text(rg.story(a * b), a * b, "complex-step", 60))
    CHECKED  against complex-step
    ────────────────────────────────────────────────────────────
    ✓ a  -3  complex-step  -3  agrees, 0 ulps
    ✓ b   2  complex-step   2  agrees, 0 ulps
    """
    from ..check.badges import badges

    found = badges(root, against=against)
    names = [node.name for node in story.nodes if node.op == "leaf" and node.requires_grad]
    rows = [(name, shown(badge.ours), shown(badge.theirs)) for name, badge in zip(names, found)]
    widths = [max((width_of(row[i]) for row in rows), default=0) for i in range(3)]
    lines: list[Line] = heading("CHECKED", [(f"against {against}", "quiet")], width)
    for (name, ours, theirs), badge in zip(rows, found):
        sign, style = ("✗", "falls") if badge.verdict == "differs" else ("✓", "rises")
        apart = "" if badge.ulps is None else f", {badge.ulps:.0f} ulps"
        numbers = f"{ours:>{widths[1]}}  {against}  {theirs:>{widths[2]}}"
        said = f"  {badge.verdict}{apart}"
        lines.append([(sign, style), (f" {name:{widths[0]}}  {numbers}", ""), (said, "quiet")])
    return as_text(lines, color)
