"""Doubt: why a branch is left to traces where it might have been a choice."""

from __future__ import annotations


class DoubtError(Exception):
    """A choice that may not be what the branch is: it is recorded as a guard instead."""
