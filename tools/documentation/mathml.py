"""The formulas of the law, printed as LaTeX for code hosts, as MathML: browsers show it unaided.

Knows what ``ops/emit/latex.py`` writes and refuses anything else, so that no formula is ever shown
half-read.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from html.entities import html5

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[A-Za-z]|\s+|.")
WORDS = frozenset("ln log sin cos tan arcsin arccos arctan sinh cosh tanh max min".split())
LETTERS = {r"\varphi": "φ", r"\infty": "∞", r"\partial": "∂"}
GREEK = {
    f"\\{name[:-1]}": letter
    for name, letter in html5.items()
    if len(letter) == 1 and unicodedata.name(letter, "").startswith("GREEK")
}
"""What LaTeX and HTML call the Greek letters."""
BAR = "&#124;"  # a bar as such would end the cell of a table
SIGNS = {
    r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\cdot": "·", r"\lvert": BAR, r"\rvert": BAR,
    r"\lfloor": "⌊", r"\rfloor": "⌋", "-": "−", "'": "′", r"\sum": "∑",
}  # fmt: skip
FENCES = frozenset(["(", ")", "[", "]", "⌊", "⌋", BAR])
BEFORE_A_SIGN = frozenset(["{", "(", "=", "&", ",", r"\\", r"\le", r"\ge", r"\ne", "<", ">"])


def mathml(latex: str, *, tall: bool = False) -> str:
    r"""A formula as a ``<math>`` element; ``tall`` gives fractions the room of a line of their own.

    >>> mathml(r"\frac{1}{y}")
    '<math><mfrac><mn>1</mn><mi>y</mi></mfrac></math>'
    >>> mathml("x^2 - 1")
    '<math><msup><mi>x</mi><mn>2</mn></msup><mo>−</mo><mn>1</mn></math>'
    """
    reader = _Reader(latex)
    body = reader.row(until="")
    style = ' displaystyle="true"' if tall else ""
    return f"<math{style}>{body}</math>"


class _Reader:
    """One formula while it is being read."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [token for token in TOKEN.findall(latex) if not token.isspace()]
        self.texts = self._texts()
        self.place = 0

    def _texts(self) -> list[str]:
        r"""What stands in \text{…}, in order: spaces count there, so it is read by itself."""
        return re.findall(r"\\text\{([^}]*)\}", self.latex)

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if expected and token != expected:
            raise ValueError(f"{self.latex!r}: expected {expected!r}, found {token!r}")
        self.place += 1
        return token

    def row(self, until: str) -> str:
        """Everything up to a token, as elements side by side."""
        parts: list[str] = []
        while self.peek() != until:
            if not self.peek():
                raise ValueError(f"{self.latex!r} ends where {until!r} is missing")
            parts.append(self.scripted())
        return "".join(parts)

    def scripted(self) -> str:
        """One thing with what is above and below it."""
        word = self.peek()[1:] in WORDS
        base = self.atom()
        while self.peek() in ("^", "_"):
            tag = "msup" if self.take() == "^" else "msub"
            base = f"<{tag}>{base}{self.argument()}</{tag}>"
            if word and self.peek() != "(":
                base += _THIN
        return base

    def argument(self) -> str:
        """What a command or a script applies to: a group, or the next thing."""
        if self.peek() == "{":
            self.take()
            body = self.row(until="}")
            self.take("}")
            return body if body.count("</") == 1 else f"<mrow>{body}</mrow>"
        if self.peek().isdigit() and len(self.peek()) > 1:  # \tfrac12 is a half
            digit, self.tokens[self.place] = self.peek()[0], self.peek()[1:]
            return f"<mn>{digit}</mn>"
        return self.atom()

    def atom(self) -> str:
        token = self.take()
        if token == "{":
            self.place -= 1
            return self.argument()
        if token in (r"\frac", r"\tfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if token == r"\sqrt" and self.peek() == "[":
            self.take("[")
            degree = self.row(until="]")
            self.take("]")
            return f"<mroot>{self.argument()}{degree}</mroot>"
        if token == r"\sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if token == r"\begin":
            return self.cases()
        if token == r"\text":
            self.word()
            text = escape(self.texts.pop(0)).replace(" ", "\u00a0")
            return f"<mtext>{text}</mtext>"
        if token in (r"\operatorname", r"\mathrm"):
            return f"<mi>{escape(self.word())}</mi>"
        if token in (r"\left", r"\right"):
            return f'<mo stretchy="true">{self.take()}</mo>'
        if token == r"\,":
            return '<mspace width="0.17em"></mspace>'
        if token[1:] in WORDS:
            return f"<mi>{token[1:]}</mi>" + ("" if self.peek() in "(^_" else _THIN)
        if token in LETTERS or token in GREEK:
            return f"<mi>{LETTERS.get(token) or GREEK[token]}</mi>"
        if token.startswith("\\") and token not in SIGNS:
            raise ValueError(f"{self.latex!r}: {token} is not known here")
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        before = self.tokens[self.place - 2] if self.place > 1 else "("
        if token == "-" and before in BEFORE_A_SIGN:
            return '<mo form="prefix" lspace="0" rspace="0">−</mo>'
        sign = SIGNS.get(token, token)
        return f'<mo stretchy="false">{sign}</mo>' if sign in FENCES else f"<mo>{escape(sign)}</mo>"

    def word(self) -> str:
        """Letters in braces, as one word."""
        self.take("{")
        letters: list[str] = []
        while self.peek() != "}":
            letters.append(self.take().removeprefix("\\"))
        self.take("}")
        return "".join(letters)

    def cases(self) -> str:
        if self.word() != "cases":
            raise ValueError(f"{self.latex!r}: only cases are known here")
        rows: list[list[str]] = [[""]]
        while self.peek() != r"\end":
            if self.peek() == "&":
                self.take()
                rows[-1].append("")
            elif self.peek() == r"\\":
                self.take()
                rows.append([""])
            else:
                rows[-1][-1] += self.scripted()
        self.take(r"\end")
        self.word()
        table = "".join(
            f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows
        )
        return f'<mrow><mo stretchy="true">{{</mo><mtable class="cases">{table}</mtable></mrow>'


_THIN = '<mspace width="0.17em"></mspace>'
