"""The terminal: how wide it is, whether it takes colour and which signs, and a bar for what takes
long."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

WIDEST_TERMINAL = 96
WIDEST_PIPE = 80
PATIENCE_SECONDS = 2.0

NARROWEST, WIDEST, USUAL = 40, 200, 80

_SPELLED_OUT = {"×": "*", "÷": "/", "→": "->", "─": "-", "│": "|", "█": "#", "▏": "#", "◀": "<",
                "▶": ">", "…": "...", "·": "|", "⁵": "5", "³": "3", "∞": "inf", "¹": "1", "⁶": "6",
                "↓": "v", "↑": "^", "✓": "+", "✗": "x"}  # fmt: skip
_IN_COLUMNS = _SPELLED_OUT | {"→": ">"}  # as wide as the sign: columns are laid out by then


def terminal_width(stream: TextIO) -> int:
    """The width to write for: the terminal's, or the usual one where there is none."""
    if not is_terminal(stream):
        return USUAL
    return min(max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST), WIDEST)


def takes_color(stream: TextIO) -> bool:
    """Colour on terminals, unless NO_COLOR is set or the terminal is dumb."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody sits in front of a stream."""
    return bool(getattr(stream, "isatty", bool)())


def write(text: str, stream: TextIO | None = None) -> None:
    """Print a text; a stream that lacks our signs gets the nearest spelling of them."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for sign, spelling in _SPELLED_OUT.items():
            text = text.replace(sign, spelling)
        text = text.encode(encoding, "replace").decode(encoding)
    print(text, file=stream)


def console(stream: TextIO | None = None) -> Console:
    """A console for a stream: colour on a terminal, plain text in pipes and under NO_COLOR."""
    from rich.console import Console

    stream = stream or sys.stdout
    accept_any_text(stream)
    widest = WIDEST_TERMINAL if is_terminal(stream) else WIDEST_PIPE
    width = min(shutil.get_terminal_size((WIDEST_PIPE, 24)).columns, widest)
    if os.environ.get("NO_COLOR"):
        return Console(file=stream, width=width, color_system=None, highlight=False)
    return Console(file=stream, width=width, highlight=False)


def accept_any_text(stream: TextIO) -> None:
    """Let a stream that knows only ASCII or Latin-1 print the nearest spelling of our signs."""

    def spell_out(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        signs = error.object[error.start : error.end]
        return "".join(_IN_COLUMNS.get(sign, "?") for sign in signs), error.end

    if not (stream.encoding or "utf-8").lower().startswith("utf"):
        codecs.register_error("retrograde.spell_out", spell_out)
        with suppress(AttributeError):
            stream.reconfigure(errors="retrograde.spell_out")  # type: ignore[attr-defined]


class LateBar:
    """A progress bar on standard error that appears once the work has taken two seconds.

    It shows on a terminal only, and wipes itself away at the end.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> LateBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Say that ``done`` of ``total`` steps are behind us."""
        if self._bar is None and sys.stderr.isatty():
            if time.monotonic() - self._began >= PATIENCE_SECONDS and done < total:
                self._begin(total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

    def _begin(self, total: int) -> None:
        from rich.progress import Progress

        self._bar = Progress(console=console(sys.stderr), transient=True)
        self._bar.add_task(self._title, total=total)
        self._bar.start()

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()
