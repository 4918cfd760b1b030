"""copy, deepcopy and pickle of graphs: values, gradients, structure, sharing, at any depth."""

from __future__ import annotations

import copy
import gc
import math
import operator
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..contract.support import line_of
from ..derivatives.support import is_native, steady
from ..law.expressions import DIFFERENTIABLE
from ..test_random_programs import engine_step, programs
from ..test_random_programs import run as run_program


def pickled(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


WAYS = {
    "deepcopy": copy.deepcopy,
    **{f"pickle {protocol}": partial(pickled, protocol=protocol) for protocol in (2, 3, 4, 5)},
    "pickle in Python": lambda value: pickle._loads(pickle._dumps(value)),
}
every_way = pytest.mark.parametrize("way", WAYS)


def picture(rg, *roots):
    """Everything that a copy keeps: every value under the roots, and which are the same."""
    values = rg.order(*roots)
    place = {id(value): index for index, value in enumerate(values)}
    return [
        (
            v.op, v._op, v.data.hex(), v.grad.hex(), v.label, v.requires_grad,
            [place.get(id(i), i.data) for i in v.inputs], [p.hex() for p in v.partials],
        )
        for v in values
    ]  # fmt: skip


def scene(rg):
    """A graph with sharing, numbers, labels, frozen leaves, n-ary nodes and a one-off."""
    a, b = rg.Value(0.5, label="a"), rg.Value(-1.5, label="b")
    frozen = rg.Value(2.0, label="frozen", requires_grad=False)
    shared = a * b + 3.0
    shared.label = "shared"
    wide = rg.dot([shared, a, 1.0], [frozen, 2.0, b])
    one_off = rg.Value(7.0, (wide, shared), (0.5, -0.25), _op="mine")
    nameless = rg.Value(1.0, (one_off,), (2.0,))
    root = rg.sum([nameless, shared.tanh(), 4.0]) + rg.where(a > b, a, b) ** 2.5
    root.backward()
    root.backward()
    return root


# ---- what is kept ------------------------------------------------------------------------------


@every_way
def test_a_copy_keeps_everything_that_can_be_read(rg, way):
    root = scene(rg)
    before = picture(rg, root)
    made = WAYS[way](root)
    assert made is not root
    assert picture(rg, made) == before
    assert picture(rg, root) == before
    originals = {id(value) for value in rg.order(root)}
    assert not any(id(value) in originals for value in rg.order(made))


@every_way
def test_a_copy_is_differentiated_like_the_original(rg, way):
    root = scene(rg)
    made = WAYS[way](root)
    root.backward()
    made.backward()
    assert picture(rg, made) == picture(rg, root)
    simple = rg.Value(3.0) ** 2 * 4.0
    clone = WAYS[way](simple)
    leaf = rg.order(clone)[0]
    assert rg.gradients(clone, leaf).data == 24.0
    leaf.data = 5.0
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(clone, leaf)


def test_a_copy_uses_the_numbers_of_its_forward_pass(rg):
    x = rg.Value(3.0)
    y = x * x
    x.data = 10.0
    for way in WAYS.values():
        made = way(y)
        made.backward()
        assert made.inputs[0].data == 10.0
        assert made.inputs[0].grad == 6.0


@every_way
def test_leaves_alone(rg, way):
    for leaf in (
        rg.Value(2.5, label="w"),
        rg.Value(-0.0, requires_grad=False),
        rg.Value(math.inf),
        rg.Value(5e-324),
    ):
        leaf.grad = 3.5
        made = WAYS[way](leaf)
        assert picture(rg, made) == picture(rg, leaf)
    assert math.isnan(WAYS[way](rg.Value(math.nan)).data)


@every_way
def test_identity_is_kept_within_containers(rg, way):
    x, y = rg.Value(1.0), rg.Value(2.0)
    nest = {"pair": [x, y], "again": (y, x), "product": x * y, "array": np.array([x], dtype=object)}
    made = WAYS[way](nest)
    assert made["pair"][0] is made["again"][1]
    assert made["pair"][1] is made["again"][0]
    assert made["product"].inputs[0] is made["pair"][0]
    assert made["product"].inputs[1] is made["pair"][1]
    assert made["array"][0] is made["pair"][0]
    assert made["pair"][0] is not x
    made["product"].backward()
    assert (made["pair"][0].grad, x.grad) == (2.0, 0.0)


def test_deepcopy_keeps_shared_interior_values_too(rg):
    x = rg.Value(2.0)
    shared = x.exp()
    first, second, same = copy.deepcopy([shared * 2.0, shared + x, shared])
    assert first.inputs[0] is second.inputs[0]
    assert first.inputs[0] is same
    assert second.inputs[1] is same.inputs[0]


def test_deepcopy_honours_a_memo(rg):
    x = rg.Value(2.0)
    kept = rg.Value(7.0)
    made = copy.deepcopy(x * 3.0, {id(x): kept})
    assert made.inputs[0] is kept


def test_a_shallow_copy_shares_its_inputs(rg):
    x, y = rg.Value(2.0, label="x"), rg.Value(3.0)
    product = x * y
    product.label, product.grad = "product", 5.0
    made = copy.copy(product)
    assert made is not product
    assert made.inputs[0] is x
    assert made.inputs[1] is y
    assert picture(rg, made) == picture(rg, product)
    made.backward()
    assert (x.grad, product.grad, made.grad) == (3.0, 5.0, 1.0)
    leaf = copy.copy(x)
    assert (leaf.data, leaf.grad, leaf.label, leaf is x) == (2.0, 3.0, "x", False)
    wide = rg.sum([x, y, 1.0])
    assert copy.copy(wide).inputs[:2] == (x, y)


@every_way
def test_frozen_since_is_frozen_and_keeps_its_history(rg, way):
    """A graph whose leaves were frozen after it was built once lost its history."""
    x, y = rg.Value(2.0), rg.Value(3.0)
    root = rg.sum([x * y, (x + 1.0).exp()])
    one_off = rg.Value(1.0, (x,), (2.0,)) * 1.0
    rg.freeze([x, y])
    for value in (root, one_off):
        made = WAYS[way](value)
        assert picture(rg, made) == picture(rg, value)
    nest = WAYS[way]([x, root, y])
    assert [v.requires_grad for v in nest] == [False, True, False]
    nest[0].requires_grad = True
    nest[1].backward()
    assert nest[0].grad == 3.0 + math.exp(3.0)


def test_a_shallow_copy_of_a_graph_frozen_since(rg):
    x = rg.Value(2.0)
    product = x * 3.0
    x.requires_grad = False
    made = copy.copy(product)
    assert made.op == "mul"
    assert made.inputs[0] is x


@every_way
def test_no_grad_does_not_apply_to_copies(rg, way):
    root = scene(rg)
    with rg.no_grad():
        made = WAYS[way](root)
        assert not rg.grad_enabled()
    assert picture(rg, made) == picture(rg, root)


@every_way
def test_anomaly_does_not_apply_to_copies(rg, way):
    x = rg.Value(0.0)
    root = x.log() * 2.0 + x.sqrt()
    with rg.anomaly():
        made = WAYS[way](root)
    assert picture(rg, made) == picture(rg, root)


def test_sites_and_hooks_are_left_behind(rg):
    x = rg.Value(2.0)
    y = x * 3.0
    y.register_hook(lambda total: 1 / 0)
    for way in WAYS.values():
        made = way(y)
        assert made._hooks is None
        made.backward()


# ---- subclasses and customs --------------------------------------------------------------------


def named_class(rg, monkeypatch):
    class Parameter(rg.Value):
        def __init__(self, data, rate):
            super().__init__(data)
            self.rate = rate

    name = f"Parameter_{rg.__name__}"
    Parameter.__qualname__ = Parameter.__name__ = name
    Parameter.__module__ = __name__
    monkeypatch.setattr(sys.modules[__name__], name, Parameter, raising=False)
    return Parameter


@every_way
def test_leaves_of_a_subclass_keep_class_and_attributes(rg, way, monkeypatch):
    Parameter = named_class(rg, monkeypatch)
    w = Parameter(3.0, {"rate": 0.1})
    w.label, w.grad, w.friend = "w", 4.0, rg.Value(1.0)
    root = w * w + w.friend
    nest = WAYS[way]([root, w, w.friend])
    made = nest[1]
    assert type(made) is Parameter
    assert (made.data, made.grad, made.label, made.rate) == (3.0, 4.0, "w", {"rate": 0.1})
    assert made.rate is not w.rate
    assert made.friend is nest[2]
    assert nest[0].inputs[0].inputs[0] is made
    assert nest[0].inputs[1] is nest[2]


@every_way
def test_inner_nodes_of_a_subclass_keep_class_and_attributes(rg, way, monkeypatch):
    Parameter = named_class(rg, monkeypatch)
    x = rg.Value(3.0)
    node = Parameter.__new__(Parameter)
    rg.Value.__init__(node, 9.0, (x,), (6.0,), _op="square")
    node.rate = [1, 2]
    made = WAYS[way](node * 2.0).inputs[0]
    assert type(made) is Parameter
    assert made.rate == [1, 2]
    assert made.rate is not node.rate
    assert made.partials == (6.0,)


def test_shallow_copies_of_a_subclass_share_attributes(rg):
    class Own(rg.Value):
        pass

    w = Own(3.0)
    w.tags = ["a"]
    made = copy.copy(w)
    assert type(made) is Own
    assert made.tags is w.tags
    inner = Own(9.0, (w,), (6.0,))
    inner.tags = ["b"]
    assert copy.copy(inner).tags is inner.tags
    assert type(copy.copy(inner)) is Own


@every_way
def test_closures_are_refused_by_name(rg, way):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "mine")  # made in the closure style
    out._backward = lambda: None
    root = out * 2.0
    what = way.split()[0]
    with pytest.raises(rg.errors.CopyError) as caught:
        WAYS[way](root)
    text = str(caught.value)
    assert text.startswith(
        f"{what}: the result of mine = 1.0 has its rule as a Python closure over other values, "
        "which cannot be taken along. Use Value(data, inputs, partials) or @rg.custom_op, or "
        "detach() first.\n  at "
    )
    assert f":{line_of(__file__, 'made in the closure style')}," in text
    assert isinstance(caught.value, TypeError)
    assert WAYS[way](root.detach()).data == 2.0


