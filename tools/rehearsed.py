"""What a row added by the rehearsal must work in: everything that asks the law, on one core.

    python tools/rehearsed.py native|reference

Run by ``rehearse.py`` against a build with the rows it adds. Each function is one consumer.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.ops import OPS, WORDS
from retrograde.value import core_name, native_core

rg: Any = import_module("retrograde")  # stubs know nothing of what is rehearsed
Value = rg.Value
NAMES = ("rehearsed_damp", "rehearsed_cube", "rehearsed_blend", "rehearsed_ramp")
NATIVE = core_name == "native"
AT = (0.7, 0.5)


def loss(x: Any, y: Any) -> Any:
    """All of them."""
    damped = rg.rehearsed_damp(x, y) + rg.rehearsed_cube(x) * rg.rehearsed_blend(x, y, 0.5)
    return damped + rg.rehearsed_ramp(x) * rg.rehearsed_ramp(-y)


def built() -> tuple[Any, Any, Any]:
    """The loss as a graph, with its leaves."""
    x, y = Value(AT[0], label="x"), Value(AT[1], label="y")
    return loss(x, y), x, y


def methods_and_functions() -> None:
    """One input, two with a default, three with a number among them."""
    e = math.exp(-1.0)
    x = Value(2.0)
    y = x.rehearsed_cube() + rg.rehearsed_cube(x)
    y.backward()
    assert (y.data, x.grad, y.inputs[0].op) == (16.0, 24.0, NAMES[1])
    assert rg.rehearsed_cube(3.0) == 27.0
    x, rate = Value(2.0), Value(0.5)
    y = x.rehearsed_damp(rate)
    y.backward()
    assert np.allclose((y.data, x.grad, rate.grad), (2 * e, 0.0, -4 * e), rtol=1e-14, atol=1e-15)
    assert x.rehearsed_damp().data == rg.rehearsed_damp(2.0) == rg.rehearsed_damp(x, y=0.5).data
    a, b = Value(1.0), Value(5.0)
    y = rg.rehearsed_blend(a, 0.25, b)
    y.backward()
    assert (y.data, a.grad, b.grad) == (2.0, 0.75, 0.25)
    assert set(NAMES) <= set(rg.ops)
    assert rg.rehearsed_cube(np.array([1.0, 2.0])).tolist() == [1.0, 8.0]


def other_engines() -> None:
    """Compared with PyTorch and JAX, which have none of them, and with slopes of the function."""
    against = ["complex-step", "finite-differences"]
    against += [name for name in ("torch", "jax") if find_spec(name)]
    for engine in against:
        found = rg.compare(loss, AT, against=engine)
        assert found.agrees, found


def gradient_check() -> None:
    """First and second derivatives, and each step by itself."""
    assert rg.gradcheck(loss, AT)
    assert rg.gradcheck(loss, AT, order=2)


def derivatives() -> None:
    """Functional derivatives of the second order, by the law's partials on values."""
    (_, mixed), (other, _) = rg.hessian(lambda v: loss(v[0], v[1]))(list(AT))
    assert math.isclose(mixed, other, rel_tol=1e-12)


def words() -> None:
    """A sentence a step, in the story, the ledger and on the card."""
    from retrograde.learn.exhibits import rule_card_svg

    root, x, _ = built()
    story = rg.story(root)
    said = " ".join(step.words for step in story.backward)
    for name in NAMES[:3]:
        assert name in said, name
        assert name in story.text(), name
        assert WORDS[OPS[name].kind]
    assert "the ramp is a gate" in said
    assert "rehearsed_cube" in str(rg.ledger(root, x))
    for name in NAMES:
        assert name in rule_card_svg(name)


def page() -> None:
    """The page, and what-if: its JavaScript computes what Python computed."""
    from retrograde.explain.html import page_html
    from retrograde.ops.emit.javascript import law

    text = page_html(rg.story(built()[0]))
    assert all(f"law.{name} = " in text for name in NAMES)
    if shutil.which("node") is None:
        return
    points = {name: [0.7, 0.5, 0.25][: OPS[name].arity] for name in NAMES}
    code = (
        law(NAMES, OPS)
        + """
      const found = {};
      for (const [name, at] of Object.entries(JSON.parse(process.argv[1]))) {
        const z = law[name].value(...at);
        found[name] = [z, ...law[name].partials.map((partial) => partial(...at, z))];
      }
      console.log(JSON.stringify(found));
    """
    )
    done = subprocess.run(
        ["node", "-e", code, json.dumps(points)], capture_output=True, text=True, check=True
    )
    for name, numbers in json.loads(done.stdout).items():
        z = OPS[name].evaluate(*points[name])
        expected = (z, *OPS[name].evaluate_partials(*points[name], z))
        assert np.allclose(numbers, expected, rtol=1e-13, atol=0.0), name


