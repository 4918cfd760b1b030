"""The story as text: the two-column waterfall. Forward steps run down the left, backward steps down
the right, each with its numbers and its sentence; the gradients follow as bars.

It only reads the story. A long story is shown by its ends, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from .._shared.sites import is_cell
from .._text.lines import (
    Line,
    Span,
    as_text,
    beside,
    clipped,
    folded,
    justified,
    line_width,
    width_of,
)
from ..ops.sentences import shown
from .census import values_by_line
from .phrases import adding_words
from .spelling import spell_whole
from .story import BackwardStep, Contribution, Story
from .tables import bars, heading, short_root
from .thermometer import Reading, readings_of

TWO_COLUMNS = 72
"""Columns from which on the two passes stand side by side."""

WIDEST_PAGE = 120
"""Columns past which lines are no longer pleasant to read."""

GAP = 3
LONGEST_TITLE = 120
LONGEST_STORY_SPELLED = 10_000
"""Values past which the title does not try to spell the root out in full."""
MOST_STEPS, ENDS = 48, 12
"""Steps of a pass that are all shown; of more, some from each end."""
MOST_LINES = 12
MOST_CONTRIBUTIONS = 8
ALIGNED = 6
"""Digits up to which amounts stand flush right."""
MOST_GRADIENTS = 12


def waterfall(story: Story, width: int = 80, color: bool = False) -> str:
    """The whole story as text of a given width.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> print(waterfall(rg.story(a * a), 60))  # doctest: +ELLIPSIS
    a*a = 9
    ...
    """
    width = min(width, WIDEST_PAGE)
    lines = [*_title(story, width), []]
    if story.note:
        lines += [*folded([("Note: ", "notice"), (story.note, "")], width, 6), []]
    if story.births:
        lines += [*_births(story, width), []]
    if len(story.columns.ops) > 1:
        lines += _passes(story, width)
        if len(story.forward) > MOST_STEPS:
            lines += _lines_made(story, width)
        lines += [[], *_gradients(story, width)]
    while not lines[-1]:
        lines.pop()
    return as_text(lines, color)


def _title(story: Story, width: int) -> list[Line]:
    """``f = relu(a*b + d) = 4``, as much of it as there is room for.

    A root without a name is called ``v4`` in here where that is what the readings call it.
    """
    columns, root = story.columns, story.root
    name = columns.names[root]
    parts = [name] if columns.named[root] or story.spelled(root) == name else []
    if columns.inputs[root]:
        unnamed = [*columns.named[:-1], False]
        longest = min(width - 16, LONGEST_TITLE)
        spelled = None
        if root <= LONGEST_STORY_SPELLED:
            spelled = spell_whole(
                columns.ops, columns.symbols, columns.names, unnamed, columns.inputs, longest
            )[root]
        unspoken = any(not columns.named[it] for it in columns.inputs[root])
        if spelled or not columns.named[root] or not unspoken:
            parts.append(spelled or story.expression(root))
    title = f"{' = '.join(parts) or name} = {shown(columns.data[root])}"
    return folded([(title, "strong")], width, 4)


def _births(story: Story, width: int) -> list[Line]:
    """What is not finite, and where it begins: first, since nothing after it means anything."""
    lines: list[Line] = []
    for each in story.births:
        name = story.columns.names[each.node]
        place = f"{each.where}, " if each.where else ""
        head = f"{each.what} is born at {place}{each.phase} step"
        lines += folded(
            [(f"{head} {each.step + 1}, {name}: ", "alarm"), (f"{each.because}.", "")], width, 4
        )
        if each.cure:
            lines += folded([("    Cure: ", "strong"), (f"{each.cure}.", "")], width, 10)
    return lines


# ---- the two passes ---------------------------------------------------------------------------


def _passes(story: Story, width: int) -> list[Line]:
    places = _short_places(story)
    forward, backward = _chosen(len(story.forward)), _chosen(len(story.backward))
    if width < TWO_COLUMNS:
        return [
            *_forward(story, forward, places, width),
            [],
            *_backward(story, backward, width),
        ]
    room = width - GAP
    natural = _natural_width(story, forward, places)
    left = max(min(natural, room * 9 // 20), 26)
    right = room - left
    return beside(
        _forward(story, forward, places, left), _backward(story, backward, right), left, GAP
    )


def _chosen(count: int) -> list[int | None]:
    """The steps to show; None stands for those left out."""
    if count <= MOST_STEPS:
        return list(range(count))
    return [*range(ENDS), None, *range(count - ENDS, count)]


def _left_out(count: int, shown_steps: Sequence[int | None]) -> Line:
    hidden = count - sum(step is not None for step in shown_steps)
    return [(f"   … {hidden:,} more steps …", "quiet")]


def _short_places(story: Story) -> list[str]:
    """``line 12`` for every site; with the file where there are several; nothing for a prompt or a
    cell, whose lines have no lasting number."""
    sites = story.columns.sites
    files = {site.file for site in sites if not _is_passing(site.file)}
    texts = []
    for site in sites:
        if _is_passing(site.file):
            texts.append("")
        elif len(files) == 1:
            texts.append(f"line {site.line}")
        else:
            texts.append(f"{PurePath(site.file).name}:{site.line}")
    return texts


def _is_passing(file: str) -> bool:
    return file.startswith("<") or is_cell(file)


def _natural_width(story: Story, steps: Sequence[int | None], places: Sequence[str]) -> int:
    """How wide the forward column would like to be."""
    lines = _forward(story, steps, places, 10_000, ruled=False)
    return max(min(line_width(line), 10_000) for line in lines)


def _name_width(story: Story, nodes: Sequence[int], limit: int) -> int:
    widths = [width_of(story.columns.names[node]) for node in nodes]
    return max((width for width in widths if width <= limit), default=1)


def _forward(
    story: Story,
    steps: Sequence[int | None],
    places: Sequence[str],
    width: int,
    ruled: bool = True,
) -> list[Line]:
    columns, total = story.columns, len(story.forward)
    digits = len(str(total))
    nodes = [story.forward_node(step) for step in steps if step is not None]
    names = _name_width(story, nodes, width // 3)
    lines = heading("FORWARD", [("inputs to result", "quiet")], width) if ruled else []
    for step in steps:
        if step is None:
            lines.append(_left_out(total, steps))
            continue
        node = story.forward_node(step)
        number: Span = (f"{step + 1:>{digits}}  ", "quiet")
        name: Span = (f"{columns.names[node]:<{names}}", "strong")
        place = places[columns.places[node]] if columns.places[node] >= 0 else ""
        indent, hanging = digits + 2 + names + 3, digits + 4
        head = [number, name, (" = ", "quiet"), (story.expression(node), "")]
        if line_width(head) > width:  # too long to stand in line with the others
            head[1], indent = (columns.names[node], "strong"), hanging
        below = indent
        more = list[Line]()
        if columns.inputs[node]:
            if max(map(width_of, story.numbers(node).split())) > width - indent:
                below = hanging
            more = _worked_out(story, node, width - below + 2)
        elif not columns.requires_grad[node]:
            head.append(("  no gradient", "quiet"))
        # the place stands beside its step, or is left out: width_of(place) would push it apart
        beside_place = justified(head, [(place, "quiet")], width) if place and ruled else None
        if not ruled and place:
            beside_place = [*head, (f"  {place}", "quiet")]
        lines += [beside_place] if beside_place else folded(head, width, indent)
        lines += [_indented(line, below - 2) for line in more]
    return lines


def _worked_out(story: Story, node: int, width: int) -> list[Line]:
    """The numbers behind a computed value; its result on a line of its own where that is tight."""
    born = any((it.phase, it.node) == ("forward", node) for it in story.births)
    result: Span = (shown(story.columns.data[node]), "alarm" if born else "strong")
    if story.is_stale(node):
        return folded([("= ", "quiet"), result, (" when it was computed", "notice")], width, 2)
    numbers: list[Span] = [("= ", "quiet"), (story.numbers(node), "")]
    if story.numbers(node) == result[0]:
        return [[numbers[0], result]]
    line = [*numbers, (" = ", "quiet"), result]
    if line_width(line) <= width:
        return [line]
    return [*folded(numbers, width, 2), [("= ", "quiet"), result]]


def _backward(story: Story, steps: Sequence[int | None], width: int) -> list[Line]:
    columns, total = story.columns, len(story.backward)
    digits = len(str(total))
    rule: list[Span] = [
        ("input.grad += ", "quiet"), ("partial", "partial"), (" × ", "quiet"),
        ("upstream", "upstream"),
    ]  # fmt: skip
    lines = heading("BACKWARD", rule, width)
    root = columns.names[story.root]
    seeded: list[Span] = [
        (" " * (digits + 2), ""), (f"{root}.grad", "strong"), (" = ", "quiet"),
        (shown(story.seed), "upstream"), (", the seed", "quiet"),
    ]  # fmt: skip
    lines += folded(seeded, width, digits + 2)
    explained = False
    for step in steps:
        if step is None:
            lines += [[], _left_out(total, steps)]
            continue
        told = story.backward[step]
        lines += [[], *_step(story, step, told, width, digits)]
        met = [it for it in told.contributions if it.before != 0.0]
        if met and not explained:
            explained = True
            why = _why_add(story, step, met, width - digits)
            lines += [_indented(line, digits + 2) for line in why]
    return lines


def _indented(line: Line, indent: int) -> Line:
    return [(" " * indent, ""), *line]


def _why_add(story: Story, step: int, met: Sequence[Contribution], width: int) -> list[Line]:
    text = f"{adding_words(story, step, met[0])} (+=, not =)"
    return folded([(text, "notice")], width - 2)


def _step(story: Story, step: int, told: BackwardStep, width: int, digits: int) -> list[Line]:
    names = story.columns.names
    indent = digits + 2
    head: list[Span] = [
        (f"{step + 1:>{digits}}  ", "quiet"),
        (names[told.node], "strong"),
        (" = ", "quiet"),
        (story.expression(told.node), ""),
    ]
    upstream: list[Span] = [("upstream ", "quiet"), (shown(told.upstream), "upstream")]
    first = justified(head, upstream, width)
    lines = [first] if first else [*folded(head, width, indent), _indented(upstream, indent)]
    kept = told.contributions[:MOST_CONTRIBUTIONS]
    for line in _contributions(story, kept, told.upstream, width - indent):
        lines.append(_indented(line, indent))
    if len(told.contributions) > len(kept):
        hidden = len(told.contributions) - len(kept)
        lines.append(_indented([(f"… {hidden:,} more contributions …", "quiet")], indent))
    for line in folded([(told.words, "words")], width - indent):
        lines.append(_indented(line, indent))
    return lines


def _contributions(
    story: Story, kept: Sequence[Contribution], upstream: float, width: int
) -> list[Line]:
    """``a.grad += -3 × 1 = -3    0 → -3``, aligned within their step."""
    names = [f"{story.columns.names[it.to]}.grad" for it in kept]
    partials = [shown(it.partial) for it in kept]
    amounts = [shown(it.amount) for it in kept]
    widths = [max(map(width_of, texts), default=0) for texts in (names, partials, amounts)]
    if widths[2] > ALIGNED:  # long numbers do not line up by their last digits
        widths[2] = 0
    lines: list[Line] = []
    for it, name, partial, amount in zip(kept, names, partials, amounts):
        product: list[Span] = [
            (name + " " * (widths[0] - width_of(name)), ""),
            (" += ", "quiet"),
            (f"{partial:>{widths[1]}}", "partial"),
            (" × ", "quiet"),
            (shown(upstream), "upstream"),
        ]
        equals: list[Span] = [("= ", "quiet"), (f"{amount:>{widths[2]}}", "amount")]
        adds = it.before != 0.0 and it.amount != 0.0
        running: list[Span] = [
            (f"{shown(it.before)} → {shown(it.after)}", "notice" if adds else "quiet")
        ]
        lines += _contribution(product, equals, running, adds, width)
    return lines


def _contribution(
    product: list[Span], equals: list[Span], running: list[Span], adds: bool, width: int
) -> list[Line]:
    """One contribution on one line where it fits, else its result or its sum on the next."""
    main: list[Span] = [*product, (" ", ""), *equals]
    line = justified(main, running, width)
    if line:
        return [line]
    if line_width(main) <= width:
        below = _indented(running, max(width - line_width(running), 0))
        return [main, below] if adds else [main]
    indented = _indented(equals, 4)
    return [*folded(product, width, 4), justified(indented, running, width) or indented]


# ---- the lines of a long story ----------------------------------------------------------------


def _lines_made(story: Story, width: int) -> list[Line]:
    """Where most values were made: a long story at a glance."""
    counts = [each for each in values_by_line(story) if not _is_passing(each.place.file)]
    if len(counts) < 2:
        return []
    kept, rest = counts[:MOST_LINES], counts[MOST_LINES:]
    total = f"{len(story.forward):,} values"
    lines = [[], *heading("LINES", [(f"where {total} were made", "quiet")], width)]
    times = max(len(f"×{each.values:,}") for each in kept)
    places = [f"{PurePath(each.place.file).name}:{each.place.line}" for each in kept]
    widest = max(map(width_of, places))
    for each, place in zip(kept, places):
        head: list[Span] = [
            (f"{f'×{each.values:,}':>{times}}", "strong"),
            (f"  {place}{' ' * (widest - width_of(place))}  ", "quiet"),
        ]
        room = max(width - line_width(head), 8)
        lines.append([*head, (clipped(each.place.text or each.place.function, room), "")])
    if rest:
        made = sum(each.values for each in rest)
        lines.append([(f"… and {made:,} on {len(rest):,} more lines …", "quiet")])
    return lines


# ---- the gradients ----------------------------------------------------------------------------


def _weakness(row: Reading) -> float:
    """Strongest first, and NaN before all: it must not be overlooked."""
    return -abs(row.gradient) if row.gradient == row.gradient else float("-inf")


def _gradients(story: Story, width: int) -> list[Line]:
    readings = readings_of(story, story.leaves)
    if not readings.readings:
        return []
    rest = len(readings.readings) - MOST_GRADIENTS
    if rest > 0:
        strongest = sorted(readings.readings, key=_weakness)
        readings = replace(readings, readings=tuple(strongest[:MOST_GRADIENTS]))
    title = f"how {short_root(readings)} answers when a leaf is increased a little"
    lines = heading("GRADIENTS", [(title, "quiet")], width)
    lines += bars(readings, width)
    if rest > 0:
        lines.append([(f"… and {rest:,} weaker ones …", "quiet")])
    return lines
