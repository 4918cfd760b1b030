"""The story of a pass over arrays as text: forward and backward, folded by module and line.

It only reads the story. Copies in another shape are not shown, a long story by its ends.
"""

from __future__ import annotations

from itertools import groupby

from .._text.lines import Line, as_text, clipped, folded, shortened
from .columns import ArrayColumns
from .story import Story
from .tables import heading

MOST, ENDS = 60, 24
"""Lines of the program that are all shown; of more, some from each end."""
SILENT = frozenset(("copy", "flip"))


def array_waterfall(story: Story, width: int = 80, color: bool = False) -> str:
    """The whole story as text of a given width."""
    columns, arrays = story.columns, story.columns.arrays
    assert arrays is not None
    count = f"{len(columns.ops):,} values, {len(story.pulled.to):,} contributions"
    lines: list[Line] = [[(f"loss = {columns.data[-1]:.6g}", "strong"), (f"   {count}", "quiet")]]
    if story.note:
        lines += [[], *folded([("Note: ", "notice"), (story.note, "")], width, 6)]
    order = [i for i, op in enumerate(columns.ops) if op != "leaf"]
    lines += [[], *heading("FORWARD", [("what each line made", "quiet")], width)]
    lines += _by_line(story, arrays, order, width, forward=True)
    back = [("what each line hands on", "quiet")]
    lines += [[], *heading("BACKWARD", back, width)]
    lines += _by_line(story, arrays, story.pulled.order, width, forward=False)
    lines += [[], *heading("GRADIENTS", [("of the parameters", "quiet")], width)]
    lines += _gradients(story, arrays, width)
    return as_text(lines, color)


def _by_line(
    story: Story, arrays: ArrayColumns, order: list[int], width: int, forward: bool
) -> list[Line]:
    columns = story.columns
    steps = {node: step for step, node in enumerate(story.pulled.order)}
    blocks: list[list[Line]] = []
    for (_, module), members in groupby(order, key=lambda i: (_line(story, i), arrays.groups[i])):
        inside = list(members)
        block: list[Line] = [_title(story, columns.places[inside[0]], module, width)]
        for index in inside:
            if _is_view(story, arrays, index) and (len(inside) > 1 or not arrays.values[index]):
                continue
            if forward:
                about = arrays.values[index] or "not looked at"
                text = f"{columns.symbols[index]} → {arrays.shapes[index]}: {about}"
            else:
                text = story.backward[steps[index]].words
            block += [[("    ", ""), *line] for line in folded([(text, "")], width - 4, 4)]
        if len(block) > 1:
            blocks.append(block)
    shown = blocks if len(blocks) <= MOST else [*blocks[:ENDS], *blocks[-ENDS:]]
    lines: list[Line] = []
    for number, block in enumerate(shown):
        if len(blocks) > MOST and number == ENDS:
            lines.append([(f"   … {len(blocks) - 2 * ENDS:,} more lines …", "quiet")])
        lines += block
    return lines


def _is_view(story: Story, arrays: ArrayColumns, index: int) -> bool:
    """Whether a value has the numbers of its only input, in another shape."""
    inputs = story.columns.inputs[index]
    same = len(inputs) == 1 and arrays.values[index] in ("", arrays.values[inputs[0]])
    return same and arrays.kinds[index] in SILENT


def _line(story: Story, index: int) -> tuple[str, int] | None:
    """The line a value was made on; several instructions of it are one."""
    place = story.columns.places[index]
    site = story.columns.sites[place] if place >= 0 else None
    return (site.file, site.line) if site else None


def _title(story: Story, place: int, module: str, width: int) -> Line:
    inside = f"  {module}" if module else ""
    if place < 0:
        return [("line unknown", "quiet"), (inside, "strong")]
    site = story.columns.sites[place]
    head = f"line {site.line}  "
    text = clipped(site.text or site.function, max(width - len(head) - len(inside), 12))
    return [(head, "quiet"), (text, ""), (inside, "strong")]


def _gradients(story: Story, arrays: ArrayColumns, width: int) -> list[Line]:
    columns, grads = story.columns, story.pulled.grads
    leaves = sorted(story.leaves, key=lambda i: -grads[i])
    longest = max([grads[i] for i in leaves[:1]] or [0.0]) or 1.0
    widest = min(max((len(columns.names[i]) for i in leaves), default=8), 32)
    lines: list[Line] = []
    for index in leaves[:24]:
        bar = "█" * max(1, round(16 * grads[index] / longest)) if grads[index] else ""
        name = f"{shortened(columns.names[index], widest):<{widest}}"
        lines.append([
            (name, "strong"), (f"  {arrays.shapes[index]:>10}", "quiet"),
            (f"  norm {grads[index]:<9.3g} ", ""), (bar, "amount"),
        ])  # fmt: skip
    if len(leaves) > 24:
        lines.append([(f"… and {len(leaves) - 24:,} weaker ones …", "quiet")])
    return lines
