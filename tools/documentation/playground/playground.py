"""What the playground asks Python for: the page of an expression or of a script, as text."""

from __future__ import annotations

import contextlib
import io
import traceback
from pathlib import Path

SCRIPT = Path("script.py")


def explained(source: str, numbers: str) -> tuple[str, str, str]:
    """The page, what was printed, and what went wrong; each may be empty."""
    printed = io.StringIO()
    page = error = ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            page = _page(source.strip("\n"), numbers)
        except SystemExit:
            pass
        except Exception as raised:
            error = _told(raised)
    return page, printed.getvalue().rstrip(), error


def _page(source: str, numbers: str) -> str:
    import linecache

    from retrograde.cli._expression import evaluate, numbers_given
    from retrograde.cli._scripted import story_of_script
    from retrograde.explain.html import page_html
    from retrograde.explain.reading import read

    lines = [line for line in source.splitlines() if line.strip()]
    if len(lines) == 1 and not lines[0].lstrip().startswith(("from ", "import ")):
        given = numbers_given(numbers.replace(",", " ").split())
        return page_html(read([evaluate(source.strip(), given)], [1.0], note="", sites=False))
    SCRIPT.write_text(source + "\n", encoding="utf-8")
    linecache.checkcache()
    story, _ = story_of_script(str(SCRIPT), [], None, False)
    return page_html(story) if story is not None else ""


def _told(raised: Exception) -> str:
    from retrograde.errors import RetrogradeError

    if isinstance(raised, RetrogradeError):
        return str(raised)
    return "".join(traceback.format_exception_only(raised)).strip()
