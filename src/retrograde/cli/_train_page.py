"""A training run on a terminal: the bar while it runs, and the report. Only reads the data."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text.console import Row, print_line, print_rows
from .._text.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress

    from .train import Report

QUIET, STRONG, NOTICE = "dim", "bold", "yellow"
WINDOW = 50


class Bar:
    """A progress bar on standard error: loss, documents a second, time left. Terminals only."""

    def __init__(self, done: int, steps: int, batch: int) -> None:
        self._done, self._steps, self._batch = done, steps, batch
        self._bar: Progress | None = None
        self._loss = float("nan")

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            self._begin()
        return self

    def _begin(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        batch = self._batch

        class Speed(ProgressColumn):
            """Documents a second."""

            def render(self, task: Any) -> Text:
                rate = (task.finished_speed or task.speed or 0.0) * batch
                return Text(f"{rate:,.0f} documents/s", style="cyan")

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            Speed(),
            TimeRemainingColumn(),
            console=console(sys.stderr),
            transient=True,
        )
        self._bar.add_task("loss", total=self._steps, completed=self._done)
        self._bar.start()

    def notify(self, notices: Sequence[str]) -> None:
        """Say what is worth knowing before the first step."""
        page = self._bar.console if self._bar is not None else console(sys.stderr)
        for notice in notices:
            print_line(page, ("note: ", NOTICE), (notice, ""))

    def update(self, done: int, loss: float) -> None:
        """One more step, with its loss."""
        first = self._loss != self._loss
        self._loss = loss if first else self._loss + (loss - self._loss) / WINDOW
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], completed=done, description=f"loss {self._loss:.3f}"
            )

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def print_report(report: Report) -> None:
    """What was trained, how it went, what it makes up, and how to go on."""
    page = console()
    sizes, settings = report["sizes"], report["settings"]
    print_line(page, ("retrograde", STRONG), (f" train · {report['core']} core", QUIET))
    page.print()
    heads = f"{sizes['heads']} head{'s' * (sizes['heads'] != 1)}"
    layers = f"{sizes['layers']} layer{'s' * (sizes['layers'] != 1)}"
    rows: list[Row] = [
        (("documents ", QUIET), (f"{report['documents']:,} from {report['source']}", "")),
        (
            ("model ", QUIET),
            (
                f"{report['parameters']:,} parameters: {sizes['vocabulary']} tokens, embedding "
                f"{sizes['embedding']}, {heads}, {layers}, context "
                f"{sizes['context']}",
                "",
            ),
        ),
        (("training ", QUIET), (_training(report), "")),
        (("loss ", QUIET), (_loss(report), STRONG)),
        (("saved ", QUIET), (f"{report['checkpoint']}, {report['curve']}", "")),
    ]
    print_rows(page, rows, "ll", indent=2)
    if report["samples"]:
        page.print()
        print_line(page, (f"made up, at temperature {report['temperature']:g}", QUIET), indent=2)
        for sample in report["samples"]:
            print_line(page, (sample or "(nothing)", ""), indent=4)
    if report["interrupted"]:
        page.print()
        said = f"Interrupted after step {report['done']} of {settings['steps']}, and saved. "
        print_line(page, (f"{said}Go on, to the bit, with", NOTICE))
        folder = shlex.quote(str(Path(report["checkpoint"]).parent))
        page.print(f"    retrograde train --resume {folder}", soft_wrap=True, markup=False)


def _training(report: Report) -> str:
    settings, taken = report["settings"], report["done"] - report["resumed_at"]
    text = f"{report['done']:,} of {settings['steps']:,} steps"
    if report["resumed_at"]:
        text += f", {taken:,} of them now"
    if taken:
        text += f", {report['documents_per_second']:,.0f} documents/s, {report['seconds']:.1f} s"
    return text


def _loss(report: Report) -> str:
    losses = report["losses"]
    if not losses:
        return "no step taken"
    first, last = losses[:WINDOW], losses[-WINDOW:]
    text = f"{sum(first) / len(first):.3f} → {sum(last) / len(last):.3f}"
    if report["validation"] is not None:
        text += f", validation {report['validation']:.3f}"
    return text
