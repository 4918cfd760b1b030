"""Program files of earlier versions: ops go by name, so a table with more rows reads them all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FORTY_EIGHT = Path(__file__).parent / "files" / "of_version_with_48_ops.retrograde"
"""0.125 times the sum of all ops there were: of x (acosh of x + 1), y and x * y."""

OPS = """add sub mul div neg pow square reciprocal exp expm1 log log1p log2 log10 sqrt tanh sigmoid
relu leaky_relu softplus silu sin cos tan asin acos atan atan2 sinh cosh asinh acosh atanh hypot
sign abs floor maximum minimum clip where less less_equal equal erf erfc norm_cdf gelu""".split()


def test_a_file_from_before_rows_were_added_computes_what_it_did(rg: Any) -> None:
    x, y = np.array([0.3, 0.6, 0.9]), np.array([0.2, 0.5, 0.7])
    values, (along_x, along_y) = rg.load(FORTY_EIGHT).value_and_grad(x, y)
    assert np.allclose(values, [2.36854137, 3.34533955, 4.54717643], rtol=1e-8)
    assert np.allclose(along_x, [3.44176271, 3.68749557, 4.41226201], rtol=1e-8)
    assert np.allclose(along_y, [-0.94991481, 0.00761175, 0.22337858], rtol=1e-6)


def test_it_means_the_same_ops(rg: Any) -> None:
    def every(x: Any, y: Any) -> Any:
        total = 0.0
        for name in OPS:
            inputs = [x + 1.0 if name == "acosh" else x, y, x * y]
            total = total + getattr(rg, name)(*inputs[: rg.ops[name].arity]) * 0.125
        return total

    assert len(OPS) == 48
    x, y = np.array([0.35, 0.8]), np.array([0.25, 0.55])
    assert np.array_equal(rg.load(FORTY_EIGHT)(x, y), rg.compile(every)(x, y))
