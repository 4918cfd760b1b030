"""The graph of a story as DOT text, for Graphviz and the tools that read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .groups import READABLE, Group, group
from .marks import brief, signed
from .pictures import Box, pictures
from .svg import amounts_in, caption_of

if TYPE_CHECKING:
    from .story import Story

FORWARD, BACKWARD = "#1c5fb8", "#a8480a"


def graph_dot(story: Story, *, limit: int = READABLE, by: str | None = None) -> str:
    """The same boxes and lines as the SVG: solid lines for data, dashed ones for gradients.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> print(graph_dot(rg.story(a * b)).splitlines()[-2])
      n1 -> n2 [dir=back, style=dashed, color="#a8480a", label="+2"];
    """
    nodes = list(story.nodes)
    everything = group(nodes, limit=limit, by=by)
    picture = pictures(nodes, everything, only_the_first=True)[0]
    groups = [part for part in everything.parts if isinstance(part, Group)]
    amounts = amounts_in(story, picture)

    def label(box: Box) -> str:
        if box.group is not None:
            part = groups[box.group - 1]
            return f"label={_quoted(f'{part.title} | {len(part.members):,} values')}"
        assert box.value is not None
        node = nodes[box.value]
        if box.kind == "number":
            return f"label={_quoted(brief(node.data))}, style=dashed"
        title = node.name if not node.inputs else f"{node.name} = {node.expression}"
        grad = signed(node.grad) if node.requires_grad else "takes none"
        fields = (_field(title), f"data {brief(node.data)}", f"grad {grad}")
        return f"label={_quoted(' | '.join(fields))}"

    said = [text for text in (caption_of(nodes, everything), story.note) if text]
    lines = [*(f"// {' '.join(text.split())}" for text in said), "digraph story {"]
    lines.append("  rankdir=LR;")
    lines.append("  node [shape=record, fontname=Helvetica];")
    lines += [f"  n{index} [{label(box)}];" for index, box in enumerate(picture.boxes)]
    for line in picture.lines:
        ends = f"n{line.start} -> n{line.end}"
        count = f', label="×{line.count}"' if line.count > 1 else ""
        lines.append(f'  {ends} [color="{FORWARD}"{count}];')
        back = f'{ends} [dir=back, style=dashed, color="{BACKWARD}"'
        if line.position is None:
            lines.append(f"  {back}];")
            continue
        use = picture.boxes[line.end].value
        amount = None if use is None else amounts.get((use, line.position))
        if amount is not None:
            sign = "+" if amount > 0 else ""
            lines.append(f'  {back}, label="{sign}{brief(amount)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _field(text: str) -> str:
    """A text inside a record, where braces, bars and angles have a meaning."""
    return "".join("\\" + c if c in "{}|<>" else c for c in text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"').replace("\n", " ") + '"'
