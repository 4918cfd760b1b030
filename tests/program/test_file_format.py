"""The page docs/file-format.md is true: a second reader, written from it, reads the same programs,
and a file written once is read by every version that follows.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any

import numpy as np
import pytest

from .saved import SAVED
from .support import bits


class Page:
    """The page as a program: it trusts the file, and calls things by their numbers."""

    def __init__(self, data: bytes) -> None:
        assert data[:8] == bytes.fromhex("89524750 0D0A1A0A")
        version, length = struct.unpack("<HQ", data[8:18])
        assert (version, length) == (2, len(data) - 50)
        assert hashlib.sha256(data[:18] + data[50:]).digest() == data[18:50]
        self.left = data[50:]

    def raw(self, length: int) -> bytes:
        assert len(self.left) >= length
        taken, self.left = self.left[:length], self.left[length:]
        return taken

    def byte(self) -> int:
        return self.raw(1)[0]

    def count(self) -> int:
        part = self.byte()
        return part if part < 128 else part - 128 + 128 * self.count()

    def number(self) -> float:
        return struct.unpack("<d", self.raw(8))[0]

    def text(self) -> str:
        return self.raw(self.count()).decode()

    def many(self, read: Any) -> list[Any]:
        return [read() for _ in range(self.count())]

    def site(self) -> tuple[Any, ...]:
        return (self.text(), self.count(), self.text(), self.text())

    def argument(self) -> tuple[Any, ...]:
        return (self.text(), self.byte(), self.number() if self.byte() else None)

    def parameter(self) -> tuple[Any, ...]:
        return (self.text(), self.byte(), self.number())

    def key(self) -> Any:
        kind = self.byte()
        if kind < 3:
            return (None, False, True)[kind]
        return struct.unpack("<q", self.raw(8))[0] if kind == 3 else self.text()

    def nest(self) -> Any:
        kind = self.byte()
        if kind < 2:
            return kind
        if kind == 2:
            return (2, self.count())
        if kind == 3:
            return (3, tuple(self.many(self.count)))
        if kind in (4, 5):
            return (kind, tuple(self.many(self.nest)))
        if kind == 6:
            return (6, {self.key(): self.nest() for _ in range(self.count())})
        shape = self.many(self.count)
        return (7, tuple(shape), [self.nest() for _ in range(int(np.prod(shape)))])

    def numbers_in(self, nest: Any) -> int:
        if nest in (0, 1):
            return 1
        if nest[0] == 7:
            return sum(map(self.numbers_in, nest[2]))
        return sum(map(self.numbers_in, nest[1].values() if nest[0] == 6 else nest[1]))

    def input(self) -> tuple[Any, ...]:
        kind = self.byte()
        if kind < 2:
            return (kind,)
        return (kind, self.count() if kind == 2 else self.number())

    def item(self) -> Any:
        kind = self.count()
        if kind == 4:
            trips, before = self.count(), self.made
            body = self.many(self.item)
            period, self.made = self.made - before, before + trips * (self.made - before)
            strides = [self.stride() for _ in self.operands(body)]
            return (trips, body, period, strides)
        op = self.ops[kind - 5]
        arity = {
            "neg": 1,
            "abs": 1,
            "exp": 1,
            "tanh": 1,
            "stop": 1,
            "square": 1,
            "where": 3,
            "choice": 3,
        }
        operands = self.count() if op in ("sum", "dot", "take") else arity.get(op, 2)
        index, self.made = self.made, self.made + 1
        return (op, [index - self.count() for _ in range(operands)], self.count())

    def operands(self, items: Any) -> list[int]:
        return [x for i in items for x in (self.operands(i[1]) if len(i) == 4 else i[1])]

    def stride(self) -> int:
        half, negative = divmod(self.count(), 2)
        return -half - 1 if negative else half

    def written_out(self, items: Any, operands: Any = None) -> list[Any]:
        """The instructions, loops written out."""
        given = iter(self.operands(items) if operands is None else operands)
        written = []
        for item in items:
            mine = [next(given) for _ in self.operands([item])]
            if len(item) == 3:
                written.append((item[0], mine, item[2]))
                continue
            trips, body, _, strides = item
            for trip in range(trips):
                moved = [x + trip * stride for x, stride in zip(mine, strides)]
                written += self.written_out(body, moved)
        return written

    def trace(self, outputs: int) -> dict[str, Any]:
        rows, inputs = self.count(), self.many(self.input)
        inputs += [(3, number) for number in self.many(self.number)]
        self.made = len(inputs)
        return {
            "rows": rows,
            "entries": inputs + self.written_out(self.many(self.item)),
            "guards": self.many(lambda: (*divmod(self.count(), 2), self.count())),
            "outputs": [self.count() for _ in range(outputs)],
        }

    def family(self) -> dict[str, Any]:
        shapes, results = [self.nest() for _ in self.arguments], self.nest()
        traces = self.many(lambda: self.trace(self.numbers_in(results)))
        return {"shapes": shapes, "results": results, "traces": traces}

    def read(self) -> Page:
        self.name = self.text()
        self.ops = self.many(self.text)
        self.sites = self.many(self.site)
        self.arguments = self.many(self.argument)
        self.parameters = self.many(self.parameter)
        self.families = self.many(self.family)
        assert not self.left
        return self


@pytest.mark.parametrize("name", SAVED)
def test_a_reader_written_from_the_page_reads_the_same(native: Any, name: str) -> None:
    from retrograde.program.files import packed

    compiled = SAVED[name](native)
    stored = compiled._stored_function()
    page = Page(packed(stored)).read()
    assert page.name == stored.name
    assert [argument[0] for argument in page.arguments] == list(stored.signature.parameters)
    assert [(n, bool(g), d) for n, g, d in page.parameters] == [
        (n, leaf.requires_grad, leaf.data) for n, leaf in stored.parameters.items()
    ]
    traces = [trace for family in page.families for trace in family["traces"]]
    leaves = [id(leaf) for leaf in stored.parameters.values()]
    for read, trace in zip(traces, compiled.traces, strict=True):
        program, captured = trace.program, iter(trace.captured)
        assert read["outputs"] == program.outputs
        assert len(read["entries"]) == program.count
        instructions = iter(program.instructions)
        for index, entry in enumerate(read["entries"]):
            if entry[0] in (0, 1):
                assert program.inputs[index].kind == ("row", "uniform")[entry[0]]
            elif entry[0] == 2:
                assert leaves[entry[1]] == id(next(captured))
            elif entry[0] == 3:
                assert bits(program.inputs[index].number) == bits(entry[1])
            else:
                op, results, args, site, _ = next(instructions)
                assert (op, results, args) == (entry[0], (index,), tuple(entry[1]))
                assert page.sites[entry[2] - 1][:3] == tuple(program.site(site))
        guards = [(g.condition, g.outcome, program.site(g.site)) for g in program.guards]
        assert [(c, o, page.sites[s - 1][:3]) for c, o, s in read["guards"]] == guards
        for _, _, site in read["guards"]:
            assert any(word in page.sites[site - 1][3] for word in ("if ", "while "))


GOLDEN = """
iVJHUA0KGgoBAP8BAAAAAAAAzRAHY5wSbFabGSMCfcD/XO6IOYfnr0HSozLZwrD1U6EGc2V0dGxlBwRsZXNzBHN0b3ADbXVs
A2FkZANzdW0DbmVnBHRha2UGFS90bXAvZ29sZGVuL3NldHRsZS5weQQGc2V0dGxlC2lmIHggPiAyLjA6FS90bXAvZ29sZGVu
L3NldHRsZS5weQUGc2V0dGxlABUvdG1wL2dvbGRlbi9zZXR0bGUucHkKBnNldHRsZQAVL3RtcC9nb2xkZW4vc2V0dGxlLnB5
BgZzZXR0bGUNZWxpZiB4ID4gMC4wOhUvdG1wL2dvbGRlbi9zZXR0bGUucHkHBnNldHRsZQAVL3RtcC9nb2xkZW4vc2V0dGxl
LnB5CQZzZXR0bGUAAwF4AQAEY29zdAEBAAAAAAAA4D8EbmVzdAIAAgF3AQAAAAAAAABABGJbMV0BAAAAAAAAAIABAQAGAQQB
awUCAAEGAgQBYQcBAQAEAWIEAQADAQwAAQEAAwAAAAAAAABABAEFAQUBAQIABgEIAgMAAAAAAADwPwcCAQIHAQoDAQ0BCwMB
EAABAQADAAAAAAAAAEAEAQUBBQEBAwAAAAAAAAAABAEIBAUBBAIACAILAQUGDAEFAgEHAgEFBwEOAwIMARMEDwMBDwABAQAD
AAAAAAAAAEAEAQUBBQEBAwAAAAAAAAAABAEIBAUBBAkKBgIABgIBBgoDDQELBgcBDQMCDAESBA4D
"""


def test_a_file_of_version_1_is_read_for_good(native: Any) -> None:
    from retrograde.program.files import unpacked
    from retrograde.program.loaded import Loaded

    loaded = Loaded(unpacked(base64.b64decode(GOLDEN), "golden"))
    assert repr(loaded) == "<loaded settle(x, cost=0.5, *, nest): 3 trace(s), 2 parameter(s)>"
    assert {name: leaf.data for name, leaf in loaded.parameters.items()} == {"w": 2.0, "b[1]": -0.0}
    rows = np.array([3.0, 1.0, -1.0])
    result = loaded(rows, nest={"k": (1.0, rows)})
    assert result["a"].tolist() == [[7.5], [3.5], [2.5]]
    assert result["b"][0].tolist() == rows.tolist()
