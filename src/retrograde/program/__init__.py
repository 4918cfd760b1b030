"""Programs: a computation recorded once, as plain data, and replayed over rows."""

from .compiled import Compiled as Compiled
from .compiled import compile as compile
from .loaded import Loaded as Loaded
from .loaded import load as load
from .rows import Uniform as Uniform
from .rows import rows as rows
from .rows import uniform as uniform
