"""What to change: one cure a kind of verdict, in a sentence or two.

A cure names what is usually to blame first: how the network starts, its activation, clipping, the
learning rate.
"""

from __future__ import annotations

from .zeros import DEAD_GATE, DETACHED, FLAT, FROZEN, SATURATED_GATE, UNREACHABLE, ZERO_FACTOR

_CURES = {
    "overwrites": "Write += in the rule.",
    "stale": "Call zero_grad() before backward(), once for every step.",
    "never reached": "Use it in the loss, or leave it out of what is updated.",
    "vanishing": (
        "Start with weights of standard deviation sqrt(1 / inputs), sqrt(2 / inputs) before relu; "
        "prefer relu or gelu to sigmoid and tanh; with many layers or time steps add residual "
        "connections or normalise."
    ),
    "exploding": (
        "Clip between backward() and step(): rg.optim.clip_grad_norm(parameters, 1.0). Start with "
        "weights of standard deviation sqrt(1 / inputs), and lower the learning rate."
    ),
    "dead units": (
        "Start with biases of 0 and weights of standard deviation sqrt(2 / inputs), or use "
        "leaky_relu or gelu, which are never off."
    ),
    "saturated units": (
        "Start with weights of standard deviation sqrt(1 / inputs) and biases of 0, bring inputs "
        "to a size of about 1, or use relu or gelu."
    ),
    "identical units": (
        "Start the weights with random numbers: units that start equal stay equal, and the layer "
        "does the work of one."
    ),
    "no optimizer": (
        "Give them to the optimizer; where something is not to learn, set requires_grad to False."
    ),
    "reset too soon": "Call step() after backward(), and zero_grad() after step().",
    "rebuilt": (
        "Make the parameters once, before the loop, and let steps change their .data; what makes "
        "new ones has to give those to the optimizer."
    ),
    "ascent": (
        "Subtract: p.data -= lr * p.grad. Where the loss is meant to grow, call backward() on its "
        "negative."
    ),
    "growing graph": (
        "Write p.data -= lr * p.grad, which makes no graph, and call detach() on what is carried "
        "over from pass to pass."
    ),
    "no step": "Call the optimizer's step() after backward(), or write p.data -= lr * p.grad.",
    "strangers": (
        "Make the optimizer after the model is complete, and give it model.parameters(): a layer "
        "was replaced, or the model copied, after the optimizer was made."
    ),
    "tied": (
        "Leave both uses attached; where one of them is not to learn, give it a parameter of its "
        "own."
    ),
    "exploding loss": (
        "Lower the learning rate, clip gradients between backward() and step(), and look at the "
        "scale of inputs and targets."
    ),
    "overwritten": "Write x = x + … instead of x += …, or clone() what is still needed.",
    "overwritten by a step": (
        "Call every backward() that goes through these weights before the step, or compute the "
        "loss anew after it; detach() what is not to learn by it."
    ),
    "no history": (
        "Compute the loss from tensors that are attached; where the cut is meant, there is nothing "
        "to train."
    ),
    UNREACHABLE: "Use it in the loss, or leave it out of the parameters.",
    DETACHED: (
        "Leave the value attached where it is to learn; where it is not, set requires_grad to "
        "False."
    ),
    FROZEN: "",
    DEAD_GATE: (
        "See that the gate opens for some rows: start with smaller biases, use leaky_relu for "
        "relu, or widen the bounds of the clip or the condition."
    ),
    ZERO_FACTOR: "Start the factor with small random numbers, or take it out of the product.",
    FLAT: "Put something with a slope in its place to learn with: sigmoid for a step, x for floor.",
    SATURATED_GATE: (
        "Start with smaller weights and biases, bring inputs to a size of about 1, or use relu or "
        "gelu."
    ),
}  # fmt: skip

_SLOWER = "Lower the learning rate, or clip: rg.optim.clip_grad_norm(parameters, 1.0)."


def cure_of(kind: str, began: int = 1) -> str:
    """The cure for a kind of verdict; what began while learning, a shorter step may have spared.

    >>> cure_of("stale")
    'Call zero_grad() before backward(), once for every step.'
    """
    cure = _CURES.get(kind, "")
    if began > 1 and kind in ("dead units", "saturated units", DEAD_GATE, SATURATED_GATE):
        return f"A step before pass {began} was too long. {_SLOWER} {cure}"
    return cure


def rate_cure(ratio: float, usual: float = 1e-3) -> str:
    """What to multiply the learning rate by, so that steps have their usual length.

    >>> rate_cure(2.0), rate_cure(1e-8)
    ('Divide the learning rate by about 2,000.', 'Multiply the learning rate by about 100,000.')
    """
    if ratio == 0.0:
        return "Raise the learning rate: steps are lost to rounding, and no weight changes."
    if ratio > usual:
        return f"Divide the learning rate by about {_rounded(ratio / usual):,}."
    return f"Multiply the learning rate by about {_rounded(usual / ratio):,}."


def _rounded(factor: float) -> int:
    """One significant digit."""
    return int(float(f"{factor:.0e}"))
