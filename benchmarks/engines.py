"""One small adapter for each engine that is compared, all with the same face.

An adapter says whether its engine can be used here (and why not), makes values, runs a prepared
program forward and backward, and reads the gradients. It never times anything.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, ClassVar

import microgpt_class
from workloads import scalar_dot

CORE_VARIABLE = "RETROGRADE_CORE"


class Engine(ABC):
    """The face of an engine.

    `make`, `relu` and `dot` are attributes set by `load`, so that a workload reaches the
    engine's own callables and not a wrapper around them.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    distribution: ClassVar[str | None] = None
    """The installed distribution whose version is reported, if the engine comes from one."""
    keeps_collector: ClassVar[bool] = False
    """Whether the cycle collector stays on while timing. Off for peers, in their favour."""
    differentiates: ClassVar[bool] = True
    longest_chain: ClassVar[int] = 10**5
    """The longest chain worth asking for: longer ones exhaust memory or patience."""

    fuses_dot: ClassVar[bool] = False
    """Whether `dot` is one node, and not a loop over scalars."""

    make: Callable[[float], Any]
    relu: Callable[[Any], Any]
    dot: Callable[[Sequence[Any], Sequence[Any]], Any] = staticmethod(scalar_dot)

    @abstractmethod
    def load(self) -> None:
        """Import the engine and set `make` and `relu`; raise what the import raises."""

    def available(self) -> str | None:
        """None when the engine is loaded and usable, otherwise the reason why it is not."""
        try:
            self.load()
        except (ImportError, AttributeError, OSError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"
        return None

    def version(self) -> str | None:
        """The installed version of the engine's distribution."""
        try:
            return version(self.distribution) if self.distribution else None
        except PackageNotFoundError:
            return None

    def begin(self) -> None:  # noqa: B027  most engines need no start
        """Get ready for the leaves of a new pass; called before they are made, untimed."""

    def forward(self, run: Callable[[], Any]) -> Any:
        """One forward pass: the root of the graph it recorded."""
        return run()

    def backward(self, root: Any) -> None:
        """One backward pass from `root`."""
        root.backward()

    def data(self, root: Any) -> float:
        """The number that `root` holds."""
        return float(root.data)

    def gradients(self, leaves: Sequence[Any]) -> list[float]:
        """The gradients that backward left with the leaves."""
        return [float(leaf.grad) for leaf in leaves]


class Retrograde(Engine):
    """retrograde on its native core, imported as users import it."""

    key = "retrograde"
    title = "retrograde"
    distribution = "retrograde"
    keeps_collector = True
    fuses_dot = True
    longest_chain = 10**7

    def load(self) -> None:
        with _core("native"):
            package = importlib.import_module("retrograde")
        if inspect.isfunction(package.Value.__add__):  # a native operator is a slot
            raise RuntimeError("retrograde was imported on its reference core")
        self._adopt(package)

    def _adopt(self, package: ModuleType) -> None:
        self.make = package.Value
        self.relu = package.Value.relu
        self.dot = package.dot


class RetrogradeReference(Retrograde):
    """retrograde on its reference core: a second copy of the package, loaded beside the first."""

    key = "reference"
    title = "retrograde (reference core)"
    longest_chain = 10**5

    def load(self) -> None:
        self._adopt(_second_copy("retrograde", "retrograde_reference"))


class Micrograd(Engine):
    """micrograd from PyPI: closures, a set of inputs, recursion."""

    key = "micrograd"
    title = "micrograd"
    distribution = "micrograd"

    def load(self) -> None:
        value = importlib.import_module("micrograd.engine").Value
        self.make = value
        self.relu = value.relu
        _allow_recursion(self.longest_chain)


class Microgpt(Engine):
    """The microgpt-style class of this folder: what "pure Python" means in the goals."""

    key = "microgpt"
    title = "microgpt-style class"

    def load(self) -> None:
        self.make = microgpt_class.Value
        self.relu = microgpt_class.Value.relu
        _allow_recursion(self.longest_chain)


class Xad(Engine):
    """XAD's Python bindings: a C++ tape behind a bound number type."""

    key = "xad"
    title = "xad"
    distribution = "xad"
    longest_chain = 10**6

    def load(self) -> None:
        adjoint = importlib.import_module("xad.adj_1st")
        maximum = importlib.import_module("xad.math").max
        tape = adjoint.Tape()
        tape.activate()
        real, register = adjoint.Real, tape.registerInput

        def make(number: float) -> Any:
            leaf = real(number)
            register(leaf)
            return leaf

        self.tape = tape
        self.make = make
        self.relu = lambda x: maximum(x, 0.0)

    def begin(self) -> None:
        self.tape.clearAll()

    def forward(self, run: Callable[[], Any]) -> Any:
        self.tape.newRecording()
        return run()

    def backward(self, root: Any) -> None:
        self.tape.registerOutput(root)
        root.derivative = 1.0
        self.tape.computeAdjoints()

    def data(self, root: Any) -> float:
        return float(root.value)

    def gradients(self, leaves: Sequence[Any]) -> list[float]:
        return [float(leaf.derivative) for leaf in leaves]


class Autograd(Engine):
    """HIPS autograd on scalars, through its own tracer and its own backward pass.

    Its public `grad` takes one argument and would record an indexing node for every leaf.
    Boxing the leaves one by one spares it those nodes.
    """

    key = "autograd"
    title = "autograd (HIPS)"
    distribution = "autograd"

    def load(self) -> None:
        numpy = importlib.import_module("autograd.numpy")
        core = importlib.import_module("autograd.core")
        tracer = importlib.import_module("autograd.tracer")
        node, box = core.VJPNode, tracer.new_box
        outermost_trace = 0

        def make(number: float) -> Any:
            root = node.new_root()
            root.vjp = _Catch()
            return box(number, outermost_trace, root)

        self.make = make
        self.relu = lambda x: numpy.maximum(x, 0.0)
        self.backward_pass = core.backward_pass
        self.new_trace = tracer.trace_stack.new_trace

    def forward(self, run: Callable[[], Any]) -> Any:
        with self.new_trace():
            return run()

    def backward(self, root: Any) -> None:
        self.backward_pass(1.0, root._node)

    def data(self, root: Any) -> float:
        return float(root._value)

    def gradients(self, leaves: Sequence[Any]) -> list[float]:
        return [leaf._node.vjp.gradient for leaf in leaves]


class _Catch:
    """The end of autograd's backward pass at a leaf: keeps the gradient, passes nothing on."""

    def __init__(self) -> None:
        self.gradient = 0.0

    def __call__(self, gradient: float) -> tuple[()]:
        self.gradient = float(gradient)
        return ()


class Torch(Engine):
    """PyTorch with one zero-dimensional float64 tensor for each scalar."""

    key = "torch"
    title = "torch (0-d tensors)"
    distribution = "torch"

    def load(self) -> None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)

        def make(number: float) -> Any:
            return torch.tensor(number, dtype=torch.float64, requires_grad=True)

        self.make = make
        self.relu = torch.relu


