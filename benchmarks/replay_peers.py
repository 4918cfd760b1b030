"""One adapter for each way to replay a program over rows with its gradients, all with one face.

An adapter says whether it can be used here (and why not), and prepares a call that runs the whole
program over all rows and returns the value and the gradients. It never times anything. Every peer
is asked for one thread, reads the same arrays, and returns new ones unless it says otherwise.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import replay_limits
from replay_workloads import Rows

Results = tuple[Any, Sequence[Any]]
Replay = Callable[[], Results]

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "PJRT_NPROC": "1",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
}
"""Variables that keep libraries to one thread, and torch.compile from finding its work done."""


def set_environment() -> None:
    """Tell the libraries what is asked of them; call it before any is loaded."""
    for name, setting in ENVIRONMENT.items():
        os.environ.setdefault(name, setting)


class Peer(ABC):
    """The face of a peer."""

    key: ClassVar[str]
    title: ClassVar[str]
    distribution: ClassVar[str | None] = None
    """The installed distribution whose version is reported, if the peer comes from one."""
    differentiates: ClassVar[bool] = True
    only: ClassVar[str | None] = None
    """The one workload for which this peer is meant, if it is not for all."""
    slow_to_compile: ClassVar[tuple[str, ...]] = ()
    """The workloads for which it is left out of a quick run."""
    on_request: ClassVar[bool] = False
    """Left out of every run that does not name it: it takes minutes to compile."""

    @abstractmethod
    def load(self) -> None:
        """Import what the peer needs; raise what the import raises."""

    @abstractmethod
    def prepare(self, rows: Rows) -> Replay:
        """Everything that comes before the first call; compiling may be left to that call."""

    def available(self) -> str | None:
        """None when the peer is usable here, otherwise the reason why it is not."""
        try:
            self.load()
        except (ImportError, AttributeError, OSError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"
        return None

    def version(self) -> str | None:
        """The installed version of the peer's distribution."""
        try:
            return version(self.distribution) if self.distribution else None
        except PackageNotFoundError:
            return None

    def building_time(self, rows: Rows) -> float:
        """Seconds of what `prepare` may have found done already, to be added to the first call."""
        return 0.0

    def joins(self, rows: Rows) -> bool:
        """Whether this peer is meant for a workload."""
        return self.only in (None, rows.name)


# ---- retrograde and the limit --------------------------------------------------------------------


class Retrograde(Peer):
    """The plain Python function, compiled by retrograde."""

    key = "retrograde"
    title = "retrograde"
    distribution = "retrograde"
    threads: ClassVar[int] = 1

    def load(self) -> None:
        self._rg = importlib.import_module("retrograde")
        if not hasattr(self._rg, "compile"):
            raise RuntimeError("this retrograde has no rg.compile")
        try:
            self._rg.compile(lambda x: x * x)(2.0)
        except self._rg.RetrogradeError as error:  # as on the reference core
            raise RuntimeError(str(error).splitlines()[0]) from error

    def prepare(self, rows: Rows) -> Replay:
        compiled = self._rg.compile(rows.function)
        arguments, wrt, threads = rows.arguments, rows.wrt, self.threads
        return lambda: compiled.value_and_grad(*arguments, wrt=wrt, threads=threads)


class RetrogradeCompiled(Retrograde):
    """The same, its recording compiled by the system's compiler."""

    key = "retrograde-cc"
    title = "retrograde, backend cc"

    def prepare(self, rows: Rows) -> Replay:
        compiled = self._rg.compile(rows.function, backend="cc")
        arguments, wrt, threads = rows.arguments, rows.wrt, self.threads

        def replay() -> Results:
            found = compiled.value_and_grad(*arguments, wrt=wrt, threads=threads)
            compiled.wait()
            return found

        return replay


class RetrogradeTwoThreads(Retrograde):
    """The same with two threads."""

    key = "retrograde-2"
    title = "retrograde, two threads"
    threads = 2


class TunedC(Peer):
    """The limit, called like the others: it returns new arrays."""

    key = "c"
    title = "tuned C"

    def load(self) -> None:
        replay_limits.library("functions", replay_limits.NATIVE)

    def prepare(self, rows: Rows) -> Replay:
        run = replay_limits.tuned(rows)
        return lambda: _filled(run, replay_limits.outputs_of(rows))

    def building_time(self, rows: Rows) -> float:
        return replay_limits.building_time(rows.stem, replay_limits.NATIVE)


