"""The story: the engine's own numbers, in its order, and nothing on the graph is touched."""

from __future__ import annotations

import json
import math
import pickle
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .support import WALKTHROUGHS, leaves, plain_story

UNARY = ("relu", "tanh", "exp", "neg", "abs", "square", "sigmoid", "floor")
BINARY = ("add", "sub", "mul", "div", "maximum")


def ledger_of(story, name):
    node = story.find(name)
    return [it for step in story.backward for it in step.contributions if it.to == node]


@pytest.mark.parametrize("name", WALKTHROUGHS)
def test_the_walkthroughs_of_every_course_come_out_to_the_digit(rg, name):
    make, value, gradients = WALKTHROUGHS[name]
    story = rg.story(make(rg))
    assert story.nodes[story.root].data == value
    assert {leaf: story.nodes[story.find(leaf)].grad for leaf in gradients} == gradients


def test_a_value_used_twice_by_one_op_has_two_contributions(rg):
    story = rg.story(WALKTHROUGHS["twice"][0](rg))
    assert [(it.position, it.amount, it.before, it.after) for it in ledger_of(story, "a")] == [
        (0, 1.0, 0.0, 1.0),
        (1, 1.0, 1.0, 2.0),
    ]


def test_steps_have_the_words_of_the_law(rg):
    story = plain_story(rg, WALKTHROUGHS["gate"][0](rg))
    assert [step.words for step in story.forward] == [
        "a = 2",
        "b = -3",
        "a * b = 2 × -3 = -6",
        "d = 10",
        "v1 + d = -6 + 10 = 4",
        "relu(v2) = relu(4) = 4",
    ]
    assert [step.words for step in story.backward] == [
        "relu is a gate, open here since v2 = 4 is above 0: "
        "the upstream gradient, 1, passes unchanged",
        "addition copies the upstream gradient, 1, to both inputs",
        "multiplication swaps: a receives the upstream gradient times b (-3), b times a (2)",
    ]


@st.composite
def programs(draw):
    """A random graph as a list of (op, operands); operands are positions, or numbers."""
    count = draw(st.integers(1, 4))
    numbers = st.floats(-3, 3, allow_nan=False).map(lambda x: round(x, 2))
    inputs = draw(st.lists(numbers, min_size=count, max_size=count))
    steps = []
    for made in range(draw(st.integers(1, 12))):
        position = st.integers(0, count + made - 1)
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(UNARY)), (draw(position),)))
        else:
            second = draw(st.one_of(position, numbers.map(lambda x: (x,))))
            steps.append((draw(st.sampled_from(BINARY)), (draw(position), second)))
    return inputs, steps


def built(rg, program):
    inputs, steps = program
    values = [rg.Value(x) for x in inputs]
    for op, operands in steps:
        picked = [x[0] if isinstance(x, tuple) else values[x] for x in operands]
        values.append(getattr(rg, op)(*picked))
    return values


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(program=programs())
def test_gradients_have_the_bits_of_the_engine_and_ledgers_add_up(rg, program):
    root = built(rg, program)[-1]
    story = rg.story(root)
    order = rg.order(root)
    root.backward()
    told = [node for node in story.nodes if node.op != "number"]
    assert len(told) == len(order)
    for node, value in zip(told, order):
        assert same(node.data, value.data)
        assert same(node.grad, value.grad)
    for node in told:
        total = story.seed if node.id == story.root else 0.0
        for _, it in story.contributions_to(node.id):
            assert same(it.before, total)
            total = total + it.amount
            assert same(it.after, total)
        assert same(total, node.grad)


@settings(deadline=None, max_examples=60)
@given(program=programs())
def test_both_cores_tell_the_same_story(native, reference, program):
    stories = [plain_story(rg, built(rg, program)[-1]).to_json() for rg in (native, reference)]
    for node, other in zip(stories[0]["nodes"], stories[1]["nodes"]):
        for key in ("op", "symbol", "name", "inputs", "requires_grad"):
            assert node[key] == other[key]
        assert float(node["grad"]) == pytest.approx(float(other["grad"]), rel=1e-9, nan_ok=True)


def test_inputs_stand_before_uses_and_numbers_are_nodes_without_gradient(rg):
    (x,) = leaves(rg, x=2.0)
    story = plain_story(rg, 3.0 / x - 1.0)
    assert [(node.op, node.name, node.inputs) for node in story.nodes] == [
        ("leaf", "x", ()),
        ("number", "3", ()),
        ("div", "v1", (1, 0)),
        ("number", "1", ()),
        ("sub", "v2", (2, 3)),
    ]
    assert [node.requires_grad for node in story.nodes] == [True, False, True, False, True]
    assert story.nodes[2].partials == (0.5, -0.75)
    assert story.nodes[4].partials == (1.0, -1.0)
    assert [it.to for step in story.backward for it in step.contributions] == [2, 0]


