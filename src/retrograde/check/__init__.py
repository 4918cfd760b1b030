"""Trust it: is this gradient right, where was the NaN born, why does this layer not learn? The
public names are in the package's top floor (`rg.gradcheck`, `rg.compare`, `rg.assert_gradients`,
`rg.births`, `rg.doctor`, `rg.memory`) and load their room when asked for.
"""
