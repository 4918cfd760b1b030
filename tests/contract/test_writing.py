"""Files are put in place whole; what a killed process left behind goes with the next write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import retrograde._shared.writing
from retrograde._shared.writing import write_whole

# A writer that is stopped, or stops itself, when its draft is complete and not yet in place.
WRITER = """
import os, signal, sys, time
from retrograde._shared import writing
def halt(*arguments):
    print("here", flush=True)
    {halt}
os.replace = halt
writing.write_whole(sys.argv[1], b"from the writer")
"""


def start(path, halt):
    code = textwrap.dedent(WRITER).replace("{halt}", halt)
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout.readline() == "here\n"
    return writer


def test_content_and_permissions(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"one")
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_whole(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)
    assert sorted(os.listdir(tmp_path)) == ["file", "plain"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").write_bytes(b"")
    (tmp_path / "link").symlink_to("there")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "there").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"")
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "file", b"")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of POSIX")
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    for _ in range(3):
        writer = start(path, "os.kill(os.getpid(), signal.SIGKILL)")
        assert writer.wait(30) == -signal.SIGKILL
        writer.stdout.close()
        assert path.read_bytes() == b"old"
        assert len(os.listdir(tmp_path)) == 2  # a later writer clears up after an earlier one
    (tmp_path / ".file.part").write_bytes(b"somebody else's")
    (tmp_path / ".file.0123456789ab.part.txt").write_bytes(b"somebody else's")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == [".file.0123456789ab.part.txt", ".file.part", "file"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of POSIX")
def test_the_draft_of_a_writer_that_lives_stays(tmp_path):
    path = tmp_path / "file"
    writer = start(path, "time.sleep(60)")
    try:
        write_whole(path, b"new")
        assert len(os.listdir(tmp_path)) == 2
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX")
def test_what_only_has_the_name_of_a_draft_stops_nobody(tmp_path):
    """In a folder that others may write to: a pipe that never speaks, a link that leads away."""
    path = tmp_path / "file"
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / f".file.{'a' * 12}.part").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / f".file.{'b' * 12}.part")
    signal.alarm(20)
    try:
        write_whole(path, b"new")
    finally:
        signal.alarm(0)
    assert path.read_bytes() == b"new"
    assert (tmp_path / "other").read_bytes() == b"other"


def test_an_error_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace", "chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(retrograde._shared.writing.os, name, full)
            with pytest.raises(OSError, match="No space left"):
                write_whole(path, b"new")
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["file"]


def test_long_names(tmp_path):
    path = tmp_path / ("n" * 240)
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == [path.name]