def formulas() -> None:
    """LaTeX, the page of the ops, the stubs, and text for cards."""
    from retrograde.learn.formulas import formula
    from retrograde.ops.emit import docs, latex, stubs

    everything, typed = docs.page(OPS.values()), stubs.module(OPS.values())
    for name in NAMES:
        op = OPS[name]
        assert f"| `{name}` |" in everything
        assert f"def {name}(" in typed
        assert all((latex.value(op), *latex.partials(op), formula(op.value)))
    assert "rehearsed\\_cube" in latex.value(OPS["rehearsed_ramp"])


def site() -> None:
    """The section of the documentation site, with curves."""
    sys.path.insert(0, str(Path(__file__).parent))
    from documentation.ops_page import section

    for name in NAMES:
        assert section(OPS[name]).startswith(f"### {name}")


def doctor() -> None:
    """The doctor reads them, and names the one that is shut."""
    x, y = Value(0.7, label="x"), Value(0.5, label="y")
    report = rg.doctor(loss(x, y), {"x": x, "y": y})
    assert str(report)


def births() -> None:
    """Where an infinity was born, with the row's cure."""
    root = rg.rehearsed_ramp(Value(math.inf, label="x")) - rg.rehearsed_cube(Value(1e200))
    found = rg.births(root)
    assert any(name in str(found) for name in NAMES), found


def memory() -> None:
    """What holds the memory."""
    assert str(rg.memory(built()[0]))


def copies() -> None:
    """Copied and pickled, with gradients that still flow."""
    root, x, y = built()
    twins = copy.deepcopy(root), pickle.loads(pickle.dumps(root))
    root.backward()
    for twin in twins:
        twin.backward()
        leaves = {v.label: v.grad for v in rg.order(twin) if v.label}
        assert (twin.data, leaves["x"], leaves["y"]) == (root.data, x.grad, y.grad)


def replayed() -> None:
    """Compiled, at every SIMD level, with first and second derivatives; saved and loaded."""
    compiled = rg.compile(loss)
    xs, ys = np.linspace(0.2, 2.0, 37), np.linspace(0.1, 1.5, 37)
    eager = []
    for at in zip(xs.tolist(), ys.tolist()):
        x, y = map(Value, at)
        root = loss(x, y)
        root.backward()
        eager.append((root.data, x.grad, y.grad))
    bits = set()
    for level in ("base", "v3", "v4", "v4_narrow", "neon"):
        try:
            native_core.use_kernels(level)
        except ValueError:
            continue
        values, slopes = compiled.value_and_grad(xs, ys)
        assert np.allclose(np.column_stack([values, *slopes]), eager, rtol=1e-12, atol=1e-12), level
        bits.add((values.tobytes(), *(slope.tobytes() for slope in slopes)))
    native_core.use_kernels("")
    assert len(bits) == 1
    assert np.isfinite(np.array(compiled.hessian(xs[:3], ys[:3]))).all()
    compiled.save("rehearsed.rgp")
    again = rg.load("rehearsed.rgp")
    assert np.array_equal(again(xs, ys), compiled(xs, ys))
    assert NAMES[0] in compiled.story(xs, ys, row=3).text()
    assert str(compiled.births(xs, ys))


CONSUMERS: tuple[Callable[[], None], ...] = (
    methods_and_functions, derivatives, gradient_check, other_engines, words, page, formulas, site,
    doctor, births, memory, copies, *((replayed,) if NATIVE else ()),
)  # fmt: skip


def main() -> None:
    """Try all of them."""
    assert core_name == sys.argv[1], core_name
    for consumer in CONSUMERS:
        try:
            consumer()
        except Exception as error:
            raise SystemExit(f"{consumer.__name__}: {type(error).__name__}: {error}") from error
    print(f"{core_name}: {', '.join(consumer.__name__ for consumer in CONSUMERS)}")


if __name__ == "__main__":
    main()
