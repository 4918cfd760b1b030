"""A story as plain data for JSON, and read back from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..errors import StoryError
from .columns import ArrayColumns, Columns, Pulled
from .entries import BackwardStep, Node, Place
from .names import is_own
from .story import SCHEMA, VERSION, Story

_SPELLED_OUT = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


def plain(story: Story) -> dict[str, Any]:
    """A story as dicts, lists, numbers and texts: ``docs/story.md`` describes them."""
    arrays = story.columns.arrays
    more = {} if arrays is None else {"arrays": jsonable(asdict(arrays))}
    return {
        **more,
        "schema": SCHEMA,
        "version": VERSION,
        "root": story.root,
        "seed": _number(story.seed),
        "note": story.note,
        "nodes": [_node(node) for node in story.nodes],
        "forward": [vars(step).copy() for step in story.forward],
        "backward": [_backward(step) for step in story.backward],
    }


def _number(number: float) -> float | str:
    """A number; those that JSON has no signs for as texts."""
    return number if number - number == 0.0 else _SPELLED_OUT.get(number, "NaN")


def jsonable(thing: Any) -> Any:
    """Entries taken apart to what JSON has: lists, dicts, texts and numbers."""
    if isinstance(thing, float):
        return _number(thing)
    if isinstance(thing, dict):
        return {key: jsonable(part) for key, part in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [jsonable(part) for part in thing]
    return thing


def _node(node: Node) -> dict[str, Any]:
    return {
        **vars(node),
        "data": _number(node.data),
        "grad": _number(node.grad),
        "inputs": list(node.inputs),
        "partials": [_number(partial) for partial in node.partials],
        "site": None if node.site is None else vars(node.site).copy(),
    }


def _backward(step: BackwardStep) -> dict[str, Any]:
    return {
        "node": step.node,
        "upstream": _number(step.upstream),
        "words": step.words,
        "contributions": [
            {
                "to": it.to,
                "position": it.position,
                "partial": _number(it.partial),
                "amount": _number(it.amount),
                "before": _number(it.before),
                "after": _number(it.after),
            }
            for it in step.contributions
        ],
    }


def restored(plain: dict[str, Any]) -> Story:
    """The story of plain data of this version; what does not hold together is refused."""
    try:
        return _restored(plain)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StoryError.damaged(f"{type(error).__name__}: {error}") from error


def _restored(plain: dict[str, Any]) -> Story:
    columns = Columns()
    sites: dict[Place, int] = {}
    for index, node in enumerate(plain["nodes"]):
        inputs = tuple(int(i) for i in node["inputs"])
        if node["id"] != index or any(not 0 <= i < index for i in inputs):
            raise StoryError.damaged(f"node {index} is out of order")
        columns.ops.append(str(node["op"]))
        columns.symbols.append(str(node["symbol"]))
        columns.labels.append(node["label"])
        columns.names.append(str(node["name"]))
        columns.named.append(_named(node))
        columns.data.append(float(node["data"]))
        columns.inputs.append(inputs)
        columns.partials.append(tuple(float(partial) for partial in node["partials"]))
        columns.requires_grad.append(bool(node["requires_grad"]))
        place = Place(**node["site"]) if node["site"] is not None else None
        columns.places.append(-1 if place is None else sites.setdefault(place, len(sites)))
    columns.sites[:] = sites
    words = [step["words"] for step in plain["forward"]], [s["words"] for s in plain["backward"]]
    seed = float(plain["seed"])
    if "arrays" in plain:
        columns.arrays = ArrayColumns(**plain["arrays"])
        pictures = plain["arrays"]["pictures"].items()
        columns.arrays.pictures = {int(index): tuple(pair) for index, pair in pictures}
    return Story(columns, _pulled(plain), seed, plain["note"], words=words)


def _named(node: dict[str, Any]) -> bool:
    """Whether the name is the value's own, and no running number."""
    name = str(node["name"])
    return bool(node["label"]) or (is_own(name) and not (name[:1] == "v" and name[1:].isdigit()))


def _pulled(plain: dict[str, Any]) -> Pulled:
    """The backward pass as it was told: not worked out again."""
    pulled = Pulled(grads=[float(node["grad"]) for node in plain["nodes"]])
    for step in plain["backward"]:
        pulled.order.append(step["node"])
        for it in step["contributions"]:
            pulled.to.append(it["to"])
            pulled.positions.append(it["position"])
            pulled.amounts.append(float(it["amount"]))
            pulled.befores.append(float(it["before"]))
            pulled.afters.append(float(it["after"]))
        pulled.starts.append(len(pulled.to))
    return pulled
