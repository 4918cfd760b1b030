"""Tensors: what one does with arrays in the graph, by NumPy's names and rules."""

from . import face as _face  # noqa: F401  whoever imports a module of this room finds tensors dressed
