"""How many threads this process may take: what the environment asks for, or what it is granted.

``RETROGRADE_THREADS`` comes first, then ``OMP_NUM_THREADS``; without them the processors that the
system lets this process run on, and no more than a container's share of processor time is worth.
No call takes more than ``MOST``, whoever asks.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import CoreError

MOST: Final = 64
"""More than so many the native core does not start (``MOST_THREADS`` of ``native/replay.c``)."""

_OURS, _OPENMP = "RETROGRADE_THREADS", "OMP_NUM_THREADS"


class Threads(NamedTuple):
    """A number of threads, and who says so."""

    number: int
    why: str


def default_threads() -> int:
    """How many threads are taken where nobody says how many."""
    return threads_here().number


def threads_for(asked: int | None) -> int:
    """How many a call takes that asks for so many; None is the default."""
    return default_threads() if asked is None else min(max(int(asked), 1), MOST)


def threads_here() -> Threads:
    """The number of threads, and where it comes from; ``RETROGRADE_THREADS`` has to be a number."""
    ours = os.environ.get(_OURS, "").strip()
    if ours:
        asked = _whole(ours)
        if asked < 1:
            raise CoreError.threads(ours)
        return _at_most(asked, f"{_OURS} says so")
    # A list is for levels of nested parallelism: the first is for the outermost.
    openmp = _whole(os.environ.get(_OPENMP, "").partition(",")[0].strip())
    if openmp > 0:
        return _at_most(openmp, f"{_OPENMP} says so")
    processors, share = _processors(), _share_of_container()
    if share < processors:
        return _at_most(share, "the processor time of the container")
    return _at_most(processors, "the processors this process may use")


def _whole(text: str) -> int:
    """The whole number that a text is; 0 where it is none, or longer than Python reads."""
    try:
        return int(text) if text.isdecimal() else 0
    except ValueError:
        return 0


def _at_most(number: int, why: str) -> Threads:
    if number > MOST:
        return Threads(MOST, f"{why}, and no call takes more than {MOST}")
    return Threads(number, why)


def _processors() -> int:
    """Those the system lets this process run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    ours = getattr(os, "process_cpu_count", os.cpu_count)  # the former since Python 3.13
    return ours() or 1


@lru_cache(maxsize=1)
def _share_of_container() -> int:
    """The same for the limit of a container, which does not change: as many as use it up."""
    limit = limit_of_cgroups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return max(1, math.ceil(limit)) if math.isfinite(limit) else 2**31


def limit_of_cgroups(membership: Path, root: Path) -> float:
    """How many processors' time the control groups of a process grant; inf where they do not say.

    A group is bound by the groups around it as well, so the least of them counts. A container may
    see its own group as the root, whatever the membership says.
    """
    try:
        lines = membership.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return math.inf
    found = [math.inf]
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            found += [_second_version(folder) for folder in _around(root, path)]
        elif "cpu" in controllers.split(","):
            for mounted in (root / "cpu", root / controllers):
                found += [_first_version(folder) for folder in _around(mounted, path)]
    return min(found)


def _around(root: Path, path: str) -> list[Path]:
    """A group's folder and those around it, up to the root."""
    inner = Path(path.strip("/"))
    if ".." in inner.parts:  # outside of what is seen from here
        inner = Path()
    return [root / inner, *(root / outer for outer in inner.parents)]


def _second_version(folder: Path) -> float:
    words = _words(folder / "cpu.max")
    return _ratio(words[0], words[1]) if len(words) == 2 else math.inf


def _first_version(folder: Path) -> float:
    quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
    return _ratio(quota[0], period[0]) if quota and period else math.inf


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []


def _ratio(quota: str, period: str) -> float:
    """Processors that a quota of microseconds in every period is worth; "max" and -1 are none."""
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0 or int(quota) == 0:
        return math.inf
    return int(quota) / int(period)
