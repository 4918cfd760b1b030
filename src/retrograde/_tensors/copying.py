"""Copying and pickling tensors, and graphs in which they stand, without recursion.

A pickle holds the nodes under a tensor in order, leaves as objects of their own: identity is kept
within one pickle. Data, gradients, labels and requires_grad are kept; hooks and sites are not.
"""

from __future__ import annotations


class Copying:
    """Put on the class of tensors; never instantiated."""
