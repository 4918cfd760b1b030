"""For tests of ``retrograde run``: a small engine, and Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import retrograde

SCRIPTS = Path(__file__).parent / "scripts"
SOURCE = Path(retrograde.__file__).parent.parent
CORES = ("native", "reference")


def python(*arguments, core="native", **options):
    """Python in a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "PYTHONUTF8": "1",
            "RETROGRADE_CORE": core,
        },
        **options,
    )


def retrograde_run(*arguments, **options):
    return python("-m", "retrograde", "run", *arguments, **options)


ENGINE = """
import math
class Value:
    def __init__(self, data, children=(), local_grads=()):
        self.data, self.grad = data, 0
        self._children, self._local_grads = children, local_grads
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))
    def backward(self):
        order, seen = [], set()
        def visit(v):
            if v not in seen:
                seen.add(v)
                for c in v._children: visit(c)
                order.append(v)
        visit(self)
        self.grad = 1
        for v in reversed(order):
            for c, l in zip(v._children, v._local_grads): c.grad += l * v.grad
"""
"""A small engine, 22 lines with its import; methods may follow."""
