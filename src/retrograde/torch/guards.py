"""Where gradients are switched off: the line of the ``no_grad()`` that is in force, and which line
under it a program was at when history was lost, however deep in modules that happened.

PyTorch calls one function on the way into such a block and out of it, and the mode of ``lines.py``
sees it. Where gradients are off by other ways the call that lost history is all there is to name.
"""

from __future__ import annotations

import sys
from types import FrameType

import torch

from .sites import Made, calling, passes_over, site_of


class Guards:
    """The block in force. A frame is known by its id alone, so that nothing is kept alive: while
    the block is in force, its frame is."""

    def __init__(self) -> None:
        self._made: Made | None = None
        self._frame = 0
        self._first: tuple[str, Made, str] | None = None

    def changed(self, enabled: bool) -> None:
        """Gradients have been switched on, or off."""
        if enabled or self._frame:
            self._made, self._frame, self._first = None, 0, None
        if not enabled:
            frame = _entering()
            self._made, self._frame = calling(3), id(frame) if frame is not None else 0

    def blamed(self, how: str, made: Made, module: str) -> tuple[str, Made, str]:
        """Of what was lost at a place, how, where and in which module to say that it was: inside of
        one block everything is lost at the first place."""
        if not self._frame or torch.is_grad_enabled() or not how.startswith("no_grad() "):
            return how, made, module
        if self._first is None:
            place = self._below() or made
            top, line = site_of(self._made), site_of(place)
            if top is not None and top != line and self._made is not None:
                if self._made[0] is place[0]:
                    how = how.replace("no_grad()", f"no_grad() of line {top.line}", 1)
            self._first = how, place, module
        return self._first

    def _below(self) -> Made | None:
        """The innermost place of the program that is at most as deep as the block itself."""
        frame, found = sys._getframe(3), None
        while frame is not None:
            own = not passes_over(frame.f_code)
            if own:
                found = frame.f_code, frame.f_lasti
            if id(frame) == self._frame:
                return found
            frame = frame.f_back  # type: ignore[assignment]
        return None


def _entering() -> FrameType | None:
    """The frame that a ``no_grad()`` stands in: of the program, or of the wrapper that PyTorch puts
    around a function decorated by it."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        if frame.f_code.co_name == "decorate_context" or not passes_over(frame.f_code):
            return frame
        frame = frame.f_back
    return None
