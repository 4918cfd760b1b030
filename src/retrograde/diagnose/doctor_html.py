"""The doctor's report as HTML: one self-contained page, or a fragment for notebooks.

No script, no request: styles are inside, colours follow the reader's light or dark setting, tables
have headers that screen readers announce, and nothing is said by colour alone.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._text.paragraphs import counted
from .doctor_text import consequences, headline, levels_of, number, percent, shown_groups, units_of

if TYPE_CHECKING:
    from .report import Report, Verdict

STYLE = """
.rg-doctor{--ink:#1a1f26;--quiet:#57606a;--page:#fff;--card:#f6f8fa;--line:#d0d7de;--bad:#b42318;
--good:#116329;--note:#7a5200;--bar:#3b6fb6;color:var(--ink);font:15px/1.5 system-ui,sans-serif;
max-width:62rem}
@media (prefers-color-scheme:dark){.rg-doctor{--ink:#e6edf3;--quiet:#9aa4af;--page:#0d1117;
--card:#161b22;--line:#30363d;--bad:#ff8a7a;--good:#6fdd8b;--note:#f0c25b;--bar:#7fb0f5}}
.rg-doctor h1{font-size:1.4rem;margin:0 0 .2rem}
.rg-doctor h2{font-size:1.05rem;margin:1.6rem 0 .5rem}
.rg-doctor p{margin:.2rem 0}.rg-doctor .quiet{color:var(--quiet)}
.rg-doctor ul{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.rg-doctor li{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--note);
border-radius:6px;padding:.55rem .8rem}.rg-doctor li.alarm{border-left-color:var(--bad)}
.rg-doctor li b{color:var(--note)}.rg-doctor li.alarm b{color:var(--bad)}
.rg-doctor details{margin-top:.2rem}.rg-doctor summary{color:var(--quiet);cursor:pointer}
.rg-doctor .good{color:var(--good)}.rg-doctor .bad{color:var(--bad)}
.rg-doctor code,.rg-doctor pre{font:13px/1.45 ui-monospace,monospace}
.rg-doctor pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.8rem;
overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.rg-doctor .wide{overflow-x:auto}
.rg-doctor table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
.rg-doctor th,.rg-doctor td{padding:.3rem .6rem;border-bottom:1px solid var(--line);
text-align:right}
.rg-doctor th:first-child,.rg-doctor td:first-child{text-align:left}
.rg-doctor th{color:var(--quiet);font-weight:600}
.rg-doctor .bar{display:block;height:.7rem;border-radius:3px;background:var(--bar)}
.rg-doctor .levels td:last-child{width:60%}
"""


def as_page(report: Report, title: str = "The doctor's report") -> str:
    """The report as a whole page."""
    return pages([("", report)], title)


def pages(reports: list[tuple[str, Report]], title: str) -> str:
    """Several reports as one page, each under its heading."""
    body = "\n".join(
        (f"<h1>{escape(name)}</h1>" if name else "") + as_fragment(report, styled=False)
        for name, report in reports
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
        "<style>body{margin:0;padding:2rem 1.2rem;background:#fff}"
        "@media (prefers-color-scheme:dark){body{background:#0d1117}}"
        f"main{{max-width:62rem;margin:0 auto}}{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def as_fragment(report: Report, styled: bool = True) -> str:
    """The report as a part of a page."""
    state = (
        '<span class="good">✓ Healthy</span>'
        if report.healthy
        else f'<span class="bad">✗ {counted(len(report.alarms), "alarm")}</span>'
    )
    parts = [
        f"<style>{STYLE}</style>" if styled else "",
        '<section class="rg-doctor" aria-label="The doctor\'s report">',
        f'<h1>{state}</h1><p class="quiet">{escape(headline(report).partition(": ")[2])}</p>',
        _verdicts("What is wrong", report.alarms),
        _verdicts("Worth knowing", report.notes),
        _groups(report),
        _profile(report),
        _history(report),
        _births(report),
        _thresholds(report),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _verdicts(title: str, verdicts: tuple[Verdict, ...]) -> str:
    if not verdicts:
        return ""
    items = "".join(
        f'<li class="{verdict.severity}"><b>{escape(verdict.kind)}</b> '
        f"<p>{escape(verdict.sentence)}</p>"
        + (f'<p class="quiet"><code>{escape(str(verdict.site))}</code></p>' if verdict.site else "")
        + (f"<p><strong>Cure.</strong> {escape(verdict.cure)}</p>" if verdict.cure else "")
        + _consequences(verdict)
        + "</li>"
        for verdict in verdicts
    )
    return f"<h2>{title}</h2><ul>{items}</ul>"


def _consequences(verdict: Verdict) -> str:
    if not verdict.consequences:
        return ""
    items = "".join(f"<p>{escape(each.sentence)}</p>" for each in verdict.consequences)
    return f"<details><summary>So too: {escape(consequences(verdict))}</summary>{items}</details>"


def _groups(report: Report) -> str:
    heads = ("group", "parameters", "gradient", "share", "gradient / weight", "depth", "units")
    rows = "".join(
        f'<tr><th scope="row">{escape(g.name)}</th><td>{g.parameters:,}</td>'
        f"<td>{number(g.norm)}</td><td>{percent(g.share)}</td><td>{number(g.ratio)}</td>"
        f"<td>{g.depth if g.depth >= 0 else '–'}</td><td>{escape(units_of(g))}</td></tr>"
        for g in shown_groups(report)
    )
    more = len(report.groups) - len(shown_groups(report))
    note = f'<p class="quiet">… and {counted(more, "more group")}</p>' if more else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f'<h2>Groups</h2><div class="wide" tabindex="0" role="region" aria-label="Groups of '
        f'parameters"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'
    )


def _profile(report: Report) -> str:
    levels = levels_of(report, 32)
    if len(levels) < 2:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{depth}</th><td>{number(mean)}</td>'
        f'<td><span class="bar" style="width:{100 * share:.0f}%"></span></td></tr>'
        for depth, mean, share in levels
    )
    return (
        '<h2>Gradient along depth</h2><p class="quiet">Mean size at each depth below the loss; the '
        'bars are logarithmic.</p><table class="levels"><thead><tr><th scope="col">depth</th>'
        '<th scope="col">mean</th><th scope="col"><span aria-hidden="true"></span></th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _history(report: Report) -> str:
    if len(report.history) < 2:
        return ""
    shown = report.history[:: max(1, len(report.history) // 16)]
    rows = "".join(
        f'<tr><th scope="row">{moment.number:,}</th><td>{number(moment.loss)}</td>'
        f"<td>{number(moment.gradient_norm)}</td></tr>"
        for moment in shown
    )
    return (
        '<h2>Over time</h2><table><thead><tr><th scope="col">pass</th><th scope="col">loss</th>'
        f'<th scope="col">gradient</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _births(report: Report) -> str:
    return f"<h2>Births</h2><pre>{escape(str(report.births))}</pre>" if report.births else ""


def _thresholds(report: Report) -> str:
    items = ", ".join(f"{name} {value:g}" for name, value in report.thresholds.as_dict().items())
    return f'<p class="quiet">Thresholds: {escape(items)}.</p>'
