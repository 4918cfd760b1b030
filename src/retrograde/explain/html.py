"""The page of a story: one HTML file that needs nothing else.

The parts lie in the ``page`` folder; here they are put together with the story's columns, its
pictures, and the rows of the law it uses, printed as JavaScript.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

from ..ops import OPS
from ..ops.emit.javascript import law
from .awkward import BACKWARD, Born
from .groups import READABLE, group
from .marks import brief, escape, stored
from .page_data import columns_of, columns_of_pictures
from .pictures import pictures
from .spelling import spell_whole
from .svg import picture_svg

if TYPE_CHECKING:
    from .story import Story

SCRIPTS = ("decode.js", "replay.js", "write.js", "graph.js", "view.js", "panels.js",
           "thermometer.js", "steps.js", "predict.js", "whatif.js", "table.js", "export.js",
           "keys.js", "main.js")  # fmt: skip
STYLES = ("page.css", "panels.css", "modes.css")
_PALETTE = re.compile(r"^ *\.retrograde \{([^}]*)\}", re.M)
PLAIN = 200_000
"""Characters up to which the story stays readable in the page's source; past it, it is packed."""

LONGEST_HEADING = 60


def page_html(story: Story, *, limit: int = READABLE, by: str | None = None) -> str:
    """The whole page, as text to be written to a file.

    ``limit`` and ``by`` are those of :func:`graph_svg`: how many boxes a picture may have, and how
    values are grouped past that.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> page = page_html(rg.story(a + a))
    >>> page[:15], "http://" in page.replace("http://www.w3.org/2000/svg", "")
    ('<!doctype html>', False)
    """
    nodes = list(story.nodes)
    everything = group(nodes, limit=limit, by=by)
    content: dict[str, Any] = columns_of(story, nodes)
    drawn = pictures(nodes, everything)
    content.update(columns_of_pictures(drawn, len(nodes)))
    form, packed = _packed(content)
    extra = {op for op, _ in content["paths"]["extra"]}
    used = sorted(({node.op for node in nodes} | extra) & OPS.keys())
    heading = _heading(story)
    return _filled(
        stored("page.html"),
        title=escape(f"{heading} · retrograde"),
        heading=escape(heading),
        result=escape(brief(story.columns.data[-1])),
        facts=escape(_facts(story)),
        note=f'<p class="note" role="note">{escape(story.note)}</p>' if story.note else "",
        births="".join(_birth(story, each) for each in story.births),
        drawing=picture_svg(story, nodes, drawn[0]),
        style=_themed(stored("graph.css")) + "".join(map(stored, STYLES)),
        form=form,
        story=packed,
        script="\n".join([law(used, OPS), *map(stored, SCRIPTS)]),
    )


def _birth(story: Story, born: Born) -> str:
    """One birth above the graph, and the way to its step."""
    step = born.step + 1 + (len(story.forward) + 1 if born.phase == BACKWARD else 0)
    name = escape(story.columns.names[born.node])
    return (
        f'<p class="alarm" role="alert"><b>{escape(born.what)} is born at '
        f'<a href="#step-{step}">{name}</a>'
        f"{escape(f', {born.where}' if born.where else '')}</b>, because {escape(born.because)}."
        + (f" <b>Cure:</b> {escape(born.cure)}." if born.cure else "")
        + "</p>\n"
    )


def _themed(style: str) -> str:
    """The drawing's colours, also for a page that is told to be light or dark."""
    light, dark = _PALETTE.findall(style)
    return (
        f'{style}.retrograde[data-theme="light"] {{{light} color-scheme: light; }}\n'
        f'.retrograde[data-theme="dark"] {{{dark} color-scheme: dark; }}\n'
    )


def _packed(content: dict[str, Any]) -> tuple[str, str]:
    """How the story stands in its script element, and the attribute that says so."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text) <= PLAIN:
        return "", text.replace("<", "\\u003c")
    small = gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)
    return ' data-form="gzip"', base64.b64encode(small).decode("ascii")


def _heading(story: Story) -> str:
    """The root's name and how it was computed, in full where that is short; where it is very short,
    that is its name."""
    columns = story.columns
    whole = spell_whole(
        columns.ops,
        columns.symbols,
        columns.names,
        [*columns.named[:-1], False],
        columns.inputs,
        LONGEST_HEADING,
    )[-1]
    name = columns.names[-1]
    if not columns.inputs[-1] or whole is None:
        return name
    return f"{name} = {whole}" if story.spelled(story.root) == name else whole


def _facts(story: Story) -> str:
    leaves = sum(op == "leaf" for op in story.columns.ops)
    return (
        f"from {leaves:,} {'leaf' if leaves == 1 else 'leaves'}; "
        f"{len(story.forward):,} forward and {len(story.backward):,} backward steps"
    )


def _filled(template: str, **parts: str) -> str:
    """The template with its parts, in one pass: what a part holds is never looked into."""
    pieces = template.split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        out += [parts[name], rest]
    return "".join(out)
