"""Rows beyond memory and beyond one process: files in batches, and clusters."""