def test_a_refused_copy_leaves_no_leaf_thawed(rg):
    frozen = rg.Value(2.0, requires_grad=False)
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "mine")
    out._backward = lambda: None
    memo = {}
    with pytest.raises(rg.errors.CopyError):
        copy.deepcopy(frozen * x + out, memo)
    assert all(
        not v.requires_grad for v in memo.values() if isinstance(v, rg.Value) and v.data == 2
    )
    with pytest.raises(rg.errors.CopyError, match=r"^copy: "):
        copy.copy(out)
    assert rg.grad_enabled()


# ---- depth -------------------------------------------------------------------------------------


def chain(rg, depth):
    x = rg.Value(1.0)
    value = x
    for _ in range(depth):
        value = value + x
    return value


def check_chain(rg, root, depth):
    assert root.data == depth + 1.0
    root.backward()
    leaf = rg.order(root)[0]
    assert (leaf.op, leaf.grad) == ("leaf", depth + 1.0)


@every_way
def test_a_hundred_thousand_nodes_deep(rg, way):
    depth = 100_000 if is_native(rg) else 5_000
    root = chain(rg, depth)
    check_chain(rg, WAYS[way](root), depth)


@pytest.mark.slow
def test_a_hundred_thousand_nodes_deep_on_the_reference(reference):
    depth = 100_000
    root = chain(reference, depth)
    check_chain(reference, pickled(root), depth)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["deepcopy", "pickle 5"])
