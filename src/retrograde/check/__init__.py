"""Trust it: is this gradient right, and how do we know?"""

from .compare import Badge as Badge
from .compare import Comparison as Comparison
from .compare import badges as badges
from .compare import compare as compare
from .gradcheck import assert_gradients as assert_gradients
from .gradcheck import gradcheck as gradcheck
from .verdicts import Entry as Entry
from .verdicts import Fault as Fault
from .verdicts import Report as Report