def test_no_gradient_is_read_or_written(rg):
    root = WALKTHROUGHS["two_routes"][0](rg)
    for index, value in enumerate(rg.order(root)):
        value.grad = 100.0 + index
    held = [value.grad for value in rg.order(root)]
    rg.story(root)
    rg.ledger(root, "a")
    rg.thermometer(root)
    root.explain(file=open_null())
    assert [value.grad for value in rg.order(root)] == held


def open_null():
    import io

    return io.StringIO()


# ---- notes ------------------------------------------------------------------------------------


def test_before_backward_it_says_so_and_how_to_store_them(rg):
    root = WALKTHROUGHS["product_and_sum"][0](rg)
    assert rg.story(root).note == (
        "backward has not run from here: these gradients were worked out for this explanation, "
        "and no .grad was changed. L.backward() stores them."
    )
    root.backward()
    assert rg.story(root).note is None


def test_gradients_of_another_pass_are_stale(rg):
    root = WALKTHROUGHS["product_and_sum"][0](rg)
    root.backward(3.0)
    note = rg.story(root).note
    assert "is stale: another pass, or another seed" in note
    assert "Told here is the pass from L alone; nothing was changed." in note


def test_partly_reset_and_accumulated_gradients_are_noted(rg):
    root = WALKTHROUGHS["product_and_sum"][0](rg)
    root.backward()
    story = rg.story(root)
    a = rg.order(root)[0]
    a.grad = 0.0
    assert "The .grad of a was reset after backward, the rest was not." in rg.story(root).note
    root.backward()
    note = rg.story(root).note
    assert note.startswith("The .grad of b and c holds more than this pass")
    root.zero_grad()
    root.backward()
    assert rg.story(root) == story


def test_leaves_of_other_passes_do_not_hide_that_backward_has_not_run(rg):
    (a,) = leaves(rg, a=2.0)
    (a * a).backward()
    note = rg.story(a + a).note
    assert note.startswith("backward has not run from here")
    assert note.endswith("adds them to what the leaves hold from other passes.")


def test_a_leaf_and_a_value_without_history_say_what_they_are(rg):
    (x,) = leaves(rg, x=2.0)
    leaf = rg.story(x)
    assert leaf.note == ("x is a leaf: it was made from nothing, so its only step is its own seed.")
    assert leaf.nodes[0].grad == 1.0
    assert len(leaf.backward) == 0
    with rg.no_grad():
        y = x * 2
        y.label = "y"
    assert rg.story(y).note.startswith("y has no history: it was made under no_grad()")


def test_a_graph_without_leaves_that_take_gradients_says_so(rg):
    (x,) = leaves(rg, x=2.0)
    y = x * x
    x.requires_grad = False
    assert "No leaf under " in rg.story(y).note


def test_numbers_changed_after_the_forward_pass_are_noted(rg):
    (x,) = leaves(rg, x=2.0)
    y = x * x
    y.label = "y"
    y.backward()
    x.data = 5.0
    story = rg.story(y)
    assert "The numbers under y were changed after the forward pass" in story.note
    assert story.forward[1].words == (
        "x * x was 4 when it was computed; what it was computed from has changed since"
    )
    assert story.nodes[0].grad == 4.0


def test_hooks_are_noted_and_not_run(rg):
    (x,) = leaves(rg, x=2.0)
    calls = []
    x.register_hook(calls.append)
    note = rg.story(x * x).note
    assert "The hooks on x were not run" in note
    assert calls == []


# ---- unusual graphs ---------------------------------------------------------------------------


def test_frozen_leaves_receive_nothing(rg):
    x, w = leaves(rg, x=2.0, w=3.0)
    w.requires_grad = False
    story = plain_story(rg, x * w)
    assert [it.to for it in story.backward[0].contributions] == [story.find("x")]
    assert story.forward[1].words == "w = 3 (takes no gradient)"
    assert story.backward[0].words == "multiplication by w scales the upstream gradient by 3"


