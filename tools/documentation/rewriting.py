"""Markdown as it is written for a code host, turned into that of the site. Text in, text out."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark>```+)(?P<kind>\S*) *\n(?P<body>.*?)^(?P=indent)(?P=mark) *$",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
DIRECTIVE = re.compile(r" +# doctest: [+A-Z_, ]+$", re.MULTILINE)


def fence_examples(docstring: str) -> str:
    """A docstring whose examples are fenced blocks.

    >>> fence_examples("Twice.\\n\\n>>> 2 * 2\\n4\\n\\nThe end.").splitlines()[2:6]
    ['```pycon', '>>> 2 * 2', '4', '```']
    """
    lines: list[str] = []
    inside = False
    for line in docstring.splitlines():
        starts = line.lstrip().startswith(">>>")
        if inside and not line.strip():
            lines.append("```")
            inside = False
        elif starts and not inside:
            if lines and lines[-1].strip():
                lines.append("")
            lines.append("```pycon")
            inside = True
        lines.append(line)
    if inside:
        lines.append("```")
    return shown("\n".join(lines))


def shown(example: str) -> str:
    """An example as readers see it: without what is there for the test alone.

    >>> shown(">>> 1 / 0    # doctest: +ELLIPSIS")
    '>>> 1 / 0'
    """
    return DIRECTIVE.sub("", example).replace("<BLANKLINE>", "")


def session_blocks(text: str) -> str:
    """Python blocks that show a session are marked as such, so that they are coloured as one.

    >>> session_blocks("```python\\n>>> 1\\n1\\n\\n```\\n").splitlines()
    ['```pycon', '>>> 1', '1', '```']
    """

    def block(found: re.Match[str]) -> str:
        body = found["body"]
        if found["kind"] != "python" or not body.lstrip().startswith(">>>"):
            return found[0]
        body = textwrap.indent(textwrap.dedent(shown(body)).rstrip("\n"), found["indent"])
        return f"{found['indent']}{found['mark']}pycon\n{body}\n{found['indent']}{found['mark']}"

    return FENCE.sub(block, text)


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Change a text everywhere but in its fenced blocks.

    >>> outside_fences("a\\n```\\na\\n```\\na", str.upper)
    'A\\n```\\na\\n```\\nA'
    """
    parts: list[str] = []
    end = 0
    for found in FENCE.finditer(text):
        parts += [change(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, change(text[end:])])


def redirect(text: str, where: Callable[[str], str | None]) -> str:
    """Links led elsewhere; one that leads nowhere on the site leaves its text.

    >>> redirect("see [the law](../src/law.py) and [more](more.md)", {"more.md": "x.md"}.get)
    'see the law and [more](x.md)'
    """

    def link(found: re.Match[str]) -> str:
        target = where(found["target"])
        return found["text"] if target is None else f"[{found['text']}]({target})"

    return outside_fences(text, lambda part: LINK.sub(link, part))
