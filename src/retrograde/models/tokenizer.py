"""The tokenizer: one token a character, and one more that stands before and after a document."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import TokenError


class Tokenizer:
    """Characters to tokens and back; the last token marks where documents begin and end.

    >>> tokenizer = Tokenizer.of(["ab", "ba"])
    >>> tokenizer.document("ba")
    [2, 1, 0, 2]
    >>> tokenizer.text([1, 0])
    'ba'
    """

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self._tokens = {character: token for token, character in enumerate(characters)}

    @classmethod
    def of(cls, documents: Iterable[str]) -> Tokenizer:
        """A tokenizer for the characters of some documents, in the order of their code."""
        return cls("".join(sorted(set().union(*documents))))

    @property
    def edge(self) -> int:
        """The token before and after a document."""
        return len(self.characters)

    @property
    def count(self) -> int:
        """How many tokens there are."""
        return len(self.characters) + 1

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text; a character never seen raises :class:`TokenError`."""
        unknown = sorted(set(text) - set(self._tokens))
        if unknown:
            raise TokenError.unknown(unknown, self.characters)
        return [self._tokens[character] for character in text]

    def document(self, text: str) -> list[int]:
        """The tokens of a whole document, the edge before and after them."""
        return [self.edge, *self.tokens(text), self.edge]

    def text(self, tokens: Iterable[int]) -> str:
        """The characters of some tokens, edges left out."""
        return "".join(self.characters[token] for token in tokens if token != self.edge)
