"""The graph of a story as an SVG: data and gradient on each value, both directions of flow.

A story too big to be read is drawn in groups, and the drawing says so. Only reads the story.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .groups import READABLE, Group, group
from .layout import Layout, Point, path_of
from .marks import brief, clipped, escape, sign_of, signed, stored, title_width, titled
from .pictures import SIZES, Box, Line, Picture, pictures
from .thermometer_svg import thermometer_svg as thermometer_svg

if TYPE_CHECKING:
    from .entries import Node
    from .story import Story

PULL = 5.0
"""How far below the line of the data the line of its gradient runs."""

LABELLED = 48
"""Lines up to which each carries its contribution."""

LONGEST_TITLE = 18
"""Characters that fit in the first line of a value's box."""

INDENT = 10.0
"""Pixels to both sides of what a box says."""

CAPTION = 30.0


def graph_svg(story: Story, *, limit: int = READABLE, by: str | None = None) -> str:
    """A drawing of at most ``limit`` boxes; ``by`` says how to group a bigger story.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> drawing = graph_svg(rg.story(a + a))
    >>> drawing[:4], drawing.count('class="amount"')
    ('<svg', 2)
    """
    nodes = list(story.nodes)
    everything = group(nodes, limit=limit, by=by)
    return picture_svg(story, nodes, pictures(nodes, everything, only_the_first=True)[0])


def picture_svg(story: Story, nodes: Sequence[Node], picture: Picture) -> str:
    """The outermost picture of a story, drawn."""
    return _Drawn(story, nodes, picture).svg()


def amounts_in(story: Story, picture: Picture) -> dict[tuple[int, int], float]:
    """The contribution along each line between two values: (the use, which input) -> amount."""
    ends = {picture.boxes[line.end].value for line in picture.lines if line.position is not None}
    return {
        (node, it.position): it.amount
        for step, node in enumerate(story.pulled.order)
        if node in ends
        for it in story.backward[step].contributions
    }


def caption_of(nodes: Sequence[Node], everything: Group) -> str | None:
    """What a drawing in groups says of itself; None where every value has its own box."""
    groups = sum(isinstance(part, Group) for part in everything.parts)
    if not groups:
        return None
    return (
        f"{len(nodes):,} values are too many to read at once: "
        f"they are drawn in {groups} group{'s' if groups > 1 else ''}."
    )


def box_title(node: Node) -> tuple[str, str]:
    """The first line of a value's box: its name, with how it was made where that is short, and
    otherwise the symbol of its op on the right.

    >>> from types import SimpleNamespace as Some
    >>> box_title(Some(name="e", inputs=(0, 1), expression="a * b", symbol="*"))
    ('e = a * b', '')
    >>> box_title(Some(name="hidden", inputs=(0,), expression="tanh(before)", symbol="tanh"))
    ('hidden', 'tanh')
    """
    whole = f"{node.name} = {node.expression}"
    room = SIZES["value"][0] - 2 * INDENT
    if node.inputs and len(whole) <= LONGEST_TITLE and title_width(whole) <= room:
        return whole, ""
    sign = clipped(node.symbol, 7)
    return titled(node.name, LONGEST_TITLE - len(sign), room - 8 * len(sign)), sign


