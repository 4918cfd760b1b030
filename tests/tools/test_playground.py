"""The playground in a real browser: Pyodide, the pure core without NumPy, what is typed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 1000


@pytest.fixture(scope="module")
def live() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield import_module("documentation.live")


class Quiet(SimpleHTTPRequestHandler):
    """A server that keeps its log to itself."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(live: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site")
    if not live.build_playground(folder):
        pytest.skip("npm cannot fetch pyodide here")
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site as it is served on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/playground/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def playground(address: str, browser: Any) -> Iterator[Any]:
    """The playground, Python loaded; it must have asked nobody but its own server."""
    asked: list[str] = []
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1138, "height": 900})
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=120 * SECONDS)
    yield page
    page.close()
    own = address.rpartition("/playground")[0]
    assert complaints == []
    assert {url for url in asked if not url.startswith((own, "data:", "about:"))} == set()


@pytest.fixture(scope="module")
def explain(playground: Any) -> Callable[..., Any]:
    """Type something, and get the frame with its page."""

    def typed(source: str, numbers: str = "") -> Any:
        playground.fill("#source", source)
        playground.evaluate(
            "(text) => { document.getElementById('numbers').value = text; }", numbers
        )
        playground.evaluate("document.getElementById('page').removeAttribute('srcdoc')")
        playground.click("#run")
        playground.wait_for_function(
            "!document.getElementById('run').disabled", timeout=60 * SECONDS
        )
        return playground

    return typed


def shown(playground: Any) -> Any:
    frame = playground.frame_locator("#page")
    frame.locator("body[data-ready]").wait_for(timeout=30 * SECONDS)
    return frame


@pytest.mark.slow
def test_an_expression_shows_its_page(explain: Callable[..., Any]) -> None:
    frame = shown(explain("(a*b + c)*(a + b)", "a=2 b=-3 c=10"))
    assert frame.locator("h1").inner_text() == "(a*b + c)*(a + b)"
    assert frame.locator("#graph [aria-label='a: data 2, gradient 7']").count() == 1


@pytest.mark.slow
def test_a_script_shows_its_page_and_its_path(explain: Callable[..., Any]) -> None:
    frame = shown(
        explain(
            "from retrograde import Value\n"
            "x = Value(2.0, label='x')\n"
            "y = x * x if x > 1 else -x\n"
            "print('y is', y.data)\n"
            "y.backward()\n"
        )
    )
    frame.get_by_label("Value of x").fill("0.5")
    assert "x > 1 was true and would be false" in frame.locator("#refused").inner_text()


@pytest.mark.slow
def test_what_a_script_prints_is_shown(explain: Callable[..., Any]) -> None:
    page = explain(
        "from retrograde import Value\nx = Value(2.0)\nprint('hello')\n(x*x).backward()\n"
    )
    assert page.inner_text("#said") == "hello"


@pytest.mark.slow
def test_a_network_trains_without_numpy(explain: Callable[..., Any]) -> None:
    frame = shown(
        explain(
            "import retrograde as rg\n"
            "model = rg.nn.MLP(2, [3, 1], seed=1)\n"
            "for turn in range(3):\n"
            "    loss = (model([1.0, 2.0]) - 1.0) ** 2\n"
            "    rg.zero_grad(model)\n"
            "    loss.backward()\n"
            "    for p in model.parameters():\n"
            "        p.data -= 0.05 * p.grad\n"
        )
    )
    assert frame.locator("h1").inner_text().startswith("loss")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a*b +", "invalid syntax"),
        ("a*b", "'a' and 'b' have no numbers"),
        ("import retrograde as rg\nrg.Tensor([1.0])\n", "needs numpy, which is not installed"),
        ("import retrograde as rg\nx = rg.Value(2.0)\n1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_errors_are_told(explain: Callable[..., Any], source: str, words: str) -> None:
    assert words in explain(source).inner_text("#said")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 1138, 1000, 390])
def test_the_playground_fits_its_width(explain: Callable[..., Any], width: int) -> None:
    page = explain("relu(a*b + d)", "a=2 b=-3 d=6")
    shown(page)
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1138, "height": 900})


@pytest.mark.slow
def test_a_script_that_never_ends_is_stopped(playground: Any, explain: Callable[..., Any]) -> None:
    playground.fill("#source", "import retrograde\nwhile True:\n    pass\n")
    playground.click("#run")
    playground.click("#stop")
    playground.wait_for_function("!document.getElementById('run').disabled", timeout=120 * SECONDS)
    frame = shown(explain("x*x", "x=3"))
    assert frame.locator("h1").inner_text() == "x*x"


@pytest.mark.slow
def test_from_a_disk_it_says_what_to_do(playground: Any, site: Path) -> None:
    complaints: list[str] = []
    page = playground.context.browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((site / "playground" / "index.html").as_uri())
    assert "needs a server" in page.inner_text("#state")
    page.close()
    assert complaints == []
