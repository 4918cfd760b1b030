"""Plans are checked as they are made, in every test of programs."""

import os

os.environ["RETROGRADE_CHECK_PLANS"] = "1"
