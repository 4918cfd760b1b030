"""Train a character-level GPT on a text file, or on a list of names that comes with the package.

The file has one document per line. The run writes OUT/checkpoint.npz and OUT/loss.svg; --resume OUT
continues where it stopped, bit for bit, even after a kill. Ctrl-C saves and stops.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, TypedDict

from .. import __version__
from ..errors import CheckpointError, CorpusError, SettingError
from ..models.checkpoint import load_checkpoint, write_atomically
from ..models.corpus import NAMES, Corpus, cut_notice, read_corpus
from ..models.curve import loss_curve
from ..models.training import Settings, Trainer
from ..value import core_name

CHECKPOINT, CURVE = "checkpoint.npz", "loss.svg"
SIZES = ("embedding", "heads", "layers", "context")
INTERRUPTED = 130


class Report(TypedDict):
    """What a run did; ``validation`` is None where nothing was set aside."""

    retrograde: str
    core: str
    documents: int
    source: str
    notices: list[str]
    sizes: dict[str, int]
    parameters: int
    settings: dict[str, int | float | bool]
    resumed_at: int
    done: int
    seconds: float
    documents_per_second: float
    losses: list[float]
    validated: list[list[float]]
    validation: float | None
    samples: list[str]
    temperature: float
    checkpoint: str
    curve: str
    interrupted: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("file", nargs="?", help="text, one document per line (default: given names)")
    add("--steps", type=int, metavar="N", help="steps of the whole run (1000)")
    add("--batch", type=int, metavar="N", help="documents a step (1)")
    add("--values", action="store_true", help="single values in the place of arrays")
    add("--compiled", action="store_true", default=None, help="replay recorded steps of values")
    add("--learning-rate", type=float, metavar="X", help="at the first step (0.01)")
    add("--seed", type=int, metavar="N", help="decides everything random (42)")
    add("--embedding", type=int, metavar="N", help="numbers a token (16)")
    add("--heads", type=int, metavar="N", help="heads of attention (4)")
    add("--layers", type=int, metavar="N", help="blocks (1)")
    add("--context", type=int, metavar="N", help="tokens seen at once (16)")
    add("--validation", type=float, metavar="X", help="share set aside (0.1)")
    add("--every", type=int, default=100, metavar="N", help="steps between saves (100)")
    add("--out", metavar="DIR", help="folder of the run (microgpt)")
    add("--resume", metavar="DIR", help="go on with the run of a folder")
    add("--force", action="store_true", help="write over an earlier run")
    add("--samples", type=int, default=10, metavar="N", help="documents to make up (10)")
    add("--temperature", type=float, default=0.7, metavar="X", help="how freely (0.7)")
    add("--start", default="", metavar="TEXT", help="how samples begin")
    add("--json", action="store_true", help="print the run as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command: 130 where it was interrupted, after saving."""
    if options.every < 1:
        raise SettingError.of("every", options.every, "a whole number from 1 up")
    if options.samples < 0:
        raise SettingError.of("samples", options.samples, "a whole number from 0 up")
    folder = Path(options.resume or options.out or "microgpt")
    if options.resume and folder.is_file():
        folder = folder.parent  # the checkpoint itself was named
    trainer = _resumed(folder, options) if options.resume else _begun(folder, options)
    trainer.samples(0, options.temperature, options.start)  # what it cannot do is said now
    resumed_at = trainer.done
    notices = trainer.corpus.notices + cut_notice(trainer.corpus, trainer.model.shape.context)
    seconds, interrupted = _trained(trainer, folder, options, notices)
    made = (
        [] if interrupted else trainer.samples(options.samples, options.temperature, options.start)
    )
    taken = trainer.done - resumed_at
    sizes = asdict(trainer.model.shape)
    report: Report = {
        "retrograde": __version__,
        "core": core_name,
        "documents": len(trainer.corpus.documents),
        "source": trainer.corpus.source,
        "notices": notices,
        "sizes": sizes,
        "parameters": trainer.model.shape.parameters,
        "settings": asdict(trainer.settings),
        "resumed_at": resumed_at,
        "done": trainer.done,
        "seconds": seconds,
        "documents_per_second": taken * trainer.settings.batch / seconds if seconds else 0.0,
        "losses": trainer.losses,
        "validated": [[float(at), loss] for at, loss in trainer.validated],
        "validation": trainer.validated[-1][1] if trainer.validated else None,
        "samples": made,
        "temperature": options.temperature,
        "checkpoint": str(folder / CHECKPOINT),
        "curve": str(folder / CURVE),
        "interrupted": interrupted,
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        from ._train_page import print_report

        print_report(report)
    return INTERRUPTED if interrupted else 0


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    """The options that were given, by name."""
    return {name: vars(options)[name] for name in names if vars(options)[name] is not None}


def _begun(folder: Path, options: argparse.Namespace) -> Trainer:
    """A new run."""
    if (folder / CHECKPOINT).exists() and not options.force:
        raise CheckpointError.exists(folder / CHECKPOINT)
    given = _given(options, ("steps", "batch", "learning_rate", "seed", "compiled"))
    settings = Settings(**given, tensors=not (options.values or options.compiled))
    share = 0.1 if options.validation is None else options.validation
    corpus = read_corpus(options.file, share, settings.seed)
    return Trainer(corpus, _given(options, SIZES), settings)


def _resumed(folder: Path, options: argparse.Namespace) -> Trainer:
    """A run that goes on; options that would make it another one are refused."""
    path = folder / CHECKPOINT
    about = load_checkpoint(path).about
    begun = {**about.get("sizes", {}), **about.get("settings", {})}
    for name, number in _given(
        options, (*SIZES, "batch", "learning_rate", "seed", "compiled")
    ).items():
        if begun.get(name) != number:
            raise CheckpointError.other(path, name.replace("_", "-"), number, begun.get(name))
    corpus = _corpus_of(path, about, options)
    return Trainer.resume(path, corpus, options.steps)


def _corpus_of(path: Path, about: dict[str, Any], options: argparse.Namespace) -> Corpus:
    """The documents a run was begun with: the file given, or the one it remembers."""
    try:
        source, share = about["corpus"]["source"], about["corpus"]["share"]
        seed = about["settings"]["seed"]
    except (KeyError, TypeError) as error:
        raise CheckpointError.damaged(path, f"it lacks {error}") from error
    if options.validation not in (None, share):
        raise CheckpointError.other(path, "validation", options.validation, share)
    if not options.file and source != NAMES and not os.path.isfile(source):
        raise CorpusError.unreadable(source, "it is not a file")
    return read_corpus(options.file or (None if source == NAMES else source), share, seed)


def _trained(
    trainer: Trainer, folder: Path, options: argparse.Namespace, notices: list[str]
) -> tuple[float, bool]:
    """Run the steps that are left; how long they took, and whether Ctrl-C ended them."""
    from ._train_page import Bar

    began = time.perf_counter()
    steps = trainer.settings.steps
    if trainer.done == steps and options.steps is None and (folder / CURVE).exists():
        return 0.0, False  # it had ended: there is nothing to write
    if not trainer.done:
        trainer.save(folder / CHECKPOINT)  # a folder that cannot be written is said now
    with _interrupts() as interrupted, Bar(trainer.done, steps, trainer.settings.batch) as bar:
        if not options.json:
            bar.notify(notices)
        while trainer.done < steps and not interrupted:
            bar.update(trainer.done + 1, trainer.step())
            if trainer.done % options.every == 0 and trainer.done < steps:
                trainer.validate()
                trainer.save(folder / CHECKPOINT)
        stopped = bool(interrupted) and trainer.done < steps
        if not stopped:
            trainer.validate()
        trainer.save(folder / CHECKPOINT)
    title = f"loss of {trainer.done:,} steps"
    curve = loss_curve(trainer.losses, trainer.validated, title)
    write_atomically(folder / CURVE, curve.encode())
    return time.perf_counter() - began, stopped


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Ctrl-C noted, for the end of the step; a second one stops at once."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread: whoever runs it there decides
        yield noted
        return
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