class TunedCKept(TunedC):
    """The limit when the arrays for its results exist already, and need no pages of the system."""

    key = "c-kept"
    title = "tuned C, into kept arrays"

    def prepare(self, rows: Rows) -> Replay:
        run, kept = replay_limits.tuned(rows), replay_limits.outputs_of(rows)
        return lambda: _filled(run, kept)


class PlainC(Peer):
    """Plain C, vectorised by the compiler with the C library's vector functions."""

    key = "c-plain"
    title = "C, compiler-vectorised"

    def load(self) -> None:
        replay_limits.library("plain", replay_limits.FAST_MATH)

    def prepare(self, rows: Rows) -> Replay:
        run = replay_limits.plain(rows)
        return lambda: _filled(run, replay_limits.outputs_of(rows))

    def building_time(self, rows: Rows) -> float:
        return replay_limits.building_time("plain", replay_limits.FAST_MATH)


def _filled(run: Callable[..., None], outputs: Sequence[Any]) -> Results:
    run(outputs)
    return outputs[0], outputs[1:]


# ---- NumPy ---------------------------------------------------------------------------------------


class NumPy(Peer):
    """Written again for whole arrays, and without derivatives."""

    key = "numpy"
    title = "NumPy, value only"
    distribution = "numpy"
    differentiates = False

    def load(self) -> None:
        self._ndtr = importlib.import_module("scipy.special").ndtr

    def prepare(self, rows: Rows) -> Replay:
        run = {"black-scholes": self._black_scholes, "asian": self._asian}[rows.name]
        return lambda: (run(*rows.arguments), ())

    def _black_scholes(self, s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        deviation = sigma * np.sqrt(t)
        d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / deviation
        return s * self._ndtr(d1) - k * np.exp(-r * t) * self._ndtr(d1 - deviation)

    @staticmethod
    def _asian(z: Any, spot: float, k: float, r: float, sigma: float, t: float) -> Any:
        dt = t / z.shape[1]
        paths = np.cumsum((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z, axis=1)
        np.exp(paths, out=paths)
        return np.exp(-r * t) * np.maximum(spot * paths.mean(axis=1) - k, 0.0)


# ---- JAX -----------------------------------------------------------------------------------------


class Jax(Peer):
    """The loop of the program, unrolled as it is traced."""

    key = "jax"
    title = "JAX, jit(vmap(grad))"
    distribution = "jax"
    slow_to_compile = ("asian",)

    def load(self) -> None:
        self._jax = importlib.import_module("jax")
        self._jax.config.update("jax_enable_x64", True)
        self._np = importlib.import_module("jax.numpy")
        self._ndtr = importlib.import_module("jax.scipy.special").ndtr

    def prepare(self, rows: Rows) -> Replay:
        jax = self._jax
        scalar = {"black-scholes": self._black_scholes, "asian": self._asian}[rows.name]
        which = tuple(i for i, name in enumerate(rows.inputs) if name in rows.wrt)
        axes = tuple(0 if isinstance(it, np.ndarray) else None for it in rows.arguments)
        compiled = jax.jit(jax.vmap(jax.value_and_grad(scalar, argnums=which), in_axes=axes))
        arguments = [self._np.asarray(it, dtype=np.float64) for it in rows.arguments]
        return lambda: jax.block_until_ready(compiled(*arguments))

    def _black_scholes(self, s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        np = self._np
        deviation = sigma * np.sqrt(t)
        d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / deviation
        return s * self._ndtr(d1) - k * np.exp(-r * t) * self._ndtr(d1 - deviation)

    def _asian(self, z: Any, spot: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        np = self._np
        dt = t / z.shape[0]
        drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * np.sqrt(dt)
        total = self._sum_of_prices(z, spot, drift, volatility)
        return np.exp(-r * t) * np.maximum(total / z.shape[0] - k, 0.0)

    def _sum_of_prices(self, z: Any, price: Any, drift: Any, volatility: Any) -> Any:
        total = 0.0
        for i in range(z.shape[0]):
            price = price * self._np.exp(drift + volatility * z[i])
            total = total + price
        return total


class JaxScan(Jax):
    """The loop rewritten as a scan."""

    key = "jax-scan"
    title = "JAX, lax.scan"
    only = "asian"
    slow_to_compile = ()

    def _sum_of_prices(self, z: Any, price: Any, drift: Any, volatility: Any) -> Any:
        def step(carry: tuple[Any, Any], normal: Any) -> tuple[tuple[Any, Any], None]:
            price, total = carry
            price = price * self._np.exp(drift + volatility * normal)
            return (price, total + price), None

        (_, total), _ = self._jax.lax.scan(step, (price, 0.0 * price), z)
        return total


class JaxCumulative(Jax):
    """The loop rewritten as a cumulative sum."""

    key = "jax-cumsum"
    title = "JAX, cumulative sum"
    only = "asian"
    slow_to_compile = ()

    def _sum_of_prices(self, z: Any, price: Any, drift: Any, volatility: Any) -> Any:
        return price * self._np.exp(self._np.cumsum(drift + volatility * z)).sum()


# ---- torch ---------------------------------------------------------------------------------------


class Torch(Peer):
    """Written again for whole tensors; every row has leaves of its own, for its sensitivities."""

    key = "torch"
    title = "torch, batched"
    distribution = "torch"

    def load(self) -> None:
        self._torch = importlib.import_module("torch")
        self._torch.set_num_threads(1)

    def prepare(self, rows: Rows) -> Replay:
        torch = self._torch
        run = self._compiled(
            {"black-scholes": self._black_scholes, "asian": self._asian}[rows.name]
        )
        given = {
            name: torch.as_tensor(it if isinstance(it, np.ndarray) else np.full(rows.count, it))
            for name, it in rows.inputs.items()
        }
        leaves = {name: given[name].requires_grad_() for name in rows.wrt}
        arguments = list({**given, **leaves}.values())
        ones = torch.ones(rows.count, dtype=torch.float64)

        def replay() -> Results:
            value = run(*arguments)
            return value, torch.autograd.grad(value, list(leaves.values()), ones)

        return replay

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def _black_scholes(self, s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        torch = self._torch
        deviation = sigma * torch.sqrt(t)
        d1 = (torch.log(s / k) + (r + 0.5 * sigma**2) * t) / deviation
        ndtr = torch.special.ndtr
        return s * ndtr(d1) - k * torch.exp(-r * t) * ndtr(d1 - deviation)

    def _asian(self, z: Any, spot: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        torch = self._torch
        dt = t / z.shape[1]
        drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * torch.sqrt(dt)
        total = self._sum_of_prices(z, spot, drift, volatility)
        return torch.exp(-r * t) * torch.clamp(total / z.shape[1] - k, min=0.0)

    def _sum_of_prices(self, z: Any, price: Any, drift: Any, volatility: Any) -> Any:
        total = 0.0
        for i in range(z.shape[1]):
            price = price * self._torch.exp(drift + volatility * z[:, i])
            total = total + price
        return total


class TorchCumulative(Torch):
    """The loop rewritten as a cumulative sum."""

    key = "torch-cumsum"
    title = "torch, cumulative sum"
    only = "asian"

    def _sum_of_prices(self, z: Any, price: Any, drift: Any, volatility: Any) -> Any:
        growth = self._torch.cumsum(drift[:, None] + volatility[:, None] * z, dim=1)
        return price * self._torch.exp(growth).sum(dim=1)


class TorchCompile(TorchCumulative):
    """torch.compile, where the loop is a cumulative sum."""

    key = "torch-compile"
    title = "torch.compile"
    only = None
    slow_to_compile = ("black-scholes", "asian")

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = self._torch.compile(function, dynamic=False)
        return compiled


class TorchCompileLoop(Torch):
    """torch.compile of the loop as it is, which takes minutes."""

    key = "torch-compile-loop"
    title = "torch.compile of the loop"
    only = "asian"
    on_request = True

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = self._torch.compile(function, dynamic=False)
        return compiled


# ---- numba ---------------------------------------------------------------------------------------


class Numba(Peer):
    """Scalar loops with the adjoint written by hand."""

    key = "numba"
    title = "numba, adjoint by hand"
    distribution = "numba"

    def load(self) -> None:
        self._numba = importlib.import_module("numba")

    def prepare(self, rows: Rows) -> Replay:
        kernels = importlib.import_module("replay_numba")
        function = {"black-scholes": kernels.black_scholes, "asian": kernels.asian}[rows.name]
        compiled = self._numba.njit(function, fastmath=True, error_model="numpy")
        arguments = rows.arguments

        def replay() -> Results:
            value, *gradients = compiled(*arguments)
            return value, gradients

        return replay


# ---- casadi --------------------------------------------------------------------------------------


class Casadi(Peer):
    """CasADi's expression graph, evaluated by its virtual machine."""

    key = "casadi"
    title = "casadi, its VM"
    distribution = "casadi"

    def load(self) -> None:
        self._casadi = importlib.import_module("casadi")

    def prepare(self, rows: Rows) -> Replay:
        buffer, run = self._final(self._mapped(rows)).buffer()
        arguments = [np.atleast_1d(it) for it in rows.arguments]  # the buffer does not keep them
        for i, it in enumerate(arguments):
            buffer.set_arg(i, memoryview(it))

        def replay(_alive: Any = arguments) -> Results:
            outputs = replay_limits.outputs_of(rows)
            for i, it in enumerate(outputs):
                buffer.set_res(i, memoryview(it))
            run()
            return outputs[0], outputs[1:]

        return replay

    def _mapped(self, rows: Rows) -> Any:
        """The value and the gradients as a function of all rows."""
        casadi = self._casadi
        symbols = {
            name: casadi.SX.sym(name, it.shape[1] if np.ndim(it) == 2 else 1)
            for name, it in rows.inputs.items()
        }
        scalar = {"black-scholes": self._black_scholes, "asian": self._asian}[rows.name]
        value = scalar(*symbols.values())
        gradient = casadi.gradient(value, casadi.vertcat(*(symbols[name] for name in rows.wrt)))
        one_row = casadi.Function(
            "one_row", list(symbols.values()), [value, *casadi.vertsplit(gradient)]
        )
        uniform = [i for i, it in enumerate(rows.arguments) if not isinstance(it, np.ndarray)]
        return one_row.map("all_rows", "serial", rows.count, uniform, [])

    def _final(self, mapped: Any) -> Any:
        return mapped

    def _black_scholes(self, s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        casadi = self._casadi
        deviation = sigma * casadi.sqrt(t)
        d1 = (casadi.log(s / k) + (r + 0.5 * sigma**2) * t) / deviation
        n1, n2 = (0.5 + 0.5 * casadi.erf(d * np.sqrt(0.5)) for d in (d1, d1 - deviation))
        return s * n1 - k * casadi.exp(-r * t) * n2

    def _asian(self, z: Any, spot: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
        casadi = self._casadi
        steps = z.shape[0]
        dt = t / steps
        drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * casadi.sqrt(dt)
        price, total = spot, 0.0
        for i in range(steps):
            price = price * casadi.exp(drift + volatility * z[i])
            total = total + price
        return casadi.exp(-r * t) * casadi.fmax(total / steps - k, 0.0)


class CasadiThroughC(Casadi):
    """The same, printed as C and compiled."""

    key = "casadi-c"
    title = "casadi, through a C compiler"

    def load(self) -> None:
        super().load()
        replay_limits.compiler()

    def _final(self, mapped: Any) -> Any:
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:  # once loaded, it may go
            source, built = Path(folder) / "all_rows.c", Path(folder) / "all_rows.so"
            generator = self._casadi.CodeGenerator(source.name)
            generator.add(mapped)
            generator.generate(f"{folder}{os.sep}")
            replay_limits.compile_shared(source, replay_limits.FAST_MATH, built)
            return self._casadi.external("all_rows", str(built))


def all_peers() -> list[Peer]:
    """Everyone, in the order of the tables."""
    return [
        Retrograde(),
        RetrogradeCompiled(),
        TunedC(),
        TunedCKept(),
        PlainC(),
        NumPy(),
        Numba(),
        Jax(),
        JaxScan(),
        JaxCumulative(),
        Torch(),
        TorchCumulative(),
        TorchCompile(),
        TorchCompileLoop(),
        Casadi(),
        CasadiThroughC(),
    ]
