"""Kind of op -> the sentence that explains its backward rule to a person.

A kind says how the rule *behaves*, so one sentence serves every op of that kind. A row of
the law names its kind; an unknown kind is refused when the row is built.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

WORDS: Final = MappingProxyType(
    {
        "copy": "copies the upstream gradient to every input, unchanged and undivided",
        "copy-flip": "copies the upstream gradient to the first input, and with its sign flipped "
        "to the second",
        "swap": "swaps: each input receives the upstream gradient times the other input",
        "quotient": "divides: the numerator receives the upstream gradient over the denominator, "
        "the denominator minus that, times the quotient",
        "flip": "flips the sign of the upstream gradient",
        "power": "multiplies the upstream gradient by the slope of the power",
        "itself": "multiplies the upstream gradient by its own result: the exponential is its own "
        "slope",
        "growth": "multiplies the upstream gradient by the exponential of its input, which is its "
        "own result plus one",
        "inverse": "divides the upstream gradient by what the logarithm is taken of, up to a "
        "constant: the smaller that is, the larger the slope",
        "root": "divides the upstream gradient by twice the root: near zero the slope grows "
        "without bound",
        "saturate": "saturates: the slope is largest in the middle and fades to nothing at both "
        "ends",
        "gate": "is a gate: it passes the upstream gradient on the open side and scales it down "
        "or stops it on the other",
        "soft-gate": "is a soft gate: it passes the upstream gradient on one side, stops it on the "
        "other, and changes smoothly between",
        "turn": "turns: the slope is the function a quarter period on",
        "steepen": "multiplies the upstream gradient by one plus the square of its own result: it "
        "is nowhere flat",
        "partner": "multiplies the upstream gradient by its partner: sinh and cosh are each "
        "other's slope",
        "arc": "multiplies the upstream gradient by the slope of the arc",
        "angle": "shares the upstream gradient out by how each input turns the angle",
        "length": "shares the upstream gradient out by how much of the length each input makes up",
        "sign": "multiplies the upstream gradient by the sign of its input",
        "ladder": "multiplies the upstream gradient by the next function of its family",
        "quantile": "divides the upstream gradient by the density at its own result: the rarer "
        "that is, the larger the slope",
        "fade": "multiplies the upstream gradient by a slope that fades from one side to the other",
        "share": "shares the upstream gradient out: each input receives its part, and the parts "
        "add up to one",
        "entropy": "hands the first input the upstream gradient times the logarithm of the second, "
        "and the second the upstream gradient times their ratio",
        "wave": "multiplies the upstream gradient by the slope of the wave",
        "fold": "copies the upstream gradient to the first input, and hands it to the second times "
        "minus how often that was taken off",
        "window": "is a window: it passes the upstream gradient between its bounds and stops it "
        "outside",
        "flat": "is flat: it stops the upstream gradient, for its slope is zero wherever it has "
        "one",
        "choose": "chooses: the input that was taken receives the whole upstream gradient, the "
        "others zero",
        "bell": "multiplies the upstream gradient by a bell curve: only inputs near zero feel it",
        "hill": "multiplies the upstream gradient by the slope of a hill: flat at its top and far "
        "out, steepest in between",
        "weigh": "weighs: each factor receives the upstream gradient times its partner",
        "custom": "applies the partials it was given",
        "leaf": "is a leaf: the gradient stops here",
    }
)