def test_a_million_nodes_deep(native, way):
    depth = 1_000_000
    root = chain(native, depth)
    check_chain(native, WAYS[way](root), depth)


def test_a_deep_pickle_is_flat(native):
    """About as many bytes a node as its numbers take."""
    assert len(pickle.dumps(chain(native, 20_000))) < 20_000 * 70


def test_wide_nodes(rg):
    values = [rg.Value(float(n), label=str(n)) for n in range(2_000)]
    root = rg.dot(values, values)
    for way in ("deepcopy", "pickle 5"):
        made = WAYS[way](root)
        assert made.inputs[0] is made.inputs[2_000]
        assert picture(rg, made) == picture(rg, root)


# ---- random graphs -----------------------------------------------------------------------------


@steady(max_examples=60)
@given(program=st.sampled_from(DIFFERENTIABLE).flatmap(programs))
def test_any_graph_survives_a_round_trip(rg, program):
    leaves = [rg.Value(number, label=f"leaf {i}") for i, number in enumerate(program.leaves)]
    values = run_program(program, leaves, partial(engine_step, rg))
    values[-1].backward()
    for index, value in enumerate(values[::3]):
        value.label = f"value {index}"
    before = picture(rg, values[-1])
    for way in ("deepcopy", "pickle 2", "pickle 5"):
        made = WAYS[way](values[-1])
        assert picture(rg, made) == before
        made.backward()
        values[-1].backward()
        assert picture(rg, made) == picture(rg, values[-1])
        values[-1].zero_grad()
        values[-1].backward()
        for v, grad in zip(rg.order(values[-1]), before):
            v.grad = float.fromhex(grad[3])


