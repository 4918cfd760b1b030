"""Frames at the boundary of compiled functions: columns in by name, results out in their kind."""
