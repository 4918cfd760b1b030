"""A stranger's code tried without a trace: in a copy of this process that ends afterwards.

What it prints, counts, registers or draws at random happens in the copy alone, and only plain data
comes back. Where processes cannot be copied (Windows) it is tried here, with its output hidden and
the random numbers put back.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

_LIMIT = 20
"""Seconds of processor time; a trial that takes longer tells nothing."""

_PATIENCE = 300
"""Seconds of waiting, for a trial that sleeps."""


def tried_apart(trial: Callable[[], Any]) -> Any:
    """What a trial returns, made of plain data; None where it gave nothing in time."""
    if not hasattr(os, "fork"):
        return _here(trial)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the copy starts none and waits for none
        child = os.fork()
    if child == 0:
        _as_copy(trial, reading, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(told) if told else None


def _as_copy(trial: Callable[[], Any], reading: int, writing: int) -> None:
    """In the copy: try, tell, and be gone, whatever happens."""
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for told in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(told, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _LIMIT)
        signal.alarm(_PATIENCE)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for place in (0, 1, 2):
            os.dup2(nowhere, place)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            answer = pickle.dumps(trial())
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _here(trial: Callable[[], Any]) -> Any:
    state = random.getstate()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return trial()
    except Exception:  # whatever a stranger's class may raise
        return None
    finally:
        random.setstate(state)
