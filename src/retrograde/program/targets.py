"""What compiled functions offer elsewhere: their programs as C, and doors to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import PrintingError
from .caller import Caller
from .machines import ON_CPU, Machine, Target
from .rows import Bound
from .shapes import Shape
from .traces import Family

if TYPE_CHECKING:
    from ..printing.cfile import CFile
    from ..printing.source import Recorded


def target_of(backend: str | None, name: str) -> Target | None:
    """What the plans of a function are handed to; None: the interpreter alone."""
    if backend is None:
        return None
    if backend == "cc":
        from ..printing.cc import CC

        return CC(name)
    if backend == "cuda":
        from ..printing.cuda.backend import Cuda

        return Cuda(name)
    raise PrintingError.backend(backend)


class Printable(Caller):
    """A function whose traces can be printed."""

    _target: Target | None = None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the backend has compiled all that calls so far have asked for; False where
        that takes longer than ``timeout`` seconds. Without a backend there is nothing to wait for.

        >>> import retrograde as rg
        >>> rg.compile(lambda x: x * x).wait()
        True
        """
        return self._target is None or self._target.wait(timeout)

    def _machine(self, bound: Bound) -> Machine:
        """What runs the rows of a call."""
        return ON_CPU if self._target is None else self._target.machine(bound)

    def _new_bound(self) -> Bound:
        """What takes the arguments of a call apart."""
        return Bound(devices=None if self._target is None else self._target.arrays())

    def _kinds(self) -> list[tuple[list[tuple[str, Shape]], Family, Family | None]]:
        """What is recorded: the arguments with their shapes, the traces, and those for second
        derivatives."""
        raise NotImplementedError

    def _labels(self) -> dict[int, str]:
        """What captured leaves are called, by identity."""
        found = self._stored_function().parameters
        return {id(leaf): name for name, leaf in found.items()}

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any], second: bool) -> Recorded:
        """What is recorded for arguments like these, or for the only ones there are."""
        from ..printing.source import Recorded, chosen

        if not args and not kwargs:
            kinds = self._kinds()
            return chosen(
                [Recorded(self._name, *each, self._labels()) for each in kinds], self._name
            )
        self(*args, **kwargs)  # type: ignore[operator]
        if self._on_tensors:
            raise PrintingError.shaped(self._name)
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        traced = self._family(bound, shapes, traced=True) if second else None
        arguments = [(shape.name, shape.shape) for shape in shapes]
        return Recorded(self._name, arguments, family, traced, self._labels())

    def c_source(
        self,
        /,
        *args: Any,
        wrt: str | Sequence[str] | None = None,
        hessian: bool = False,
        **kwargs: Any,
    ) -> str:
        """The function as one C17 file without dependencies, with the bits of a call.

        It has the value, the gradients by the arguments that ``wrt`` names (all by default), both
        row by row and added up over the rows, and with ``hessian=True`` the product of the Hessian
        with a vector; each over arrays of rows and for one row. What is printed is what is
        recorded: rows that would take a way that no call has taken are reported by a status.
        Arguments are those of a call; they may be left out where only one kind was recorded.

        >>> import retrograde as rg
        >>> f = rg.compile(lambda x, a: rg.exp(-a * x) * x)
        >>> lines = f.c_source(1.0, 2.0, wrt="x").splitlines()
        >>> print(next(line for line in lines if "gradient_one" in line))
        int32_t lambda_gradient_one(double x, double a, double *value, double *d_x);
        """
        return self.c_file(*args, wrt=wrt, hessian=hessian, **kwargs).source

    def c_file(
        self,
        /,
        *args: Any,
        wrt: str | Sequence[str] | None = None,
        hessian: bool = False,
        **kwargs: Any,
    ) -> CFile:
        """What :meth:`c_source` prints, together with its header: ``file.source``, ``file.header``,
        and ``file.write("price.c")``, which puts ``price.h`` beside it.

        >>> import retrograde as rg
        >>> file = rg.compile(lambda x: x * x).c_file(1.0)
        >>> file.name, [entry.name for entry in file.entries][:2]
        ('lambda', ['lambda', 'lambda_sum'])
        """
        from ..printing.source import c_source_of

        return c_source_of(self._recorded(args, kwargs, hessian), wrt, hessian)

    def as_torch(self, uniform: Sequence[str] = ()) -> Callable[..., Any]:
        """The function for PyTorch programs: it takes tensors, and gradients pass through it.

        Tensors of one and two axes are rows, as arrays are in a call; ``uniform`` names arguments
        whose tensors are the same for all rows. Tensors of 64-bit floats on the CPU are read where
        they lie, without copying.

        As in ``rg.compile(lambda r, T: rg.exp(-r * T)).as_torch()(rates, 2.0).sum().backward()``.
        """
        from ..torch.door import as_torch

        return as_torch(self, uniform)  # type: ignore[arg-type]

    def as_jax(self, uniform: Sequence[str] = ()) -> Callable[..., Any]:
        """The function for JAX programs: a custom vjp over a pure callback, for ``jax.grad`` and
        ``jax.jit``.

        Arrays are rows, as in a call; ``uniform`` names arguments whose arrays are the same for all
        rows. Results have JAX's default type of floats: 64 bits with ``jax_enable_x64``.
        """
        from ..printing.jax_door import as_jax

        return as_jax(self, uniform)  # type: ignore[arg-type]
