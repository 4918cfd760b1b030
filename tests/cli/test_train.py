"""retrograde train: what it prints and writes, how it resumes, and what it refuses."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from .conftest import SOURCE, Terminal
from .schema import misfits

SMALL = ["--embedding", "2", "--heads", "1", "--context", "4", "--samples", "2"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\n".join(["ab", "ba", "aab", "abba", "bab"] * 4))
    return str(path)


def train(cli, *arguments):
    return cli.main(["train", *arguments])


def arrays(folder):
    with np.load(folder / "checkpoint.npz") as file:
        return {name: file[name].tobytes() for name in file.files}


def test_a_run_says_what_it_did_and_writes_its_files(cli, capsys, tmp_path, text):
    out = tmp_path / "run"
    assert train(cli, text, "--steps", "5", "--out", str(out), *SMALL) == 0
    shown = capsys.readouterr()
    assert "parameters: 3 tokens, embedding 2, 1 head, 1 layer, context 4" in shown.out
    assert "5 of 5 steps" in shown.out
    assert "validation" in shown.out
    assert "made up, at temperature 0.7" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert "\x1b" not in shown.out
    assert sorted(os.listdir(out)) == ["checkpoint.npz", "loss.svg"]
    assert ElementTree.parse(out / "loss.svg").getroot().tag.endswith("svg")


def test_in_a_pipe_it_is_silent_but_for_notes(cli, capsys, tmp_path, text):
    train(cli, text, "--steps", "2", "--out", str(tmp_path / "run"), *SMALL)
    lines = " ".join(capsys.readouterr().err.split())
    assert lines == (
        "note: 4 documents longer than the context of 4, learnt from only as far as it reaches; "
        "--context 5 takes in all"
    )


def test_as_data(cli, capsys, tmp_path, text):
    train(cli, text, "--steps", "4", "--json", "--out", str(tmp_path / "run"), *SMALL)
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    module = importlib.import_module(f"{cli.__name__}.train")
    assert not misfits(report, module.Report)
    assert report["done"] == len(report["losses"]) == 4
    assert len(report["samples"]) == 2
    assert len(report["notices"]) == 1
    assert report["parameters"] == 68
    assert shown.err == ""


def test_on_a_terminal_there_is_a_bar(cli, tmp_path, text, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("TERM", "xterm-256color")
    train(cli, text, "--steps", "3", "--json", "--out", str(tmp_path / "run"), *SMALL)
    printed = stream.getvalue()
    assert "documents/s" in printed
    assert "loss" in printed


def test_going_on_ends_where_a_whole_run_ends(cli, capsys, tmp_path, text):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(cli, text, "--steps", "6", "--every", "2", "--out", str(whole), *SMALL)
    module = importlib.import_module(f"{cli.__name__}.train")
    step = module.Trainer.step

    def stop_after_three(trainer):
        loss = step(trainer)
        if trainer.done == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return loss

    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Trainer, "step", stop_after_three)
        code = train(cli, text, "--steps", "6", "--every", "2", "--out", str(parts), *SMALL)
    shown = capsys.readouterr().out
    assert code == 130
    assert "Interrupted after step 3 of 6, and saved." in shown
    assert f"    retrograde train --resume {parts}\n" in shown
    assert train(cli, "--resume", str(parts), "--every", "2") == 0
    assert "6 of 6 steps, 3 of them now" in capsys.readouterr().out
    assert arrays(parts) == arrays(whole)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_bit(tmp_path):
    sizes = ["--embedding", "8", "--heads", "2", "--samples", "0", "--validation", "0"]
    options = ["--steps", "400", "--every", "20", *sizes]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}

    def command(*arguments):
        return [sys.executable, "-m", "retrograde", "train", *arguments]

    subprocess.run(
        command(*options, "--out", str(tmp_path / "whole")), check=True, env=environment,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    parts = tmp_path / "parts"
    killed = subprocess.Popen(
        command(*options, "--out", str(parts)), env=environment, stdout=subprocess.DEVNULL
    )

    def done():
        file = parts / "checkpoint.npz"
        return json.loads(bytes(np.load(file)["about"]))["done"] if file.exists() else 0

    while not done() and killed.poll() is None:
        time.sleep(0.005)
    killed.kill()
    killed.wait()
    assert 0 < done() <= 400
    subprocess.run(
        command("--resume", str(parts), "--samples", "0"), check=True, env=environment,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert arrays(parts) == arrays(tmp_path / "whole")


def test_a_finished_run_only_samples(cli, capsys, tmp_path, text):
    out = str(tmp_path / "run")
    train(cli, text, "--steps", "2", "--out", out, *SMALL)
    capsys.readouterr()
    assert train(cli, "--resume", out, "--json", "--start", "ab", "--temperature", "0") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["done"] == report["resumed_at"] == 2
    assert len(report["samples"]) == 10
    assert all(sample.startswith("ab") for sample in report["samples"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/missing.txt"], "missing.txt cannot be read: No such file or directory"),
        (["{tmp}"], "cannot be read: Is a directory"),
        (["{empty}"], "has no documents: give a text file with one on each line."),
        (["{text}", "--heads", "3"], "the number of heads must be a divisor of the embedding"),
        (["{text}", "--context", "0"], "the size 'context' must be a whole number from 1 up"),
        (["{text}", "--steps", "0"], "steps must be a whole number from 1 up"),
        (["{text}", "--every", "0"], "every must be a whole number from 1 up"),
        (["{text}", "--samples", "-1"], "samples must be a whole number from 0 up"),
        (["{text}", "--learning-rate", "-1"], "lr must be a number from 0 up"),
        (["{text}", "--validation", "1"], "the share for validation must be"),
        (["{text}", "--start", "xyz"], "the model does not know 'x', 'y', 'z'"),
        (["{text}", "--start", "ab" * 9], "the length of the start must be shorter than the cont"),
        (["{text}", "--temperature", "-1"], "the temperature must be a number from 0 up"),
        (["{text}/folder"], "text file"),
        (["--resume", "{tmp}/nowhere"], "there is no checkpoint at"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_1(cli, capsys, tmp_path, text, arguments, message):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    filled = [a.format(tmp=tmp_path, empty=empty, text=text) for a in arguments]
    out = tmp_path / "run"
    if "--resume" not in filled:
        filled += ["--out", str(out)]
    assert train(cli, *filled) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("retrograde: ")
    assert message in shown.err
    assert not out.exists()


def test_a_finished_run_is_sampled_from_without_writing(cli, tmp_path, text):
    out = tmp_path / "run"
    train(cli, text, "--steps", "2", "--out", str(out), *SMALL)
    files = [out / "checkpoint.npz", out / "loss.svg"]
    before = [(file.stat().st_mtime_ns, file.stat().st_ino) for file in files]
    assert train(cli, "--resume", str(out / "checkpoint.npz"), "--samples", "1") == 0
    assert [(file.stat().st_mtime_ns, file.stat().st_ino) for file in files] == before
    files[1].unlink()
    assert train(cli, "--resume", str(out), "--samples", "1") == 0
    assert files[1].exists()


def test_a_folder_that_cannot_be_written_is_said_before_the_first_step(
    cli, capsys, tmp_path, text, monkeypatch
):
    module = importlib.import_module(f"{cli.__name__}.train")
    monkeypatch.setattr(module.Trainer, "step", lambda trainer: pytest.fail("it began"))
    (tmp_path / "file").write_text("")
    assert train(cli, text, "--out", str(tmp_path / "file" / "run"), *SMALL) == 1
    assert "could not be written: Not a directory" in capsys.readouterr().err


def test_a_run_that_comes_apart_says_so_and_its_last_whole_checkpoint_stays(
    cli, capsys, tmp_path, text
):
    out = tmp_path / "wild"
    wild = [text, "--learning-rate", "1e300", "--steps", "9", "--every", "1", "--out", str(out)]
    assert train(cli, *wild, *SMALL) == 1
    shown = capsys.readouterr()
    assert "training came apart: after " in shown.err
    assert "Use a learning rate below 1e+300" in shown.err
    assert shown.out == ""
    with np.load(out / "checkpoint.npz") as file:
        assert all(np.isfinite(file[name]).all() for name in file.files)


def test_a_run_cannot_end_before_where_it_stands(cli, capsys, tmp_path, text):
    out = str(tmp_path / "run")
    train(cli, text, "--steps", "3", "--out", out, *SMALL)
    capsys.readouterr()
    assert train(cli, "--resume", out, "--steps", "2") == 1
    assert "has taken 3 steps already, so 2 cannot be its last" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["pipe", "/dev/zero", "nowhere", "a\0b", "\ud800\x1b[2J"])
def test_a_checkpoint_cannot_have_anything_read_but_files(cli, capsys, tmp_path, text, source):
    """Where the documents lie is what a file says, and anybody may have written it."""
    if source == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("this system has no named pipes")
        source = str(tmp_path / "pipe")
        os.mkfifo(source)
    out = tmp_path / "run"
    train(cli, text, "--steps", "1", "--out", str(out), *SMALL)
    capsys.readouterr()
    module = importlib.import_module(f"{cli.__name__.partition('.')[0]}.models.checkpoint")
    checkpoint = module.load_checkpoint(out / "checkpoint.npz")
    checkpoint.about["corpus"]["source"] = source
    module.save_checkpoint(out / "checkpoint.npz", checkpoint)
    assert train(cli, "--resume", str(out)) == 1
    told = capsys.readouterr().err
    assert "cannot be read: it is not a file" in told
    assert told.strip().isprintable()


def test_an_earlier_run_is_not_written_over(cli, capsys, tmp_path, text):
    out = str(tmp_path / "run")
    train(cli, text, "--steps", "1", "--out", out, *SMALL)
    capsys.readouterr()
    assert train(cli, text, "--steps", "1", "--out", out, *SMALL) == 1
    assert "exists already. Go on with it by --resume" in capsys.readouterr().err
    assert train(cli, text, "--steps", "1", "--out", out, "--force", *SMALL) == 0


def test_a_run_is_not_turned_into_another(cli, capsys, tmp_path, text):
    out = str(tmp_path / "run")
    train(cli, text, "--steps", "1", "--out", out, *SMALL)
    capsys.readouterr()
    for option, number in (("--embedding", "8"), ("--seed", "1"), ("--validation", "0.3")):
        assert train(cli, "--resume", out, option, number) == 1
        assert f"Leave {option} out" in capsys.readouterr().err
    other = tmp_path / "other.txt"
    other.write_text("abc\nbca\n")
    assert train(cli, str(other), "--resume", out) == 1
    assert "was trained on other documents" in capsys.readouterr().err
    (tmp_path / "run" / "checkpoint.npz").write_bytes(b"PK")
    assert train(cli, "--resume", out) == 1
    assert "is not a whole checkpoint" in capsys.readouterr().err