class Floats(Engine):
    """The same program on plain floats: no gradients, the limit for any engine used from Python."""

    key = "floats"
    title = "plain floats"
    keeps_collector = True
    differentiates = False
    longest_chain = 10**7

    def load(self) -> None:
        self.make = float
        self.relu = _relu_of_float

    def backward(self, root: Any) -> None:
        """Nothing to do: floats record nothing."""

    def data(self, root: Any) -> float:
        return float(root)

    def gradients(self, leaves: Sequence[Any]) -> list[float]:
        raise TypeError("plain floats have no gradients")


def all_engines() -> list[Engine]:
    """Every adapter, ours first, the limit last."""
    return [
        Retrograde(),
        RetrogradeReference(),
        Microgpt(),
        Micrograd(),
        Xad(),
        Autograd(),
        Torch(),
        Floats(),
    ]


def _relu_of_float(x: float) -> float:
    if x > 0.0:
        return x
    return 0.0


def _allow_recursion(depth: int) -> None:
    """The recursive engines need a frame for each node of a chain."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 2 * depth))


@contextmanager
def _core(name: str) -> Iterator[None]:
    """Within this block, importing retrograde chooses the named core."""
    before = os.environ.get(CORE_VARIABLE)
    os.environ[CORE_VARIABLE] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[CORE_VARIABLE]
        else:
            os.environ[CORE_VARIABLE] = before


def _second_copy(package: str, name: str) -> ModuleType:
    """Load the files of `package` once more under another name, on the reference core."""
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}")
    spec = importlib.util.spec_from_file_location(
        name, found.origin, submodule_search_locations=list(found.submodule_search_locations or ())
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _core("reference"):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
