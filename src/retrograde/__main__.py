"""``python -m retrograde``: the same as the command ``retrograde``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
