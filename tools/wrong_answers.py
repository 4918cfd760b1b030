"""Hand in generated answers to every exercise: none may pass that is wrong.

    python tools/wrong_answers.py                   at least 30 wrong answers to each exercise
    python tools/wrong_answers.py mul order         to these
    python tools/wrong_answers.py --most 8          about 8 to each, in seconds
    python tools/wrong_answers.py --json            as data

An answer is the solution with one or two small changes (an operator, a sign, a constant, a name, a
term or a statement left out, operands or results swapped, `+=` as `=`, another order), a listed
wrong answer, or another algorithm. Three judge it: `retrograde learn check`, the test module beside
the exercise, and hundreds of questions that neither asks. Where one of them says otherwise than the
others, it is printed and the exit code is 1. Changes that change nothing are right for all three.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]

from answers import generated  # noqa: E402
from answers.judges import Judged, judged  # noqa: E402

from retrograde.learn.exercises import exercise, exercises  # noqa: E402

LEAST = 30
"""Wrong answers to each exercise, unless fewer are asked for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge them; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="exercises; all if none is named")
    parser.add_argument("--most", type=int, default=48, metavar="N", help="answers to each (48)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--json", action="store_true", help="print every verdict as data")
    options = parser.parse_args(arguments)
    chosen = [exercise(name) for name in options.names] or list(exercises())
    work = [
        (it.name, what, source)
        for it in chosen
        for what, source in generated.answers(it, options.most).items()
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        found = pool.starmap(judged, work, chunksize=4)
    if options.json:
        print(json.dumps([it.data() for it in found], indent=1))
    else:
        report(found)
    few = [name for name, count in wrong_answers(found).items() if count < min(LEAST, options.most)]
    if few and options.most >= LEAST:
        print(f"too few wrong answers to {', '.join(few)}", file=sys.stderr)
    return int(any(it.quarrel for it in found) or bool(few and options.most >= LEAST))


def wrong_answers(found: Sequence[Judged]) -> Counter[str]:
    """How many answers to each exercise were wrong."""
    counted = Counter({it.exercise: 0 for it in found})
    counted.update(it.exercise for it in found if not it.right)
    return counted


def report(found: Sequence[Judged]) -> None:
    """A line an exercise, and every quarrel in full."""
    wrong = wrong_answers(found)
    for name, count in wrong.items():
        mine = [it for it in found if it.exercise == name]
        quarrels = [it for it in mine if it.quarrel]
        print(f"{name:<14} {count:>3} wrong, {len(mine) - count:>3} right, "
              f"{len(quarrels)} judged otherwise")  # fmt: skip
        for it in quarrels:
            print(f"  {it.quarrel}: {it.what}")
    print(f"{sum(wrong.values())} wrong answers to {len(wrong)} exercises, "
          f"{sum(bool(it.quarrel) for it in found)} judged otherwise")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
