"""What a call asks of a trace, made ready: a program with its gradients, and what carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import interpreter
from .adjoint import with_gradients
from .passes import improved
from .program import ARGUMENT, CAPTURED, Program
from .traces import Trace


@dataclass(eq=False)
class Run:
    """A program ready to be carried out; ``outputs`` are how many it has before its guards."""

    program: Program
    outputs: int

    def __call__(
        self, arguments: Sequence[Any], captured: Sequence[Any], indices: Sequence[Any]
    ) -> tuple[list[Any], bytes]:
        """The outputs, and the outcomes of the guards."""
        found = interpreter.run(self.program, arguments, captured, indices)
        outcomes = bytes(bool(float(it) != 0.0) for it in found[self.outputs :])
        return found[: self.outputs], outcomes


def of_values(trace: Trace) -> Run:
    """The run that computes the results."""
    known = trace.runs.get("value")
    if known is None:
        program = improved(trace.program)
        known = trace.runs["value"] = Run(program, len(program.outputs))
    return known


def of_gradients(trace: Trace, kind: str, numbers: Sequence[int]) -> Run:
    """The run that computes the only result and its gradients by arguments or captured leaves."""
    key = (kind, tuple(numbers))
    known = trace.runs.get(key)
    if known is None:
        ids = inputs_of(trace.program, kind, numbers)
        program, found = with_gradients(trace.program, trace.program.outputs[0], ids)
        program.outputs = [*program.outputs, *found]
        program = improved(program)
        known = trace.runs[key] = Run(program, len(program.outputs))
    return known


def inputs_of(program: Program, kind: str, numbers: Sequence[int]) -> list[int]:
    """The ids of arguments or captured leaves by their numbers."""
    ids = {
        given.number: number for number, given in program.inputs.items() if given.kind == kind
    }
    return [ids[number] for number in numbers]


__all__ = ["ARGUMENT", "CAPTURED", "Run", "inputs_of", "of_gradients", "of_values"]
