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


FORMER = """
import sys
import retrograde as first
x = first.Value(2.0)
for name in [name for name in sys.modules if name.partition(".")[0] == "retrograde"]:
    del sys.modules[name]
import retrograde as second
(x * 3.0).tanh().backward()
print(0.0 < x.grad < 1e-4)
try:
    print(len(second.story(x).forward))
except second.errors.NotAValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("core", "told"),
    [
        ("native", "1"),
        (
            "reference",
            "story takes values, or lists and dicts of them, got Value (Value(data=2.0, "
            "grad=7.37296422159981...), of an earlier import of the package: make it anew.",
        ),
    ],
)
def test_values_from_before_compute_or_are_told(rg, core, told):
    """Both cores compute with them; the pure one's are of another class for what is new."""
    assert output_of(FORMER, core) == f"True\n{told}\n"
