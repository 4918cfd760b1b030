"""What only the native core has: the survey, replay, arrays, and what is kept of sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from .cores import Core, Survey, V

if TYPE_CHECKING:
    from .cores import Number, PlanRows


class NativeCore(Core[V], Protocol[V]):
    """What only the native core has: the survey, replay, and what is kept of sites."""

    def survey(
        self,
        roots: tuple[V, ...],
        seeds: tuple[Number, ...],
        parameters: tuple[V, ...],
        kinds: bytes,
        limits: bytes,
        /,
    ) -> Survey:
        """What the doctor asks of a graph, in one pass."""

    def summarise(
        self, address: int, kind: int, count: int, /
    ) -> tuple[float, float, float, float, int, int, int, int]:
        """What the numbers at an address are like, in one pass."""

    def take_tensors(
        self, operated: Callable[..., Any], methods: type[Any], array_ufunc: Callable[..., Any], /
    ) -> None:
        """Who answers for tensors what is out of the ordinary."""

    def take_compositions(
        self,
        trace: Callable[..., Any],
        whole_names: dict[str, Any],
        asarray: Callable[..., Any],
        /,
    ) -> None:
        """Who traces rows and compositions."""

    def composed(self, name: str, operands: tuple[Any, ...], arguments: dict[str, Any], /) -> Any:
        """A row or a composition that was traced before; NotImplemented where none was."""

    def array_map(self, op: int, out: Any, operands: tuple[Any, ...], /) -> None:
        """One row of the law on whole arrays."""

    def array_back(
        self, op: int, which: int, out: Any, sources: tuple[Any, ...], add: bool, /
    ) -> None:
        """What one row adds to the gradient of an operand."""

    def array_product(self, a: Any, b: Any, c: Any, add: bool, /) -> None:
        """A matrix product into c."""

    def array_total(self, x: Any, /) -> float:
        """The sum of an array."""

    def array_choose(self, by: int, x: Any, out: Any, /) -> None:
        """Where the largest or smallest stands along the middle axis, or the order."""

    def array_plan(self, words: bytes, numbers: bytes, /) -> Any:
        """A plan of the array law, ready to run."""

    def array_run(
        self, plan: Any, out: Any, arrays: tuple[Any, ...], wholes: tuple[Any, ...], add: bool, /
    ) -> None:
        """Carry a plan out."""

    def shaped_plan(
        self,
        words: bytes,
        slots: bytes,
        wholes: bytes,
        constants: tuple[Any, ...],
        data: tuple[Any, ...],
        plans: tuple[Any, ...],
        calls: tuple[Any, ...],
        shapes: tuple[tuple[int, ...], ...],
        outcomes: bytes,
        sizes: tuple[int, int, int, int, bool],
        /,
    ) -> Any:
        """A program with shapes, ready to run: see ``program/shaped/packing.py``."""

    def shaped_run(
        self, plan: Any, leaves: list[Any], captured: list[Any], takers: tuple[int, ...] | None, /
    ) -> Any:
        """Run a program with shapes."""

    def ShapedSite(self, *parts: Any) -> Any:  # noqa: N802  a class
        """A call of a function on tensors, ready to be made again."""

    def shaped_again(self, sites: list[Any], asked: Any, args: tuple[Any, ...], /) -> Any:
        """The answer of a site that knows the call; None where none does."""

    def array_threads(self, most: int, /) -> int:
        """Say how many threads a product may take; how many it was."""

    def CallSite(self, *parts: Any) -> Any:  # noqa: N802  a class
        """A call that was made before: see ``program/callsites.py``."""

    def replay(self, parts: list[PlanRows], inputs: Any, outputs: Any, threads: int, /) -> None:
        """Run plans over rows."""

    def compiled_code(self, address: int, given: Any, /) -> Any:
        """What the keeper of a plan's code holds, so that a library's program runs instead."""

    def shaped_compiled(self, plan: Any, address: int, /) -> None:
        """Run a library's maps in place of the steps of a plan with shapes."""

    def evaluate(self, op: int, numbers: tuple[float, ...], /) -> float:
        """One row of the law by the replay kernels."""

    def tile_lanes(self) -> int:
        """How many rows a thread works on at once, at the SIMD level in use."""

    def use_kernels(self, level: str, /) -> str:
        """Choose the SIMD level; '' is the best there is."""

    def simd_level(self) -> str:
        """The widest SIMD level this processor offers."""

    def skip_sites(self, codes: Sequence[CodeType], /) -> None:
        """Nodes made in these code objects belong to the caller."""

    def inject_allocation_failure(self, count: int, /) -> None:
        """Let the core's allocation after COUNT more fail, once; -1 switches it off."""


if TYPE_CHECKING:  # both modules, held to the above
    from .. import _native
    from .._core import fallback

    _native_core: NativeCore[_native.Value] = _native
    _pure_core: Core[fallback.Value] = fallback
