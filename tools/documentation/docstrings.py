"""A griffe extension: docstrings of the package as Markdown, and functions that are overloads only.

Stubs state a function of values as overloads without an implementation, which griffe leaves out;
here the first of them stands for all. Examples (``>>>``) become fenced blocks.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

from documentation.rewriting import fence_examples

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?(?:[\w.]*\.)?(\w+)`")


class Docstrings(griffe.Extension):
    """What mkdocstrings reads is made readable."""

    def on_module_members(self, *, mod: griffe.Module, **kwargs: Any) -> None:
        """Give functions that are only overloads a place among the members."""
        for name, overloads in mod.overloads.items():
            if name not in mod.members and overloads:
                mod.set_member(name, overloads[0])

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Fence the examples of a docstring."""
        if obj.docstring is not None:
            text = ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = fence_examples(text)
