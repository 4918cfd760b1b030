"""Derivatives of functions, to any order, and the minimisers that use them."""
