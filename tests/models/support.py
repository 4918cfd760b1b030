"""examples/microgpt.py as a module, on any engine, and small corpora."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def example(name, **replaced):
    """An example as a module, with some of its globals replaced."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / f"examples/{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(replaced)
    return module


def losses_of_the_example(engine, documents, steps, seed, **sizes):
    """The loss of each step of examples/microgpt.py with an engine in the place of ours."""
    gpt = example("microgpt", Value=engine)
    characters = sorted(set("".join(documents)))
    edge = len(characters)
    draw = random.Random(seed)
    weights = gpt.Weights.drawn(gpt.Size(edge + 1, **sizes), draw)
    order = documents[:]
    draw.shuffle(order)
    optimizer = gpt.Adam(weights.parameters())
    losses = []
    for step in range(steps):
        document = order[step % len(order)]
        loss = gpt.loss_of(weights, [edge, *map(characters.index, document), edge])
        loss.backward()
        optimizer.step(0.01 * (1 - step / steps))
        losses.append(loss.data)
    return losses
