"""Training loops as people write them, all of them healthy: each trains a network for some steps.

A loop is a generator that yields after each step, so that a report can be asked for at any time.
"""

from __future__ import annotations

import math


def zero(parameters):
    for p in parameters:
        p.grad = 0.0


def plain(network, steps):
    """Full batches, the update written by hand."""
    for _ in range(steps):
        zero(network.values())
        network.loss().backward()
        for p in network.values():
            p.data -= 0.05 * p.grad
        yield


def rows_of(network, indices):
    data, labels = network.data, network.labels
    network.data, network.labels = [data[i] for i in indices], [labels[i] for i in indices]
    try:
        return network.loss()
    finally:
        network.data, network.labels = data, labels


def one_row_at_a_time(network, steps):
    for _ in range(steps):
        zero(network.values())
        rows_of(network, [network.source.randrange(network.rows)]).backward()
        for p in network.values():
            p.data -= 0.01 * p.grad
        yield


def sorted_rows(network, steps):
    """One row after the other in the order of the first feature: the data changes slowly."""
    order = sorted(range(network.rows), key=lambda i: network.data[i][0])
    for step in range(steps):
        zero(network.values())
        rows_of(network, [order[step % network.rows]]).backward()
        for p in network.values():
            p.data -= 0.01 * p.grad
        yield


def mini_batches(network, steps):
    for _ in range(steps):
        zero(network.values())
        rows_of(network, network.source.sample(range(network.rows), 4)).backward()
        for p in network.values():
            p.data -= 0.02 * p.grad
        yield


def reset_after_the_step(network, steps):
    for _ in range(steps):
        network.loss().backward()
        for p in network.values():
            p.data -= 0.05 * p.grad
            p.grad = 0.0
        yield


def weight_decay(network, steps):
    for _ in range(steps):
        zero(network.values())
        network.loss().backward()
        for p in network.values():
            p.data -= 0.05 * p.grad + 0.001 * p.data
        yield


def functional(network, steps):
    """The lecture's step: new values in place of the old ones, and no optimizer."""
    make = network.rg.Value

    def stepped(p):
        return make(p.data - 0.05 * p.grad)

    for _ in range(steps):
        network.loss().backward()
        for layer in network.layers:
            layer["w"] = [[stepped(w) for w in ws] for ws in layer["w"]]
            layer["b"] = [stepped(b) for b in layer["b"]]
        yield


def with_optimizer(make, before=None, after=None):
    def loop(network, steps):
        rg = network.rg
        optimizer = make(rg, network.values())
        for step in range(steps):
            optimizer.zero_grad()
            network.loss().backward()
            if before is not None:
                before(rg, network, optimizer, step / steps)
            optimizer.step()
            if after is not None:
                after(rg, network, optimizer, step / steps)
            yield

    return loop


sgd = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.05))
heavy_ball = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.02, momentum=0.9))
nesterov = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.02, momentum=0.9, nesterov=True))
adam = with_optimizer(lambda rg, ps: rg.optim.Adam(ps, lr=0.01))
adamw = with_optimizer(lambda rg, ps: rg.optim.AdamW(ps, lr=0.01, weight_decay=0.1))
rmsprop = with_optimizer(lambda rg, ps: rg.optim.RMSprop(ps, lr=0.005))
clipped = with_optimizer(
    lambda rg, ps: rg.optim.SGD(ps, lr=0.5),
    lambda rg, network, optimizer, t: rg.optim.clip_grad_norm(network.values(), 0.1),
)


def _warmup(rg, network, optimizer, t):
    for group in optimizer.param_groups:
        group["lr"] = 0.05 * min(1.0, 4 * t + 1e-3)


def _cosine(rg, network, optimizer, t):
    for group in optimizer.param_groups:
        group["lr"] = 0.05 * (1 + math.cos(math.pi * min(1.0, 1.05 * t))) / 2


warmup = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.05), _warmup)
cosine = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.05), _cosine)


def _evaluated(rg, network, optimizer, t):
    with rg.no_grad():
        network.loss()
    network.loss().detach()


evaluated = with_optimizer(lambda rg, ps: rg.optim.SGD(ps, lr=0.05), after=_evaluated)


def accumulated(network, steps):
    """Three backward passes a step."""
    optimizer = network.rg.optim.SGD(network.values(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        for start in range(3):
            rows_of(network, range(start, network.rows, 3)).backward()
        optimizer.step()
        yield


def accumulator(network, steps):
    optimizer = network.rg.optim.SGD(network.values(), lr=0.02)
    gathered = network.rg.optim.Accumulator(optimizer, every=2)
    for step in range(steps):
        rows_of(network, range(step % 2, network.rows, 2)).backward()
        gathered.step()
        yield


def by_closure(network, steps):
    rg = network.rg
    optimizer = rg.optim.LBFGS(network.values(), max_iter=3, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = network.loss()
        loss.backward()
        return loss

    for _ in range(min(steps, 6)):
        optimizer.zero_grad()
        optimizer.step(closure)
        yield


def two_optimizers(network, steps):
    """One for the first layer, one for the others, both on every pass."""
    rg, first = network.rg, network.layers[0]
    mine = [v for ws in (*first["w"], first["b"]) for v in ws]
    ids = {id(v) for v in mine}
    slow = rg.optim.SGD(mine, lr=0.01)
    fast = rg.optim.Adam([v for v in network.values() if id(v) not in ids], lr=0.01)
    for _ in range(steps):
        slow.zero_grad()
        fast.zero_grad()
        network.loss().backward()
        slow.step()
        fast.step()
        yield


def frozen_first_layer(network, steps):
    rg, first = network.rg, network.layers[0]
    rg.freeze([first["w"], first["b"]])
    optimizer = rg.optim.SGD([p for p in network.values() if p.requires_grad], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        network.loss().backward()
        optimizer.step()
        yield


def thawed_layer_by_layer(network, steps):
    """The last layer learns first; the others follow."""
    rg = network.rg
    for layer in network.layers[:-1]:
        rg.freeze([layer["w"], layer["b"]])
    optimizer = rg.optim.SGD(network.values(), lr=0.05)
    for step in range(steps):
        if step % 5 == 4:
            for layer in network.layers:
                rg.unfreeze([layer["w"], layer["b"]])
        optimizer.zero_grad()
        network.loss().backward()
        optimizer.step()
        yield


def averaged_weights(network, steps):
    """A slow copy of the weights beside them."""
    slow = [p.data for p in network.values()]
    for _ in plain(network, steps):
        slow = [0.9 * s + 0.1 * p.data for s, p in zip(slow, network.values())]
        yield


LOOPS = (
    plain, one_row_at_a_time, sorted_rows, mini_batches, reset_after_the_step, weight_decay,
    functional, sgd, heavy_ball, nesterov, adam, adamw, rmsprop, clipped, warmup, cosine, evaluated,
    accumulated, accumulator, by_closure, two_optimizers, frozen_first_layer,
    thawed_layer_by_layer, averaged_weights,
)  # fmt: skip
NAMES = {loop: name for name, loop in globals().items() if loop in LOOPS}