def test_closure_style_values_are_told_by_what_their_rule_adds(rg):
    x, y = leaves(rg, x=2.0, y=5.0)
    out = rg.Value(x.data * y.data, (x, y), "*")

    def rule():
        x.grad += y.data * out.grad
        y.grad += x.data * out.grad

    out._backward = rule
    x.grad, y.grad = 7.0, 8.0
    story = plain_story(rg, out + x)
    assert [(it.to, it.amount) for step in story.backward for it in step.contributions] == [
        (story.find("v1"), 1.0),
        (story.find("x"), 1.0),
        (story.find("x"), 5.0),
        (story.find("y"), 2.0),
    ]
    assert (x.grad, y.grad, out.grad) == (7.0, 8.0, 0.0)
    node = story.nodes[story.find("v1")]
    assert (node.op, node.symbol, node.expression) == ("custom", "*", "x * y")
    assert node.partials == (5.0, 2.0)


def test_a_closure_without_a_rule_raises_as_backward_does(rg):
    out = rg.Value(1.0, (rg.Value(1.0),), "mine")
    with pytest.raises(rg.errors.MissingBackwardError):
        rg.story(out)


def test_custom_ops_are_told_by_their_partials(rg):
    @rg.custom_op
    def cube(x):
        return x**3, (3 * x**2,)

    (x,) = leaves(rg, x=2.0)
    one_off = rg.Value(10.0, (x,), (7.0,))
    story = plain_story(rg, cube(x) + one_off)
    assert story.nodes[0].grad == 19.0
    assert [node.op for node in story.nodes] == ["leaf", "custom", "custom", "add"]
    assert story.nodes[1].expression == "cube(x)"


def test_several_roots_are_one_pass_from_their_weighted_sum(rg):
    x, y = leaves(rg, x=2.0, y=5.0)
    roots = [x * y, x + y]
    story = rg.story(roots, [1.0, 10.0])
    rg.backward(roots, [1.0, 10.0])
    assert story.nodes[story.find("x")].grad == x.grad == 15.0
    assert story.nodes[story.root].expression == "dot([v1, v2], [1, 10])"
    assert story.nodes[story.root].name == "roots"


def test_nan_and_infinities_are_shown_as_such(rg):
    (x,) = leaves(rg, x=0.0)
    story = plain_story(rg, rg.log(x) * 0.0)
    text = story.text()
    assert "-inf" in text
    assert "NaN" in text
    assert "inf" in story.backward[-1].words
    plain = story.to_json()
    encoded = json.dumps(plain, allow_nan=False)
    assert '"NaN"' in encoded
    assert '"-Infinity"' in encoded
    again = type(story).from_json(json.loads(encoded))
    assert again.to_json() == plain
    assert again.text() == text


def test_a_zero_upstream_says_so_unless_it_meets_an_infinity(rg):
    (x,) = leaves(rg, x=0.0)
    story = plain_story(rg, rg.sqrt(x * 1.0) * 0.0)
    assert "0 × inf is NaN: a zero upstream gradient is not skipped" in story.backward[1].words
    story = plain_story(rg, rg.exp(x * 1.0) * 0.0)
    assert story.backward[1].words == "the upstream gradient is 0, so exp has nothing to hand on"


def test_a_long_chain_is_told_without_recursion(rg):
    (x,) = leaves(rg, x=1.0)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    story = rg.story(y)
    assert story.nodes[0].grad == 1.0
    assert len(story.backward) == 20_000
    assert len(story.text().splitlines()) < 300


def test_long_sums_are_shortened(rg):
    terms = [rg.Value(float(i), label=f"t{i}") for i in range(40)]
    story = plain_story(rg, rg.sum(terms))
    assert story.nodes[40].expression == "sum(t0, t1, t2, t3, … 40 in all)"
    assert story.backward[0].words == (
        "sum copies the upstream gradient, 1, to each of its 40 inputs"
    )
    assert "… 32 more contributions …" in story.text()


# ---- names and places -------------------------------------------------------------------------


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps no columns")
def test_values_without_labels_take_the_names_of_their_variables(rg):
    a, b = rg.Value(2.0), rg.Value(3.0)
    product = a * b
    scaled = product * 2 + product.tanh()
    total = sum([scaled, scaled])
    cube = total**3
    square = cube**2
    assert [node.name for node in rg.story(square).nodes if node.op != "number"] == [
        "a", "b", "product", "v1", "v2", "scaled", "v3", "total", "v4", "v5", "square",
    ]  # fmt: skip
    labels = [node.label for node in rg.story(square).nodes]
    assert labels == [None] * len(labels)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps no columns")
