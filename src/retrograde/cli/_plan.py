"""What becomes of a script's class: which of its methods ours stand in for, which stay its own.

The plan is made by trying, in a copy of the process (``_apart.py``), and then rehearsed there: ours
take the place of the class only where small programs give the same on both. Otherwise the class
stays the script's own, and the plan says why.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..value import Value
from ._agreement import Printed, Subject, agrees, plain_number
from ._construction import Role, is_native, roles_of
from ._facts import Facts
from ._rehearsal import (
    first_difference,
    programs_for,
    rehearsed,
    rehearsed_twice,
    same_show,
)
from ._renamed import Answer, Trial, answers_of, tried
from ._state import state_of

_MACHINERY = frozenset(
    "__new__ __getattribute__ __getattr__ __setattr__ __delattr__ __del__ __init_subclass__ "
    "__class_getitem__ __array_ufunc__ __array_function__ __array__".split()
)
"""Methods that make a class something else than its attributes and rules say."""

_ALWAYS_OURS = frozenset(
    "__init__ __slots__ __dict__ __weakref__ __module__ __qualname__ __doc__ __annotations__ "
    "__annotate__ __annotate_func__ __annotations_cache__ __match_args__ __reduce__ __reduce_ex__ "
    "__getstate__ __setstate__ __copy__ __deepcopy__ __sizeof__ __firstlineno__ "
    "__static_attributes__ __orig_bases__ __parameters__ __dataclass_fields__ "
    "__dataclass_params__ __abstractmethods__ __replace__ __eq__ __ne__ __hash__ __bool__ "
    "__post_init__ data grad label backward _backward _children _prev _op _local_grads".split()
)
"""What a value is made of: never put on our class as it stands."""

_PRINTING = frozenset(("__repr__", "__str__", "__format__"))
_GRAPH = frozenset("_prev _children _op op _local_grads inputs partials".split())
_LOOKED_INTO = frozenset(("vars", "weakref", "inspect", "gc", "tracemalloc", "RecursionError"))
_HARMLESS = frozenset(
    "ImportError ModuleNotFoundError KeyboardInterrupt FileNotFoundError OSError IOError "
    "StopIteration EOFError".split()
)


_AS_OURS = frozenset(
    (("data", ""), ("grad", ""), ("_prev", "set"), ("_children", "tuple"), ("inputs", "tuple"),
     ("_local_grads", "tuple"), ("partials", "tuple"))
)  # fmt: skip
"""Attributes that ours have by the same name, in the same kind of container."""

_MEANT_OTHERWISE = frozenset("op inputs partials site".split())
"""What ours are read by, also by those who explain: it cannot mean something else."""

_OTHER_NUMBERS = frozenset("float32 float16 half Decimal Fraction mpf complex cmath".split())


@dataclass
class Plan:
    """How ours take the place of a class; ``own`` says why they do not.

    ``answers`` lead attributes of theirs to ours, ``defaults`` are attributes that every object
    begins with, ``kept`` and ``added`` methods that stay the script's: those we have too, and those
    we lack. ``backward`` is "ours", "theirs", or "both": theirs for a graph passed over before.
    """

    own: str = ""
    answers: dict[str, tuple[str, str, Any]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    backward: str = "ours"
    roles: list[Role] | None = None
    lends: bool = False


class StaysOwn(Exception):  # noqa: N818  no error: a verdict
    """The class stays the script's own; the text says why."""


def planned(
    theirs: type, names: dict[str, Any], facts: Facts, apply: Callable[[Plan], Callable[[], None]]
) -> Plan:
    """The plan for a class, rehearsed; ``apply`` carries one out and returns what undoes it."""
    try:
        planner = _Planner(theirs, names, facts)
        plan = planner.plan()
        planner.rehearse(plan, apply)
        return plan
    except StaysOwn as reason:
        return Plan(own=str(reason))


