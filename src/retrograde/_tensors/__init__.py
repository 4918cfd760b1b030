"""Tensors: what one does with arrays in the graph, by NumPy's names and rules."""
