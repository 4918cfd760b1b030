"""Training goes on to the bit, and checkpoints survive what disks and users do."""

from __future__ import annotations

import errno
import importlib
import os
import random
import signal
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

NAMES = ["anna", "bob", "clara", "dana", "edgar", "fritz", "greta", "hugo", "ida", "jo"] * 2
SIZES = {"embedding": 2, "heads": 2, "context": 4}


def models(rg):
    return importlib.import_module(f"{rg.__name__}.models")


def make(rg, steps=30, batch=1):
    corpus = models(rg).Corpus("test", 0.0, NAMES[:7], NAMES[7:9], "digest", [])
    return models(rg).Trainer(corpus, SIZES, models(rg).Settings(steps=steps, batch=batch))


def numbers(trainer):
    state = [p.data for p in trainer.model.parameters()]
    return state, trainer.losses, trainer.validated, trainer.done


def check_resumed(rg, tmp_path, at, batch, steps):
    whole = make(rg, steps, batch)
    for _ in range(steps):
        whole.step()
    first = make(rg, steps, batch)
    for _ in range(at):
        first.step()
    first.save(tmp_path / "here.npz")
    again = models(rg).Trainer.resume(tmp_path / "here.npz", first.corpus)
    while again.done < steps:
        again.step()
    assert numbers(again) == numbers(whole)
    assert again.samples(1, 1.0) == whole.samples(1, 1.0)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("at", [0, 1, 6, 7, 8, 29, 30])
def test_a_run_that_was_resumed_has_the_same_bits(native, tmp_path, at, batch):
    check_resumed(native, tmp_path, at, batch, steps=30)


def test_a_run_that_was_resumed_has_the_same_bits_on_both_cores(rg, tmp_path):
    check_resumed(rg, tmp_path, at=4, batch=2, steps=6)


def test_validations_are_kept(rg, tmp_path):
    trainer = make(rg)
    trainer.step()
    loss = trainer.validate()
    trainer.validate()
    trainer.save(tmp_path / "here.npz")
    again = models(rg).Trainer.resume(tmp_path / "here.npz", trainer.corpus)
    assert again.validated == [(1, loss)]


def test_a_longer_run_may_be_asked_for(rg, tmp_path):
    trainer = make(rg, steps=2)
    trainer.step(), trainer.step()
    trainer.save(tmp_path / "here.npz")
    again = models(rg).Trainer.resume(tmp_path / "here.npz", trainer.corpus, steps=5)
    assert again.settings.steps == 5
    again.step()
    assert again.done == 3


def test_every_document_is_seen_once_a_round(rg):
    trainer = make(rg, steps=14)
    seen = []
    trainer._compute = lambda documents: seen.extend(map(tuple, documents)) or 0.0
    for _ in range(14):
        trainer.step()
    assert sorted(seen[:7]) == sorted(seen[7:])
    assert len(set(seen[:7])) == 7
    assert seen[:7] != seen[7:]


def test_the_rate_falls_to_zero(rg):
    trainer = make(rg, steps=4)
    rates = []
    for _ in range(4):
        trainer.step()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.01, 0.0075, 0.005, 0.0025])


@pytest.mark.parametrize("name", ["steps", "batch"])
def test_settings_out_of_range_are_refused(rg, name):
    with pytest.raises(rg.errors.SettingError, match=f"{name} must be"):
        models(rg).Settings(**{name: 0})


# ---- checkpoints ------------------------------------------------------------------------------


def saved(rg, tmp_path):
    trainer = make(rg)
    trainer.step()
    path = tmp_path / "here.npz"
    trainer.save(path)
    return trainer, path


def test_nothing_is_left_beside_a_checkpoint(rg, tmp_path):
    _, path = saved(rg, tmp_path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_is_refused(rg, tmp_path, share):
    trainer, path = saved(rg, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).Trainer.resume(path, trainer.corpus)


def test_an_altered_checkpoint_is_refused(rg, tmp_path):
    trainer, path = saved(rg, tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).Trainer.resume(path, trainer.corpus)


def test_no_alteration_raises_anything_else(native, tmp_path):
    """Flags and versions of the zip, headers of the arrays: their readers raise what they like."""
    trainer, path = saved(native, tmp_path)
    whole, draw = path.read_bytes(), random.Random(1)
    kept = [parameter.data for parameter in trainer.model.parameters()]
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(draw.choice((1, 4, 20))):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        try:
            resumed = models(native).Trainer.resume(path, trainer.corpus)
        except native.errors.CheckpointError:
            continue
        assert [parameter.data for parameter in resumed.model.parameters()] == kept


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_no_checkpoint_is_refused(rg, tmp_path, content):
    path = tmp_path / "here.npz"
    path.write_bytes(content)
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).load_checkpoint(path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).load_checkpoint(path)
    np.save(path.with_suffix(".npy"), np.zeros(3))
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).load_checkpoint(path.with_suffix(".npy"))
    with pytest.raises(rg.errors.CheckpointError, match="there is no checkpoint at"):
        models(rg).load_checkpoint(tmp_path / "nowhere.npz")


def bent(rg, tmp_path, bend):
    """A checkpoint whose content was changed in a way its checksums do not show."""
    trainer, path = saved(rg, tmp_path)
    checkpoint = models(rg).load_checkpoint(path)
    bend(checkpoint)
    importlib.import_module(f"{rg.__name__}.models.checkpoint").save_checkpoint(path, checkpoint)
    return trainer, path


