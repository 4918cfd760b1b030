"""Write a pricing function as C: `python examples/embedding/model.py FOLDER` makes price.c and .h.

`main.c` and `main.cpp` beside this file are programs that call it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import retrograde as rg


@rg.compile
def price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """A call whose holder is paid nothing below a floor."""
    spread = sigma * rg.sqrt(T)
    d1 = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
    value = S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d1 - spread)
    if value < 0.01:
        return 0.0 * S
    return value


def main(folder: str) -> None:
    """Record both ways through the function, and print them."""
    spots = np.array([40.0, 100.0])
    file = price.c_file(spots, 95.0, 0.03, 0.2, 1.0, wrt=("S", "sigma"), hessian=True)
    file.write(Path(folder) / "price.c")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