@dataclass
class Step:
    kind: str
    inputs: list[int]


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["add", "mul", "sum", "one-off", "named", "number", "leaf", "frozen"]),
        st.lists(st.integers(0, 1000), min_size=1, max_size=4),
    ),
    max_size=25,
)


def built(rg, steps: list[Step]) -> list[Any]:
    values = [rg.Value(1.25)]
    for number, step in enumerate(steps):
        chosen = [values[index % len(values)] for index in step.inputs]
        made = {
            "add": lambda c=chosen: c[0] + c[-1],
            "mul": lambda c=chosen: c[0] * c[-1],
            "sum": lambda c=chosen: rg.sum([*c, 1.0]),
            "one-off": lambda c=chosen: rg.Value(0.5, c, [0.25] * len(c)),
            "named": lambda c=chosen, n=number: rg.Value(0.5, c, [1.0] * len(c), _op=f"op {n}"),
            "number": lambda c=chosen: 2.0 - c[0] / 3.0,
            "leaf": lambda n=number: rg.Value(n / 7.0, label=f"leaf {n}"),
            "frozen": lambda n=number: rg.Value(n / 7.0, requires_grad=False),
        }[step.kind]()
        made.grad = number / 3.0
        values.append(made)
    return values


@steady(max_examples=60)
@given(steps=STEPS)
def test_any_graph_of_customs_and_sharing_survives(rg, steps):
    values = built(rg, steps)
    for way in ("deepcopy", "pickle 2", "pickle 5"):
        assert picture(rg, WAYS[way](values[-1])) == picture(rg, values[-1])
    whole = copy.deepcopy(values)
    assert picture(rg, *whole) == picture(rg, *values)
    again = pickled(values)
    for one, other in zip(values, again):
        assert picture(rg, other) == picture(rg, one)
    leaves = {id(v): w for v, w in zip(values, again) if v.op == "leaf"}
    for one, other in zip(values, again):
        for v, w in zip(rg.order(one), rg.order(other)):
            if id(v) in leaves:
                assert w is leaves[id(v)]


# ---- threads -----------------------------------------------------------------------------------


@pytest.fixture
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("frequent_switches")
def test_threads_build_and_copy_at_once(rg):
    barrier = threading.Barrier(6)

    def work(index):
        barrier.wait(30)
        seen = []
        for n in range(40 if is_native(rg) else 8):
            root = scene(rg) * (1.0 + index) + n
            made = [WAYS[way](root) for way in ("deepcopy", "pickle 2", "pickle 5")]
            expected = picture(rg, root)
            assert all(picture(rg, one) == expected for one in made)
            seen.append(root.data)
        return seen

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(work, range(6)))
    assert [row[0] for row in together] == [scene(rg).data * (1.0 + i) + 0 for i in range(6)]


@pytest.mark.usefixtures("frequent_switches")
def test_threads_copy_one_graph_at_once(rg):
    root = scene(rg)
    expected = picture(rg, root)
    barrier = threading.Barrier(6)

    def work(index):
        barrier.wait(30)
        way = list(WAYS.values())[index]
        for _ in range(20 if is_native(rg) else 5):
            assert picture(rg, way(root)) == expected
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))
    assert picture(rg, root) == expected


def test_a_graph_is_handed_from_thread_to_thread(rg):
    """Built in one, continued in another, copied in a third, differentiated in a fourth."""
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b, ThreadPoolExecutor(1) as c:
        x = a.submit(rg.Value, 3.0).result()
        square = b.submit(operator.mul, x, x).result()
        clone = c.submit(copy.deepcopy, square).result()
        a.submit(clone.backward).result()
        total = b.submit(rg.sum, [square, clone]).result()
        c.submit(total.backward).result()
        slope = a.submit(rg.gradients, square, x).result()
    assert clone.inputs[0].grad == 12.0
    assert (x.grad, slope.data) == (6.0, 6.0)
    del x, square, clone, total, slope
    gc.collect()
