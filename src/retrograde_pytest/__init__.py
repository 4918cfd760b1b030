"""The pytest plugin: a marker that turns a test into a check of gradients.

A package of its own, so that pytest can load it everywhere without importing the engine; that
happens when a marked test runs. docs/checking.md shows it in use.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

MARKER = (
    "gradients(*names, order=1, **point): check the gradient of what the test returns with respect "
    "to the named arguments; point gives their numbers, as in gradients(x=1.0, y=[2.0, 3.0])"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


def _asked(marker: pytest.Mark) -> tuple[list[str], dict[str, Any], int]:
    """The names to differentiate, the numbers the marker gives, and the order."""
    point = dict(marker.kwargs)
    order = point.pop("order", 1)
    return [*marker.args, *point], point, order


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand the numbers of the marker to the test's arguments."""
    marker = metafunc.definition.get_closest_marker("gradients")
    if marker is None:
        return
    for name, number in _asked(marker)[1].items():
        metafunc.parametrize(name, [number])


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test as a check: it is called on values, and returns the value to check."""
    marker = pyfuncitem.get_closest_marker("gradients")
    if marker is None:
        return None
    import pytest

    from retrograde import assert_gradients
    from retrograde.errors import GradcheckError

    names, _, order = _asked(marker)
    accepted = pyfuncitem._fixtureinfo.argnames
    given = {name: pyfuncitem.funcargs[name] for name in accepted}
    others = {name: thing for name, thing in given.items() if name not in names}

    def function(*values: Any) -> Any:
        return pyfuncitem.obj(**others, **dict(zip(names, values)))

    function.__name__ = pyfuncitem.name
    kind = Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = Signature([Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    wrong = ""
    try:
        assert_gradients(function, tuple(given[name] for name in names), order=order)
    except GradcheckError as error:
        wrong = str(error)
    if wrong:  # outside of the handler: the report shall not say it twice
        pytest.fail(wrong, pytrace=False)
    return True
