"""What the programs here have in common."""

from __future__ import annotations
import math
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial, reduce, wraps
from itertools import accumulate, pairwise
from typing import Any
import numpy as np
import retrograde as rg

RATE = 0.03
TABLE = {"low": 0.1, "high": 0.4}
KNOTS = [-1.0, 0.0, 1.0, 2.5]
WEIGHT = rg.Value(0.8, label="w")
BIAS = rg.Value(-0.3, label="b")
