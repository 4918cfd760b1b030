"""The bank of hostile submissions behind every boundary: none gets out, or marks, or in the way."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

import retrograde
from retrograde.cli import main
from retrograde.errors import BoundaryError
from retrograde.learn import faults, grading, sandbox
from retrograde.learn.boundaries import KINDS
from retrograde.learn.grading import grade_source

from .bank import BANK, FORGING, PROCESSES, SIGNALS, SLOW, STOPPERS, submission

SECRET = "the teacher's own words, 4711"
RIGHT = Path(faults.__file__).read_text() + "\nValue = FaultyValue\n"

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="boundaries are Linux's"
)


@cache
def missing(kind):
    """Why this system does not let a boundary go up, or None: asked once."""
    try:
        sandbox.run("", lambda ask: None, boundary=kind)
    except BoundaryError as error:
        return str(error)


def enforced(kind):
    """Skip where a boundary does not go up."""
    if missing(kind):
        pytest.skip(missing(kind))


class World:
    """What belongs to the teacher, and whether anything happened to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = folder / "secret.txt"
        self.secret.write_text(f"{SECRET}\n= = (\n")
        self.secret.chmod(0o640)
        (folder / "answers_of_the_teacher.py").write_text(f"WORDS = {SECRET!r}\n")
        (folder / "link").symlink_to(self.secret)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(folder / "s"))
        self.hidden = socket.socket(socket.AF_UNIX)
        self.hidden.bind(f"\0retrograde-{os.getpid()}-{id(self)}")
        for it in (self.unix, self.hidden):
            it.listen()
        self.before = self.state()

    def names(self):
        return {
            "secret": self.secret, "folder": self.folder, "pid": os.getpid(),
            "link": self.folder / "link",
            "port": self.tcp.getsockname()[1], "socket": self.folder / "s",
            "abstract": self.hidden.getsockname()[1:].decode(),
            "package": Path(retrograde.__file__).parent, "path": ":".join(sys.path),
        }  # fmt: skip

    def state(self):
        found = {"files": sorted(it.name for it in self.folder.iterdir())}
        told = self.secret.stat()
        found["secret"] = (self.secret.read_text(), stat.S_IMODE(told.st_mode), told.st_mtime_ns,
                           told.st_uid, told.st_nlink)  # fmt: skip
        return found

    def visitors(self):
        found = []
        for it in (self.tcp, self.unix, self.hidden):
            it.settimeout(0)
            try:
                it.accept()[0].close()
                found.append(it.getsockname())
            except BlockingIOError:
                pass
        return found

    def close(self):
        for it in (self.tcp, self.unix, self.hidden):
            it.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A teacher at work: files, servers, a token, handlers that notice signals."""
    made = World(tmp_path_factory.mktemp("teacher"))
    noticed = []
    kept = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGIO):
            kept[number] = signal.signal(number, lambda *it: noticed.append(it[0]))
    os.environ["RETROGRADE_TEST_TOKEN"] = SECRET
    yield made
    del os.environ["RETROGRADE_TEST_TOKEN"]
    for number, handler in kept.items():
        signal.signal(number, handler)
    made.close()
    assert noticed == []


def children():
    """Processes this one or its descendants started that are still there."""
    found = {}
    for it in Path("/proc").iterdir():
        if it.name.isdigit():
            try:
                words = (it / "stat").read_text().rpartition(")")[2].split()
                found[int(it.name)] = (int(words[1]), (it / "cmdline").read_bytes())
            except OSError:
                continue
    return [line for _, line in found.values() if b"31557600" in line] + [
        line for parent, line in found.values() if parent == os.getpid() and b"inside" in line
    ]


@pytest.mark.bank(native=3)
@pytest.mark.parametrize("name", BANK)
@pytest.mark.parametrize("kind", KINDS)
def test_none_escapes_and_none_gets_marks(kind, name, world, monkeypatch):
    """Which misconception it has takes most of grading, and is asked when a class is graded."""
    enforced(kind)
    monkeypatch.setattr(grading, "_faults", lambda *told: ([], set()))
    began = time.monotonic()
    seconds = 1.0 if name in SLOW else 20.0
    source = submission(name, world.names())
    grade = grade_source(source, "student.py", "ada", seconds, boundary=kind)
    told = json.dumps(grade.data())
    assert "ESCAPED" not in told, told
    assert SECRET not in told
    assert grade.right == 0
    assert grade.score == 0.0
    assert grade.boundary == kind
    assert "\x1b" not in told
    assert world.state() == world.before
    assert world.visitors() == []
    assert children() == []
    assert len(told) < 60_000
    assert time.monotonic() - began < 120
    told.encode("utf-8")


def test_at_least_forty_and_one_boundary_is_enforced_here():
    assert len(BANK) >= 40
    found = sandbox.run("", lambda ask: None)
    assert found.boundary in KINDS


def test_what_is_printed_is_short_and_plain():
    found = sandbox.run(
        "while True: print('\\x1b[2J' * 999, end='')", lambda ask: None, seconds=1.0
    )
    assert len(found.printed) <= 4_010
    assert "\x1b" not in found.printed
    assert "still running" in found.problem


def test_where_namespaces_are_forbidden_landlock_takes_over(monkeypatch):
    enforced("landlock")
    forbidden = dict.fromkeys(("bubblewrap", "namespaces"), "forbidden")
    monkeypatch.setattr(sandbox, "_refused", forbidden)
    assert grade_source(RIGHT, "student.py").boundary == "landlock"


def test_where_nothing_is_enforced_grade_says_so_and_asks_for_trust(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sandbox, "_refused", dict.fromkeys(KINDS, "forbidden"))
    for name in ("ada", "bob"):
        (tmp_path / f"{name}.py").write_text(RIGHT)
    assert main(["grade", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "nothing here keeps a student's code away from your files" in told
    assert "--trust" in told
    assert main(["grade", str(tmp_path), "--trust"]) == 0
    assert "This code was trusted: nothing isolated it." in capsys.readouterr().out
    assert main(["grade", str(tmp_path), "--trust", "--json"]) == 0
    assert [it["boundary"] for it in json.loads(capsys.readouterr().out)] == ["none", "none"]


def test_trust_does_not_take_a_boundary_away(tmp_path, capsys):
    (tmp_path / "ada.py").write_text(RIGHT)
    assert main(["grade", str(tmp_path / "ada.py"), "--trust", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["boundary"] in KINDS


def test_the_command_for_a_container_is_printed_and_nothing_run(tmp_path, capsys):
    assert main(["grade", "my class/", "--container", "--csv"]) == 0
    printed = capsys.readouterr().out
    assert "docker run" in printed
    assert "--network none" in printed
    assert "retrograde grade 'my class/' --csv" in printed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_words_the_output_has_no_letters_for_stop_nobody(tmp_path, monkeypatch, encoding, form):
    (tmp_path / "ada.py").write_text("raise ValueError('\\u4e2d\\xe9')\n")
    (tmp_path / "bob.py").write_text(RIGHT)
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["grade", str(tmp_path), *form]) == 1
    out.flush()
    told = out.buffer.getvalue().decode(encoding)
    assert "ValueError" in told
    assert "bob" in told
    if form == ("--json",):
        ada, bob = json.loads(told)
        assert ada["problem"] == "ValueError: \u4e2d\xe9"
        assert bob["score"] == 1.0


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_a_name_that_is_no_unicode_costs_nobody_marks(tmp_path, capsys, form, monkeypatch):
    """Archives from elsewhere hold names such as these."""
    monkeypatch.chdir(tmp_path)  # short paths are not folded
    for name in (b"caf\xe9.py", b"\xff\xfe.py"):
        (tmp_path / os.fsdecode(name)).write_text(RIGHT)
    assert main(["grade", ".", *form]) == 0
    assert "caf\\udce9" in capsys.readouterr().out.replace("\\\\", "\\")
    assert main(["grade", "cards", "--seed", "caf\udce9"]) == 0


FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.mark.parametrize(
    "form",
    ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "no; =1+1", 'no;"=1+1"', "\uff1d1+1"],
)
def test_no_cell_of_the_table_is_a_formula(tmp_path, capsys, form):
    name = f"{form.strip().replace('/', '')}.py"
    (tmp_path / name).write_text(f"raise SystemError({form!r})\n")
    (tmp_path / "b.py").write_text(f"class E(Exception): pass\nE.__name__ = {form!r}\nraise E\n")
    main(["grade", str(tmp_path / name), str(tmp_path / "b.py"), "--csv", "--seed", form])
    for row in csv.reader(io.StringIO(capsys.readouterr().out)):
        parts = [part.lstrip(' "') for cell in row for part in cell.split(";")]
        assert not any(part.startswith(FORMULAS) for part in parts), row


UNRULY = [name for name in (*PROCESSES, *SIGNALS, *STOPPERS, *FORGING) if name not in SLOW]
"""What might hurt those graded after it; each has also been graded by itself."""


@pytest.mark.slow
def test_none_stops_the_others(tmp_path, capsys, world):
    """A class of them, with an honest file first and last."""
    folder = tmp_path / "class"
    folder.mkdir()
    attacks = [*UNRULY, *sorted(SLOW)[::6]]
    for place, name in enumerate(attacks):
        text = submission(name, world.names())
        (folder / f"s{place:03}.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / "aaa.py").write_text(RIGHT)
    (folder / "zzz.py").write_text(RIGHT)
    os.mkfifo(folder / "pipe.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "secret.py").symlink_to(world.secret)
    (folder / "folder.py").mkdir()
    (folder / "large.py").write_text("#" * 1_000_001)
    (folder / "nothing.py").symlink_to("nowhere")
    (folder / "=cmd|calc.py").write_text("raise ValueError('=1+1')")
    (folder / "line\nbreak\x1b[2J.py").write_text("")
    (folder / os.fsdecode(b"caf\xe9.py")).write_bytes(b"\xff\xfe")
    assert main(["grade", str(folder), "--json", "--seconds", "2"]) == 1
    out = capsys.readouterr().out
    assert world.state() == world.before
    assert world.visitors() == []
    assert children() == []
    assert "ESCAPED" not in out
    assert SECRET not in out
    assert "\x1b" not in out
    found = {Path(it["file"]).stem: it for it in json.loads(out)}
    assert len(found) == len(attacks) + 11
    right = [name for name, it in found.items() if it["right"]]
    assert right == ["aaa", "zzz"]
    assert found["aaa"]["score"] == found["zzz"]["score"] == 1.0
    for name, why in (
        ("pipe", "not a regular file"), ("zero", "a link"), ("secret", "a link"),
        ("folder", "not a regular file"), ("large", "larger than 1,000,000 bytes"),
        ("nothing", "a link"),
    ):  # fmt: skip
        assert why in found[name]["problem"]


FLOODS = {
    "words": 'while True: os.write(fd, b"x" * 65536)',
    "lines": 'while True: os.write(fd, b"{}\\n" * 20000)',
}
TO_ANY = """
import os
for fd in range(3, 9):
    try:
        {}
    except OSError:
        pass
"""


@pytest.mark.parametrize("name", FLOODS)
def test_what_nobody_reads_takes_no_memory(name):
    """A process may go on talking while nobody listens: what it says then is dropped."""
    source, kept = TO_ANY.format(FLOODS[name]), []
    with sandbox._Process(sandbox.boundary_here(), source, "student", 5.0, True, False) as process:
        time.sleep(1.0)
        while not process._lines.empty():
            kept.append(process._lines.get())
    assert kept
    assert sum(map(len, kept)) < 20_000_000


def test_who_answers_without_listening_is_not_waited_for():
    """A question that nobody takes out of the pipe fills it; the next has to wait."""
    forged = b'{"loaded": 1}\n' * 9
    source = TO_ANY.format(f"os.write(fd, {forged!r}); import time; time.sleep(60)")
    questions = [{"ask": "nothing", "more": "x" * 60_000}] * 20
    began = time.monotonic()
    found = sandbox.run(source, lambda ask: [ask(it) for it in questions], seconds=2.0)
    assert "still running" in found.problem
    assert time.monotonic() - began < 30
