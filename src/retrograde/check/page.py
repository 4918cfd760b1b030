"""Reports as HTML: one page without outside parts, or a fragment for a notebook. Only reads."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from .report_text import compare_rows, coverage_text, gradcheck_rows, likely, notes, number
from .verdicts import worst_first

if TYPE_CHECKING:
    from .compare import Comparison
    from .verdicts import Report

STYLE = """
.rg-check { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 64rem; }
.rg-check h2 { font-size: 1.15rem; margin: 1.5rem 0 .25rem; }
.rg-check table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.rg-check th, .rg-check td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
.rg-check th { border-bottom: 1px solid #8a929c; font-weight: 600; }
.rg-check td:nth-child(-n+2), .rg-check th:nth-child(-n+2),
.rg-check td:last-child, .rg-check th:last-child { text-align: left; }
.rg-check tr.bad td { background: #fde7e7; }
.rg-check tr.open td { background: #fff6d9; }
.rg-check pre { white-space: pre-wrap; margin: .25rem 0; }
.rg-check .quiet { color: #57606a; }
@media (prefers-color-scheme: dark) {
  .rg-check { color: #e6edf3; }
  .rg-check tr.bad td { background: #4a1f1f; }
  .rg-check tr.open td { background: #463b12; }
  .rg-check .quiet { color: #9aa4af; }
}
"""
_CLASSES = {"✗": "bad", "~": "open", "^": "open", "=": "open"}


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as a table; the first one holds the titles, the first column the signs."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        f'<tr class="{_CLASSES.get(row[0], "good")}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _section(title: str, rows: Sequence[Sequence[str]], texts: Sequence[tuple[str, str]]) -> str:
    parts = [f"<h2>{escape(title)}</h2>", table(rows)]
    parts += [f'<pre class="{kind}">{escape(text)}</pre>' for kind, text in texts if text]
    return f'<style>{STYLE}</style><div class="rg-check">{"".join(parts)}</div>'


def gradcheck_html(report: Report) -> str:
    """A gradcheck as a fragment."""
    entries = worst_first(report.entries)
    title = f"gradcheck of {report.function} = {number(report.value)}: {report.verdict}"
    texts = [("", "\n".join(notes(entries)))]
    if not report.right:
        texts.append(("", "Likely: " + "\n".join(likely(report))))
    texts.append(("quiet", "\n".join([coverage_text(report), *report.notes])))
    return _section(title, gradcheck_rows(entries), texts)


def compare_html(found: Comparison) -> str:
    """A comparison as a fragment."""
    word = "agree" if found.agrees else "differ"
    title = f"compare of {found.function} with {found.against} {found.version}: they {word}"
    conventions = "\n".join(["By convention:", *found.conventions]) if found.conventions else ""
    return _section(title, compare_rows(found), [("", conventions)])


def whole_page(title: str, fragments: Sequence[str]) -> str:
    """Fragments as one page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title></head><body>"
        f"<h1 style='font: 600 1.4rem system-ui'>{escape(title)}</h1>"
        f"{''.join(fragments)}</body></html>\n"
    )
