"""Print rows as Python, and compile them into functions of plain floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..expr import Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
from . import ieee

if TYPE_CHECKING:
    from ..op import Op

INFIX = {"add": "+", "sub": "-", "mul": "*"}


def python(node: Expr | Condition) -> str:
    """An expression or condition as Python source over floats.

    >>> from retrograde.ops import OPS
    >>> python(OPS["tan"].partials[0])
    '(1.0 + (z * z))'
    >>> python(OPS["relu"].value)
    '(0.0 if (x <= 0.0) else x)'
    """
    if isinstance(node, Var):
        return node.name
    if isinstance(node, Num):
        return repr(node.value)
    if isinstance(node, Call):
        args = [python(arg) for arg in node.args]
        if node.name in INFIX:
            return f"({args[0]} {INFIX[node.name]} {args[1]})"
        return f"(-{args[0]})" if node.name == "neg" else f"{node.name}({', '.join(args)})"
    if isinstance(node, Where):
        then, otherwise = python(node.then), python(node.otherwise)
        return f"({then} if {python(node.condition)} else {otherwise})"
    if isinstance(node, Compare):
        return f"({python(node.left)} {node.symbol} {python(node.right)})"
    if isinstance(node, (Either, Both)):
        word = "or" if isinstance(node, Either) else "and"
        return f"({python(node.left)} {word} {python(node.right)})"
    raise TypeError(f"no Python for {type(node).__name__}")


def source(op: Op) -> str:
    """The two functions of a row as Python source: its value, and its partials."""
    inputs = ", ".join(op.inputs)
    partials = ", ".join(python(partial) for partial in op.partials)
    value = f"{op.name}({inputs})" if op.tuned else python(op.value)
    return (
        f"def value({inputs}):\n    return {value}\n\n"
        f"def partials({inputs}, z):\n    return ({partials},)\n"
    )


def compile_partials(op: Op, functions: Mapping[str, Any]) -> tuple[Callable[..., Any], ...]:
    """The partials as functions of inputs and result that are generic in the number type.

    ``functions`` gives every named function of the law; on values they build graph, so what comes
    back can be differentiated again.
    """
    inputs = ", ".join(op.inputs)
    compiled = []
    for partial in op.partials:
        code = f"lambda {inputs}, z: {python(partial)}"
        compiled.append(eval(compile(code, f"<law: {op.name}>", "eval"), dict(functions)))
    return tuple(compiled)


def compile_row(
    op: Op,
) -> tuple[Callable[..., float], Callable[..., tuple[float, ...]]]:
    """The row's value and partials as functions of floats, with IEEE arithmetic."""
    from ..scalar import OPS

    namespace: dict[str, Any] = {
        name: getattr(ieee, name) if hasattr(ieee, name) else OPS[name].evaluate
        for name in op.calls - INFIX.keys() - {"neg", op.name}
    }
    exec(compile(source(op), f"<law: {op.name}>", "exec"), namespace)
    namespace.setdefault(op.name, getattr(ieee, op.name, namespace["value"]))
    return namespace["value"], namespace["partials"]
