"""Is this gradient right? `rg.gradcheck`, `rg.compare` and `rg.assert_gradients` live here."""
