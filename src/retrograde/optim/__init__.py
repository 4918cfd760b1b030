"""Optimizers: SGD, Adam, AdamW, RMSprop and L-BFGS, schedules, clipping, accumulation.

Names, settings and formulas are PyTorch's. A step is one native pass over all parameters; frozen
parameters are passed over. Modules are in ``rg.nn``.
"""

from .gradients import Accumulator as Accumulator
from .gradients import clip_grad_norm as clip_grad_norm
from .gradients import clip_grad_value as clip_grad_value
from .lbfgs import LBFGS as LBFGS
from .methods import SGD as SGD
from .methods import Adam as Adam
from .methods import AdamW as AdamW
from .methods import RMSprop as RMSprop
from .optimizer import Optimizer as Optimizer
from .schedules import CosineAnnealingLR as CosineAnnealingLR
from .schedules import ExponentialLR as ExponentialLR
from .schedules import LambdaLR as LambdaLR
from .schedules import LinearLR as LinearLR
from .schedules import MultiStepLR as MultiStepLR
from .schedules import Schedule as Schedule
from .schedules import SequentialLR as SequentialLR
from .schedules import StepLR as StepLR
