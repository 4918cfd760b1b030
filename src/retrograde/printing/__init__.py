"""Programs for other targets: printed as C, compiled, run on a GPU."""
