"""Every exception of the package: what happened, where, and what to write instead.

Both engines build their exceptions here, so they say the same. Each class has classmethods that
turn the facts into the text; all derive from :class:`RetrogradeError` and from the built-in
exception a caller would expect. One file a room of the house.
"""

from .arrays import NumpyError as NumpyError
from .arrays import SequenceError as SequenceError
from .checks import CheckError as CheckError
from .checks import DoctorError as DoctorError
from .checks import GradcheckError as GradcheckError
from .derivatives import ArgumentError as ArgumentError
from .derivatives import FunctionResultError as FunctionResultError
from .derivatives import NotDifferentiable as NotDifferentiable
from .derivatives import NotTwiceDifferentiable as NotTwiceDifferentiable
from .derivatives import StaleGraph as StaleGraph
from .derivatives import UnusedInputError as UnusedInputError
from .engine import AnomalyError as AnomalyError
from .engine import ClosureStyleError as ClosureStyleError
from .engine import CopyError as CopyError
from .engine import CoreError as CoreError
from .engine import CustomDomainError as CustomDomainError
from .engine import CustomOpError as CustomOpError
from .engine import CycleError as CycleError
from .engine import GraphExitError as GraphExitError
from .engine import GraphMemoryError as GraphMemoryError
from .engine import HookError as HookError
from .engine import LabelError as LabelError
from .engine import LeafError as LeafError
from .engine import MissingBackwardError as MissingBackwardError
from .engine import MissingPackageError as MissingPackageError
from .engine import NoGradientError as NoGradientError
from .engine import NotAValueError as NotAValueError
from .engine import NumberError as NumberError
from .engine import OperandError as OperandError
from .engine import PassInProgressError as PassInProgressError
from .engine import ShapeError as ShapeError
from .files import ProgramFileError as ProgramFileError
from .learning import BoundaryError as BoundaryError
from .learning import LearnError as LearnError
from .programs import CompileError as CompileError
from .programs import GuardError as GuardError
from .programs import ProgramError as ProgramError
from .programs import RecordingError as RecordingError
from .programs import RowsError as RowsError
from .programs import TakeError as TakeError
from .programs import TraceBudgetWarning as TraceBudgetWarning
from .stories import ExpressionError as ExpressionError
from .stories import OutputError as OutputError
from .stories import ReplaceError as ReplaceError
from .stories import ScriptError as ScriptError
from .stories import StoryError as StoryError
from .training import CheckpointError as CheckpointError
from .training import CorpusError as CorpusError
from .training import ParameterError as ParameterError
from .training import SettingError as SettingError
from .training import StateError as StateError
from .training import TokenError as TokenError
from .training import TrainingError as TrainingError
from .wording import RetrogradeError as RetrogradeError
from .wording import describe as describe
from .wording import place as place
