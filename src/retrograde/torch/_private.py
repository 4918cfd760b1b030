"""The one place where functions of PyTorch that are not public are named.

Each is looked for when it is first used, and a clear message says which one is missing and what it
is for. Nothing here knows what they are used for beyond that.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..errors import TorchFeatureError

FEATURES: dict[str, tuple[str, str]] = {
    "sequence_number": ("autograd._get_sequence_nr", "tell which line made a node"),
    "set_enabled": ("_C._set_grad_enabled", "tell which line switched gradients off"),
    "engine": ("autograd._engine_run_backward", "see backward passes begin and end"),
    "stack_length": ("overrides._len_torch_function_stack", "see calls into PyTorch"),
    "stack_pop": ("overrides._pop_torch_function_stack", "see calls into PyTorch"),
    "stack_push": ("overrides._push_on_torch_function_stack", "see calls into PyTorch"),
    "is_wrapped": ("_C._functorch.is_functorch_wrapped_tensor", "tell tensors inside vmap apart"),
    "compiled_calls": (
        "_dynamo.eval_frame._maybe_set_eval_frame",
        "leave compiled code as it is",
    ),
    "foreach_norm": ("_foreach_norm", "read the norms of all gradients at once"),
    "compile_kernel": ("cuda._compile_kernel", "summarise tensors on a GPU"),
    "gpu_library": ("cuda._utils._get_gpu_runtime_library", "summarise tensors on a GPU"),
    "raw_stream": ("_C._cuda_getCurrentRawStream", "summarise tensors on a GPU"),
}
"""By our name: where PyTorch has it, and what it is for."""


def find(name: str) -> Any:
    """A function of PyTorch by our name for it."""
    where, what = FEATURES[name]
    found: Any = torch
    for part in where.split("."):
        if not hasattr(found, part):
            raise TorchFeatureError.of(f"torch.{where}", what, torch.__version__)
        found = getattr(found, part)
    return found


def missing() -> list[str]:
    """The functions that this PyTorch does not have, by their places; [] where all is well."""
    absent = []
    for name, (where, _) in FEATURES.items():
        try:
            find(name)
        except TorchFeatureError:
            absent.append(f"torch.{where}")
    return absent


made_so_far: Callable[[], int] = find("sequence_number")
"""How many autograd nodes this thread has made."""

is_wrapped: Callable[[Any], bool] = find("is_wrapped")
"""Whether a tensor stands for many, as inside vmap."""


def number_of(node: Any) -> int:
    """The number autograd gave a node when it was made; leaves have one past all others."""
    try:
        return int(node._sequence_nr())
    except AttributeError:
        raise TorchFeatureError.of(
            "Node._sequence_nr", "tell which line made a node", torch.__version__
        ) from None


def outputs_of(node: Any) -> Any:
    """What is known of the results of a node: shape and dtype of each."""
    try:
        return node._input_metadata
    except AttributeError:
        raise TorchFeatureError.of(
            "Node._input_metadata", "know the shapes of results", torch.__version__
        ) from None


_saved_names: dict[type, tuple[str, ...]] = {}


def saved_by(node: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) of what a node keeps for its rule. What a program's own hooks keep is left
    alone: unpacking it would recompute a checkpoint."""
    kind = type(node)
    names = _saved_names.get(kind)
    if names is None:
        names = tuple(name for name in dir(node) if name.startswith("_raw_saved_"))
        _saved_names[kind] = names
    for name in names:
        raw = getattr(node, name)
        for each in raw if isinstance(raw, (tuple, list)) else (raw,):
            tensor = _kept(each)
            if tensor is not None:
                yield name[11:], tensor
    if not names and hasattr(kind, "saved_tensors"):  # a torch.autograd.Function
        try:
            kept = node.saved_tensors
        except RuntimeError:
            return
        for tensor in kept:
            if isinstance(tensor, torch.Tensor):
                yield "saved", tensor


def _kept(raw: Any) -> torch.Tensor | None:
    if raw is None or getattr(raw, "unpack_hook", None) is not None:
        return None
    try:
        tensor = raw.data
    except (AttributeError, RuntimeError):  # nothing is kept, or it has been freed
        return None
    return tensor if isinstance(tensor, torch.Tensor) else None


