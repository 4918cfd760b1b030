"""Other algorithms that learners bring to the exercises about orders: most are wrong somewhere."""

from __future__ import annotations

_VISIT = """    listed, seen = [], set()

    def visit(value):
        if value in seen:
            return
        seen.add(value)
        for it in value.inputs:
            visit(it)
        listed.append(value)

    visit(root)
    return listed
"""
_STACK = """    listed, seen = [], set()
    stack = [(root, False)]
    while stack:
        value, ready = stack.pop()
        if ready:
            listed.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            for it in reversed(value.inputs):
                stack.append((it, False))
    return listed
"""

_ORDERS = {
    "breadth first, reversed": """    listed = [root]
    for value in listed:
        for it in value.inputs:
            if it not in listed:
                listed.append(it)
    return listed[::-1]
""",
    "breadth first": """    listed = [root]
    for value in listed:
        for it in value.inputs:
            if it not in listed:
                listed.append(it)
    return listed
""",
    "breadth first, each at its last sight, reversed": """    listed = [root]
    for value in listed:
        for it in value.inputs:
            if it in listed:
                listed.remove(it)
            listed.append(it)
    return listed[::-1]
""",
    "depth first before the inputs, reversed": """    listed = []

    def visit(value):
        if value not in listed:
            listed.append(value)
            for it in value.inputs:
                visit(it)

    visit(root)
    return listed[::-1]
""",
    "a stack on first sight, reversed": """    listed, stack, seen = [], [root], {root}
    while stack:
        value = stack.pop()
        listed.append(value)
        for it in value.inputs:
            if it not in seen:
                seen.add(it)
                stack.append(it)
    return listed[::-1]
""",
    "sorted by data": """    listed = [root]
    for value in listed:
        for it in value.inputs:
            if it not in listed:
                listed.append(it)
    return sorted(listed, key=lambda value: value.data)
""",
    "shortest distance from the root": """    distance, queue = {root: 0}, [root]
    for value in queue:
        for it in value.inputs:
            if it not in distance:
                distance[it] = distance[value] + 1
                queue.append(it)
    return sorted(queue, key=lambda value: -distance[value])
""",
    "longest distance from the root": """    distance, queue = {root: 0}, [root]
    for value in queue:
        for it in value.inputs:
            if distance.get(it, -1) < distance[value] + 1:
                distance[it] = distance[value] + 1
                queue.append(it)
    return sorted(distance, key=lambda value: -distance[value])
""",
    "by the inputs that are left": """    everything = [root]
    for value in everything:
        for it in value.inputs:
            if it not in everything:
                everything.append(it)
    listed = []
    while len(listed) < len(everything):
        for value in everything:
            if value not in listed and all(it in listed for it in value.inputs):
                listed.append(value)
    return listed
""",
    "inputs taken from the last": _VISIT.replace("in value.inputs", "in reversed(value.inputs)"),
    "every use listed": """    listed = []

    def visit(value):
        for it in value.inputs:
            visit(it)
        listed.append(value)

    visit(root)
    return listed
""",
    "without the leaves": _VISIT.replace(
        "        listed.append(value)", "        if value.inputs:\n            listed.append(value)"
    ),
    "without the root": _VISIT.replace("return listed", "return listed[:-1]"),
}

ALGORITHMS: dict[str, dict[str, tuple[str, str]]] = {
    name: {what: (body, other) for what, other in _ORDERS.items() if other != body}
    for name, body in (
        ("order", _VISIT), ("backward", _VISIT), ("seed", _VISIT), ("recursion", _VISIT),
        ("deep", _STACK),
    )
}  # fmt: skip
"""By exercise and by what it does: the piece of the solution, and what stands there instead."""