class _Drawn:
    """One picture while it is being written."""

    def __init__(self, story: Story, nodes: Sequence[Node], picture: Picture) -> None:
        self.story, self.nodes, self.picture = story, nodes, picture
        self.layout: Layout = picture.layout
        self.groups = [part for part in picture.group.parts if isinstance(part, Group)]
        self.amounts = amounts_in(story, picture) if len(picture.lines) <= LABELLED else {}
        self.points = amount_points(picture)

    def svg(self) -> str:
        caption = caption_of(self.nodes, self.picture.group)
        notes = [text for text in (caption, self.story.note) if text]
        width = max(self.layout.width, 260.0)
        height = self.layout.height + CAPTION * len(notes)
        root = self.nodes[self.story.root]
        title = f"The graph of {root.name} = {brief(root.data)}"
        described = (
            f"{len(self.nodes)} values from left to right. Data flows to the right along solid "
            "lines, gradients flow back along dashed lines."
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="retrograde graph" role="img" '
            f'aria-labelledby="graph-title graph-about" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">',
            f'<title id="graph-title">{escape(title)}</title>',
            f'<desc id="graph-about">{escape(described)}</desc>',
            f"<style>{stored('graph.css')}</style>",
            _MARKERS,
            f'<rect width="{width:g}" height="{height:g}" fill="var(--card)"/>',
        ]
        parts += [self._line(i, line) for i, line in enumerate(self.picture.lines)]
        parts += [self._box(i, box) for i, box in enumerate(self.picture.boxes)]
        parts += [self._amount(i, line) for i, line in enumerate(self.picture.lines)]
        for row, text in enumerate(notes):
            y = self.layout.height + CAPTION * row + 14
            shown = clipped(text, max(30, int(width / 6.2)))
            parts.append(f'<text class="caption" x="16" y="{y:g}">{escape(shown)}</text>')
        return "\n".join([*(part for part in parts if part), "</svg>"]) + "\n"

    # ---- lines --------------------------------------------------------------------------------

    def _path(self, index: int) -> str:
        floor = self.layout.height - 16 if index in self.layout.returns else None
        return path_of(self.layout.routes[index], floor)

    def _line(self, index: int, line: Line) -> str:
        path = self._path(index)
        if not path:
            return ""
        many = " many" if line.count > 1 else ""
        drawn = f'<path class="line{many}" d="{path}" marker-end="url(#ahead)"/>'
        if self._takes_gradient(self.picture.boxes[line.start]):
            drawn += (
                f'<path class="pull{many}" d="{path}" transform="translate(0 {PULL:g})" '
                'marker-start="url(#back)"/>'
            )
        return drawn

    def _takes_gradient(self, box: Box) -> bool:
        return box.value is None or self.nodes[box.value].requires_grad

    def _amount(self, index: int, line: Line) -> str:
        """The contribution that flows back along a line between two values."""
        if line.position is None:
            return ""
        use = self.picture.boxes[line.end].value
        amount = self.amounts.get((-1 if use is None else use, line.position))
        if amount is None:
            return ""
        sign = "+" if amount > 0 else ""
        text, (x, y) = f"{sign}{brief(amount)}", self.points[index]
        width = 6.8 * len(text) + 6
        return (
            f'<rect class="plate" x="{x - width / 2:.1f}" y="{y - 4:.1f}" width="{width:.1f}" '
            f'height="15" rx="4"/><text class="amount" x="{x:.1f}" y="{y + 7:.1f}">{text}</text>'
        )

    # ---- boxes --------------------------------------------------------------------------------

    def _box(self, index: int, box: Box) -> str:
        (x, y), (width, height) = self.layout.corners[index], SIZES[box.kind]
        at = f'transform="translate({x:g} {y:g})"'
        frame = f'<rect class="frame" width="{width:g}" height="{height:g}" rx="8"/>'
        if box.kind == "group":
            return self._group(self.groups[self._order_of(box)], at, frame)
        assert box.value is not None
        node = self.nodes[box.value]
        if box.kind == "number":
            return (
                f'<g class="number" {at}><title>the number {brief(node.data)}</title>{frame}'
                f'<text class="name" x="{width / 2:g}" y="{height / 2 + 4:g}">'
                f"{brief(node.data)}</text></g>"
            )
        made = f" = {node.expression}" if node.inputs else ""
        title = f"{node.name}{made}: data {brief(node.data)}, gradient {brief(node.grad)}"
        name, symbol = box_title(node)
        kind = "value leaf" if not node.inputs else "value"
        if node.id == self.story.root:
            kind += " root"
        return (
            f'<g class="{kind}" {at}><title>{escape(title)}</title>{frame}'
            f'<text class="name" x="10" y="18">{escape(name)}</text>'
            f'<text class="symbol" x="146" y="18">{escape(symbol)}</text>'
            f'<text class="what" x="10" y="37">data</text>'
            f'<text class="digits data" x="146" y="37">{brief(node.data)}</text>'
            f'<text class="what" x="10" y="54">grad</text>{self._gradient(node)}</g>'
        )

    def _gradient(self, node: Node) -> str:
        if not node.requires_grad:
            return '<text class="digits zero" x="146" y="54">takes none</text>'
        return (
            f'<text class="digits {sign_of(node.grad)}" x="146" y="54">{signed(node.grad)}</text>'
        )

    def _order_of(self, box: Box) -> int:
        """The place of a group's box among the groups of the picture."""
        assert box.group is not None
        return box.group - 1  # the outermost picture's groups come right after it

    def _group(self, part: Group, at: str, frame: str) -> str:
        size = f"{len(part.members):,} values"
        strongest = max((self.nodes[value].grad for value in part.members), key=abs)
        title = f"{part.title}: {size}, strongest gradient {brief(strongest)}"
        name = titled(part.title, 20, SIZES["group"][0] - 2 * INDENT)
        behind = '<rect class="behind" x="5" y="5" width="176" height="64" rx="8"/>'
        return (
            f'<g class="group" {at}><title>{escape(title)}</title>{behind}{frame}'
            f'<text class="name" x="10" y="18">{escape(name)}</text>'
            f'<text class="what" x="10" y="37">values</text>'
            f'<text class="digits data" x="166" y="37">{len(part.members):,}</text>'
            f'<text class="what" x="10" y="54">strongest</text>'
            f'<text class="digits {sign_of(strongest)}" x="166" y="54">{signed(strongest)}</text>'
            "</g>"
        )


_MARKERS = (
    '<defs><marker id="ahead" class="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
    '<marker id="back" class="tail" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
    '<path d="M0 0L8 4L0 8z"/></marker></defs>'
)


def amount_points(picture: Picture) -> list[Point]:
    """Where along each line its contribution is written; many side by side take turns."""
    sides: dict[tuple[int, int], list[int]] = {}
    for index, line in enumerate(picture.lines):
        sides.setdefault((line.start, line.end), []).append(index)
    points: list[Point] = [(0.0, 0.0)] * len(picture.lines)
    for side in sides.values():
        for place, index in enumerate(side):
            share = 0.5 if len(side) <= 3 else 0.25 + 0.5 * place / (len(side) - 1)
            route = picture.layout.routes[index]
            if len(route) > 1:
                points[index] = label_point(route, share)
    return points


def label_point(route: Sequence[Point], share: float) -> Point:
    """A point on the last stretch of a route, where the lines into one box stand apart.

    >>> label_point([(0, 0), (10, 8)], 0.5)
    (5.0, 4.0)
    """
    (x0, y0), (x1, y1) = route[-2], route[-1]
    middle = (x0 + x1) / 2
    t, s = share, 1 - share
    x = s**3 * x0 + 3 * s * s * t * middle + 3 * s * t * t * middle + t**3 * x1
    y = s**3 * y0 + 3 * s * s * t * y0 + 3 * s * t * t * y1 + t**3 * y1
    return x, y
