"""``backend="cuda"``: compiled functions on a GPU, with the bits of the CPU."""
