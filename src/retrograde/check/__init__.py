"""Trust it: is this gradient right, and how do we know?"""

from .gradcheck import assert_gradients as assert_gradients
from .gradcheck import gradcheck as gradcheck
from .verdicts import Entry as Entry
from .verdicts import Fault as Fault
from .verdicts import Report as Report
