"""Time whole steps on tensors: `python benchmarks/networks.py [--rounds N] [--only NAME]`.

Chains of small ops, a step of training a perceptron, an epoch of a small convolutional network and
the gradients of a small GPT, against NumPy or C by hand, PyTorch and JAX, where they are installed.
All run on one thread; gradients agree before anything is timed; turns are taken round by round, by
the clock of the process, and the median of the ratios is shown.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from time import process_time
from typing import Any, NamedTuple

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402
from gpt_forms import C, PlainC, Written  # noqa: E402
from replay_limits import CannotBuildError  # noqa: E402

import retrograde as rg  # noqa: E402
from retrograde.models import GPT, Shape  # noqa: E402

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None
try:
    import jax

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

OPS = 1000
"""How many ops a chain has."""
BATCH = 32
LAYERS = (64, 128, 128, 10)
RNG = np.random.default_rng(0)
GPT_SHAPE = Shape(vocabulary=27)
GPT_STATE = GPT(GPT_SHAPE, random.Random(7)).state_dict()
Step = Callable[[], Any]


class Line(NamedTuple):
    """One comparison: microseconds of ours and theirs, their ratio, and the goal for it."""

    what: str
    ours: float
    theirs: float
    ratio: float
    goal: float | None


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="one of: chains, perceptron, digits, gpt")
    options = parser.parse_args(arguments)
    missed = 0
    print(f"{'':<52}{'ours':>10}{'theirs':>10}{'ratio':>8}   microseconds")
    for section in (chains, perceptron, digits, gpt):
        for line in section(options.rounds) if options.only in section.__name__ else ():
            wrong = line.goal is not None and line.ratio > line.goal
            missed += wrong
            said = "" if line.goal is None else f"   goal {line.goal:g}{', missed' * wrong}"
            print(f"{line.what:<52}{line.ours:>10.3f}{line.theirs:>10.3f}{line.ratio:>8.3f}{said}")
    return int(missed > 0)


def compared(
    what: str, ours: Step, theirs: Step, rounds: int, goal: float | None, each: int = 1
) -> Line:
    """Turn by turn; ``each`` is how many ops a call makes."""
    ours(), theirs()
    pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(rounds)]
    scale = 1e6 / each
    return Line(
        what,
        min(ours for ours, _ in pairs) * scale,
        min(theirs for _, theirs in pairs) * scale,
        statistics.median(ours / theirs for ours, theirs in pairs),
        goal,
    )


def _seconds(call: Step) -> float:
    count, spent = 0, 0.0
    while spent < 0.05:
        began = process_time()
        call()
        spent += process_time() - began
        count += 1
    return spent / count


# ---- chains ------------------------------------------------------------------------------------


def chains(rounds: int) -> Iterator[Line]:
    """z = z * a + b: what an op costs."""
    for size, count in ((10, OPS), (10_000, 100), (1_000_000, 4)):
        start, a, b = RNG.normal(size=size), np.full(size, 0.999), np.full(size, 1e-3)

        def forward(z: Any, a: Any, b: Any, count: int = count) -> Any:
            for _ in range(count // 2):
                z = z * a + b
            return z

        ours = [rg.Tensor(it) for it in (start, a, b)]

        def both() -> None:
            rg.zero_grad(ours)  # noqa: B023
            forward(*ours).sum().backward()  # noqa: B023

        small, large = size <= 10, size >= 1_000_000
        said = f"a chain of ops on {size:,} numbers"
        yield compared(
            f"{said}, forward, NumPy",
            lambda: forward(*ours),  # noqa: B023
            lambda: forward(start, a, b),  # noqa: B023
            rounds,
            0.2 if small else None if large else 1.1,
            count,
        )
        if torch is None:
            continue
        theirs = [torch.tensor(it, requires_grad=True) for it in (start, a, b)]

        def both_of_torch() -> None:
            for leaf in theirs:  # noqa: B023
                leaf.grad = None
            forward(*theirs).sum().backward()  # noqa: B023

        both(), both_of_torch()
        for x, y in zip(ours, theirs):
            assert np.allclose(x.grad, y.grad.numpy(), rtol=1e-12)
        goal = 0.03 if small else 1.0 if large else None
        yield compared(f"{said}, and backward, PyTorch", both, both_of_torch, rounds, goal, count)


# ---- a perceptron --------------------------------------------------------------------------------


def perceptron(rounds: int) -> Iterator[Line]:
    """One step of gradient descent on 64-128-128-10, a batch of 32."""
    images, shown = RNG.normal(size=(BATCH, LAYERS[0])), RNG.integers(0, LAYERS[-1], BATCH)
    sizes = list(pairwise(LAYERS))
    weights = [RNG.normal(size=size) / np.sqrt(size[0]) for size in sizes]
    biases = [np.zeros(size[1]) for size in sizes]
    parameters = [*weights, *biases]
    ours = [rg.Tensor(it) for it in parameters]
    optimizer = rg.optim.SGD(ours, lr=1e-3)

    def ours_step() -> None:
        optimizer.zero_grad()
        h = images
        for w, b in zip(ours[:2], ours[3:5]):
            h = rg.relu(h @ w + b)
        rg.cross_entropy(h @ ours[2] + ours[5], shown).backward()
        optimizer.step()

    by_hand = [np.array(it) for it in parameters]

    def hand_step() -> None:
        _descend(by_hand, _gradients(by_hand, images, shown))

    ours_step()
    hand_step()
    _agree([t.data for t in ours], by_hand)
    said = "a step of 64-128-128-10, a batch of 32"
    yield compared(f"{said}, NumPy by hand", ours_step, hand_step, rounds, 0.75)
    if torch is not None:
        theirs = [torch.tensor(it, requires_grad=True) for it in parameters]
        sgd = torch.optim.SGD(theirs, lr=1e-3)
        x, y = torch.tensor(images), torch.tensor(shown)

        def torch_step() -> None:
            sgd.zero_grad()
            h = x
            for w, b in zip(theirs[:2], theirs[3:5]):
                h = torch.relu(h @ w + b)
            torch.nn.functional.cross_entropy(h @ theirs[2] + theirs[5], y).backward()
            sgd.step()

        yield compared(f"{said}, PyTorch", ours_step, torch_step, rounds, None)
    if jax is not None:
        jitted = _jax_step(images, shown)
        state = [[jax.numpy.asarray(it) for it in parameters]]

        def jax_step() -> None:
            state[0] = jitted(state[0])
            state[0][0].block_until_ready()

        yield compared(f"{said}, JAX compiled", ours_step, jax_step, rounds, 0.6)


def _gradients(p: list[Any], x: Any, shown: Any) -> list[Any]:
    a = x @ p[0] + p[3]
    h = np.maximum(a, 0.0)
    c = h @ p[1] + p[4]
    k = np.maximum(c, 0.0)
    logits = k @ p[2] + p[5]
    powers = np.exp(logits - logits.max(1, keepdims=True))
    g = powers / powers.sum(1, keepdims=True)
    g[np.arange(len(shown)), shown] -= 1.0
    g /= len(shown)
    gk = (g @ p[2].T) * (c > 0.0)
    gh = (gk @ p[1].T) * (a > 0.0)
    return [x.T @ gh, h.T @ gk, k.T @ g, gh.sum(0), gk.sum(0), g.sum(0)]


def _descend(p: list[Any], gradients: list[Any]) -> None:
    for number, gradient in zip(p, gradients):
        number -= 1e-3 * gradient


def _jax_step(images: Any, shown: Any) -> Any:
    def loss(p: list[Any]) -> Any:
        h = images
        for w, b in zip(p[:2], p[3:5]):
            h = jax.nn.relu(h @ w + b)
        logits = h @ p[2] + p[5]
        rows = jax.numpy.arange(len(shown))
        return -jax.nn.log_softmax(logits)[rows, shown].mean()

    def step(p: list[Any]) -> list[Any]:
        return [number - 1e-3 * slope for number, slope in zip(p, jax.grad(loss)(p))]

    return jax.jit(step)


def _agree(ours: list[Any], theirs: list[Any]) -> None:
    for one, other in zip(ours, theirs):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-12)


# ---- a small convolutional network ---------------------------------------------------------------


def digits(rounds: int) -> Iterator[Line]:
    """Two convolutions with pooling over 8 × 8 pictures: an epoch of 256 of them."""
    if torch is None:
        return
    images, shown = RNG.normal(size=(256, 1, 8, 8)), RNG.integers(0, 10, 256)
    shapes = [(8, 1, 3, 3), (16, 8, 3, 3), (64, 10)]
    parameters = [RNG.normal(size=shape) * 0.2 for shape in shapes]
    ours = [rg.Tensor(it) for it in parameters]
    theirs = [torch.tensor(it, requires_grad=True) for it in parameters]
    optimizer, sgd = rg.optim.SGD(ours, lr=1e-3), torch.optim.SGD(theirs, lr=1e-3)
    f = torch.nn.functional
    x, y = torch.tensor(images), torch.tensor(shown)

    def our_epoch() -> None:
        for at in range(0, len(shown), BATCH):
            optimizer.zero_grad()
            h = rg.conv2d(images[at : at + BATCH], ours[0], padding=1)
            h = rg.max_pool(rg.relu(h), (2, 2))
            h = rg.max_pool(rg.relu(rg.conv2d(h, ours[1], padding=1)), (2, 2))
            rg.cross_entropy(h.reshape(BATCH, -1) @ ours[2], shown[at : at + BATCH]).backward()
            optimizer.step()

    def their_epoch() -> None:
        for at in range(0, len(shown), BATCH):
            sgd.zero_grad()
            h = f.max_pool2d(torch.relu(f.conv2d(x[at : at + BATCH], theirs[0], padding=1)), 2)
            h = f.max_pool2d(torch.relu(f.conv2d(h, theirs[1], padding=1)), 2)
            f.cross_entropy(h.reshape(BATCH, -1) @ theirs[2], y[at : at + BATCH]).backward()
            sgd.step()

    our_epoch()
    their_epoch()
    _agree([t.data for t in ours], [t.detach().numpy() for t in theirs])
    said = "an epoch of two convolutions over 256 digits"
    yield compared(f"{said}, PyTorch", our_epoch, their_epoch, rounds, 1.0)


# ---- a small GPT ---------------------------------------------------------------------------------


def gpt(rounds: int) -> Iterator[Line]:
    """The gradients of one document, written out on tensors, against C by hand: as one writes it,
    and tuned for this processor, which is the limit."""
    try:
        plain_c, limit = PlainC(GPT_STATE), C(GPT_SHAPE, GPT_STATE, process_time)
    except CannotBuildError as error:
        print(f"  C by hand is absent: {error}")
        return
    ours = Written(GPT_SHAPE, GPT_STATE, process_time)
    for positions, goal in ((7, 1.7), (16, 1.1)):
        edge = GPT_SHAPE.vocabulary - 1
        document = np.array([edge, *RNG.integers(0, edge, positions - 1), edge])
        tokens = (ctypes.c_int64 * len(document))(*document.tolist())

        def our_step(document: Any = document) -> None:
            ours.differentiate(document)

        def plain_step(positions: int = positions, tokens: Any = tokens) -> None:
            plain_c.differentiate(positions, tokens)

        def limit_step(positions: int = positions, tokens: Any = tokens) -> None:
            limit.differentiate(positions, tokens)

        our_step()
        plain_step()
        assert np.allclose(ours.gradient(), plain_c.gradient(), rtol=1e-9, atol=1e-12)
        said = f"gradients of a GPT, {positions} positions"
        yield compared(f"{said}, plain C by hand", our_step, plain_step, rounds, goal)
        yield compared(f"{said}, the limit in C", our_step, limit_step, rounds, goal)


if __name__ == "__main__":
    sys.exit(main())
