"""Time a GPT step in its forms: `python benchmarks/gpt.py`, see README.md.

All forms take the same steps on the same documents, in turns of ten steps, as training takes them
one after another. Where a loss differs by more than 1e-9 from the pure-Python form's, nothing is
reported but that.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goals import Goal
from gpt_forms import (
    C,
    Clock,
    Compiled,
    Form,
    Fused,
    Jax,
    Tensors,
    Torch,
    TorchCompiled,
    Written,
    scalar_forms,
)
from progress import progress
from replay_limits import CannotBuildError
from report import goals_table, print_tables
from results import Machine
from rich.table import Table

from retrograde.models import GPT, Shape, Tokenizer, read_corpus

TOLERANCE = 1e-9
TURN = 10  # steps that a form takes before the next one does; the first turn is not timed
NAMES = Path(__file__).resolve().parents[2] / "shared" / "data" / "names.txt"


@dataclass(frozen=True)
class Timing:
    """One form: milliseconds a step, the median of forward and backward and of the whole."""

    form: str
    title: str
    both: float
    whole: float
    quickest: float
    times_both: float
    times_whole: float
    difference: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = _parse(arguments)
    clock: Clock = time.process_time if options.processor_time else time.perf_counter
    steps = 10 if options.quick else options.steps
    documents, forms, absent = _prepare(options, clock, steps)
    rows = _run(forms, documents)
    worst = {
        key: max(abs(a[0] - b[0]) for a, b in zip(row, rows["pure"])) for key, row in rows.items()
    }
    wrong = [f"{key} differs by {gap:.1e}" for key, gap in worst.items() if not gap <= TOLERANCE]
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    timings = _timings(forms, rows, worst)
    judged = [*_goals(timings), *_batched(forms, rows, documents)]
    if options.json:
        found = [asdict(timing) for timing in timings]
        print(json.dumps({"steps": steps, "timings": found, "absent": absent}, indent=2))
    else:
        _print(timings, judged, absent, steps, options.processor_time)
    return int(options.strict and any(goal.met is False for goal in judged))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time a GPT step in its forms.")
    parser.add_argument("--file", type=Path, help="documents, one a line")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="ten steps")
    parser.add_argument("--compile", action="store_true", help="torch.compile too: minutes")
    parser.add_argument("--processor-time", action="store_true", help="on a machine others use")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is missed")
    return parser.parse_args(arguments)


def _prepare(
    options: argparse.Namespace, clock: Clock, steps: int
) -> tuple[list[list[int]], list[Form], list[str]]:
    """The documents in order, and every form with the same numbers to begin with."""
    path = options.file or (NAMES if NAMES.exists() else None)
    corpus = read_corpus(None if path is None else str(path), validation=0.0)
    tokenizer = Tokenizer.of(corpus.documents)
    shape = Shape(tokenizer.count)
    texts = corpus.documents[:]
    random.Random(42).shuffle(texts)
    documents = [tokenizer.document(text) for text in texts[: steps + TURN]]
    state = GPT(shape, random.Random(7)).state_dict()
    forms = scalar_forms(shape, lambda: random.Random(7), clock)
    forms.append(Fused(shape, random.Random(7), clock))
    forms.append(Compiled(shape, random.Random(7), clock))
    forms.append(Tensors(shape, random.Random(7), clock))
    forms.append(Written(shape, state, clock))
    absent = []
    for make in (C, Torch, Jax):
        try:
            forms.append(make(shape, state, clock))
        except (ImportError, CannotBuildError) as error:
            absent.append(f"{make.title}: {error}")
    _warm(forms, documents)
    if options.compile:
        try:
            slow = TorchCompiled(shape, state, clock)
            _warm([slow], documents)
            forms.append(slow)
        except Exception as error:  # of whatever kind its compilers raise
            first = f"{type(error).__name__}: {error}".splitlines()[0]
            absent.append(f"{TorchCompiled.title}: {first}")
    else:
        absent.append(f"{TorchCompiled.title}: only with --compile, it takes minutes")
    return documents, forms, absent


def _warm(forms: list[Form], documents: list[list[int]]) -> None:
    """Record or compile every length of document, in the forms that do so."""
    for form in forms:
        if isinstance(form, (Jax, Compiled, TorchCompiled)):
            for tokens in {len(tokens): tokens for tokens in documents}.values():
                form.warm(tokens)


def _run(
    forms: list[Form], documents: list[list[int]]
) -> dict[str, list[tuple[float, float, float]]]:
    """Every form on every document, in turns, each from the parameters it has come to."""
    gc.collect()
    gc.freeze()  # what the imports left behind is nobody's business in what follows
    rows: dict[str, list[tuple[float, float, float]]] = {form.key: [] for form in forms}
    with progress() as bar:
        advance = bar("steps", len(documents) * len(forms))
        for begin in range(0, len(documents), TURN):
            for form in forms:
                for at in range(begin, min(begin + TURN, len(documents))):
                    rate = 0.01 * (1 - at / (2 * len(documents)))
                    rows[form.key].append(form.step(documents[at], rate))
                    advance()
    return rows


def _timings(forms: list[Form], rows: dict[str, Any], worst: dict[str, float]) -> list[Timing]:
    """Medians of the ratios, document by document, so that their lengths do not matter."""

    def ratio(key: str, column: int) -> float:
        pairs = zip(rows["pure"][TURN:], rows[key][TURN:])
        return statistics.median(pure[column] / other[column] for pure, other in pairs)

    def median(key: str, column: int) -> float:
        return 1e3 * statistics.median(row[column] for row in rows[key][TURN:])

    return [
        Timing(
            form.key,
            form.title,
            median(form.key, 1),
            median(form.key, 2),
            1e3 * min(row[2] for row in rows[form.key][TURN:]),
            ratio(form.key, 1),
            ratio(form.key, 2),
            worst[form.key],
        )
        for form in forms
    ]


def _goals(timings: list[Timing]) -> list[Goal]:
    by_key = {timing.form: timing for timing in timings}
    torch = by_key.get("torch")
    drop_in, fused = by_key["drop-in"], by_key["fused"]
    wanted = [
        (
            "only Value replaced, forward and backward: 45 times pure Python",
            drop_in.times_both,
            45.0,
        ),
        ("only Value replaced, the whole step: 25 times pure Python", drop_in.times_whole, 25.0),
        ("fused nodes, the whole step: 250 times pure Python", fused.times_whole, 250.0),
    ]
    compiled = by_key["compiled"]
    wanted.append(("compiled, the whole step: 300 times pure Python", compiled.times_whole, 300.0))
    if torch:
        wanted.append(("compiled faster than torch eager", torch.whole / compiled.whole, 1.0))
        wanted.append(("fused nodes faster than torch eager", torch.whole / fused.whole, 1.0))
    goals = [Goal(title, True, least, "x", number) for title, number, least in wanted]
    if "c" in by_key:
        times = by_key["c"].times_both / by_key["written"].times_both
        title = "tensors written out, forward and backward: at most 1.7 times C by hand"
        goals.append(Goal(title, False, 1.7, "x", times))
    return goals


def _batched(forms: list[Form], rows: dict[str, Any], documents: list[list[int]]) -> list[Goal]:
    """Batches of 64 documents against one by one in pure Python: as they come, of one length."""
    (form,) = [form for form in forms if isinstance(form, Compiled)]
    lengths = [len(tokens) for tokens in documents]
    usual = statistics.mode(lengths)
    found = []
    for what, places in (
        ("as they come", list(range(len(documents)))),
        ("of one length", [at for at, length in enumerate(lengths) if length == usual]),
    ):
        chosen = [places[at % len(places)] for at in range(64)]
        pure = sum(rows["pure"][at][1] for at in chosen)
        title = f"compiled, 64 documents {what}, forward and backward: 2,000 times pure Python"
        times = pure / form.batch([documents[at] for at in chosen])
        found.append(Goal(title, True, 2000.0, "x", times))
    return found


def _print(
    timings: list[Timing], judged: list[Goal], absent: list[str], steps: int, processor: bool
) -> None:
    clock = ", processor time" if processor else ""
    table = Table(title=f"a GPT step, 4,192 parameters, one document; {steps} steps{clock}")
    table.add_column("form")
    for column in ("fwd+bwd, ms", "x pure", "step, ms", "quickest", "x pure", "loss within"):
        table.add_column(column, justify="right")
    for it in timings:
        table.add_row(
            it.title, f"{it.both:.3f}", f"{it.times_both:.1f}", f"{it.whole:.3f}",
            f"{it.quickest:.3f}", f"{it.times_whole:.1f}", f"{it.difference:.0e}",
        )  # fmt: skip
    machine = Machine(platform.python_version(), platform.platform(), os.cpu_count() or 1)
    print_tables(machine, [table, goals_table(judged)])
    for line in absent:
        print(f"absent: {line}")


if __name__ == "__main__":
    raise SystemExit(main())
