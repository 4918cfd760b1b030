"""How many threads are taken: the environment, the processors, a container's share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import retrograde as rg
from retrograde import value
from retrograde._shared import threads
from retrograde._shared.threads import (
    MOST,
    Threads,
    default_threads,
    limit_of_cgroups,
    threads_for,
    threads_here,
)
from retrograde.errors import CoreError

NONE = float("inf")


@pytest.fixture
def plain(monkeypatch):
    """Four processors, no container, and nothing asked for."""
    monkeypatch.delenv("RETROGRADE_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "_processors", lambda: 4)
    monkeypatch.setattr(threads, "_share_of_container", lambda: 2**31)
    return monkeypatch


@pytest.mark.parametrize(
    ("ours", "openmp", "count"),
    [
        (None, None, 4),
        ("3", None, 3),
        (None, "2", 2),
        ("3", "2", 3),
        ("12", None, 12),  # what is asked for counts, whatever there is
        (None, "12", 12),
        (" 1 ", "2", 1),
        ("", "2", 2),
        (None, "2,4", 2),  # the outermost level
        (None, "", 4),
        (None, "many", 4),  # others' setting: not ours to refuse
        (None, "0", 4),
        (None, "-1", 4),
        ("64", None, 64),
        ("65", None, 64),  # more than the native core starts
        ("9" * 30, None, 64),
        (None, "9" * 30, 64),
        (None, "9" * 5000, 4),  # longer than Python reads
    ],
)
def test_the_environment_comes_first(plain, ours, openmp, count):
    for name, text in (("RETROGRADE_THREADS", ours), ("OMP_NUM_THREADS", openmp)):
        if text is not None:
            plain.setenv(name, text)
    assert default_threads() == count


@pytest.mark.parametrize("asked", ["0", "-2", "two", "1.5", "²", "4,2", "9" * 5000])
def test_what_is_no_number_of_threads_is_refused(plain, asked):
    plain.setenv("RETROGRADE_THREADS", asked)
    with pytest.raises(CoreError) as caught:
        default_threads()
    assert str(caught.value) == (
        f"RETROGRADE_THREADS={asked!r} is not a number of threads: use a whole number from 1 on."
    )


def test_who_asks_for_too_many_is_told_how_many_it_is(plain):
    plain.setenv("RETROGRADE_THREADS", "1000")
    why = "RETROGRADE_THREADS says so, and no call takes more than 64"
    assert threads_here() == Threads(64, why)
    plain.delenv("RETROGRADE_THREADS")
    plain.setattr(threads, "_processors", lambda: 192)
    why = "the processors this process may use, and no call takes more than 64"
    assert threads_here() == Threads(64, why)


@pytest.mark.parametrize(
    ("asked", "count"),
    [(None, 4), (1, 1), (0, 1), (-3, 1), (64, 64), (65, 64), (10**25, 64), (np.int64(7), 7)],
)
def test_a_call_takes_from_one_to_the_most(plain, asked, count):
    assert threads_for(asked) == count


def test_the_most_is_what_the_native_core_starts():
    source = Path(__file__).resolve().parents[1] / "native" / "replay.c"
    assert f"#define MOST_THREADS {MOST}\n" in source.read_text(encoding="utf-8")


def test_a_number_of_threads_that_no_processor_counts_to_changes_no_bits():
    f = rg.compile(lambda a: (a.sin() * a.exp()).tanh())
    rows = np.linspace(0.1, 1.0, 40_000)
    first = f(rows, threads=1)
    for asked in (10**25, 2**63, 64, 10**25):  # a site of the short call path as well
        assert f(rows, threads=asked).tobytes() == first.tobytes()


def test_a_container_grants_no_more_than_its_share(plain):
    plain.setattr(threads, "_share_of_container", lambda: 2)
    assert threads_here() == Threads(2, "the processor time of the container")
    plain.setattr(threads, "_share_of_container", lambda: 9)
    assert threads_here() == Threads(4, "the processors this process may use")
    plain.setenv("OMP_NUM_THREADS", "7")
    assert threads_here() == Threads(7, "OMP_NUM_THREADS says so")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_processors_are_those_this_process_may_use():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads._processors() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert threads._processors() == len(before)


def cgroup(tmp_path: Path, membership: str, files: dict[str, str]) -> float:
    """The limit that such files state."""
    told = tmp_path / "cgroup"
    told.write_text(membership)
    root = tmp_path / "fs"
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return limit_of_cgroups(told, root)


SECOND = "0::/pod/box\n"
FIRST = "12:pids:/box\n4:cpu,cpuacct:/box\n"
QUOTA, PERIOD = "cpu.cfs_quota_us", "cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("membership", "files", "limit"),
    [
        (SECOND, {}, NONE),
        (SECOND, {"pod/box/cpu.max": "150000 100000\n"}, 1.5),
        (SECOND, {"pod/box/cpu.max": "max 100000\n"}, NONE),
        # a limit around the group binds it too
        (SECOND, {"pod/cpu.max": "50000 100000", "pod/box/cpu.max": "400000 100000"}, 0.5),
        # inside a container its own group is the root, under whatever path
        (SECOND, {"cpu.max": "200000 100000"}, 2.0),
        ("0::/../box\n", {"cpu.max": "300000 100000"}, 3.0),
        ("0::/\n", {"cpu.max": "100000 50000"}, 2.0),
        (FIRST, {f"cpu/box/{QUOTA}": "250000\n", f"cpu/box/{PERIOD}": "100000\n"}, 2.5),
        (FIRST, {f"cpu/box/{QUOTA}": "-1\n", f"cpu/box/{PERIOD}": "100000\n"}, NONE),
        (FIRST, {f"cpu/{QUOTA}": "100000\n", f"cpu/{PERIOD}": "100000\n"}, 1.0),
        (FIRST, {f"cpu,cpuacct/box/{QUOTA}": "700000", f"cpu,cpuacct/box/{PERIOD}": "100000"}, 7),
        # files as nobody writes them are no limit
        (SECOND, {"pod/box/cpu.max": ""}, NONE),
        (SECOND, {"pod/box/cpu.max": "many 0"}, NONE),
        (SECOND, {"pod/box/cpu.max": "100 0"}, NONE),
        ("nonsense\n", {"cpu.max": "100 0"}, NONE),
        ("", {"cpu.max": "100000 100000"}, NONE),
    ],
)
def test_limits_of_control_groups_are_read(tmp_path, membership, files, limit):
    assert cgroup(tmp_path, membership, files) == limit


def test_a_system_without_control_groups_has_no_limit(tmp_path):
    assert limit_of_cgroups(tmp_path / "absent", tmp_path) == NONE


def test_a_part_of_a_processor_is_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "limit_of_cgroups", lambda *_: 0.5)
    assert threads._share_of_container.__wrapped__() == 1
    monkeypatch.setattr(threads, "limit_of_cgroups", lambda *_: 2.5)
    assert threads._share_of_container.__wrapped__() == 3


PROGRAM = """
import numpy as np
import retrograde as rg
from retrograde.program.executor import executor
from retrograde.value import native_core

asked = []
run = type(executor).run
type(executor).run = lambda self, *parts: asked.append(parts[-1]) or run(self, *parts)
rg.compile(lambda a: (a.sin() * a.exp()).tanh()).value_and_grad(np.linspace(0.1, 1.0, 40_000))
print(*set(asked), native_core.array_threads(1))
"""


@pytest.mark.skipif(value.core_name != "native", reason="only the native core takes threads")
@pytest.mark.parametrize(("name", "count"), [("RETROGRADE_THREADS", 1), ("OMP_NUM_THREADS", 3)])
def test_replay_and_products_take_as_many_as_are_asked_for(name, count):
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, name: str(count)},
        text=True,
        capture_output=True,
        check=True,
    )
    assert told.stdout.split() == [str(count)] * 2


def test_what_is_no_number_of_threads_is_refused_at_import():
    if value.core_name != "native":
        pytest.skip("the reference core asks when it needs to know")
    done = subprocess.run(
        [sys.executable, "-c", "import retrograde"],
        env={**os.environ, "RETROGRADE_THREADS": "all"},
        text=True,
        capture_output=True,
    )
    assert done.returncode != 0
    assert "RETROGRADE_THREADS='all' is not a number of threads" in done.stderr
