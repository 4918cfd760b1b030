"""Documents to learn from: a text file with one a line, or the list of given names that ships here.

Reading finds what is wrong with a file before anything is trained on it.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from ..errors import CorpusError, SettingError

NAMES = "given names"
MOST_VALIDATION = 200


@dataclass(frozen=True)
class Corpus:
    """Documents, those of them set aside for validation, and where they come from.

    ``share`` is what was asked for validation; ``digest`` tells one corpus from another.
    """

    source: str
    share: float
    training: list[str]
    validation: list[str]
    digest: str
    notices: list[str]

    @property
    def documents(self) -> list[str]:
        """All documents."""
        return self.training + self.validation


def read_corpus(path: str | None = None, validation: float = 0.1, seed: int = 42) -> Corpus:
    """Read the documents and set a share of them aside, at most 200.

    >>> corpus = read_corpus()
    >>> corpus.source, len(corpus.documents) > 2000
    ('given names', True)
    """
    if not 0.0 <= validation < 1.0:
        raise SettingError.of("the share for validation", validation, "from 0 up to but not 1")
    text, source = (_names(), NAMES) if path is None else (_read(path), str(Path(path).resolve()))
    documents = [line.strip() for line in text.splitlines()]
    documents = [line for line in documents if line]
    if not documents:
        raise CorpusError.empty(source)
    notices = []
    count = min(int(validation * len(documents)), MOST_VALIDATION)
    if validation and not count:
        notices.append(f"{_counted(len(documents))}: too few to set any aside for validation")
    aside = set(random.Random(seed).sample(range(len(documents)), count))
    return Corpus(
        source,
        validation,
        [text for at, text in enumerate(documents) if at not in aside],
        [documents[at] for at in sorted(aside)],
        hashlib.sha256("\n".join(documents).encode()).hexdigest(),
        notices,
    )


def cut_notice(corpus: Corpus, context: int) -> list[str]:
    """What to tell where documents are longer than the context (with its closing edge)."""
    longest = max(map(len, corpus.documents))
    cut = sum(len(text) + 1 > context for text in corpus.documents)
    if not cut:
        return []
    return [
        f"{_counted(cut)} longer than the context of {context}, learnt from only as far as it "
        f"reaches; --context {longest + 1} takes in all"
    ]


def _counted(documents: int) -> str:
    return f"{documents:,} document{'s' * (documents != 1)}"


def _names() -> str:
    return resources.files(__package__).joinpath("names.txt").read_text(encoding="utf-8")


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError.encoding(path, error.start) from error
    except OSError as error:
        raise CorpusError.unreadable(path, error.strerror or str(error)) from error