def test_a_variable_assigned_again_counts_up(rg):
    x = rg.Value(2.0)
    for _ in range(2):
        x = x * x
    x += x
    assert [node.name for node in rg.story(x).nodes] == ["x#1", "x#2", "x#3", "x"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps no columns")
def test_an_attribute_lends_its_name(rg):
    class Neuron:
        def __init__(self):
            self.weight = rg.Value(2.0)

        def __call__(self, x):
            return self.weight * x

    y = Neuron()(rg.Value(3.0, label="x"))
    y.label = "y"
    assert [node.name for node in rg.story(y).nodes] == ["weight", "x", "y"]


def test_places_name_the_line_and_its_text(rg):
    a = rg.Value(2.0, label="a")
    root = a * a  # told in its own words
    place = rg.story(root).nodes[1].site
    assert place.file == __file__
    assert place.function == "test_places_name_the_line_and_its_text"
    assert place.text == "root = a * a  # told in its own words"


def test_labels_that_repeat_or_look_like_running_numbers_stay_apart(rg):
    x, y = rg.Value(1.0, label="w"), rg.Value(2.0, label="w")
    z = rg.Value(3.0, label="v1")
    story = plain_story(rg, x * y * z)
    assert [node.name for node in story.nodes] == ["w", "w#2", "v2", "v1", "v3"]


def test_a_label_with_control_signs_stays_on_its_line(rg):
    x = rg.Value(1.0, label="a\n\x1b[31mb")
    story = plain_story(rg, x * x)
    assert story.nodes[0].name == r"a\n\x1b[31mb"
    assert story.nodes[0].label == "a\n\x1b[31mb"
    assert "\x1b" not in story.text()


def test_values_are_spelled_out_with_the_parentheses_they_need(rg):
    a, b, c = leaves(rg, a=2.0, b=3.0, c=4.0)
    for expression, text in [
        ((a * b + c) * (a + b), "(a*b + c)*(a + b)"),
        (a - (b - c), "a - (b - c)"),
        (a / (b * c), "a/(b*c)"),
        (-(a + b), "-(a + b)"),
        ((-a) ** 2, "(-a)**2"),
        ((a + b) ** 2 * -3.0, "(a + b)**2*-3"),
        (rg.tanh(a * b) + -1.0, "tanh(a*b) + (-1)"),
        (a**b, "a**b"),
    ]:
        story = plain_story(rg, expression)
        assert story.spelled(story.root) == text


# ---- as data ----------------------------------------------------------------------------------


def test_a_story_is_read_back_as_it_was(rg):
    story = rg.story(WALKTHROUGHS["two_routes"][0](rg))
    plain = json.loads(json.dumps(story.to_json(), allow_nan=False))
    assert plain["schema"] == "retrograde.story"
    assert plain["version"] == 1
    again = type(story).from_json(plain)
    assert again == story
    assert again.text() == story.text()
    assert rg.ledger(again, "a") == rg.ledger(story, "a")
    if rg.__name__ == "retrograde":
        assert pickle.loads(pickle.dumps(story)) == story


def test_other_versions_and_damaged_data_are_refused(rg):
    plain = rg.story(WALKTHROUGHS["gate"][0](rg)).to_json()
    story = rg.explain.Story
    with pytest.raises(rg.errors.StoryError, match="version 1"):
        story.from_json({**plain, "version": 2})
    with pytest.raises(rg.errors.StoryError, match="no story"):
        story.from_json([])
    with pytest.raises(rg.errors.StoryError, match="does not hold together"):
        story.from_json({**plain, "nodes": plain["nodes"][::-1]})
    with pytest.raises(rg.errors.StoryError, match="does not hold together"):
        story.from_json({**plain, "backward": [{}]})


def test_bad_roots_and_seeds_are_refused(rg):
    with pytest.raises(rg.errors.NotAValueError):
        rg.story(3.0)
    with pytest.raises(rg.errors.NotAValueError):
        rg.story([rg.Value(1.0), 3.0])
    with pytest.raises(rg.errors.StoryError, match="at least one root"):
        rg.story([])
    with pytest.raises(rg.errors.StoryError, match="2 roots but 1 seeds"):
        rg.story([rg.Value(1.0), rg.Value(1.0)], [1.0])


def test_steps_are_sequences(rg):
    story = rg.story(WALKTHROUGHS["gate"][0](rg))
    assert story.nodes[-1] == story.nodes[story.root]
    assert story.forward[1:3] == [story.forward[1], story.forward[2]]
    assert len(list(story.backward)) == len(story.backward) == 3
    with pytest.raises(IndexError):
        story.nodes[99]


def test_a_seed_scales_every_gradient(rg):
    root = WALKTHROUGHS["two_routes"][0](rg)
    story = rg.story(root, 2.0)
    assert story.seed == 2.0
    assert story.nodes[story.find("a")].grad == 14.0
