"""What a call asks of a trace, made ready: a program with gradients, and what carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.linalg import LinAlgError

from ...value import core_name, native_core
from . import interpreter, memory
from .adjoint import with_gradients, with_products
from .lowering import UnloweredError
from .packing import Packed
from .passes import improved
from .program import ARGUMENT, CAPTURED, Program
from .traces import Trace

REFUSED: Final = (IndexError, LinAlgError)
"""What steps raise on numbers that they refuse: perhaps of a branch that is not taken."""


class Run:
    """A program ready to be carried out: natively, or by NumPy, row after row.

    ``why`` is the row that keeps it from being carried out natively.
    """

    def __init__(self, program: Program, arguments: int, captured: int) -> None:
        memory.check_results(program)
        self.program = program
        self.packed: Packed | None = None
        self.why = ""
        if core_name == "native":
            try:
                self.packed = Packed(program, arguments, captured)
            except UnloweredError as error:
                self.why = str(error)

    @classmethod
    def of(cls, trace: Trace, program: Program, more: int = 0) -> Run:
        """A run for a trace, with ``more`` arguments than it has; its target is told."""
        made = cls(improved(program), trace.arguments + more, len(trace.captured))
        if trace.target is not None and made.packed is not None:
            trace.target.packed(made.packed)
        return made

    def __call__(
        self, leaves: list[Any], captured: list[Any], takers: tuple[int, ...] | None = None
    ) -> Any:
        """The outputs as a tuple; bytes, the outcomes of all guards, where one differs.

        With ``takers`` the gradients may have been added to these captured leaves, and the value
        comes back as a float.
        """
        if self.packed is not None:
            return native_core.shaped_run(self.packed.capsule, leaves, captured, takers)
        program = self.program
        found = interpreter.run(program, leaves, [leaf.data for leaf in captured], leaves)
        count = len(program.outputs)
        outcomes = bytes(bool(float(it) != 0.0) for it in found[count:])
        if outcomes != bytes(guard.outcome for guard in program.guards):
            return outcomes
        return tuple(_shown(it) for it in found[:count])


def _shown(array: Any) -> Any:
    """What a caller is given: a float where there are no axes, else an array of its own."""
    return float(array) if array.ndim == 0 else np.array(array)


def of_values(trace: Trace) -> Run:
    """The run that computes the results."""
    known = trace.runs.get("value")
    if known is None:
        known = trace.runs["value"] = Run.of(trace, trace.program)
    return known


def of_gradients(trace: Trace, kind: str, numbers: Sequence[int]) -> Run:
    """The run that computes the only result and its gradients by arguments or captured leaves."""
    key = (kind, tuple(numbers))
    known = trace.runs.get(key)
    if known is None:
        ids = inputs_of(trace.program, kind, numbers)
        program, found = with_gradients(trace.program, trace.program.outputs[0], ids)
        program.outputs = [*program.outputs, *found]
        known = trace.runs[key] = Run.of(trace, program)
    return known


def of_products(trace: Trace, numbers: Sequence[int]) -> Run:
    """The run that computes the only result and the products of its Hessian by arguments with a
    vector, whose parts come behind the arguments."""
    key = ("second", tuple(numbers))
    known = trace.runs.get(key)
    if known is None:
        ids = inputs_of(trace.program, ARGUMENT, numbers)
        root = trace.program.outputs[0]
        program, found = with_products(trace.program, root, ids, trace.arguments)
        program.outputs = [*program.outputs, *found]
        known = trace.runs[key] = Run.of(trace, program, len(numbers))
    return known


def inputs_of(program: Program, kind: str, numbers: Sequence[int]) -> list[int]:
    """The ids of arguments or captured leaves by their numbers."""
    ids = {given.number: number for number, given in program.inputs.items() if given.kind == kind}
    return [ids[number] for number in numbers]


__all__ = ["ARGUMENT", "CAPTURED", "Run", "inputs_of", "of_gradients", "of_products", "of_values"]
