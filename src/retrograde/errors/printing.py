"""Exceptions of printing programs as C and of compiling what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .wording import RetrogradeError

if TYPE_CHECKING:
    from typing_extensions import Self


class PrintingError(RetrogradeError, RuntimeError):
    """A program cannot be printed for a target, or what was printed cannot be compiled."""

    @classmethod
    def too_long(cls, name: str, operations: int, operands: int, most: int) -> Self:
        return cls(
            f"{name} has {operations:,} operations and, printed, {operands:,} operands; compilers "
            f"take minutes from {most:,} on, so it is not printed. Loops are printed once, however "
            "long they are: write what repeats as a loop whose rounds do the same, or leave the "
            "program to the interpreter."
        )

    @classmethod
    def calls(cls, name: str) -> Self:
        return cls(
            f"{name} calls Python: it has a custom op over arrays, which no other target can run. "
            "Write the op on values, or leave the program to the interpreter."
        )

    @classmethod
    def compiler(cls, compiler: str, message: str) -> Self:
        lines = message.splitlines()
        shown = "\n  ".join(line[:400] for line in lines[:12]) + (
            "\n  …" if len(lines) > 12 else ""
        )
        return cls(f"{compiler} failed:\n  {shown}")

    @classmethod
    def no_compiler(cls, what: str) -> Self:
        return cls(
            f"{what} needs a C compiler, and none was found. Install gcc or clang, or name one in "
            "the variable CC."
        )

    @classmethod
    def made_up(cls, name: str, why: str) -> Self:
        return cls(
            f"{name} cannot be recorded on numbers made up. Give arguments like those of a call: "
            f"--at 'x=[1.0, 2.0], a=0.5' --rows x. What was raised: {why}"
        )

    @classmethod
    def no_test(cls, name: str) -> Self:
        return cls(
            f"a test of {name} needs rows to compare: give --at, and --rows where there are arrays."
        )

    @classmethod
    def not_source(cls, path: str) -> Self:
        return cls(
            f"-o {path} is the name of the C file, and its header and library go beside it. Give "
            "it another ending: -o price.c."
        )

    @classmethod
    def flags(cls, given: str, why: str) -> Self:
        return cls(f"--flags {given!r} cannot be taken apart: {why}. Close its quotes.")

    @classmethod
    def library(cls, message: str) -> Self:
        return cls(f"the compiled library cannot be used: {message}")

    @classmethod
    def backend(cls, got: object) -> Self:
        return cls(f"backend={got!r} is none of None, 'cc', 'cuda'.")

    @classmethod
    def no_cupy(cls, message: str) -> Self:
        return cls(
            f"backend='cuda' needs CuPy ({message}). Install retrograde[cuda] on a machine with an "
            "NVIDIA GPU, or compile without a backend: the results have the same bits."
        )

    @classmethod
    def no_gpu(cls, message: str) -> Self:
        return cls(
            "backend='cuda' needs an NVIDIA GPU and its driver, and CuPy finds none: "
            f"{message}. The extra retrograde[cuda] brings CuPy, not the driver. Without a GPU "
            "leave backend out: the results have the same bits."
        )

    @classmethod
    def other_device(cls, found: int, current: int) -> Self:
        return cls(
            f"an array lies on device {found}, and kernels run on device {current}. Call inside "
            f"'with cupy.cuda.Device({found}):', with a function compiled there."
        )

    @classmethod
    def device_full(cls, name: str, message: str) -> Self:
        return cls(
            f"{name}: the device has no memory left, even for 1,024 rows at a time ({message}). "
            "Free some (cupy.get_default_memory_pool().free_all_blocks()), or pass fewer rows."
        )

    @classmethod
    def uneven(cls, name: str) -> Self:
        return cls(
            f"{name} goes through arrays in a loop, and theirs are not contiguous. Put them into "
            "one array, a column each, or pass contiguous ones."
        )

    @classmethod
    def other_bits(cls, device: str) -> Self:
        return cls(
            f"the kernels have other bits than the interpreter on {device}, so they are not used. "
            "Please report it; without a backend the function runs on the CPU."
        )

    @classmethod
    def no_kernels(cls, folder: str) -> Self:
        return cls(
            f"the text of the kernels is not in this installation (looked in {folder}). Install "
            "the package again."
        )

    @classmethod
    def not_recorded(cls, name: str) -> Self:
        return cls(
            f"nothing of {name} is recorded yet, so there is nothing to print. Call it once, or "
            f"give {name}.c_source(…) arguments like those of a call."
        )

    @classmethod
    def several(cls, name: str, known: Sequence[str]) -> Self:
        listed = "; ".join(known)
        return cls(
            f"{name} is recorded for several kinds of arguments: {listed}. Give c_source(…) "
            "arguments like those of the call that is meant."
        )

    @classmethod
    def shaped(cls, name: str) -> Self:
        return cls(
            f"{name} computes with tensors, and programs with shapes are not printed. Write it on "
            "numbers of one row, or leave it to the interpreter."
        )


class BackendWarning(UserWarning):
    """A backend cannot do what it was asked for; the interpreter does it."""

    @staticmethod
    def absent(name: str, why: str, cure: str) -> str:
        return (
            f"{name} is compiled with backend='cc', but {why}; the interpreter runs it, with the "
            f"same results. {cure}"
        )

    @staticmethod
    def failed(name: str, message: str) -> str:
        return f"{name} could not be compiled; the interpreter runs it: {message}"
