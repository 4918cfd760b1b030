"""Trust it: is this gradient right, and how do we know? The public names are in the package's top
floor (`rg.gradcheck`, `rg.compare`, `rg.assert_gradients`) and load their room when asked for.
"""
