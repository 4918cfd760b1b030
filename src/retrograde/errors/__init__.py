"""Every exception of the package: what happened, where, and what to write instead.

Both cores build their exceptions here, so they say the same. Each class has classmethods that
turn the facts into the text; all derive from :class:`RetrogradeError` and from the built-in
exception a caller would expect. One file a room of the house.
"""

from .arrays import NumpyError as NumpyError
from .arrays import SequenceError as SequenceError
from .calls import CompileError as CompileError
from .calls import GuardError as GuardError
from .calls import NotRecordedError as NotRecordedError
from .calls import ProgramError as ProgramError
from .calls import RowsError as RowsError
from .calls import TakeError as TakeError
from .checks import CheckError as CheckError
from .checks import DoctorError as DoctorError
from .checks import GradcheckError as GradcheckError
from .derivatives import ArgumentError as ArgumentError
from .derivatives import FunctionResultError as FunctionResultError
from .derivatives import NotDifferentiable as NotDifferentiable
from .derivatives import NotTwiceDifferentiable as NotTwiceDifferentiable
from .derivatives import StaleGraph as StaleGraph
from .derivatives import UnusedInputError as UnusedInputError
from .files import ProgramFileError as ProgramFileError
from .frames import FrameError as FrameError
from .graphs import AnomalyError as AnomalyError
from .graphs import ClosureStyleError as ClosureStyleError
from .graphs import CopyError as CopyError
from .graphs import CycleError as CycleError
from .graphs import GraphMemoryError as GraphMemoryError
from .graphs import HookError as HookError
from .graphs import LeafError as LeafError
from .graphs import MissingBackwardError as MissingBackwardError
from .graphs import NoGradientError as NoGradientError
from .graphs import PassInProgressError as PassInProgressError
from .lazy import LazyError as LazyError
from .learning import BoundaryError as BoundaryError
from .learning import LearnError as LearnError
from .mapping import MapError as MapError
from .printing import BackendWarning as BackendWarning
from .printing import PrintingError as PrintingError
from .recording import RecordingError as RecordingError
from .recording import RecordingWarning as RecordingWarning
from .recording import TraceBudgetWarning as TraceBudgetWarning
from .setup import CoreError as CoreError
from .setup import MissingPackageError as MissingPackageError
from .stories import ExpressionError as ExpressionError
from .stories import OutputError as OutputError
from .stories import ReplaceError as ReplaceError
from .stories import ScriptError as ScriptError
from .stories import StoryError as StoryError
from .tensors import AliasError as AliasError
from .tensors import FitError as FitError
from .tensors import TensorError as TensorError
from .tensors import TensorIndexError as TensorIndexError
from .torch import TorchFeatureError as TorchFeatureError
from .torch import TorchProgramError as TorchProgramError
from .torch import UnhealthyError as UnhealthyError
from .training import CheckpointError as CheckpointError
from .training import CorpusError as CorpusError
from .training import ParameterError as ParameterError
from .training import SettingError as SettingError
from .training import StateError as StateError
from .training import TokenError as TokenError
from .training import TrainingError as TrainingError
from .values import CustomDomainError as CustomDomainError
from .values import CustomOpError as CustomOpError
from .values import GraphExitError as GraphExitError
from .values import LabelError as LabelError
from .values import NotAValueError as NotAValueError
from .values import NumberError as NumberError
from .values import OperandError as OperandError
from .values import ShapeError as ShapeError
from .wording import RetrogradeError as RetrogradeError
from .wording import describe as describe
from .wording import place as place
