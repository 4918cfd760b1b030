"""Files that are not what ``save`` wrote: cut off, altered, newer, or written to deceive."""

from __future__ import annotations

import importlib
import os
import pickle
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .mutations import mutated, originals, verdict
from .saved import SAVED


@pytest.fixture
def files(rg: Any) -> Any:
    """The module of files that goes with a core."""
    return importlib.import_module(f"{rg.__name__}.program.files")


@pytest.fixture
def load(rg: Any, tmp_path: Path) -> Callable[[bytes], Any]:
    def from_bytes(data: bytes) -> Any:
        path = tmp_path / "f.rgp"
        path.write_bytes(data)
        return rg.load(path)

    return from_bytes


@pytest.fixture(scope="module")
def small(native: Any) -> bytes:
    from retrograde.program.files import packed

    return packed(SAVED["branches"](native)._stored_function())


# ---- the header ----------------------------------------------------------------------------------


def test_a_file_cut_off_anywhere_is_refused(rg: Any, files: Any, small: bytes) -> None:
    for length in range(len(small)):
        with pytest.raises(rg.errors.ProgramFileError) as caught:
            files.unpacked(small[:length], "f.rgp")
        said = "is not a program file" if length == 0 else f"cut off: {length} of "
        assert said in str(caught.value)


