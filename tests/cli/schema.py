"""Whether data has exactly the keys and types that a TypedDict declares."""

from __future__ import annotations

import typing
from types import NoneType, UnionType
from typing import Any


def misfits(data: Any, declared: Any, place: str = "it") -> list[str]:
    """Where data and declaration differ; nothing when they agree."""
    if typing.is_typeddict(declared):
        hints = typing.get_type_hints(declared)
        if not isinstance(data, dict) or set(data) != set(hints):
            return [f"{place}: {data!r} should have the keys {sorted(hints)}"]
        return [
            misfit
            for name, kind in hints.items()
            for misfit in misfits(data[name], kind, f"{place}.{name}")
        ]
    origin, inside = typing.get_origin(declared), typing.get_args(declared)
    if origin in (typing.Union, UnionType):
        found = [misfits(data, kind, place) for kind in inside]
        return [] if any(not one for one in found) else found[0]
    if origin is list:
        if not isinstance(data, list):
            return [f"{place}: {data!r} should be a list"]
        return [
            misfit
            for index, item in enumerate(data)
            for misfit in misfits(item, inside[0], f"{place}[{index}]")
        ]
    if origin is dict:
        return [
            misfit
            for key, item in data.items()
            for misfit in (*misfits(key, inside[0], place), *misfits(item, inside[1], place))
        ]
    expected = NoneType if declared is None else declared
    if type(data) is not expected:
        return [f"{place}: {data!r} should be {expected.__name__}"]
    return []