class _Planner:
    def __init__(self, theirs: type, names: dict[str, Any], facts: Facts) -> None:
        self.theirs, self.names, self.facts = theirs, names, facts
        self.members: dict[str, Any] = {}
        for owner in reversed(theirs.__mro__[:-1]):
            self.members.update(vars(owner))

    def plan(self) -> Plan:
        """What to put where, before it is rehearsed."""
        theirs, facts = self.theirs, self.facts
        self._refuse_strange()
        before = state_of(self.names, theirs)
        product, total = tried(theirs, "*"), tried(theirs, "+")
        trial = product or total
        if trial is None:
            raise StaysOwn(f"{theirs.__name__}(2.0) could not be tried")
        leaf = theirs(2.0)
        if trial.printed or state_of(self.names, theirs) != before:
            self._refuse_effects()
        self.attributes = attributes = self._attributes(trial)
        answers = answers_of(attributes, product, total)
        called: dict[str, str] = {}
        for name, answer in sorted(answers.items(), key=lambda each: each[0] != each[1].ours):
            called.setdefault(answer.ours, name)
        self.data, self.grad = called.get("data", "data"), called.get("grad", "grad")
        self._refuse_other_numbers(leaf)
        plan = Plan()
        plan.answers = {
            name: (answer.ours, answer.kind, answer.empty)
            for name, answer in answers.items()
            if (name, answer.kind) not in _AS_OURS
        }
        self._defaults(plan, attributes - answers.keys(), trial)
        op = self._op(trial)
        inputs = called.get("_children", "")
        plan.roles = self._roles(inputs, called.get("_local_grads", ""), op)
        self._methods(plan, inputs, op)
        self.missing = attributes - answers.keys() - plan.defaults.keys() - _ALWAYS_OURS
        self._refuse_what_is_read(plan)
        foreign = facts.writes - {"data", "grad", "label", "_backward", self.data, self.grad}
        plan.lends = bool(foreign or plan.defaults or plan.roles) or "setattr" in facts.writes
        return plan

    def _refuse_strange(self) -> None:
        theirs, facts = self.theirs, self.facts
        strange = sorted(_MACHINERY & self.members.keys())
        if strange:
            raise StaysOwn(f"it has {strange[0]}")
        if type(theirs) is not type:
            raise StaysOwn(f"its class is made by {type(theirs).__name__}")
        for base in theirs.__mro__[1:-1]:
            if base.__name__ in facts.names - {theirs.__name__} and base.__module__ != "builtins":
                if sum(isinstance(each, type) and issubclass(each, base)
                       for each in self.names.values()) > 2:  # fmt: skip
                    raise StaysOwn(f"others are a {base.__name__} too")
        looked = sorted(_LOOKED_INTO & (facts.names | facts.modules | facts.catches))
        if looked:
            raise StaysOwn(f"the program uses {looked[0]}")
        other = sorted(_OTHER_NUMBERS & (facts.names | facts.reads | facts.modules))
        if other:
            raise StaysOwn(f"the program computes with {other[0]}")
        if "AttributeError" in facts.catches:
            raise StaysOwn("the program catches AttributeError")
        if facts.checks and facts.catches - _HARMLESS:
            raise StaysOwn("its constructor checks its arguments, and the program catches errors")
        if facts.arrays:
            raise StaysOwn("it is given arrays")
        if "__init__" in facts.dependent:
            raise StaysOwn("its constructor depends on what the program changes elsewhere")

    def _refuse_effects(self) -> None:
        """Making values does more than that: say whether it is the constructor or the rules."""
        before = state_of(self.names, self.theirs)
        leaf = tried(self.theirs, "")
        if leaf is None or leaf.printed or state_of(self.names, self.theirs) != before:
            raise StaysOwn("making a value does more than that (it prints, counts or registers)")

    def _refuse_other_numbers(self, leaf: Any) -> None:
        for name, start in ((self.data, 2.0), (self.grad, 0.0)):
            held = getattr(leaf, name, None)
            if isinstance(held, bool) or not isinstance(held, (int, float)) or held != start:
                raise StaysOwn(f".{name} of a new value is {_shown(held)}")
        emptied = {self.grad, self.data} & self.facts.empties
        if emptied:
            raise StaysOwn(f"the program sets .{min(emptied)} to None")

    def _attributes(self, trial: Trial) -> set[str]:
        """What the objects of theirs hold."""
        found = set(self.facts.stores) | set(getattr(self.theirs, "__dataclass_fields__", ()))
        for thing in (trial.left, trial.result):
            found |= set(getattr(thing, "__dict__", ()))
        for member, thing in self.members.items():
            if _is_slot(thing):
                found.add(member)
        return {name for name in found if not isinstance(self.members.get(name), property)}

    def _defaults(self, plan: Plan, names: set[str], trial: Trial) -> None:
        """Attributes that begin the same on every object, whatever made it."""
        for name in sorted(names - _ALWAYS_OURS):
            things = [getattr(each, name, _ABSENT) for each in (*trial.values, self.theirs(0.5))]
            first = things[0]
            plain = first is None or type(first) in (bool, int, float, str)
            if (plain or first == ()) and all(type(each) is type(first) and each == first
                                              for each in things):  # fmt: skip
                plan.defaults[name] = first
            elif all(each is _ABSENT for each in things):
                plan.defaults.pop(name, None)
                names.discard(name)

    def _op(self, trial: Trial) -> str:
        """What theirs calls the name of the op, where it keeps one."""
        for name in ("_op", "op", *sorted(self._attributes(trial))):
            held = [getattr(each, name, None) for each in (trial.left, trial.result)]
            if all(isinstance(each, str) for each in held) and held[0] != held[1]:
                return name
        return ""

    def _roles(self, inputs: str, partials: str, op: str) -> list[Role] | None:
        """The constructor's parameters; None where ours takes them as it is."""
        roles = roles_of(self.theirs, inputs, partials, op)
        if roles is None:
            raise StaysOwn("what its constructor does with its arguments could not be told")
        return None if is_native(roles, self.facts.positions) else roles

    def _methods(self, plan: Plan, inputs: str, op: str) -> None:
        facts = self.facts
        added = [
            name
            for name in self.members
            if not hasattr(Value, name) and name not in plan.answers and name not in plan.defaults
            and name not in _ALWAYS_OURS and not _is_slot(self.members[name])
            and name not in self.attributes
        ]  # fmt: skip
        looks = set(facts.reads)
        for name in {*added, *_PRINTING} - self._helpers(added):
            looks |= facts.methods.get(name, set())
        graph = {inputs, op, *_GRAPH, *(n for n, a in plan.answers.items() if a[0] in _GRAPH)}
        watched = bool((graph - {""}) & looks)
        subject = Subject(
            self.theirs, self.data, self.grad,
            inputs if watched else "", op if watched and op in looks else "",
            lambda: state_of(self.names, self.theirs), bool(facts.catches - _HARMLESS),
            self._is_noisy(),
        )  # fmt: skip
        plan.added = added
        plan.kept = [
            name
            for name, member in self.members.items()
            if name not in _ALWAYS_OURS and name not in _PRINTING and name not in plan.answers
            and name not in self.attributes and hasattr(Value, name)
            and not _is_slot(member)
            and (name in facts.dependent or not agrees(subject, name))
        ]  # fmt: skip
        if op and op not in ("_op", "op") and op in looks:
            plan.answers[op] = ("_op", "str", None)

    def _is_noisy(self) -> bool:
        """Whether its backward prints, whatever the graph."""
        with Printed() as printed, suppress(Exception):
            self.theirs(2.0).backward()
        return bool(printed.text())

    def _helpers(self, added: list[str]) -> set[str]:
        """Methods that only its backward pass calls: they are not run where ours is."""
        users = {name: reads for name, reads in self.facts.methods.items() if name != "backward"}
        asked = set(self.facts.reads)
        for name, reads in users.items():
            asked |= reads - {name}
        return set(added) - asked

    def _refuse_what_is_read(self, plan: Plan) -> None:
        """Attributes that ours cannot answer for must not be asked for."""
        reads = set(self.facts.reads)
        for name in (*plan.kept, *plan.added, *_PRINTING):
            reads |= self.facts.methods.get(name, set())
        asked = sorted(self.missing & reads)
        if asked:
            raise StaysOwn(f".{asked[0]} of its values is used elsewhere")
        meant = (
            (self.attributes | self.facts.writes) & _MEANT_OTHERWISE & (reads | self.facts.writes)
        )
        if meant:
            raise StaysOwn(f".{min(meant)} of its values means something else in ours")
        parts = {name for name, answer in plan.answers.items() if answer[0] in _GRAPH - {"_op"}}
        parts |= {"_prev", "_children", "_local_grads"}
        if self.facts.typed and (plan.kept or plan.added or self.facts.positions > 1):
            raise StaysOwn("types are compared with it")
        written = sorted(parts & self.facts.writes)
        if written:
            raise StaysOwn(f"the program writes .{written[0]} of its values")

    def rehearse(self, plan: Plan, apply: Callable[[Plan], Callable[[], None]]) -> None:
        """Run small programs on both; first with our backward, then with theirs."""
        copies = bool({"copy", "pickle", "deepcopy"} & (self.facts.modules | self.facts.names))
        programs = programs_for(self.theirs, copies)
        expected = rehearsed(programs, self.theirs, self.data, self.grad)
        twice = rehearsed_twice(self.theirs, self.data, self.grad)
        difference = ""
        wanted = "theirs" if self._is_seeded() else "ours"
        if all(expected[name][2] for name in ("sums", "products")):
            raise StaysOwn("its backward pass could not be tried")
        for plan.backward in (wanted, "theirs"):
            asked = sorted(self.missing & self.facts.methods.get("backward", set()))
            if plan.backward == "theirs" and asked:
                difference = f".{asked[0]} in backward"
                continue
            undo = apply(plan)
            try:
                ours = rehearsed(programs, Value, self.data, self.grad)
                difference = first_difference(expected, ours)
                same_twice = same_show(twice, rehearsed_twice(Value, self.data, self.grad))
            finally:
                undo()
            if not difference:
                break
        else:
            raise StaysOwn(f"with ours in its place it would not give the same ({difference})")
        if plan.backward == "ours" and not same_twice and not twice[2]:
            plan.backward = "both"

    def _is_seeded(self) -> bool:
        """Whether its backward depends on more than the value: arguments, or a switch."""
        return self.facts.seeded or "backward" in self.facts.dependent


_ABSENT = object()


def _is_slot(member: Any) -> bool:
    return type(member).__name__ == "member_descriptor"


def _shown(thing: Any) -> str:
    try:
        plain_number(thing)
    except TypeError:
        return f"of type {type(thing).__name__}"
    return str(thing)


__all__ = ["Answer", "Plan", "planned"]
