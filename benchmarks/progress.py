"""The progress bar of the commands: on a terminal only, silent in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

Bar = Callable[[str, int], Callable[[], None]]


@contextmanager
def progress() -> Iterator[Bar]:
    """A bar on standard error: call it with a section's title and steps for its `advance`."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:

        def bar(title: str, steps: int) -> Callable[[], None]:
            task = shown.add_task(title, total=steps)
            return lambda: shown.advance(task)

        yield bar
