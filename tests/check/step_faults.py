"""Faults of the training loop: each is a loop that goes wrong at a step, and what should be said.

A fault is called with a network and the first sick step (from 0); it returns the verdict's kind and
a generator that trains, as in ``loops.py``.
"""

from __future__ import annotations

from .loops import rows_of, zero


def forgotten_layer(network, first):
    """A layer that the optimizer was not given."""
    rg, place = network.rg, network.source.randrange(len(network.layers))
    layer = network.layers[place]
    missing = {id(v) for ws in (*layer["w"], layer["b"]) for v in ws}
    optimizer = rg.optim.Adam([v for v in network.values() if id(v) not in missing], lr=0.01)

    def loop(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            network.loss().backward()
            optimizer.step()
            yield

    return ("no optimizer", f"layer{place}"), loop


def forgotten_biases(network, first):
    """Every bias, with batches and a hand-written schedule."""
    rg = network.rg
    weights = [w for layer in network.layers for ws in layer["w"] for w in ws]
    optimizer = rg.optim.SGD(weights, lr=0.01)

    def loop(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            rows_of(network, network.source.sample(range(network.rows), 6)).backward()
            optimizer.step()
            yield

    return ("no optimizer", "layer0.b"), loop


def reset_between(network, first):
    """zero_grad between backward and step."""
    optimizer = network.rg.optim.SGD(network.values(), lr=0.05)

    def loop(steps):
        for step in range(steps):
            if step < first:
                optimizer.zero_grad()
            network.loss().backward()
            if step >= first:
                optimizer.zero_grad()
            optimizer.step()
            yield

    return ("reset too soon", ""), loop


def reset_between_by_hand(network, first):
    """The same, where gradients are reset one by one and the optimizer remembers."""
    optimizer = network.rg.optim.Adam(network.values(), lr=0.01)

    def loop(steps):
        for step in range(steps):
            if step < first:
                zero(network.values())
            network.loss().backward()
            if step >= first:
                for p in network.values():
                    p.zero_grad()
            optimizer.step()
            yield

    return ("reset too soon", ""), loop


def uphill(network, first):
    def loop(steps):
        for step in range(steps):
            zero(network.values())
            network.loss().backward()
            for p in network.values():
                p.data += (0.03 if step >= first else -0.03) * p.grad
            yield

    return ("ascent", "layer0"), loop


def negated(network, first):
    """The loss with the wrong sign, and an optimizer that follows it: only the gradients' signs
    are changed, as people do who mean to minimise."""
    optimizer = network.rg.optim.SGD(network.values(), lr=0.03)

    def loop(steps):
        for step in range(steps):
            optimizer.zero_grad()
            network.loss().backward()
            if step >= first:
                for p in network.values():
                    p.grad = -p.grad
            optimizer.step()
            yield

    return ("ascent", "layer0"), loop


def too_long(network, first):
    def loop(steps):
        for step in range(steps):
            zero(network.values())
            network.loss().backward()
            for p in network.values():
                p.data -= (300.0 if step >= first else 0.03) * p.grad
            yield

    return ("learning rate", None), loop


def too_short(network, first):
    def loop(steps):
        for _ in range(steps):
            zero(network.values())
            network.loss().backward()
            for p in network.values():
                p.data -= 1e-9 * p.grad
            yield

    return ("learning rate", ""), loop


def too_short_optimizer(network, first):
    optimizer = network.rg.optim.Adam(network.values(), lr=1e-9)

    def loop(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            rows_of(network, network.source.sample(range(network.rows), 6)).backward()
            optimizer.step()
            yield

    return ("learning rate", ""), loop


def same_weights(network, first):
    network.residual = False  # what is added beside a layer tells its units apart
    for layer in network.layers:
        for ws, b in zip(layer["w"], layer["b"]):
            for w in ws:
                w.data = 0.3
            b.data = 0.1

    def loop(steps):
        for _ in range(steps):
            zero(network.values())
            network.loss().backward()
            for p in network.values():
                p.data -= 0.01 * p.grad
            yield

    return ("identical units", "layer0"), loop


def same_rows(network, first):
    """The units of one layer start equal, in and out; the other layers start at random."""
    network.residual = False
    place = network.source.randrange(len(network.layers) - 1)
    layer, above = network.layers[place], network.layers[place + 1]
    for ws in layer["w"][1:]:
        for w, same in zip(ws, layer["w"][0]):
            w.data = same.data
    for b in layer["b"]:
        b.data = 0.0
    for ws in above["w"]:
        for w in ws[1:]:
            w.data = ws[0].data
    optimizer = network.rg.optim.Adam(network.values(), lr=0.01)

    def loop(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            network.loss().backward()
            optimizer.step()
            yield

    return ("identical units", f"layer{place}"), loop


def made_anew_by_steps(network, first):
    """The lecture's step, and an optimizer that holds the values from before the loop."""
    make = network.rg.Value
    optimizer = network.rg.optim.SGD(network.values(), lr=0.05)

    def loop(steps):
        for step in range(steps):
            optimizer.zero_grad()
            network.loss().backward()
            if step >= first:
                for layer in network.layers:
                    layer["w"] = [[make(w.data - 0.05 * w.grad) for w in ws] for ws in layer["w"]]
                    layer["b"] = [make(b.data - 0.05 * b.grad) for b in layer["b"]]
            optimizer.step()
            yield

    return ("rebuilt", "layer0"), loop


def made_anew_at_random(network, first):
    """The layers are made inside the loop: what was learned is thrown away."""
    optimizer = network.rg.optim.SGD(network.values(), lr=0.05)

    def loop(steps):
        for step in range(steps):
            if step >= first:
                widths = zip(network.widths, network.widths[1:])
                network.layers = [network._layer(a, b) for a, b in widths]
            optimizer.zero_grad()
            network.loss().backward()
            optimizer.step()
            yield

    return ("rebuilt", "layer0"), loop


STEP_FAULTS = (
    forgotten_layer, forgotten_biases, reset_between, reset_between_by_hand, uphill, negated,
    too_long, too_short, too_short_optimizer, same_weights, same_rows, made_anew_by_steps,
    made_anew_at_random,
)  # fmt: skip
FROM_THE_START = (
    forgotten_layer, forgotten_biases, too_short, too_short_optimizer, same_weights, same_rows,
)  # fmt: skip
"""Faults that have no other beginning."""
