"""Functions on values: elementwise, sums, modes, graphs, bulk access, sequences, custom ops."""
