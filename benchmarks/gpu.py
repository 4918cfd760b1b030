"""``backend="cuda"`` on a real GPU: its bits against the CPU's, then its times beside others'.

    python benchmarks/gpu.py                     everything, two to four minutes
    python benchmarks/gpu.py --rows 65536        fewer rows
    python benchmarks/gpu.py --only bits,times   some of: bits, doors, times, tune
    python benchmarks/gpu.py --json run.json     the same as data, written as it grows

Needs a GPU and CuPy; JAX and PyTorch are timed where they are at hand, and CUDA written by hand
(``limits/*.cu``) where nvcc is. Bits are compared for every row. What fails is told with its
traceback, the rest goes on, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("CUPY_CACHE_DIR", tempfile.mkdtemp(prefix="cupy-"))

import gpu_programs as programs
import numpy as np

import retrograde as rg

LIMITS = Path(__file__).parent / "limits"
TUNED = ((4, 128), (4, 64), (4, 32), (2, 128), (2, 64), (8, 64), (8, 32), (0, 128))
"""Rounds of a window that are filled at once, 0 for none, and threads of a block."""
STRAIGHT = ((0, 64), (0, 128), (0, 256), (0, 512))
"""The same where there is no loop."""
SECTIONS = ("bits", "doors", "times", "tune")
BUSY = """
extern "C" __global__ void busy(long long cycles) {
    for (long long begun = clock64(); clock64() - begun < cycles;) {}
}
"""
CYCLES = 2_000_000
"""About a millisecond: what is launched meanwhile starts without waiting for the host."""


def flat(nest: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        return [leaf for part in nest for leaf in flat(part)]
    return [nest]


def on_host(leaf: Any) -> Any:
    """A result as NumPy has it."""
    if hasattr(leaf, "get"):
        return leaf.get()
    return leaf.cpu().numpy() if hasattr(leaf, "cpu") else np.asarray(leaf)


def differing(one: Any, other: Any) -> int:
    """How many numbers of two results differ in a bit; a NaN equals any other."""
    count = 0
    left, right = flat(one), flat(other)
    assert len(left) == len(right), (len(left), len(right))
    for a, b in zip(left, right):
        a = np.ascontiguousarray(on_host(a), dtype=np.float64).reshape(-1)
        b = np.ascontiguousarray(on_host(b), dtype=np.float64).reshape(-1)
        assert a.shape == b.shape, (a.shape, b.shape)
        same = (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))
        count += int((~same).sum())
    return count


class Run:
    """One run: what was found, and what went wrong."""

    def __init__(self, rows: int, path: str | None) -> None:
        import cupy

        self.cupy: Any = cupy
        self.rows, self.path = rows, path
        self.found: dict[str, Any] = {"rows": rows, "failed": []}
        self._data: dict[str, Any] = {}
        self._busy: Any = None

    def note(self, key: str, value: Any) -> None:
        """Keep and show a result."""
        self.found[key] = value
        print(f"{key:44} {value}", flush=True)
        if self.path:
            Path(self.path).write_text(json.dumps(self.found, indent=1), encoding="utf-8")

    def attempt(self, name: str, work: Callable[[], None]) -> None:
        """Do something; what goes wrong is told, and the run goes on."""
        begun = time.perf_counter()
        try:
            work()
        except Exception:
            text = traceback.format_exc()
            self.found["failed"].append({"what": name, "traceback": text})
            self.note(f"{name}: FAILED", "\n" + text)
        print(f"  [{name}: {time.perf_counter() - begun:.1f} s]", flush=True)
        self.cupy.get_default_memory_pool().free_all_blocks()

    # ---- inputs ------------------------------------------------------------------------------

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Inputs that several parts share."""
        if name not in self._data:
            self._data[name] = make()
        return self._data[name]

    def normals(self, which: int, rows: int, steps: int = programs.STEPS) -> Any:
        """Normals, a column a step: (steps, rows) in memory."""
        draw = np.random.default_rng(which)
        return self.kept(f"z{which} {rows} {steps}", lambda: draw.standard_normal((steps, rows)))

    def columns(self) -> list[Any]:
        """The inputs of the Black-Scholes price."""
        draw = np.random.default_rng(4)
        bounds = ((80, 120), (80, 120), (0, 0.08), (0.1, 0.5), (0.1, 2))
        return self.kept("columns", lambda: [draw.uniform(*each, self.rows) for each in bounds])

    def case(self, name: str) -> tuple[Any, list[Any], Any]:
        """A function, its arguments on the host, and what it is differentiated by."""
        quarter = max(self.rows // 4, 1024)
        if name == "black-scholes":
            return programs.black_scholes, self.columns(), None
        if name == "asian":
            z = self.normals(0, self.rows)
            return programs.asian, [z.T, *programs.MARKET], programs.SENSITIVITIES
        if name == "heston":
            z, w = self.normals(1, quarter), self.normals(2, quarter)
            given = [z.T, w.T, *programs.HESTON]
            return programs.heston, given, programs.HESTON_SENSITIVITIES
        z = self.normals(3, quarter, 6).T.copy()
        z[5::97, 2] = np.nan
        return programs.barrier, [z, 100.0, 100.0, 120.0, 0.03, 0.2, 1.0], None

    def there(self, given: list[Any]) -> list[Any]:
        """Arguments on the device, in the same layout."""

        def put(array: Any) -> Any:
            turned = not array.flags.c_contiguous and array.T.flags.c_contiguous
            return self.cupy.asarray(array.T).T if turned else self.cupy.asarray(array)

        return [put(each) if isinstance(each, np.ndarray) else each for each in given]

    # ---- bits --------------------------------------------------------------------------------

    def bits(self) -> None:
        """Every row of every program, on the device and from the host, stored and added up."""
        for name in ("black-scholes", "asian", "heston", "barrier"):
            self.attempt(f"bits {name}", lambda name=name: self.bits_of(name))
        self.attempt("bits of twins", self.bits_of_twins)
        self.attempt("bits of every op", self.bits_of_ops)
        self.attempt("bits with little memory", self.bits_with_little_memory)

    def bits_of(self, name: str) -> None:
        """One program."""
        function, given, wrt = self.case(name)
        plain, fast = rg.compile(function), rg.compile(function, backend="cuda")
        expected = plain.value_and_grad(*given, wrt=wrt)
        summed = plain.value_and_grad(*given, wrt=wrt, reduce="sum")
        device = self.there(given)
        begun = time.perf_counter()
        found = fast.value_and_grad(*device, wrt=wrt)
        first = time.perf_counter() - begun
        rows = len(expected[0])
        self.note(f"{name}: first call, seconds", round(first, 3))
        numbers = sum(leaf.size for leaf in flat(expected))
        self.note(f"{name}: rows, numbers compared", [rows, numbers])
        self.note(f"{name}: differing, on the device", differing(found, expected))
        again = fast.value_and_grad(*device, wrt=wrt)
        self.note(f"{name}: differing, second call", differing(again, expected))
        del found, again
        found = fast.value_and_grad(*device, wrt=wrt, reduce="sum")
        self.note(f"{name}: differing, added up", differing(found, summed))
        found = fast.value_and_grad(*given, wrt=wrt)
        self.note(f"{name}: differing, from the host", differing(found, expected))
        found = fast.value_and_grad(*given, wrt=wrt, reduce="sum")
        self.note(f"{name}: differing, host, added up", differing(found, summed))
        self.note(f"{name}: traces", len(fast.traces))
        self.note(f"{name}: target", fast._target.words)

    def bits_of_twins(self) -> None:
        """Two functions whose kernels are the same, called in turn on different rows."""
        twins = [rg.compile(programs.black_scholes, backend="cuda") for _ in range(2)]
        given = [self.columns(), [column[::-1].copy() for column in self.columns()]]
        plain = rg.compile(programs.black_scholes)
        expected = [plain.value_and_grad(*each) for each in given]
        device = [self.there(each) for each in given]
        found = []
        for _ in range(3):
            for fast, there, wanted in zip(twins, device, expected):
                found.append(differing(fast.value_and_grad(*there), wanted))
        self.note("twins: differing", sum(found))

    def bits_of_ops(self) -> None:
        """All ops at once, at awkward points."""
        given = programs.awkward(16384)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = rg.compile(programs.all_ops)
            fast = rg.compile(programs.all_ops, backend="cuda")
            expected, found = plain(*given), fast(*self.there(given))
            self.note("ops: how many, differing", [len(expected), differing(found, expected)])
            from retrograde.ops import OPS

            names = [name for name, op in OPS.items() if hasattr(rg, name) and op.arity <= 3
                     and name not in ("take", "where")]  # fmt: skip
            bad = {n: differing(a, b) for n, a, b in zip(names, found, expected)}
            self.note("ops: those that differ", {n: count for n, count in bad.items() if count})

    def bits_with_little_memory(self) -> None:
        """The pool of CuPy bounded: smaller pieces, the same bits."""
        function, given, wrt = self.case("asian")
        rows = min(self.rows, 1 << 17)
        given = [np.ascontiguousarray(given[0][:rows]), *given[1:]]
        expected = rg.compile(function).value_and_grad(*given, wrt=wrt, reduce="sum")
        pool = self.cupy.get_default_memory_pool()
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + 24 * 1024 * 1024)
        try:
            fast = rg.compile(function, backend="cuda")
            found = fast.value_and_grad(*given, wrt=wrt, reduce="sum")
        finally:
            pool.set_limit(size=0)
        self.note("little memory: differing, row-major", differing(found, expected))

    # ---- doors -------------------------------------------------------------------------------

    def doors(self) -> None:
        """Arrays of other libraries."""
        self.attempt("PyTorch", self.torch_arrays)
        self.attempt("as_torch", self.as_torch)
        self.attempt("JAX arrays", self.jax_arrays)

    def torch_arrays(self) -> None:
        """Tensors in and out by DLPack."""
        import torch

        given = self.columns()
        tensors = [torch.tensor(each, device="cuda") for each in given]
        fast = rg.compile(programs.black_scholes, backend="cuda")
        value, slopes = fast.value_and_grad(*tensors)
        expected = rg.compile(programs.black_scholes).value_and_grad(*given)
        assert all(isinstance(leaf, torch.Tensor) and leaf.is_cuda for leaf in (value, *slopes))
        self.note("PyTorch: differing", differing((value, *slopes), flat(expected)))

    def as_torch(self) -> None:
        """An autograd function on CUDA tensors."""
        import torch

        given = self.columns()
        tensors = [torch.tensor(each, device="cuda", requires_grad=True) for each in given]
        door = rg.compile(programs.black_scholes, backend="cuda").as_torch()
        door(*tensors).sum().backward()
        expected = rg.compile(programs.black_scholes).value_and_grad(*given)[1]
        assert all(tensor.grad.is_cuda for tensor in tensors)
        self.note("as_torch: differing", differing([t.grad for t in tensors], expected))
        slopes = torch.vmap(torch.func.grad(door, argnums=(0, 1, 2, 3, 4)))(*tensors)
        assert all(slope.is_cuda for slope in slopes)
        self.note(
            "as_torch under vmap: differing", differing([s.detach() for s in slopes], expected)
        )

    def jax_arrays(self) -> None:
        """Arrays in and out by DLPack."""
        import jax

        jax.config.update("jax_enable_x64", True)
        given = self.columns()
        arrays = [jax.numpy.asarray(each) for each in given]
        fast = rg.compile(programs.black_scholes, backend="cuda")
        value, slopes = fast.value_and_grad(*arrays)
        expected = rg.compile(programs.black_scholes).value_and_grad(*given)
        assert all(isinstance(leaf, jax.Array) for leaf in (value, *slopes)), type(value)
        self.note("JAX: differing", differing((value, *slopes), flat(expected)))

    # ---- times -------------------------------------------------------------------------------

    def times(self) -> None:
        """Kernels by events, whole calls by the clock; then the others."""
        for name in ("black-scholes", "asian", "heston"):
            self.attempt(f"times {name}", lambda name=name: self.times_of(name))
        self.attempt("by hand: asian", self.asian_by_hand)
        self.attempt("by hand: black-scholes", self.black_scholes_by_hand)
        self.attempt("JAX", self.jax_times)

    def keep_busy(self) -> None:
        """Have the device do something else first, so that a launch costs it no waiting."""
        if self._busy is None:
            self._busy = self.cupy.RawKernel(BUSY, "busy")
        self._busy((1,), (1,), (np.int64(CYCLES),))

    def events(self, go: Callable[[], Any], times: int = 20, queued: bool = False) -> list[float]:
        """Milliseconds on the device: the median and the least; with the host's launch, or of what
        is ``queued`` behind other work."""
        for _ in range(3):
            go()
        found = []
        for _ in range(times):
            start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            if queued:
                self.keep_busy()
            start.record()
            go()
            end.record()
            end.synchronize()
            found.append(self.cupy.cuda.get_elapsed_time(start, end))
        return [round(float(np.median(found)), 5), round(min(found), 5)]

    def clock(self, go: Callable[[], Any], times: int = 10) -> list[float]:
        """Milliseconds of whole calls: the median and the least."""
        wait = self.cupy.cuda.Device().synchronize
        for _ in range(2):
            go()
        found = []
        for _ in range(times):
            wait()
            begun = time.perf_counter()
            go()
            wait()
            found.append(1e3 * (time.perf_counter() - begun))
        return [round(float(np.median(found)), 4), round(min(found), 4)]

    def launched(self, fast: Any, go: Callable[[], Any]) -> tuple[Any, Callable[[], Any]]:
        """The last launch of a call, to be made again alone."""
        from retrograde.printing.cuda.code import Code

        last: list[Any] = []
        launch = Code.launch

        def kept(code: Any, *given: Any) -> None:
            last[:] = [code, given]
            launch(code, *given)

        Code.launch = kept
        try:
            held = go()
        finally:
            Code.launch = launch
        code, given = last

        def again(held: Any = held) -> None:
            code.module(given[0]).launch(
                "rg_program_rows", given[3][0], code.program.block, given[3], given[4]
            )

        return code, again

    def times_of(self, name: str) -> None:
        """One program: kernel, call, call from the host."""
        function, given, wrt = self.case(name)
        fast, device = rg.compile(function, backend="cuda"), self.there(given)
        code, again = self.launched(fast, lambda: fast.value_and_grad(*device, wrt=wrt))
        rows = len(given[0])
        kernel = code.module(True)._kernels["rg_program_rows"]
        self.note(f"{name}: block, registers, local, shared bytes", [
            code.program.block, kernel.num_regs, kernel.local_size_bytes, kernel.shared_size_bytes,
        ])  # fmt: skip
        self.note(f"{name}: kernel, ms (median, least)", times := self.events(again))
        self.note(f"{name}: kernel, ns a row", round(times[0] * 1e6 / rows, 4))
        self.note(f"{name}: kernel, queued, ms (median, least)", self.events(again, queued=True))
        self.note(
            f"{name}: call on the device, ms",
            self.clock(lambda: fast.value_and_grad(*device, wrt=wrt)),
        )
        self.note(
            f"{name}: call, added up, ms",
            self.clock(lambda: fast.value_and_grad(*device, wrt=wrt, reduce="sum")),
        )
        self.note(
            f"{name}: call from the host, ms",
            self.clock(lambda: fast.value_and_grad(*given, wrt=wrt), 3),
        )
        begun = time.perf_counter()
        fresh = code.kernels.text + f"// {time.time()}\n"  # CuPy keeps what it compiled
        code.driver.module(fresh, ("RG_PACKED=1",))
        self.note(f"{name}: compile, seconds", round(time.perf_counter() - begun, 3))

    def library(self, name: str) -> Any:
        """CUDA by hand, compiled."""
        if not shutil.which("nvcc"):
            raise FileNotFoundError("nvcc is not on the PATH")
        made = Path(tempfile.mkdtemp()) / f"{name}.so"
        subprocess.run(
            ["nvcc", "-O3", "-arch=sm_90", "-Xcompiler", "-fPIC", "-shared",
             str(LIMITS / f"{name}.cu"), "-o", str(made)],
            check=True,
        )  # fmt: skip
        found = ctypes.CDLL(str(made))
        found.limit.restype = ctypes.c_float
        return found

    def note_limit(self, name: str, limit: Callable[[int], float]) -> None:
        """The least of some launches as the limit times them, and of some behind other work."""
        self.note(f"{name}: ms", round(limit(50), 5))
        found = []
        for _ in range(20):
            self.keep_busy()
            found.append(limit(1))
        times = [round(float(np.median(found)), 5), round(min(found), 5)]
        self.note(f"{name}, queued: ms (median, least)", times)

    def asian_by_hand(self) -> None:
        """The limit of the Asian option."""
        library, cupy = self.library("asian"), self.cupy
        z = cupy.asarray(self.normals(0, self.rows))
        p, v = cupy.asarray(np.array(programs.MARKET)), cupy.empty(self.rows)
        g = cupy.empty((5, self.rows))
        at = [ctypes.c_void_p(each.data.ptr) for each in (z, p, v, g)]
        for kept in (0, 1):
            self.note_limit(
                f"asian by hand, kept={kept}",
                lambda times, kept=kept: library.limit(*at, ctypes.c_long(self.rows), kept, times),
            )
        expected = rg.compile(programs.asian, backend="cuda").value_and_grad(
            z.T, *programs.MARKET, wrt=programs.SENSITIVITIES
        )
        off = [float(abs(one - two).max() / abs(two).max()) for one, two in zip(g, expected[1])]
        self.note("asian by hand: relative difference", max(off))

    def black_scholes_by_hand(self) -> None:
        """The limit of the Black-Scholes price."""
        library, cupy = self.library("black_scholes"), self.cupy
        x, g = cupy.asarray(np.array(self.columns())), cupy.empty((6, self.rows))
        at = [ctypes.c_void_p(each.data.ptr) for each in (x, g)]
        self.note_limit(
            "black-scholes by hand",
            lambda times: library.limit(*at, ctypes.c_long(self.rows), times),
        )
        value, slopes = rg.compile(programs.black_scholes, backend="cuda").value_and_grad(*x)
        off = [
            float(abs(one - two).max() / abs(two).max()) for one, two in zip(g, (value, *slopes))
        ]
        self.note("black-scholes by hand: relative difference", max(off))

    def jax_times(self) -> None:
        """JAX, compiled, on the same arrays."""
        import jax

        jax.config.update("jax_enable_x64", True)
        put, wait = jax.numpy.asarray, jax.block_until_ready
        columns = [put(each) for each in self.columns()]
        f = programs.jax_black_scholes()
        self.note("JAX black-scholes: ms", self.clock(lambda: wait(f(*columns))))
        z, market = put(self.normals(0, self.rows)), put(np.array(programs.MARKET))
        for kind in ("scan", "cumsum"):
            g = programs.jax_asian(kind)
            self.note(f"JAX asian, {kind}: ms", self.clock(lambda g=g: wait(g(market, z)), 5))
        quarter = max(self.rows // 4, 1024)
        a, b = put(self.normals(1, quarter)), put(self.normals(2, quarter))
        given, h = put(np.array(programs.HESTON)), programs.jax_heston()
        self.note("JAX heston, scan: ms", self.clock(lambda: wait(h(given, a, b)), 5))

    # ---- tuning ------------------------------------------------------------------------------

    def tune(self) -> None:
        """Windows of several sizes, and none."""
        self.attempt("tune black-scholes", lambda: self.tuned("black-scholes", STRAIGHT))
        for name in ("asian", "heston"):
            self.attempt(f"tune {name}", lambda name=name: self.tuned(name, TUNED))

    def tuned(self, name: str, sizes: tuple[tuple[int, int], ...]) -> None:
        """One program with windows of several sizes and blocks."""
        from retrograde.printing import device_text
        from retrograde.printing.cuda import code as codes

        function, given, wrt = self.case(name)
        device, block = self.there(given), device_text.BLOCK
        source = codes.device_source
        try:
            for rounds, most in sizes:
                codes.device_source = lambda ready, title, r=rounds: source(ready, title, r)
                device_text.BLOCK = most
                fast = rg.compile(function, backend="cuda")
                try:
                    code, again = self.launched(
                        fast, lambda fast=fast: fast.value_and_grad(*device, wrt=wrt)
                    )
                except Exception as error:
                    self.note(f"{name}: rounds {rounds}, block {most}", repr(error)[:300])
                    continue
                kernel = code.module(True)._kernels["rg_program_rows"]
                self.note(
                    f"{name}: rounds {rounds}, block {most}: ms",
                    [*self.events(again, 10), kernel.num_regs, kernel.local_size_bytes],
                )
        finally:
            codes.device_source, device_text.BLOCK = source, block


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1 << 20)
    parser.add_argument("--only", default="bits,doors,times", help=", ".join(SECTIONS))
    parser.add_argument("--json", help="write the figures here")
    options = parser.parse_args()
    run = Run(options.rows, options.json)
    import cupy

    number = cupy.cuda.runtime.getDevice()
    run.note("device", cupy.cuda.runtime.getDeviceProperties(number)["name"].decode())
    run.note(
        "versions", {"CuPy": cupy.__version__, "NumPy": np.__version__, "core": rg.value.core_name}
    )
    for section in options.only.split(","):
        getattr(run, section)()
    differing = {key: value for key, value in run.found.items() if "differing" in key}
    differing["ops"] = differing.pop("ops: how many, differing", (0, 0))[1]
    wrong = {key: value for key, value in differing.items() if value}
    run.note("differing anywhere", wrong)
    return 1 if run.found["failed"] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