@pytest.mark.parametrize(
    "bend",
    [
        lambda c: c.arrays.update({"model/head.weight": np.zeros((2, 2))}),
        lambda c: c.arrays.pop("model/head.weight"),
        lambda c: c.arrays.update({"optimizer/mean": np.zeros(3)}),
        lambda c: c.about["sizes"].update(embedding=8),
        lambda c: c.about.pop("round"),
        lambda c: c.about["settings"].update(steps=-1),
        lambda c: c.about["sizes"].update(nonsense=8),
        lambda c: c.about["sizes"].update(layers=10**9),
        lambda c: c.about["round"].update(at=10**30),
        lambda c: c.about["round"].update(at=-1),
        lambda c: c.about["round"].update(at=0.5),
        lambda c: c.about["round"].update(at=True),
        lambda c: c.about["round"].update(at=None),
        lambda c: c.about.update(done=10**30),
        lambda c: c.about.update(done=2),
        lambda c: c.about.update(done="1"),
        lambda c: c.about["settings"].update(learning_rate=float("nan")),
        lambda c: c.about["settings"].update(beta2=1.5),
        lambda c: c.about["settings"].update(learning_rate=10**400),
        lambda c: c.about["settings"].update(batch=10**12),
        lambda c: c.about["settings"].update(seed=None),
        lambda c: c.about["round"]["before"][1].__setitem__(0, -1),
        lambda c: c.about["round"]["before"][1].__setitem__(1, 10**30),
        lambda c: c.about["round"].update(before="x"),
        lambda c: c.about.update(settings=None),
        lambda c: c.about["settings"].update(seed=[]),
        lambda c: c.about.update(sizes=[]),
        lambda c: c.about.update(characters="zyx"),
        lambda c: c.about["corpus"].update(source=5),
        lambda c: c.about["corpus"].update(share="x"),
        lambda c: c.arrays["optimizer/square"].__setitem__(0, -1.0),
        lambda c: c.arrays.update({"optimizer/mean": c.arrays["optimizer/mean"] + 0j}),
        lambda c: c.arrays.update(losses=np.zeros(1, "M8[s]")),
        lambda c: c.arrays["model/head.weight"].__setitem__((0, 0), np.nan),
        lambda c: c.arrays["optimizer/mean"].__setitem__(0, np.inf),
        lambda c: c.arrays["optimizer/steps"].__setitem__(0, -2.0),
        lambda c: c.arrays["losses"].__setitem__(0, np.nan),
        lambda c: c.arrays.update(losses=np.zeros((2, 2))),
        lambda c: c.arrays.update(validated=np.array([[1e300, 1.0]])),
        lambda c: c.arrays.update(validated=np.array([[np.nan, 1.0]])),
    ],
)
def test_a_checkpoint_of_another_shape_is_refused(rg, tmp_path, bend):
    trainer, path = bent(rg, tmp_path, bend)
    with pytest.raises(rg.errors.CheckpointError, match="is not a whole checkpoint"):
        models(rg).Trainer.resume(path, trainer.corpus)


def test_what_a_terminal_would_obey_is_not_shown_as_it_is(rg, tmp_path):
    trainer, path = bent(rg, tmp_path, lambda c: c.about["sizes"].update({"\x1b[2J": 1}))
    with pytest.raises(rg.errors.CheckpointError) as raised:
        models(rg).Trainer.resume(path, trainer.corpus)
    assert str(raised.value).isprintable()


def test_a_packed_checkpoint_is_not_unpacked(rg, tmp_path):
    trainer, path = saved(rg, tmp_path)
    arrays = dict(np.load(path))
    np.savez_compressed(path, **arrays, bomb=np.zeros(10_000_000))
    with pytest.raises(rg.errors.CheckpointError, match="it is packed"):
        models(rg).Trainer.resume(path, trainer.corpus)


def test_other_documents_are_refused(rg, tmp_path):
    _, path = saved(rg, tmp_path)
    other = models(rg).Corpus("elsewhere", 0.0, NAMES, [], "another", [])
    with pytest.raises(rg.errors.CheckpointError, match="was trained on other documents"):
        models(rg).Trainer.resume(path, other)


@pytest.mark.parametrize("fails", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_previous_checkpoint(rg, tmp_path, monkeypatch, fails):
    trainer, path = saved(rg, tmp_path)
    before = path.read_bytes()
    trainer.step()

    def full(*arguments, **named):
        raise OSError(errno.ENOSPC, "No space left on device")

    if fails == "write":
        monkeypatch.setattr("builtins.open", full)
    else:
        monkeypatch.setattr(os, fails, full)
    with pytest.raises(rg.errors.CheckpointError) as caught:
        trainer.save(path)
    monkeypatch.undo()
    assert "No space left on device. The previous one is as it was." in str(caught.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_a_disk_that_is_really_full(rg, tmp_path):
    resource = pytest.importorskip("resource", reason="a limit on file sizes needs POSIX")
    trainer, path = saved(rg, tmp_path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(rg.errors.CheckpointError, match="could not be written"):
            trainer.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


# ---- the curve --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("losses", "validated"),
    [
        ([3.0, 2.5, 2.0], [(3, 2.2)]),
        ([], []),
        ([1.0], []),
        ([2.0] * 5, [(5, 2.0)]),
        ([float("nan"), 1.0, float("inf")], [(1, float("nan"))]),
        ([1.0 / (1 + k) for k in range(100_000)], []),
    ],
)
def test_the_curve_is_svg_whatever_the_losses(rg, losses, validated):
    curve = importlib.import_module(f"{rg.__name__}.models.curve")
    text = curve.loss_curve(losses, validated, "a < b")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert "nan" not in text
    assert len(text) < 60_000
