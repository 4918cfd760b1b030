"""Training: documents in a shuffled order, Adam with a rate that falls to zero, validation.

A :class:`Trainer` is always between two steps: its state can be taken at any time, and one made
from a state goes on to the bit. What computes a step's gradients is exchangeable (:class:`Step`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from .._values.modes import no_grad
from ..errors import CheckpointError, RetrogradeError, SettingError, TrainingError
from ..optim import Adam
from ..value import core
from .checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from .compiled_step import CompiledStep
from .corpus import Corpus
from .microgpt import GPT, Shape
from .tensor_step import TensorStep
from .tokenizer import Tokenizer

MOST_AT_ONCE: Final = 1 << 20
"""Documents a step may learn from."""


@dataclass(frozen=True)
class Settings:
    """How to train. The rate falls in a straight line to zero at the last step.

    ``compiled`` replays recorded steps: worth it for batches, after the first of each length.
    ``tensors`` computes on arrays: the fastest.
    """

    steps: int = 1000
    batch: int = 1
    learning_rate: float = 0.01
    beta1: float = 0.85
    beta2: float = 0.99
    seed: int = 42
    compiled: bool = False
    tensors: bool = False

    def __post_init__(self) -> None:
        for name in ("steps", "batch"):
            number = getattr(self, name)
            if not isinstance(number, int) or number < 1:
                raise SettingError.of(name, number, "a whole number from 1 up")
        if self.batch > MOST_AT_ONCE:
            raise SettingError.of("batch", self.batch, f"at most {MOST_AT_ONCE:,}")
        if not isinstance(self.seed, int):
            raise SettingError.of("seed", self.seed, "a whole number")
        if self.compiled and self.tensors:
            raise SettingError.of("compiled", True, "False on tensors, which are not recorded")


class Step(Protocol):
    """What leaves the gradient of the mean loss of some documents in the parameters."""

    def __call__(self, documents: Sequence[Sequence[int]]) -> float:
        """The mean loss."""


class EagerStep:
    """Document by document: build the graph, run backward, drop it."""

    def __init__(self, model: GPT) -> None:
        self._model, self._parameters = model, model.parameters()

    def __call__(self, documents: Sequence[Sequence[int]]) -> float:
        """The mean loss; gradients are set, not added to."""
        core.zero(self._parameters)
        total = 0.0
        for tokens in documents:
            loss = self._model.loss(tokens)
            loss.backward(1.0 / len(documents))
            total += loss.data
        return total / len(documents)


def _usual_step(settings: Settings) -> Callable[[GPT], Step]:
    if settings.tensors:
        return TensorStep
    return CompiledStep if settings.compiled else EagerStep


class Trainer:
    """A model in training: its tokenizer, its optimizer, its place in the documents.

    >>> from retrograde.models import read_corpus
    >>> trainer = Trainer(read_corpus(), {"embedding": 4, "heads": 2}, Settings(steps=2))
    >>> round(trainer.step(), 1), trainer.done
    (3.3, 1)
    """

    def __init__(
        self,
        corpus: Corpus,
        sizes: dict[str, int],
        settings: Settings,
        make_step: Callable[[GPT], Step] | None = None,
    ) -> None:
        self.corpus, self.settings = corpus, settings
        self.tokenizer = Tokenizer.of(corpus.documents)
        self._draw = random.Random(settings.seed)
        self.model = GPT(Shape(self.tokenizer.count, **sizes), self._draw)
        if settings.tensors:
            self.model.tensors()
        self.optimizer = Adam(self.model, settings.learning_rate, (settings.beta1, settings.beta2))
        self._compute = (make_step or _usual_step(settings))(self.model)
        self._documents = [self.tokenizer.document(text) for text in corpus.training]
        self._validation = [self.tokenizer.document(text) for text in corpus.validation]
        self.done = 0
        self.losses: list[float] = []
        self.validated: list[tuple[int, float]] = []
        self._shuffle()

    def _shuffle(self) -> None:
        """A new round of the documents, in a new order; the generator before it is kept."""
        self._before_round = self._draw.getstate()
        self._order = list(range(len(self._documents)))
        self._draw.shuffle(self._order)
        self._at = 0

    def _next(self) -> list[int]:
        if self._at == len(self._order):
            self._shuffle()
        self._at += 1
        return self._documents[self._order[self._at - 1]]

    def step(self) -> float:
        """Learn from the next documents; returns their loss before the step."""
        settings = self.settings
        documents = [self._next() for _ in range(settings.batch)]
        loss = self._compute(documents)
        self._refuse_divergence("the loss of a document", loss)
        left = 1.0 - self.done / settings.steps
        self.optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        self.optimizer.step()
        self.done += 1
        self.losses.append(loss)
        return loss

    def validate(self) -> float | None:
        """The mean loss over the documents set aside; None where there are none.

        Like :meth:`step` it raises :class:`TrainingError` where the loss is not finite.
        """
        if not self._validation:
            return None
        with no_grad():
            total = sum(self.model.loss(tokens).data for tokens in self._validation)
        loss = float(total) / len(self._validation)
        self._refuse_divergence("the loss in validation", loss)
        if not self.validated or self.validated[-1][0] != self.done:
            self.validated.append((self.done, loss))
        return loss

    def _refuse_divergence(self, what: str, number: float) -> None:
        """Stop before anything is learnt from, or saved with, a number that is not finite."""
        if not isfinite(number):
            rate = self.settings.learning_rate
            raise TrainingError.diverged(self.done, f"{what} is {number}", rate)

    def samples(
        self, count: int, temperature: float, start: str = "", seed: int | None = None
    ) -> list[str]:
        """Documents of the model's own, each beginning with ``start``."""
        draw = random.Random(self.settings.seed if seed is None else seed)
        begin, edge = self.tokenizer.tokens(start), self.tokenizer.edge
        self.model.check_sample(temperature, begin)
        return [
            self.tokenizer.text(self.model.sample(edge, draw, temperature, begin))
            for _ in range(count)
        ]

    # going on

    def save(self, path: Path) -> None:
        """Write everything to a file, atomically."""
        shape = asdict(self.model.shape)
        del shape["vocabulary"]
        about = {
            "sizes": shape,
            "settings": asdict(self.settings),
            "characters": self.tokenizer.characters,
            "corpus": {
                "source": self.corpus.source,
                "digest": self.corpus.digest,
                "share": self.corpus.share,
            },
            "done": self.done,
            "round": {"before": self._before_round, "at": self._at},
        }
        arrays = {f"model/{name}": array for name, array in self.model.state_dict().items()}
        for array in arrays.values():
            self._refuse_divergence("a parameter", float(array.sum()))
        for name, array in self.optimizer.state[0].items():
            arrays[f"optimizer/{name}"] = array
        arrays["losses"] = np.array(self.losses)
        arrays["validated"] = np.array(self.validated).reshape(-1, 2)
        save_checkpoint(path, Checkpoint(about, arrays))

    @classmethod
    def resume(
        cls,
        path: Path,
        corpus: Corpus,
        steps: int | None = None,
        make_step: Callable[[GPT], Step] | None = None,
    ) -> Trainer:
        """The trainer that wrote a checkpoint; ``steps`` may set another last step."""
        checkpoint = load_checkpoint(path)
        about = checkpoint.about
        try:
            if corpus.digest != about["corpus"]["digest"]:
                raise CheckpointError.corpus(path, about["corpus"]["source"], corpus.source)
            settings = Settings(**{**about["settings"], **({"steps": steps} if steps else {})})
            if steps and steps < about["done"]:
                raise CheckpointError.past(path, about["done"], steps)
            if about["characters"] != Tokenizer.of(corpus.documents).characters:
                raise ValueError("its tokens are not those of the documents")
            cls._refuse_sizes(corpus, about["sizes"], checkpoint.arrays)
            trainer = cls(corpus, about["sizes"], settings, make_step)
            trainer._restore(about, checkpoint.arrays)
        except CheckpointError:
            raise
        except (RetrogradeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise CheckpointError.damaged(path, str(error)) from error
        return trainer

    @staticmethod
    def _refuse_sizes(corpus: Corpus, sizes: dict[str, int], arrays: dict[str, Any]) -> None:
        """Before a model is made: it must be as large as the arrays of the file."""
        needed = Shape(Tokenizer.of(corpus.documents).count, **sizes).parameters
        there = sum(array.size for name, array in arrays.items() if name.startswith("model/"))
        if needed != there:
            raise ValueError(f"a model of its sizes has {needed} parameters, and it holds {there}")

    def _restore(self, about: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Stand where the checkpoint stood."""
        version, state, spare = about["round"]["before"]
        self._draw.setstate((version, tuple(state), spare))
        self._shuffle()
        self.losses = _finite("losses", arrays["losses"]).tolist()
        done = _whole("the number of steps done", about["done"], 0, self.settings.steps)
        self.done = _whole("the number of steps done", done, len(self.losses), len(self.losses))
        self._at = _whole("the place in the round", about["round"]["at"], 0, len(self._order))
        parts = {
            kind: {n.partition("/")[2]: a for n, a in arrays.items() if n.startswith(f"{kind}/")}
            for kind in ("model", "optimizer")
        }
        for name, array in parts["model"].items():
            _finite(name, array)
        self.model.load_state_dict(parts["model"])
        saved = {**self.optimizer.state_dict(), "state": [parts["optimizer"]]}
        self.optimizer.load_state_dict(saved)
        self.validated = [
            (_whole("a validation", int(at), 0, self.done), loss)
            for at, loss in _finite("validated", arrays["validated"]).tolist()
        ]


def _finite(name: str, array: Any) -> Any:
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return array


def _whole(name: str, number: object, least: int, most: int) -> int:
    """A position read from a file; it must be a whole number within its bounds."""
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{name} is {number!r}, not a whole number from {least} to {most}")
    return number
