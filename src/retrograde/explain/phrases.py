"""Sentences that the terminal and the page both say, each written once: what stands in braces is
put in by whoever says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ops.sentences import shown

if TYPE_CHECKING:
    from .entries import Contribution
    from .story import Story

ADDING = {
    "one": "{name} already holds {held} from {use}: both uses count, so it is added",
    "same": "{name} already holds {held} from its other place in {use}: both count, so it is added",
    "many": "{name} already holds {held} from {count} other uses: every use counts, so it is added",
    "more": "The same goes for {names}",
}
"""Why a contribution is ``+=``: by where the gradient that is already there came from."""

TIMES = {2.0: "twice", 3.0: "three times", 4.0: "four times", 5.0: "five times", 6.0: "six times",
         7.0: "seven times", 8.0: "eight times", 9.0: "nine times", 10.0: "ten times",
         0.5: "half", 0.25: "a quarter"}  # fmt: skip
AS_FAST = "{times} as fast"

RISES = "increase {name} by a little and {root} rises {speed}"
FALLS = "increase {name} by a little and {root} falls {speed}"
STILL = "{root} does not move"

TEMPO = {
    "times": {
        f"{size:g}": AS_FAST.format(times=word) for size, word in {1.0: "just", **TIMES}.items()
    },
    "speed": AS_FAST.format(times="{number} times"),
    "rises": f"I{RISES[1:]}.",
    "falls": f"I{FALLS[1:]}.",
    "still": "No leaf shown here moves {root}.",
    "corner": "{name} now stands at a corner: its gradient is a convention. Run the program there "
    "to read both slopes.",
    "without": "{root} is {result}, so the gradients say nothing.",
}
"""The reading of the strongest leaf, for a page on which leaves were moved."""


def seed_words(root: str, seed: float) -> str:
    """The sentence of the first step back.

    >>> seed_words("L", 1.0)
    'L moves just as fast as itself: backward starts with 1 as its gradient, the seed'
    """
    if seed == 1.0:
        return (
            f"{root} moves just as fast as itself: backward starts with 1 as its gradient, the seed"
        )
    return f"backward starts with {shown(seed)} as the gradient of {root}, the seed it was given"


def adding_words(story: Story, step: int, this: Contribution) -> str:
    """Why a contribution is added to what its input holds from earlier uses.

    >>> import retrograde as rg
    >>> a = rg.Value(2.0, label="a")
    >>> story = rg.story(a * 3 + a)
    >>> adding_words(story, 1, story.backward[1].contributions[0])
    'a already holds 1 from v1 + a: both uses count, so it is added'
    """
    user = story.pulled.order[step]
    earlier = [
        story.pulled.order[at]
        for at, it in story.contributions_to(this.to)
        if at < step or (at == step and it.position < this.position)
    ]
    uses = list(dict.fromkeys(earlier))
    kind = "many" if len(uses) > 1 else "same" if uses == [user] else "one"
    use = story.expression(uses[0]) if uses else ""
    name = story.columns.names[this.to]
    return ADDING[kind].format(name=name, held=shown(this.before), use=use, count=f"{len(uses):,}")
