"""Proves that a handler ends in a jump: ``python jumps.py OBJDUMP OBJECT...`` in the build.

A compiler without ``musttail`` may turn the last call of a handler into a call, and a long program
would then overflow the stack. Handlers are reached through pointers alone, so no function but
``run``, which starts a program, may contain a call through one.
"""

from __future__ import annotations

import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:")
INDIRECT_CALL = re.compile(r"\t(?:notrack )?(?:call[lq]?\s+\*|blr\s)")


def callers(listing: str) -> tuple[set[str], int]:
    """The functions that call through a pointer, and how many functions there are."""
    found: set[str] = set()
    functions = 0
    current = ""
    for line in listing.splitlines():
        if label := FUNCTION.match(line):
            current = label[1]
            functions += 1
        elif INDIRECT_CALL.search(line):
            found.add(current)
    return found, functions


def main(objdump: str, *objects: str) -> str | None:
    """What is wrong, or None."""
    for name in objects:
        listing = subprocess.run(
            [objdump, "-d", "--no-show-raw-insn", name], capture_output=True, text=True, check=True
        ).stdout
        found, functions = callers(listing)
        if functions < 100:
            return f"{name}: only {functions} functions were found in it, so nothing is proved"
        if wrong := found - {"run"}:
            return f"{name}: {len(wrong)} handlers call the next one, e.g. {min(wrong)}"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
