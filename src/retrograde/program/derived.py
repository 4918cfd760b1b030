"""Programs derived from a recorded one: its value, gradients, Jacobian, Hessian, products with it.

A mode says what is asked for; every trace of a function is derived in the same mode and then has
the same outputs in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import CompileError
from ..ops import STRUCTURAL
from .adjoint import with_constant, with_input, with_one
from .choosing import adjoint, adjoints
from .passes import choices_as_takes, remove_dead_code
from .program import CAPTURED, SEED, Input, Program


@dataclass(frozen=True)
class Mode:
    """What is asked of a function.

    ``wrt`` are the ids of arguments, or, for ``backward``, the numbers of captured leaves in the
    order of the function's own list of them. ``seeds`` is how many columns of seeds a call brings.
    ``whole`` are those of ``wrt`` that may be nothing but indices of ``take``: integers that nobody
    named. Plans are found by mode at every call, and ``wrt`` may have thousands: its hash is kept.
    """

    kind: str
    wrt: tuple[int, ...] = ()
    seeds: int = 0
    whole: tuple[int, ...] = ()
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.wrt, self.seeds, self.whole)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_second(self) -> bool:
        """Whether a pass goes over another pass: choices are left to traces there."""
        return self.kind not in ("value", "gradient", "backward", "jacobian")


VALUE = Mode("value")

STORED, REDUCED = "s", "r"
"""What becomes of an output: stored row by row, or added up over them. A letter each, since one
string that tells it of thousands is found by in no time."""


def derived(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The program of a mode.

    ``captured`` has the number of each captured leaf of this program.
    """
    if mode.whole:
        _check_indices(program, mode.whole)
    return _KINDS[mode.kind](program, captured, mode)


def _check_indices(program: Program, whole: Sequence[int]) -> None:
    """Refuse integers that a result depends on as on a number: an index has no gradient."""
    used = {i: (i, -1) for i in whole}
    for op, results, args, site, _ in program.instructions:
        numbers = () if op == "stop" else STRUCTURAL[op].items(args) if op in STRUCTURAL else args
        for arg in numbers:
            if arg in used:
                first, where = used[arg]
                used.update(dict.fromkeys(results, (first, site if where < 0 else where)))
                break
    for output in program.outputs:
        if output in used:
            first, where = used[output]
            given = program.inputs[first]
            raise CompileError.whole(given.array or given.name, program.site(where))


def _value(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    return program


def _seeded(program: Program, mode: Mode) -> tuple[Program, list[int]]:
    """The program with the columns of seeds, or with 1 in place of them."""
    if not mode.seeds:
        program, one = with_one(program)
        return program, [one]
    seeds = []
    for number in range(mode.seeds):
        program, seed = with_input(program, Input(SEED, f"seed {number}", 0.0, "", number))
        seeds.append(seed)
    return program, seeds


def _gradient(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The value, then its gradients."""
    program, (seed,) = _seeded(program, mode)
    return adjoint(program, mode.wrt, [(program.outputs[0], seed)])


def _backward(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The value, then the gradients of captured leaves; 0 for those this program does not use."""
    ids = [i for i, given in program.inputs.items() if given.kind == CAPTURED]
    here = dict(zip(captured, ids))
    program, (seed,) = _seeded(program, mode)
    wrt = [here[number] for number in mode.wrt if number in here]
    program = adjoint(program, wrt, [(program.outputs[0], seed)])
    found = dict(zip(wrt, program.outputs[1:]))
    program, zero = with_constant(program, 0.0)
    gradients = [found[here[n]] if n in here else zero for n in mode.wrt]
    return program.replaced(outputs=[program.outputs[0], *gradients])


def jacobian_mode(wrt: tuple[int, ...], outputs: int, whole: tuple[int, ...]) -> Mode:
    """Output by output, or argument by argument where that is far fewer sweeps.

    Nothing else decides, so that all traces of a function have the same bits.
    """
    forward = 2 * len(wrt) <= outputs
    return Mode("jacobian forward" if forward else "jacobian", wrt, 0, whole)


def _jacobian(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The gradients of the first output, then of the next, and so on."""
    program, one = with_one(program)
    sweeps = [(mode.wrt, [(output, one)]) for output in program.outputs]
    program, rows = adjoints(program, sweeps)
    return program.replaced(outputs=[entry for row in rows for entry in row])


def _jacobian_forward(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The same, argument by argument: a gradient is linear in the seeds of the outputs, and its
    slopes with respect to those are what one argument does to every output.

    The rules of custom ops need not be linear, so they go output by output.
    """
    if program.functions:
        return _jacobian(program, captured, mode)
    program, one = with_one(choices_as_takes(program))
    seeds = []
    for number in range(len(program.outputs)):
        program, seed = with_input(program, Input(SEED, f"seed {number}", 0.0, "", number))
        seeds.append(seed)
    program, (first,) = adjoints(program, [(mode.wrt, list(zip(program.outputs, seeds)))])
    program, columns = adjoints(program, [(seeds, [(slope, one)]) for slope in first])
    outputs = [column[i] for i in range(len(seeds)) for column in columns]
    program = remove_dead_code(program.replaced(outputs=outputs))
    return program.replaced(inputs={i: g for i, g in program.inputs.items() if g.kind != SEED})


def _hessian(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The second derivatives row by row; the upper triangle is the lower one's.

    Not so with custom ops: their rules need be no slopes of anything.
    """
    program, one = with_one(choices_as_takes(program))
    program, (first,) = adjoints(program, [(mode.wrt, [(program.outputs[0], one)])])
    whole = bool(program.functions)
    sweeps = [(mode.wrt if whole else mode.wrt[: i + 1], [(s, one)]) for i, s in enumerate(first)]
    program, rows = adjoints(program, sweeps)
    full = range(len(mode.wrt))
    if whole:
        return program.replaced(outputs=[entry for row in rows for entry in row])
    return program.replaced(outputs=[rows[max(i, j)][min(i, j)] for i in full for j in full])


def _hvp(program: Program, captured: Sequence[int], mode: Mode) -> Program:
    """The gradient of the slope in the direction of the seeds."""
    program, seeds = _seeded(choices_as_takes(program), mode)
    program, one = with_one(program)
    program, (first,) = adjoints(program, [(mode.wrt, [(program.outputs[0], one)])])
    apart = mode.kind == "hvp apart"
    program, (product,) = adjoints(program, [(mode.wrt, list(zip(first, seeds)))], apart)
    return program.replaced(outputs=product)


_KINDS = {
    "value": _value,
    "gradient": _gradient,
    "backward": _backward,
    "jacobian": _jacobian,
    "jacobian forward": _jacobian_forward,
    "hessian": _hessian,
    "hvp": _hvp,
    "hvp apart": _hvp,  # a seed is 0 or 1, and what has the seed 0 contributes nothing at all
}
