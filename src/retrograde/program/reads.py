"""What a piece of code reads and assigns by name: its static chains.

A chain is ``name(.attribute|[constant])*``. Chains are found in bytecode, so that lambdas and code
without source have them too. Nothing runs and nothing is looked up here; opcodes are told by name,
those of CPython 3.10 to 3.15.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

GLOBAL, CELL, LOCAL, MODULE = "global", "cell", "local", "module"
"""Where a chain starts: a global, a free variable, an argument, or a module imported inside."""


DEEP, MANY = 6, 8
"""How many steps a chain that a local stands for may have, and how many chains it may stand for."""


class Step(NamedTuple):
    """``.key`` or, for an item, ``[key]``."""

    is_item: bool
    key: Any


class Chain(NamedTuple):
    """A name, and the attributes and constant items that are read from it, in order."""

    start: str
    name: str
    steps: tuple[Step, ...] = ()

    def attribute(self, name: str) -> Chain:
        """One attribute further."""
        return self._replace(steps=(*self.steps, Step(False, name)))

    def item(self, key: Any) -> Chain:
        """One constant item further."""
        return self._replace(steps=(*self.steps, Step(True, key)))

    def __str__(self) -> str:
        text = self.name
        for step in self.steps:
            shown = f'"{step.key}"' if isinstance(step.key, str) else repr(step.key)
            text += f"[{shown}]" if step.is_item else f".{step.key}"
        return text


class Reads(NamedTuple):
    """The chains a piece of code reads, and those it assigns; code inside it has its own."""

    read: tuple[Chain, ...]
    assigned: tuple[Chain, ...]


_PASSED_OVER = frozenset(
    "CACHE EXTENDED_ARG NOP PUSH_NULL PRECALL RESUME NOT_TAKEN COPY_FREE_VARS MAKE_CELL".split()
)
_GLOBALS = frozenset(["LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"])
_CELLS = frozenset(["LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"])
_ATTRIBUTES = frozenset(["LOAD_ATTR", "LOAD_METHOD"])
CONSTANTS = frozenset(
    ["LOAD_CONST", "LOAD_SMALL_INT", "LOAD_CONST_IMMORTAL", "LOAD_COMMON_CONSTANT"]
)
"""The last loads None, True, False, "" and -1 since Python 3.15."""

_COPIES = frozenset(["COPY", "DUP_TOP"])
_SWAPS = frozenset(["SWAP", "ROT_TWO", "ROT_THREE"])


class _Reader:
    """Goes over the instructions; a local stands for every chain that it is assigned from."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.ins = [i for i in dis.get_instructions(code) if i.opname not in _PASSED_OVER]
        self.at_offset = {i.offset: at for at, i in enumerate(self.ins)}
        variadic = bool(code.co_flags & 4) + bool(code.co_flags & 8)
        count = code.co_argcount + code.co_kwonlyargcount + variadic
        self.arguments = frozenset(code.co_varnames[:count])
        self.standing: dict[str, dict[Chain, None]] = {}
        self.known = 0
        self.read: dict[Chain, None] = {}
        self.assigned: dict[Chain, None] = {}

    @staticmethod
    def _names(i: dis.Instruction) -> tuple[str, ...]:
        """The variables of an instruction: two, where it does the work of two."""
        return i.argval if isinstance(i.argval, tuple) else (i.argval,)

    def _stored(self, i: dis.Instruction) -> tuple[str, ...]:
        if i.opname in ("STORE_FAST", "STORE_DEREF", "STORE_FAST_STORE_FAST"):
            return self._names(i)
        return self._names(i)[:1] if i.opname == "STORE_FAST_LOAD_FAST" else ()

    def _loaded(self, i: dis.Instruction) -> list[list[Chain]]:
        """What an instruction loads, one thing or two: for each the chains that may be it."""
        op = i.opname
        if op in _GLOBALS:
            return [[Chain(GLOBAL, i.argval)]]
        if op in _CELLS and i.argval in self.code.co_freevars:
            return [[Chain(CELL, i.argval)]]
        if op in _CELLS or op.startswith("LOAD_FAST"):
            return [self._local(name) for name in self._names(i)]
        if op == "STORE_FAST_LOAD_FAST":
            return [self._local(self._names(i)[1])]
        return []

    def _local(self, name: str) -> list[Chain]:
        own = [Chain(LOCAL, name)] if name in self.arguments else []
        return [*own, *self.standing.get(name, ())]

    def all(self) -> Reads:
        """Until no more locals are found to stand for chains: each time one more name deep."""
        before = -1
        while before < self.known:
            before = self.known
            self.read.clear()
            self.assigned.clear()
            self._scan()
        return Reads(tuple(self.read), tuple(self.assigned))

    def _scan(self) -> None:
        copied: list[Chain] = []
        for at, i in enumerate(self.ins):
            loaded = self._loaded(i)
            for chain in [chain for chains in loaded[:-1] for chain in chains]:
                self._note(chain)
            if loaded:
                for chain in loaded[-1]:
                    self._follow(chain, at + 1, copied)
            elif i.opname == "IMPORT_NAME":
                self._imported(at)
            elif i.opname == "STORE_GLOBAL":
                self.assigned[Chain(GLOBAL, i.argval)] = None
            elif i.opname == "STORE_DEREF" and i.argval in self.code.co_freevars:
                self.assigned[Chain(CELL, i.argval)] = None
            elif i.opname == "STORE_ATTR" and copied and self._is(at - 1, _SWAPS):
                self.assigned[copied.pop().attribute(i.argval)] = None  # x.a += 1
            elif i.opname == "STORE_SUBSCR" and copied and self._is(at - 1, _SWAPS):
                self.assigned[copied.pop()] = None  # x[0] += 1

    def _is(self, at: int, ops: frozenset[str]) -> bool:
        return 0 <= at < len(self.ins) and self.ins[at].opname in ops

    def _is_item(self, at: int) -> bool:
        if at >= len(self.ins):
            return False
        i = self.ins[at]
        return i.opname == "BINARY_SUBSCR" or (i.opname == "BINARY_OP" and i.argrepr == "[]")

    def _note(self, chain: Chain) -> None:
        if chain.steps or chain.start != LOCAL:
            self.read[chain] = None

    def _follow(self, chain: Chain, at: int, copied: list[Chain]) -> None:
        """From a name as far as attributes and constant items go, and what is done there."""
        while at < len(self.ins):
            i = self.ins[at]
            if i.opname in _ATTRIBUTES:
                chain = chain.attribute(i.argval)
                at += 1
            elif i.opname in CONSTANTS and isinstance(i.argval, slice):
                break  # a part is made anew each time
            elif i.opname in CONSTANTS and self._is_item(at + 1):
                chain = chain.item(i.argval)
                at += 2
            elif i.opname in CONSTANTS and self._is(at + 1, frozenset(["STORE_SUBSCR"])):
                self.assigned[chain.item(i.argval)] = None
                break
            elif i.opname in CONSTANTS and self._is_item(self._after_two_copies(at + 1)):
                chain = chain.item(i.argval)
                copied.append(chain)
                at = self._after_two_copies(at + 1) + 1
            elif i.opname in _COPIES:
                copied.append(chain)
                at += 1
            elif i.opname == "JUMP_FORWARD":
                at = self.at_offset.get(i.argval, len(self.ins))
            else:
                break
        self._note(chain)
        self._kept(chain, at)

    def _after_two_copies(self, at: int) -> int:
        """Past what copies a container and its key, as ``x[0] += 1`` does."""
        if self._is(at, frozenset(["DUP_TOP_TWO"])):
            return at + 1
        return at + 2 if self._is(at, _COPIES) and self._is(at + 1, _COPIES) else len(self.ins)

    def _kept(self, chain: Chain, at: int) -> None:
        """What was come to is assigned to a local, or something to an attribute of it."""
        if at >= len(self.ins):
            return
        i = self.ins[at]
        if i.opname == "STORE_ATTR":
            self.assigned[chain.attribute(i.argval)] = None
        for name in self._stored(i)[:1]:
            known = self.standing.setdefault(name, {})
            is_itself = chain == Chain(LOCAL, name)
            if (
                chain not in known
                and not is_itself
                and len(chain.steps) <= DEEP
                and len(known) < MANY
            ):
                known[chain] = None
                self.known += 1

    def _imported(self, at: int) -> None:
        """``import a.b`` and ``from a import b`` inside a function."""
        names, level = self.ins[at - 1].argval, self.ins[at - 2].argval
        if level != 0:
            return
        module = self.ins[at].argval
        if not names:
            self._kept(Chain(MODULE, module.partition(".")[0]), at + 1)
            return
        while self._is(at + 1, frozenset(["IMPORT_FROM"])):
            chain = Chain(MODULE, module).attribute(self.ins[at + 1].argval)
            self._note(chain)
            self._kept(chain, at + 2)
            at += 2


@lru_cache(maxsize=4096)
def _reads_by_id(identity: int, code: CodeType) -> Reads:
    return _Reader(code).all()


def reads(code: CodeType) -> Reads:
    """The static chains of a piece of code.

    >>> f = lambda self, x: x * self.model.params["vol"][0] + RATE
    >>> [str(chain) for chain in reads(f.__code__).read]
    ['self.model.params["vol"][0]', 'RATE']
    """
    return _reads_by_id(id(code), code)  # codes that are equal may still differ in their lines
