"""Every misconception by name: what the learner seems to think, and what is true instead.

Words only. What a misconception does to numbers is in ``faults.py`` and ``rules.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Misconception:
    """One way to be wrong: its name, a title of a few words, and an explanation."""

    name: str
    title: str
    words: str


_TABLE: Final = (
    # ---- the walk ----
    ("overwrites", "overwrites instead of accumulating",
     "A value that is used twice receives two contributions, and its gradient is their sum. With "
     "'=' the last one wipes out the others: write '+='."),
    ("one-path", "follows one path only",
     "Every route from the root to a value contributes. Only the first (or one) was counted: "
     "add the contributions of all uses."),
    ("one-input", "hands the gradient to one input only",
     "Both inputs of an operation move its result, so both receive a contribution of their own."),
    ("visits-too-early", "visits a value before all its uses are done",
     "A value may hand its gradient on only when that gradient is complete, so everything that "
     "uses it has to come first: walk the reverse of a topological order."),
    ("order-not-reversed", "walks from the leaves to the root",
     "The topological order lists inputs first. Gradients start at the root: walk it in reverse."),
    ("one-step", "carries the gradient one step only",
     "Only the inputs of the root receive anything. The values below are not visited, or are "
     "visited before their gradient has arrived: walk through everything under the root, each "
     "value after all that use it."),
    ("nothing-arrives", "lets no gradient through to the inputs",
     "Every gradient below the root stays 0. Is the seed set before the walk? Is every value "
     "listed, its _backward attached and called? And is out.grad on the right-hand side, not the "
     "input's own gradient?"),
    ("no-seed", "forgets the seed",
     "Backward begins with d root / d root = 1. Without it, zero is multiplied by everything: set "
     "root.grad = 1.0 first."),
    ("own-gradient", "mixes up the value and its inputs",
     "A contribution is the partial times the gradient of the RESULT, added into the input. Here "
     "the input's own gradient was used: write out.grad on the right-hand side."),
    ("forgot-upstream", "leaves out the upstream gradient",
     "The partial alone says what this op does; the chain rule multiplies it by what everything "
     "after it does: contribution = partial × upstream."),
    ("adds-upstream", "adds the upstream gradient instead of multiplying",
     "Slopes in a row multiply: if y changes twice as fast as x, and the loss three times as fast "
     "as y, the loss changes six times as fast as x."),
    ("interior-leak", "lets gradients of the interior leak into the next pass",
     "Gradients of interior values belong to one pass. If they are still there when the next pass "
     "begins, they are handed down again (3 becomes 9, not 6): clear them first."),
    ("clears-leaves", "wipes the gradients of leaves when backward begins",
     "Leaves add up over passes: that is how the gradients of two losses are combined. Clearing "
     "them is a step of its own (zero_grad), not of backward."),
    ("zeroes-data", "zeroes the data instead of the gradient",
     "Zeroing forgets gradients. The data of a value is what was learnt: leave it alone."),
    ("root-only", "zeroes the root and nothing below it",
     "Every value under the root holds a gradient after backward: walk through all of them."),
    ("leaves-only", "zeroes the leaves and leaves the interior",
     "In an engine that keeps interior gradients every value under the root has to be zeroed, not "
     "only the parameters."),
    ("never-zeroes", "forgets to zero the gradients",
     "backward adds to what is there. Without zeroing, each step goes along the sum of all "
     "gradients so far: zero before each backward."),
    ("recursion-limit", "recurses on the graph",
     "A chain of 5,000 operations needs 5,000 nested calls, and Python stops at about 1,000. Keep "
     "a stack of your own: a list, append and pop."),
    ("set-of-inputs", "keeps the inputs in a set",
     "In a + a the same value stands twice. A set keeps it once, and half of the gradient is "
     "lost: keep inputs in a tuple."),
    ("keeps-inputs", "detaches the number but keeps the graph",
     "A detached value has the same data and no inputs: backward has nowhere to go from it."),
    ("changes-original", "changes the original instead of making a new value",
     "The original still needs its graph. Return a new value that shares only the data."),
    ("duplicates", "lists a value once for every use",
     "Each value belongs in the order once, after all its inputs. Remember what was seen."),
    ("unreached", "misses values that are only reached on a second way",
     "Every value under the root belongs in the order: follow all inputs, not the first alone."),
    # ---- rules ----
    ("halves", "thinks that addition splits the gradient",
     "Addition copies: if a grows by 1, a + b grows by 1, and so with b. Each input receives the "
     "whole upstream gradient, not a half."),
    ("not-swapped", "does not swap the factors",
     "In a*b the slope with respect to a is b: each factor receives the upstream gradient times "
     "the OTHER factor."),
    ("mul-like-add", "treats multiplication like addition",
     "Addition copies the upstream gradient to both. In a*b it counts how large the other factor "
     "is: a receives upstream × b, and b receives upstream × a."),
    ("add-like-mul", "treats addition like multiplication",
     "Multiplication hands each the other factor. In a + b it does not matter how large the other "
     "is: both receive the upstream gradient as it is."),
    ("passes-unchanged", "hands the upstream gradient on unchanged",
     "The partial is missing: a contribution is partial × upstream, and only an addition has "
     "partials of 1."),
    ("answers-swapped", "returns the gradients in the wrong order",
     "Both are right, but each belongs to the other input."),
    ("second-sign", "loses the second sign of the subtraction",
     "a - b shrinks when b grows: b receives minus the upstream gradient."),
    ("sign", "has the sign the wrong way round",
     "The size is right and the sign is not. Ask: if the input grows a little, does the result "
     "grow or shrink?"),
    ("from-input", "computes the slope from the input instead of the result",
     "This rule is written in terms of the result: exp' = result, tanh' = 1 - result², sigmoid' = "
     "result·(1 - result). The input stands where the result should."),
    ("from-result", "computes the slope from the result instead of the input",
     "This rule is written in terms of the input: log' = 1 / input. The result stands where the "
     "input should."),
    ("inverse-lost", "multiplies where it should divide",
     "d log(x)/dx = 1/x: the larger x is, the flatter log becomes."),
    ("square-forgotten", "forgets the square",
     "tanh' = 1 - result²: the result has to be squared."),
    ("value-not-slope", "uses the value of the function as its slope",
     "What is handed down is how fast the result changes, not how large it is."),
    ("power-rule-on-exp", "applies the power rule to an exponential",
     "In x**n the base moves; in exp(x) the exponent does. exp is its own slope."),
    ("power-not-lowered", "does not lower the exponent",
     "d(x**n)/dx = n·x**(n-1): the exponent comes down as a factor and is one less above."),
    ("power-factor-lost", "loses the factor in front of the power",
     "d(x**n)/dx = n·x**(n-1): the n in front is missing."),
    ("denominator-sign", "loses the sign of the denominator",
     "a/b shrinks when b grows: d(a/b)/db = -a/b²."),
    ("denominator-square", "forgets to square the denominator",
     "d(a/b)/db = -a/b²: one b is missing below."),
    ("denominator-like-numerator", "treats the denominator like the numerator",
     "d(a/b)/da = 1/b, but d(a/b)/db = -a/b²: they are different rules."),
    ("gate-always-open", "leaves the gate open",
     "relu is flat where its input is negative: there the gradient is 0, not the upstream."),
    ("gate-on-upstream", "looks at the sign of the gradient instead of the input",
     "The gate of relu opens by what went INTO it. Gradients of either sign pass an open gate."),
    ("gate-inverted", "opens the gate on the wrong side",
     "relu moves with its input where that is positive, and is flat where it is negative: the "
     "gradient passes on the positive side."),
    ("edge", "decides the border the other way",
     "Exactly on the border the slope is a convention, and the exercise says which: relu hands "
     "down 0 at 0, and max gives everything to the first of two equals."),
    ("wrong-choice", "hands the gradient to the one that was not taken",
     "max passes the larger input through, so the larger one receives the gradient."),
    ("split-choice", "splits the gradient of a choice",
     "max takes one input and does not look at the other: the one taken receives all of it."),
    ("both-receive", "hands the gradient of a choice to both",
     "max takes one input and does not look at the other: only the one taken receives anything."),
    ("uncomposed", "multiplies f'(x)·g'(x) without composing",
     "The chain rule is f'(g(x))·g'(x): the outer slope is taken where the outer function stands, "
     "at g(x)."),
    ("inner-forgotten", "forgets the slope of the inner function",
     "The chain rule is f'(g(x))·g'(x): the factor g'(x) is missing."),
    ("outer-forgotten", "forgets the slope of the outer function",
     "The chain rule is f'(g(x))·g'(x): the factor f'(g(x)) is missing."),
    ("product-of-slopes", "takes the product of the slopes of a product",
     "(u·v)' is not u'·v': one factor moves while the other stands still, so u'·v + u·v'."),
    ("one-sided", "takes a one-sided difference",
     "(f(x+h) - f(x))/h is off by about h/2 times the curvature; in (f(x+h) - f(x-h))/2h that "
     "error cancels."),
    ("half-width", "divides by h where the points are 2h apart",
     "From x-h to x+h it is 2h: the slope came out twice too large."),
    ("reflected-swapped", "turns the operands of a reflected operator around",
     "2 - x calls x.__rsub__(2): the number stands on the LEFT. Here x - 2 was computed."),
    ("missing-reflected", "has no rule for a number on the left",
     "2 * x asks the number first, then x.__rmul__(2). Without __radd__, __rmul__, __rsub__ and "
     "__rtruediv__ Python raises TypeError."),
    ("numbers-not-wrapped", "takes values only, not numbers",
     "In x + 1 the operand is a plain number: wrap it, or treat it apart."),
    # ---- training ----
    ("climbs", "walks up instead of down",
     "The gradient points uphill. To lower the loss, subtract it: data -= rate * grad."),
    ("replaces-data", "replaces the number by the step",
     "A step changes the number a little: data = data - rate * grad."),
    ("no-rate", "forgets the learning rate",
     "A gradient is a slope here, not a promise over there: walk a small part of it."),
    ("sum-not-mean", "takes the sum where the mean is meant",
     "Divide by how many there are; else the step grows with the size of the data."),
    ("no-bias", "leaves out the bias", "A neuron is act(w·x + b): the b is missing."),
    ("no-activation", "leaves out the activation",
     "A neuron is act(w·x + b): without act, layers in a row are one straight line."),
    ("no-square", "does not square the errors",
     "Errors of either sign would cancel: square them before they are added."),
)  # fmt: skip

MISCONCEPTIONS: Final = MappingProxyType({row[0]: Misconception(*row) for row in _TABLE})
"""Every misconception by its name."""