def test_every_flipped_bit_is_noticed(rg: Any, files: Any, small: bytes) -> None:
    for place in range(len(small) * 8):
        altered = bytearray(small)
        altered[place // 8] ^= 1 << place % 8
        with pytest.raises(rg.errors.ProgramFileError):
            files.unpacked(bytes(altered), "f.rgp")


@pytest.mark.parametrize("version", [4, 0, 300])
def test_another_version_is_refused_by_both_numbers(
    rg: Any, load: Callable[[bytes], Any], small: bytes, version: int
) -> None:
    newer = small[:8] + version.to_bytes(2, "little") + small[10:]
    with pytest.raises(ValueError, match=f"of version {version}, made by") as caught:
        load(newer)
    assert isinstance(caught.value, rg.errors.ProgramFileError)
    assert "this one reads version 3" in str(caught.value)
    assert ("a newer retrograde" in str(caught.value)) == (version > 3)


def test_what_is_no_program_file_is_refused(
    rg: Any, load: Callable[[bytes], Any], tmp_path: Path, small: bytes
) -> None:
    error = rg.errors.ProgramFileError
    for data in (b"", b"hello", pickle.dumps([1]), os.urandom(400), small.replace(b"\r\n", b"\n")):
        with pytest.raises(error, match=r"f\.rgp: this is not a program file"):
            load(data)
    with pytest.raises(error, match=r"byte .*: .* there is more behind its end"):
        load(small + b"\x00")
    with pytest.raises(error, match=r"checksum .* binary mode"):
        load(small[:-1] + b"\x7f")
    with pytest.raises(error, match=r"cannot be read: No such file or directory\. Check the path"):
        rg.load(tmp_path / "missing.rgp")
    with pytest.raises(error, match="cannot be read: Is a directory"):
        rg.load(tmp_path)
    with pytest.raises(error, match="it is not a regular file"):
        rg.load("/dev/zero")


def test_loading_executes_nothing(
    rg: Any, load: Callable[[bytes], Any], small: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("code was executed")

    load(small)  # imports what loading takes
    with monkeypatch.context() as patch:
        for name in ("eval", "exec", "compile"):
            patch.setattr(builtins, name, refuse)
        for name in ("load", "loads"):
            patch.setattr(pickle, name, refuse)
        loaded = load(small)
    assert loaded(np.array([3.0])).tolist() == [1.5]


# ---- contents written to deceive, checksum and all -----------------------------------------------


def count(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def text(words: str) -> bytes:
    return count(len(words.encode())) + words.encode()


def several(*things: bytes) -> bytes:
    return count(len(things)) + b"".join(things)


def number(given: float) -> bytes:
    return np.float64(given).tobytes()


ROW, UNIFORM = count(0), count(1)


def captured(which: int) -> bytes:
    return count(2) + count(which)


def constant(given: float) -> bytes:
    return count(3) + number(given)


def op(which: int, *back: int, site: int = 0, wide: bool = False) -> bytes:
    operands = count(len(back)) if wide else b""
    return count(5 + which) + operands + b"".join(map(count, back)) + count(site)


def guard(entry: int, outcome: int, site: int = 0) -> bytes:
    return count(2 * entry + outcome) + count(site)


def trace(
    *entries: bytes,
    guards: Sequence[bytes] = (),
    outputs: Sequence[int] = (1,),
    tables: Sequence[float] = (),
) -> bytes:
    """Inputs begin with a tag below 4; instructions and loops follow them."""
    inputs = [entry for entry in entries if entry[0] < 4]
    items = [entry for entry in entries if entry[0] >= 4]
    made = several(*inputs) + several(*map(number, tables)) + several(*items)
    return count(3) + made + several(*guards) + b"".join(map(count, outputs))


def looped(trips: int, *items: bytes, strides: Sequence[int] = ()) -> bytes:
    moves = [2 * stride if stride >= 0 else -2 * stride - 1 for stride in strides]
    return count(4) + count(trips) + several(*items) + b"".join(map(count, moves))


def _nested(depth: int, trips: int = 1000) -> bytes:
    inner = op(0, 1)
    for _ in range(depth):
        inner = looped(trips, inner, strides=[0])
    return inner


NEGATED = trace(ROW, op(0, 1))


def family(*traces: bytes, shapes: bytes = b"\x01", results: bytes = b"\x00") -> bytes:
    return shapes + results + several(*traces)


def argument(name: str = "x", kind: int = 1, default: bytes = b"\x00") -> bytes:
    return text(name) + bytes([kind]) + default


def parameter(name: str = "w", takes: int = 1, data: float = 2.0) -> bytes:
    return text(name) + bytes([takes]) + number(data)


SITE = text("f.py") + count(3) + text("f") + text("return -x")


def body(
    *families: bytes,
    ops: Sequence[str] = ("neg", "mul", "sum", "dot", "take"),
    sites: Sequence[bytes] = (),
    arguments: Sequence[bytes] = (argument(),),
    parameters: Sequence[bytes] = (),
    name: bytes = text("f"),
    after: bytes = b"",
) -> bytes:
    return (
        name + several(*map(text, ops)) + several(*sites) + several(*arguments)
        + several(*parameters) + several(*(families or (family(NEGATED),))) + after
    )  # fmt: skip


HUGE, LONGEST = count(2**32 - 1), count(2**31 - 1)
BRANCH = [ROW, constant(0.5), op(1, 1, 2)]
"""Entries of a trace with a number to decide by: %2."""

GOOD = {
    "as it should be": body(),
    "a site": body(family(trace(ROW, op(0, 1, site=1))), sites=[SITE]),
    "a default": body(arguments=[argument(default=b"\x01" + number(2.0))]),
    "branches": body(
        family(
            trace(*BRANCH, guards=[guard(2, 1)], outputs=[0]),
            trace(*BRANCH, op(0, 3), guards=[guard(2, 0)], outputs=[3]),
        )
    ),
    "a loop": body(family(trace(ROW, op(0, 1), looped(4, op(0, 1), strides=[1]), outputs=[5]))),
    "loops in a loop": body(
        family(trace(ROW, looped(2, looped(3, op(0, 1), strides=[0]), strides=[0]), outputs=[6]))
    ),
    "a table": body(
        family(
            trace(
                ROW, looped(3, op(1, 4, 3), strides=[0, 1]), outputs=[5], tables=[1.0, 2.0, 3.0]
            )
        )
    ),
    "no arguments": body(family(trace(captured(0), outputs=[0]), shapes=b""), arguments=[],
                         parameters=[parameter()]),
    "an empty uniform array": body(
        family(trace(constant(1.0), outputs=[0]), shapes=b"\x03" + several(count(0), LONGEST))
    ),
    "an empty array of results": body(
        family(trace(ROW, outputs=[]), results=b"\x07" + several(count(0), LONGEST))
    ),
}  # fmt: skip

BAD: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the file ends where the number of bytes of the function's name should be"),
    "more at the end": (body(after=b"\x00"), "there is more behind the last family"),
    "a name of no UTF-8": (body(name=b"\x02\xff\xff"), "the function's name is not UTF-8"),
    "a name that clears screens": (body(name=text("\x1b[2J")), "cannot be printed"),
    "a name longer than the file": (body(name=HUGE + b"f"), "more than the file has bytes for"),
    "a count that is too long": (b"\x81\x80\x00", "not as short as can be"),
    "a count past 2**32": (b"\xff\xff\xff\xff\xff\x01", "past 2**32"),
    "an unknown op": (body(ops=["neg", "launch"]), "there is no op 'launch'"),
    "an op of adjoints": (body(ops=["neg", "scatter"]), "there is no op 'scatter'"),
    "an op twice": (body(ops=["neg", "neg"]), "the op 'neg' is listed twice"),
    "an argument no Python has": (body(arguments=[argument("x y")]), "can be named 'x y'"),
    "a keyword": (body(arguments=[argument("class")]), "can be named 'class'"),
    "a reserved argument": (body(arguments=[argument("wrt")]), "can be named 'wrt'"),
    "arguments of one name": (body(arguments=[argument(), argument()]), "are named 'x'"),
    "an argument of no kind": (body(arguments=[argument(kind=3)]), "the kind of an argument is 3"),
    "a default half there": (body(arguments=[argument(default=b"\x02")]), "is a default is 2"),
    "arguments out of order": (
        body(arguments=[argument("x", 2), argument("y", 0)]), "the arguments do not fit together",
    ),
    "a default before none": (
        body(arguments=[argument("x", 1, b"\x01" + number(1.0)), argument("y")]),
        "the arguments do not fit together",
    ),
    "parameters of one name": (
        body(parameters=[parameter(), parameter()]), "two parameters are named 'w'",
    ),
    "a parameter without a name": (body(parameters=[parameter("")]), "or one has no name"),
    "a parameter that half takes gradients": (
        body(parameters=[parameter(takes=7)]), "whether a parameter takes gradients is 7",
    ),
    "no families": (body()[: -len(family(NEGATED)) - 1] + b"\x00", "there are no families"),
    "families of one shape": (
        body(family(NEGATED), family(NEGATED)), "two families for the same arguments",
    ),
    "no traces": (body(family()), "there are no traces"),
    "a shape of no kind": (body(family(NEGATED, shapes=b"\x07")), "the shape of an argument is 7"),
    "a result of no kind": (body(family(NEGATED, results=b"\x03")), "3 is no nest of results"),
    "rows wider than the file": (
        body(family(NEGATED, shapes=b"\x02" + count(2**30))), "more numbers than the file has byt",
    ),
    "an axis past all": (body(family(NEGATED, shapes=b"\x02" + HUGE)), "axis is 4294967295 long"),
    "a uniform array past all": (
        body(family(NEGATED, shapes=b"\x03" + several(*[count(70000)] * 2))), "is too large",
    ),
    "axes past all": (
        body(family(NEGATED, shapes=b"\x03" + several(*[count(1)] * 17))), "17 axes; 16 is the",
    ),
    "results past the file": (
        body(family(NEGATED, results=b"\x07" + several(count(2**20)))), "array of more results",
    ),
    "a bottomless argument": (
        body(family(NEGATED, shapes=b"\x04\x01" * 70 + b"\x00")), "deeper than 64 levels",
    ),
    "a bottomless result": (
        body(family(NEGATED, results=b"\x05\x01" * 70 + b"\x00")), "deeper than 64 levels",
    ),
    "a key twice": (
        body(family(NEGATED, shapes=b"\x06\x02\x00\x01\x00\x01")), "has the key None twice",
    ),
    "keys that Python takes for one": (
        body(family(NEGATED, results=b"\x06\x02\x02\x00\x03\x01" + bytes(7) + b"\x00")),
        "has the key 1 twice",
    ),
    "a key of no kind": (
        body(family(NEGATED, shapes=b"\x06\x01\x05\x01")), "the key of a dict is 5",
    ),
    "a missing argument": (body(family(trace(constant(1.0)))), "%0 should be x"),
    "arguments left out": (
        body(family(trace(ROW, outputs=[0]), shapes=b"\x02\x02")), "does not have all arguments",
    ),
    "an argument of another kind": (body(family(trace(UNIFORM))), "%0 should be x"),
    "an instruction for an argument": (
        body(family(trace(op(0, 1)))), "does not have all arguments",
    ),
    "an argument too many": (
        body(family(trace(ROW, UNIFORM))), "%1 is an argument that the function does not have",
    ),
    "a parameter that is not there": (
        body(family(trace(ROW, captured(0)))), "%1 is parameter 0, which is not there",
    ),
    "a parameter twice": (
        body(family(trace(ROW, captured(0), captured(0))), parameters=[parameter()]),
        "%2 is parameter 0, which the trace has already",
    ),
    "an op that is not there": (
        body(family(trace(ROW, op(9, 1)))), "%1 is op 9, which is not in the table",
    ),
    "an operand from the future": (
        body(family(trace(ROW, op(0, 0)))), "an operand of %1 is 0 entries back",
    ),
    "an operand from before": (
        body(family(trace(ROW, op(0, 2)))), "an operand of %1 is 2 entries back",
    ),
    "a sum of nothing": (body(family(trace(ROW, op(2, wide=True)))), "there are no operands"),
    "a dot of halves": (body(family(trace(ROW, op(3, 1, wide=True)))), "dot takes pairs"),
    "a take from nothing": (body(family(trace(ROW, op(4, 1, wide=True)))), "take of nothing"),
    "a site that is not there": (
        body(family(trace(ROW, op(0, 1, site=1)))), "site 0 is not in the table",
    ),
    "a guard on nothing": (
        body(family(trace(ROW, op(0, 1), guards=[guard(2, 1)]))), "a guard reads %2",
    ),
    "an output of nothing": (body(family(trace(ROW, outputs=[1]))), "output %1 is never defined"),
    "inputs past the file": (
        body()[: -len(NEGATED)] + count(3) + HUGE, "inputs of a trace are more than the file",
    ),
    "a loop of no rounds": (
        body(family(trace(ROW, looped(0, op(0, 1), strides=[1]), outputs=[0]))),
        "a loop of 0 rounds of 1 instructions",
    ),
    "a loop of nothing": (
        body(family(trace(ROW, looped(3), outputs=[0]))), "a loop of 3 rounds of 0 instructions",
    ),
    "a loop past all memory": (
        body(family(trace(ROW, looped(2**31, op(0, 1), strides=[0])))),
        "a loop of 2147483648 rounds of 1 instructions",
    ),
    "loops in loops past all memory": (
        body(family(trace(ROW, *[_nested(6)]))), "rounds of",
    ),
    "a bottomless loop": (body(family(trace(ROW, _nested(40, 1)))), "of so few levels"),
    "a loop that reads ahead": (
        body(family(trace(ROW, looped(3, op(0, 1), strides=[2])))), "before it is defined",
    ),
    "a loop that reads what never was": (
        body(family(trace(ROW, looped(3, op(0, 1), strides=[-1])))), "before it is defined",
    ),
    "a loop from an input on to results": (
        body(family(trace(ROW, looped(3, op(0, 1), strides=[1])))), "from inputs on to results",
    ),
    "a table past the file": (
        body()[: -len(NEGATED)] + count(3) + several(ROW) + count(2) + number(1.0),
        "2 numbers in tables are more than the file has bytes for",
    ),
    "the same path twice": (
        body(family(NEGATED, NEGATED)), "the path of trace 0 is the beginning of 1's",
    ),
    "a path that another goes on from": (
        body(
            family(
                trace(*BRANCH, guards=[guard(2, 1), guard(0, 1)]),
                trace(*BRANCH, guards=[guard(2, 1)]),
            )
        ),
        "the path of trace 1 is the beginning of 0's",
    ),
    "other questions": (
        body(
            family(
                trace(*BRANCH, guards=[guard(2, 1)]),
                trace(ROW, constant(0.25), op(1, 1, 2), guards=[guard(2, 0)]),
            )
        ),
        "traces 1 and 0 gave the same answers to different questions",
    ),
    "questions about other numbers": (
        body(family(trace(*BRANCH, guards=[guard(2, 1)]), trace(*BRANCH, guards=[guard(1, 0)]))),
        "traces 1 and 0 gave the same answers to different questions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_what_is_written_by_hand_as_the_page_says_loads(
    rg: Any, load: Callable[[bytes], Any], name: str
) -> None:
    from retrograde.program.files import sealed

    loaded = load(sealed(GOOD[name]))
    assert loaded.traces
    if name == "as it should be":
        assert loaded(np.array([2.0])).tolist() == [-2.0]
    if name == "branches":
        assert loaded(np.array([2.0, 0.0])).tolist() == [2.0, -0.0]
    if name == "no arguments":
        assert loaded() == 2.0
    if name == "an empty array of results":
        assert loaded(np.array([1.0])).shape == (0, 2**31 - 1)


@pytest.mark.parametrize("name", BAD)
def test_contents_are_checked_without_the_checksum(
    rg: Any, load: Callable[[bytes], Any], name: str
) -> None:
    from retrograde.program.files import sealed

    contents, said = BAD[name]
    data = sealed(contents)
    with pytest.raises(rg.errors.ProgramFileError) as caught:
        load(data)
    assert said in str(caught.value)
    place = int(str(caught.value).partition("byte ")[2].partition(":")[0])
    assert 50 <= place <= len(data)


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_small_file_takes_little_memory(rg: Any, files: Any, name: str) -> None:
    data = files.sealed(GOOD[name] if name in GOOD else BAD[name][0])
    tracemalloc.start()
    try:
        files.unpacked(data, "f.rgp")
    except rg.errors.ProgramFileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 200_000


# ---- mutated files -------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 4000, 500))
def test_mutated_files_are_refused_or_right(native: Any, first: int) -> None:
    found = set()
    for case in range(first, first + 500):
        how, data = mutated(case)
        found.add(verdict(case, how, data))
    assert {"refused", "right"} <= found


def test_cases_are_the_same_every_time(native: Any) -> None:
    assert [mutated(case) for case in range(50)] == [mutated(case) for case in range(50)]
    assert len({mutated(case)[1] for case in range(500)}) > 490
    assert len(originals()) == len(SAVED)
