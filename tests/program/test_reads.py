"""The static chains of code: names, attributes and constant items, on whatever interpreter runs."""

from __future__ import annotations

import sys
import textwrap
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from retrograde.program import reads as room
from retrograde.program.reads import reads


def code_of(source: str) -> CodeType:
    """The code of the function f in a piece of source."""
    scope: dict[str, Any] = {}
    exec(textwrap.dedent(source), scope)
    code: CodeType = scope["f"].__code__
    return code


def all_of(code: CodeType) -> tuple[set[str], set[str]]:
    """Chains read and assigned, those of code inside included, as ``start:text``."""
    read, assigned, pending = set(), set(), [code]
    while pending:
        code = pending.pop()
        found = reads(code)
        read |= {f"{chain.start}:{chain}" for chain in found.read}
        assigned |= {f"{chain.start}:{chain}" for chain in found.assigned}
        pending.extend(part for part in code.co_consts if isinstance(part, CodeType))
    return read, assigned


CASES: dict[str, tuple[str, set[str], set[str]]] = {
    "globals": ("def f(x): return x * RATE + len(x)", {"global:RATE", "global:len"}, set()),
    "chains": (
        'def f(self, x): return x * self.model.params["vol"][0] + config.a.b[-1]',
        {'local:self.model.params["vol"][0]', "global:config.a.b[-1]"},
        set(),
    ),
    "methods": ("def f(self, x): return self.go(x)", {"local:self.go"}, set()),
    "keys of every kind": (
        'def f(d): return d[1.5] + d[None] + d["a", 1] + d[300] + d[b"k"]',
        {"local:d[1.5]", "local:d[None]", "local:d[('a', 1)]", "local:d[300]", "local:d[b'k']"},
        set(),
    ),
    "two at once": (
        "def f(a, b): return a.x * b.y + a.z + g(a, b)",
        {"local:a.x", "local:b.y", "local:a.z", "global:g"},
        set(),
    ),
    "either": (
        "def f(c, x): return (c.a if x else c.b).v",
        {"local:c.a.v", "local:c.b.v"},
        set(),
    ),
    "a local that stands for a chain": (
        """
        def f(self, x):
            p = self.params
            q = p.more
            return q.z[1] * x + p.w
        """,
        {"local:self.params", "local:self.params.more", "local:self.params.more.z[1]",
         "local:self.params.w"},
        set(),
    ),
    "a local that is assigned twice, from either": (
        """
        def f(self, x):
            p = self.a
            if x:
                p = self.b
            return p.w
        """,
        {"local:self.a", "local:self.b", "local:self.a.w", "local:self.b.w"},
        set(),
    ),
    "an argument with a default of its own": (
        """
        def f(x, cfg=None):
            cfg = cfg or DEFAULT
            return x * cfg.vol
        """,
        {"global:DEFAULT", "local:cfg.vol", "global:DEFAULT.vol"},
        set(),
    ),
    "a list that is followed": (
        """
        def f(node):
            while node:
                node = node.next
            return node
        """,
        {"local:node" + ".next" * steps for steps in range(1, 8)},
        set(),
    ),
    "a loop's variable": (
        "def f(self, x):\n    for layer in self.layers:\n        x = layer.w * x\n    return x",
        {"local:self.layers"},
        set(),
    ),
    "assigned": (
        """
        def f(self, x):
            global G
            G = 1
            self.out = x
            L[0] = 3
            self.n += 1
            d["k"] += 2
            self.deep.er["k"] = 1
        """,
        {"global:L", 'global:d["k"]', "local:self.n", "local:self.deep.er"},
        {"global:G", "local:self.out", "global:L[0]", "local:self.n", 'global:d["k"]',
         'local:self.deep.er["k"]'},
    ),
    "free variables": (
        """
        def make(a):
            def inner(x):
                nonlocal a
                a = a.next
                return a.w * x
            return inner
        f = make(1)
        """,
        {"cell:a.next", "cell:a.w"},
        {"cell:a"},
    ),
    "imports inside": (
        """
        def f(x):
            import config
            import os.path as way
            from package.part import vol, rate as r
            return x * config.vol * vol * r.a
        """,
        {"module:config.vol", "module:package.part.vol", "module:package.part.rate",
         "module:package.part.rate.a"},
        set(),
    ),
    "keywords and stars": (
        "def f(*args, key, **rest): return args[0] * key.w + rest['a']",
        {"local:args[0]", "local:key.w", 'local:rest["a"]'},
        set(),
    ),
    "what is no chain": (
        "def f(self, i): return self.a[i] + self.b[1:2] + g()[0] + (self.c + 1).d",
        {"local:self.a", "local:self.b", "global:g", "local:self.c"},
        set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", [None, True, False, "", -1, -2, 0, 300, -0.5, (), b"k"])
def test_every_constant_is_a_key_however_it_is_loaded(key: object) -> None:
    read, assigned = all_of(code_of(f"def f(d): d[{key!r}] = d[{key!r}] * d.a[{key!r}].b"))
    item = f'["{key}"]' if isinstance(key, str) else f"[{key!r}]"
    assert read == {f"local:d{item}", f"local:d.a{item}.b"}
    assert assigned == {f"local:d{item}"}


@pytest.mark.parametrize("case", CASES)
def test_chains_are_found(case: str) -> None:
    source, read, assigned = CASES[case]
    found = all_of(code_of(source))
    assert found == (read, assigned)


def test_comprehensions_have_theirs_wherever_they_run() -> None:
    """Before Python 3.12 they are functions of their own, and ``self`` a free variable there."""
    source = "def f(self, xs): return [self.w * x + RATE for x in xs], (lambda: self.v)"
    read, _ = all_of(code_of(source))
    ends = {text.partition(":")[2] for text in read}
    assert {"self.w", "self.v", "RATE"} <= ends


def faked(monkeypatch: pytest.MonkeyPatch, *ops: tuple[str, Any]) -> set[str]:
    """The chains in instructions as another interpreter would have them."""
    code = code_of("def f(a, b): pass")
    instructions = [
        SimpleNamespace(opname=op, argval=argval, argrepr="[]", offset=2 * at)
        for at, (op, argval) in enumerate(ops)
    ]
    monkeypatch.setattr(room.dis, "get_instructions", lambda _: instructions)
    found = room._Reader(code).all()
    return {str(chain) for chain in found.read} | {f"{chain} =" for chain in found.assigned}


DIALECTS: dict[str, tuple[list[tuple[str, Any]], set[str]]] = {
    "3.10": (
        [("LOAD_FAST", "a"), ("LOAD_METHOD", "go"), ("LOAD_GLOBAL", "G"), ("LOAD_CONST", 0),
         ("BINARY_SUBSCR", None), ("CALL_METHOD", 1), ("LOAD_FAST", "a"), ("DUP_TOP", None),
         ("LOAD_ATTR", "n"), ("LOAD_CONST", 1), ("INPLACE_ADD", None), ("ROT_TWO", None),
         ("STORE_ATTR", "n")],
        {"a.go", "G[0]", "a.n", "a.n ="},
    ),
    "3.11": (
        [("RESUME", 0), ("LOAD_GLOBAL", "G"), ("CACHE", 0), ("CACHE", 0), ("LOAD_ATTR", "x"),
         ("CACHE", 0), ("PUSH_NULL", None), ("LOAD_FAST", "b"), ("PRECALL", 0), ("CALL", 0)],
        {"G.x"},
    ),
    "3.13": (
        [("LOAD_FAST_LOAD_FAST", ("a", "b")), ("LOAD_ATTR", "y"),
         ("STORE_FAST_LOAD_FAST", ("c", "a")), ("LOAD_ATTR", "x"), ("LOAD_FAST_CHECK", "c"),
         ("LOAD_CONST", "k"), ("BINARY_SUBSCR", None),
         ("LOAD_FAST_AND_CLEAR", "d"), ("STORE_FAST_STORE_FAST", ("d", "e"))],
        {"b.y", "a.x", 'b.y["k"]'},
    ),
    "3.14": (
        [("LOAD_FAST_BORROW", "a"), ("LOAD_SMALL_INT", 3), ("BINARY_OP", 26), ("LOAD_ATTR", "w"),
         ("NOT_TAKEN", None), ("LOAD_FAST_BORROW_LOAD_FAST_BORROW", ("a", "b")),
         ("LOAD_ATTR", "v"), ("LOAD_FROM_DICT_OR_GLOBALS", "H"), ("LOAD_ATTR", "u")],
        {"a[3].w", "b.v", "H.u"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_of_bytecode_is_read(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ops, wanted = DIALECTS[dialect]
    assert faked(monkeypatch, *ops) == wanted


def test_chains_are_said_as_they_are_written() -> None:
    (chain,) = reads(code_of('def f(self): return self.a["k"][0].b')).read
    assert str(chain) == 'self.a["k"][0].b'


@pytest.mark.slow
def test_whatever_code_there_is_can_be_read() -> None:
    """The code of Python's own modules, NumPy's and ours: nothing in it is unheard of."""
    seen = 0
    known = {*sys.stdlib_module_names, "numpy", "retrograde"}
    here = [it for name, it in sys.modules.items() if name.partition(".")[0] in known]
    for module in [it for it in here if isinstance(it, ModuleType)]:
        for thing in list(vars(module).values()):
            if type(thing) is FunctionType:
                all_of(thing.__code__)
                seen += 1
    assert seen > 500
