"""Make the README's pictures with the tool itself: the terminal view and the page, each one SVG.

    python tools/pictures.py            write docs/pictures/terminal.svg and docs/pictures/page.svg

Needs Chromium and playwright for the page. Its picture is the page as the browser had drawn it,
frozen: markup and styles without the scripts. Neither picture loads anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
EXPRESSION = ("L=(a*b+c)*(a+b)", "a=2", "b=-3", "c=10")
STEP = 12
"""The step at which the page is shown: the second contribution is added to the first."""
WIDTH, HEIGHT = 1280, 760
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()

PAPER = TerminalTheme(
    (255, 255, 255),
    (27, 31, 42),
    [(27, 31, 42), (176, 18, 72), (6, 110, 76), (168, 72, 10),
     (20, 90, 190), (120, 60, 160), (0, 110, 130), (90, 96, 110)],
)  # fmt: skip

FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title>
<style>
text {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        font-size: 14px; white-space: pre; fill: #1b1f2a; }}
{styles}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#ffffff" stroke="#d9d8d3"/>
{lines}
</svg>
"""

FREEZE = """() => {
    for (const input of document.querySelectorAll("input")) {
        input.setAttribute("value", input.value);
    }
    for (const gone of document.querySelectorAll("script, noscript, link, [hidden]")) gone.remove();
    // What depends on the width is settled: a picture has the width of wherever it is shown.
    const settled = (rule) => {
        if (!(rule instanceof CSSMediaRule) || !/width/.test(rule.media.mediaText)) {
            return rule.cssText;
        }
        if (!matchMedia(rule.media.mediaText).matches) return "";
        return Array.from(rule.cssRules, (inner) => inner.cssText).join(" ");
    };
    for (const sheet of document.querySelectorAll("style")) {
        sheet.textContent = Array.from(sheet.sheet.cssRules, settled).join(" ");
        sheet.textContent += "* { scrollbar-width: none }";
    }
    return new XMLSerializer().serializeToString(document.documentElement);
}"""


def printed() -> str:
    """What `retrograde explain` prints in a terminal of 80 columns, with its colours."""
    arguments = [sys.executable, "-m", "retrograde", "explain", *EXPRESSION]
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    ours, theirs = os.openpty()
    running = subprocess.Popen(arguments, env=environment, stdout=theirs)
    os.close(theirs)
    pieces = []
    while piece := _read(ours):
        pieces.append(piece)
    os.close(ours)
    if running.wait():
        raise SystemExit(f"{command()} failed")
    return b"".join(pieces).decode()


def _read(terminal: int) -> bytes:
    """What comes next from a terminal; nothing once its program has ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def terminal(ansi: str, typed: str) -> str:
    """Terminal output as SVG: every run of one style is a text of its own, so nothing drifts."""
    across, down, margin = 8.43, 19, 22
    prompt = Text.assemble(("$ ", "dim"), (typed, "bold"))
    texts = [prompt, Text(), *(Text.from_ansi(line) for line in ansi.splitlines())]
    console = Console(width=80, color_system="truecolor", force_terminal=True)
    styles: dict[str, str] = {}
    lines = []
    for number, text in enumerate(texts):
        column = 0
        for segment in text.render(console):
            words, style = segment.text.rstrip("\n"), segment.style
            if words.strip():
                css = style.get_html_style(PAPER) if style else ""
                css = re.sub(r"(?<![-\w])color:", "fill:", css)
                css = re.sub(r"background-color:[^;]*;?", "", css).strip("; ")
                name = styles.setdefault(css, f"s{len(styles)}")
                x = margin + column * across
                lines.append(
                    f'<text class="{name}" x="{x:.1f}" y="{margin + 12 + number * down}"'
                    f' textLength="{len(words) * across:.1f}">{_escaped(words)}</text>'
                )
            column += len(words)
    return FRAME.format(
        width=round(2 * margin + 80 * across),
        height=2 * margin + len(texts) * down,
        title=_escaped(typed),
        styles="\n".join(f".{name} {{ {css} }}" for css, name in styles.items()),
        lines="\n".join(lines),
    )


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def page() -> str:
    """The page at one of its steps, as the browser drew it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        written = Path(folder, "page.html")
        arguments = [sys.executable, "-m", "retrograde", "explain", *EXPRESSION]
        subprocess.run([*arguments, "--html", written], check=True, capture_output=True)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        shown = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        shown.goto(f"{written.as_uri()}#step-{STEP}")
        shown.wait_for_function("document.fonts.ready.then(() => true)")
        markup = shown.evaluate(FREEZE)
        browser.close()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        f'<foreignObject width="{WIDTH}" height="{HEIGHT}">{markup}</foreignObject>\n</svg>\n'
    )


def command() -> str:
    """The command as one types it."""
    return " ".join(["retrograde explain", f'"{EXPRESSION[0]}"', *EXPRESSION[1:]])


def main() -> None:
    """Write both."""
    for name, picture in (("terminal", terminal(printed(), command())), ("page", page())):
        target = PICTURES / f"{name}.svg"
        target.write_text(picture, encoding="utf-8")
        print(f"wrote {target.relative_to(ROOT)}: {len(picture):,} characters")


if __name__ == "__main__":
    main()
