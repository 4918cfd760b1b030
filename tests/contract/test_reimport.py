"""A package that is forgotten and imported again has the core it had, and the same values."""

from __future__ import annotations

import pytest

from .support import output_of

AGAIN = """
import sys
import retrograde as first
x = first.Value(3.0)
for name in [name for name in sys.modules if name.partition(".")[0] == "retrograde"]:
    del sys.modules[name]
import retrograde as second
from retrograde import value
y = second.Value(2.0) * 2.0
if value.core_name == "native":
    assert second.Value is first.Value
    y = y * x
    y.backward()
    assert x.grad == 4.0
    assert second.compile(lambda v: v * v)(3.0) == 9.0
    try:
        first.Value("no")
    except second.errors.NumberError:
        pass
print(value.core_name, y.data)
"""


@pytest.mark.parametrize(("core", "data"), [("native", 12.0), ("reference", 4.0)])
def test_it_is_as_it_was(rg, core, data):
    assert output_of(AGAIN, core) == f"{core} {data}\n"
