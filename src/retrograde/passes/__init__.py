"""A graph and its backward pass as flat arrays: what readers fill and everything else reads."""
