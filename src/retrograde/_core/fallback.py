"""The pure-Python core: everything ``_native`` offers, under its names, gathered from the rooms'
other files. ``_shared/cores.py`` says what a core is; what only the native one has is not here.
"""

from .bulk import add_grad as add_grad
from .bulk import read_data as read_data
from .bulk import read_grad as read_grad
from .bulk import taking as taking
from .bulk import write_data as write_data
from .bulk import zero as zero
from .descent import adam as adam
from .descent import clip_grad as clip_grad
from .descent import grad_norm as grad_norm
from .descent import rmsprop as rmsprop
from .descent import scale_grad as scale_grad
from .descent import sgd as sgd
from .entering import closures_of as closures_of
from .entering import unwatch_entries as unwatch_entries
from .entering import watch_entries as watch_entries
from .guests import construct as construct
from .guests import lend_attributes as lend_attributes
from .guests import own_attributes as own_attributes
from .guests import set_constructor as set_constructor
from .lists import argument as argument
from .lists import dot as dot
from .lists import each as each
from .lists import largest as largest
from .lists import linear as linear
from .lists import sum as sum
from .lists import take as take
from .modes import enter_anomaly as enter_anomaly
from .modes import enter_no_grad as enter_no_grad
from .modes import enter_recording as enter_recording
from .modes import in_anomaly as in_anomaly
from .modes import in_no_grad as in_no_grad
from .modes import in_recording as in_recording
from .modes import leave_anomaly as leave_anomaly
from .modes import leave_no_grad as leave_no_grad
from .modes import leave_recording as leave_recording
from .modes import swap_no_grad as swap_no_grad
from .modes import watch_cuts as watch_cuts
from .names import Names as Names
from .public import FUNCTIONS as _FUNCTIONS
from .public import Value as Value
from .public import take_ufuncs as take_ufuncs
from .reading import pull as pull
from .reading import read as read
from .rebuild import OP_NAMES as OP_NAMES
from .rebuild import instruction_of as instruction_of
from .rebuild import node as node
from .rebuild import parts as parts
from .rebuild import peek as peek
from .rebuild import recompute as recompute
from .rebuild import recorded_op as recorded_op
from .recording import hides as hides
from .recording import leaf_origin as leaf_origin
from .recording import tell_of as tell_of
from .walk import backward as backward
from .walk import begin_epoch as begin_epoch
from .walk import gradients as gradients
from .walk import is_closed as is_closed
from .walk import leaves_under as leaves_under
from .walk import order as order
from .walk import order_since as order_since
from .walk import zero_under as zero_under

globals().update(_FUNCTIONS)  # one function a row of the law
