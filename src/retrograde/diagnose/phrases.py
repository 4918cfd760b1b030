"""Words that several verdicts share: lists of groups, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._text.paragraphs import counted

MOST_NAMED = 4


def listed(names: Sequence[str]) -> str:
    """Names of groups in a row, the first few.

    >>> listed(["a", "b"]), listed(list("abcdef"))
    ("'a', 'b'", "'a', 'b', 'c', 'd' and 2 more groups")
    """
    shown = ", ".join(f"'{name}'" for name in names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return shown + (f" and {counted(more, 'more group')}" if more > 0 else "")


def since(began: int, passes: int) -> str:
    """Since when, where it was not so from the beginning.

    >>> since(1, 60), since(2, 60)
    ('', ' since pass 2 of 60')
    """
    return f" since pass {began} of {passes}" if began > 1 else ""


def over(began: int, ended: int) -> str:
    """The passes of something that has ended.

    >>> over(3, 7), over(3, 3)
    ('in passes 3 to 7', 'in pass 3')
    """
    return f"in passes {began} to {ended}" if ended > began else f"in pass {began}"


def on_line(site: Any) -> str:
    """Where, in a few words; '' where it is not known."""
    return f" on line {site.line}" if site else ""


def parameters(name: str, count: int) -> str:
    """One parameter by name, or how many."""
    return f"'{name}'" if count == 1 else f"{count:,} parameters ('{name}', …)"


def part_of(groups: Sequence[str], count: int, whole: int, only: str) -> str:
    """So many parameters of some groups: the groups where it is all of them, ``only`` where it is
    one of them.

    >>> part_of(["a", "b"], 4, 4, "a.w"), part_of(["a"], 1, 2, "a.w")
    ("'a', 'b'", "'a.w'")
    >>> part_of(["a"], 2, 3, "a.w")
    "2 of 3 parameters of 'a'"
    """
    if count == whole:
        return listed(groups)
    return f"'{only}'" if count == 1 else f"{count} of {whole} parameters of {listed(groups)}"


def all_rows(rows: int) -> str:
    """So many rows, all of them."""
    return "the only row" if rows == 1 else f"all {rows:,} rows"
