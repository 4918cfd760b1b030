"""The thresholds of gradcheck and compare, in one place; docs/checking.md gives the reasons.

They were fixed before the bank of right and wrong functions was run, and no test changes them.
"""

from __future__ import annotations

from typing import Final

EPSILON: Final = 2.0**-52

TOLERANCE: Final = 1e-4
"""A gradient is right within this share of itself: a tenth of the smallest fault to be found."""

SAFETY: Final = 8.0
"""A difference is trusted to this many times its own estimated error."""

ROUNDINGS: Final = 16.0
"""A gradient may be this many of its own error bars away from the truth."""

DIRECTION_TOLERANCE: Final = 1e-8
"""Along a random direction: the share of all |gradient × direction| together, so that one input
among ten thousand shows."""

ONE_BY_ONE: Final = 64
"""Up to this many inputs each is checked alone; beyond, random directions come first."""

DIRECTIONS: Final = 6
"""Random directions through all inputs at once."""

WORST: Final = 16
"""Inputs checked alone after the directions: the largest, the suspicious, and some by lot."""

STEP_TOLERANCE: Final = 1e-6
"""One step of the graph by itself: the share its partial may be off."""

ULPS: Final = 4.0
"""Two engines agree within this many ulps, or within the gradient's error bars."""
