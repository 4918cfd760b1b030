"""Models end to end: microgpt, a character-level GPT of any size, on tensors or on single values.

``retrograde train`` is its command line. Built from ``rg.nn`` and ``rg.optim``; the same in one
readable file is ``examples/microgpt.py``.
"""

from .checkpoint import Checkpoint as Checkpoint
from .checkpoint import load_checkpoint as load_checkpoint
from .corpus import Corpus as Corpus
from .corpus import read_corpus as read_corpus
from .microgpt import GPT as GPT
from .microgpt import Shape as Shape
from .tokenizer import Tokenizer as Tokenizer
from .training import Settings as Settings
from .training import Trainer as Trainer