def dimension_of(node: Any) -> int:
    """The dimension along which a softmax normalises."""
    try:
        dim = int(node._saved_dim)
    except AttributeError:
        raise TorchFeatureError.of(
            "Node._saved_dim", "look at one number of each row of a softmax", torch.__version__
        ) from None
    return dim - (1 << 64) if dim >> 63 else dim  # kept without a sign


def overwritten_in(node: Any) -> str:
    """The name of what a node keeps and something wrote over since; '' for nothing."""
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                getattr(node, name)
            except RuntimeError as error:
                if "modified by an inplace operation" in str(error):
                    return name[7:]
    return ""


@contextmanager
def engine_through(run: Callable[..., Any]) -> Iterator[None]:
    """Every backward pass goes through ``run(engine, roots, ...)`` inside the block."""
    engine = find("engine")

    def watched(roots: Any, *arguments: Any, **options: Any) -> Any:
        return run(engine, roots, *arguments, **options)

    home: Any = torch.autograd
    home._engine_run_backward = watched
    try:
        yield
    finally:
        home._engine_run_backward = engine


@contextmanager
def _around(home: Any, name: str, act: Callable[..., None]) -> Iterator[None]:
    """A function or method of PyTorch calls ``act`` with its arguments first, inside the block."""
    plain = getattr(home, name)

    @functools.wraps(plain)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        act(*arguments)
        return plain(*arguments, **options)

    setattr(home, name, wrapped)
    try:
        yield
    finally:
        setattr(home, name, plain)


def before_backward(act: Callable[..., None]) -> Any:
    """``tensor.backward()`` calls ``act`` first inside the block: before a mode is at work, which
    then could not be taken out."""
    return _around(torch.Tensor, "backward", act)


def before_compile(act: Callable[..., None]) -> Any:
    """``torch.compile`` calls ``act`` first inside the block."""
    return _around(torch, "compile", act)


def before_scaling(act: Callable[..., None]) -> Any:
    """``GradScaler.scale`` calls ``act`` with the scaler first inside the block."""
    return _around(torch.amp.GradScaler, "scale", act)


@contextmanager
def functions_through(seen: Callable[[Any, Any, Any, int], None]) -> Iterator[None]:
    """After ``Function.apply`` of a program's own ``torch.autograd.Function``, ``seen`` is called
    with the function, its arguments, its result and how many nodes there were before."""
    home: Any = torch.autograd.Function
    plain = home.__dict__["apply"]

    def apply(cls: Any, *arguments: Any, **options: Any) -> Any:
        first = made_so_far()
        result = plain.__get__(None, cls)(*arguments, **options)
        seen(cls, arguments, result, first)
        return result

    home.apply = classmethod(apply)
    try:
        yield
    finally:
        home.apply = plain


def knows_compiling() -> bool:
    """Whether the compiler has been imported: nothing compiled runs before."""
    return "torch._dynamo.eval_frame" in sys.modules


@contextmanager
def compiled_through(passing: Callable[[bool, int], None]) -> Iterator[None]:
    """Inside the block, ``passing`` is called with True before code that ``torch.compile`` has
    made, or is about to, and with False behind it or where such code calls other code; and with
    the id of the frame that called, by which the two that belong together are known."""
    plain = find("compiled_calls")
    home: Any = sys.modules["torch._dynamo.eval_frame"]

    def switched(callback: Any) -> Any:
        passing(callback is not None, id(sys._getframe(1)))
        return plain(callback)

    home._maybe_set_eval_frame = switched
    try:
        yield
    finally:
        home._maybe_set_eval_frame = plain


def put_below(mode: Any) -> None:
    """Put a mode below all others, so that a program's own modes leave as they came."""
    length, pop, push = find("stack_length"), find("stack_pop"), find("stack_push")
    above = [pop() for _ in range(length())]
    push(mode)
    for each in reversed(above):
        push(each)


def take_out(mode: Any) -> bool:
    """Take a mode out wherever it stands; False while it is at work and cannot be."""
    length, pop, push = find("stack_length"), find("stack_pop"), find("stack_push")
    above, found = [], False
    while length() and not found:
        each = pop()
        found = each is mode
        if not found:
            above.append(each)
    for each in reversed(above):
        push(each)
    return found
