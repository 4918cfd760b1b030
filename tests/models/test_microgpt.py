"""microgpt: its losses and gradients are right, and its parts do what they say."""

from __future__ import annotations

import importlib
import math
import random
from pathlib import Path

import pytest

from ..compat.engines import LocalGradEngine
from .support import ROOT, losses_of_the_example

NAMES = ["anna", "bob", "clara", "dana", "edgar", "fritz", "greta", "hugo", "ida", "jo"]


def models(rg):
    return importlib.import_module(f"{rg.__name__}.models")


def corpus_of(rg, documents):
    return models(rg).Corpus("test", 0.0, documents, [], "digest", [])


def losses_of_the_model(rg, documents, steps, seed, count=None, **sizes):
    trainer = models(rg).Trainer(
        corpus_of(rg, documents), sizes, models(rg).Settings(steps=steps, seed=seed)
    )
    return [trainer.step() for _ in range(count or steps)]


SIZES = {"embedding": 4, "heads": 2, "layers": 1, "context": 8}
STEPS = 50  # on the reference core a few of them


@pytest.fixture(scope="module")
def pure_python():
    """Documents enough for one round, and the losses of the pure-Python form on them."""
    documents = (ROOT / "src/retrograde/models/names.txt").read_text().split()[:600:10]
    return documents, losses_of_the_example(LocalGradEngine, documents, STEPS, 7, **SIZES)


@pytest.mark.slow
def test_fifty_steps_have_the_losses_of_the_pure_python_form(rg, pure_python):
    documents, expected = pure_python
    count = STEPS if rg.value.core_name == "native" else 10
    mine = losses_of_the_model(rg, documents, STEPS, 7, count, **SIZES)
    assert mine == pytest.approx(expected[:count], abs=1e-9)


@pytest.mark.slow
def test_the_example_on_our_values_has_them_too(native, pure_python):
    documents, expected = pure_python
    mine = losses_of_the_example(native.Value, documents, STEPS, 7, **SIZES)
    assert mine == pytest.approx(expected, abs=1e-9)


def test_two_layers_and_other_sizes_too(native):
    sizes = {"embedding": 6, "heads": 3, "layers": 2, "context": 4}
    expected = losses_of_the_example(LocalGradEngine, NAMES, 8, 3, **sizes)
    assert losses_of_the_model(native, NAMES, 8, 3, **sizes) == pytest.approx(expected, abs=1e-9)


def test_the_gradients_are_pytorchs(rg):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    shape = models(rg).Shape(5, embedding=8, heads=2, layers=2, context=6)
    model = models(rg).GPT(shape, seed=3)
    draw = random.Random(9)
    for parameter in model.parameters():
        parameter.data = draw.gauss(0.0, 0.3)
    tokens = [4, 0, 2, 1, 1, 3, 4]
    p = {
        name: torch.tensor(array, requires_grad=True) for name, array in model.state_dict().items()
    }

    def norm(x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()

    count = len(tokens) - 1
    x = norm(p["token.weight"][tokens[:-1]] + p["position.weight"][:count])
    for at in range(2):
        name = f"blocks.{at}"
        h = norm(x)
        q, k, v = (
            (h @ p[f"{name}.attention.{part}.weight"].T).reshape(count, 2, 4).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        mixed = mixed.transpose(0, 1).reshape(count, 8)
        x = x + mixed @ p[f"{name}.attention.output.weight"].T
        h = torch.relu(norm(x) @ p[f"{name}.up.weight"].T) ** 2
        x = x + h @ p[f"{name}.down.weight"].T
    expected = torch.nn.functional.cross_entropy(x @ p["head.weight"].T, torch.tensor(tokens[1:]))
    expected.backward()
    loss = model.loss(tokens)
    assert loss.data == pytest.approx(expected.item(), abs=1e-13)
    loss.backward()
    for name, tensor in p.items():
        nest = model
        for part in name.split("."):
            nest = nest[int(part)] if part.isdigit() else getattr(nest, part)
        assert rg.grads(nest) == pytest.approx(tensor.grad.numpy(), abs=1e-12)


def test_the_parameters_are_named_and_counted(rg):
    shape = models(rg).Shape(27)
    model = models(rg).GPT(shape, seed=0)
    assert len(model.parameters()) == shape.parameters == 4192
    assert model.blocks[0].attention.query.weight[2][3].label == (
        "blocks.0.attention.query.weight[2][3]"
    )
    shape = models(rg).Shape(5, embedding=6, heads=3, layers=2, context=7)
    assert len(models(rg).GPT(shape).parameters()) == shape.parameters


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ({"vocabulary": 1}, "the size 'vocabulary' must be a whole number from 2 up"),
        ({"vocabulary": 5, "embedding": 0}, "the size 'embedding' must be"),
        ({"vocabulary": 5, "heads": 3}, "a divisor of the embedding, 16"),
        ({"vocabulary": 5, "context": -1}, "the size 'context' must be"),
        ({"vocabulary": 5, "layers": 1.5}, "the size 'layers' must be"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(rg, sizes, text):
    with pytest.raises(rg.errors.SettingError) as caught:
        models(rg).Shape(**sizes)
    assert text in str(caught.value)


def test_a_batch_is_the_mean_of_its_documents(rg):
    model = models(rg).GPT(models(rg).Shape(4, **SIZES), seed=1)
    training = importlib.import_module(f"{rg.__name__}.models.training")
    step = training.EagerStep(model)
    documents = [[3, 0, 1, 3], [3, 2, 2, 2, 3]]
    single = [(step([d]), rg.grads(model)) for d in documents]
    loss = step(documents)
    assert loss == pytest.approx((single[0][0] + single[1][0]) / 2)
    assert rg.grads(model) == pytest.approx((single[0][1] + single[1][1]) / 2, abs=1e-16)


def test_sampling_follows_the_shares_and_the_temperature(native):
    rg = native
    model = models(rg).GPT(models(rg).Shape(3, embedding=4, heads=1, context=2), seed=1)
    for row, number in zip(model.head.weight, (4.0, 2.0, -9.0)):
        for weight in row:
            weight.data = number
    for row in model.token.weight:
        for weight in row:
            weight.data = 1.0
    draw = random.Random(1)
    firsts = [model.sample(2, draw, 8.0)[0] for _ in range(300)]
    share = firsts.count(0) / len(firsts)
    assert share == pytest.approx(1 / (1 + math.exp(-1.0)), abs=0.08)
    assert {tuple(model.sample(2, draw, 0.0)) for _ in range(5)} == {(0, 0)}
    assert model.sample(2, draw, 0.0, start=[1]) == [1, 0]
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(rg.errors.SettingError, match="temperature"):
            model.sample(2, draw, wrong)
    with pytest.raises(rg.errors.SettingError, match="shorter than the context"):
        model.sample(2, draw, 1.0, start=[1, 1])


def test_sampling_leaves_no_gradient_and_no_graph(rg):
    model = models(rg).GPT(models(rg).Shape(3, embedding=4, heads=1, context=4), seed=1)
    model.sample(2, random.Random(0), 1.0)
    assert not any(parameter.grad for parameter in model.parameters())


def test_tokens_and_back(rg):
    tokenizer = models(rg).Tokenizer.of(NAMES)
    for name in NAMES:
        assert tokenizer.text(tokenizer.document(name)) == name
    assert tokenizer.count == len(set("".join(NAMES))) + 1
    with pytest.raises(rg.errors.TokenError) as caught:
        tokenizer.tokens("anna7Z")
    assert "'7', 'Z'" in str(caught.value)


# ---- documents --------------------------------------------------------------------------------


def test_the_names_that_ship(rg):
    corpus = models(rg).read_corpus()
    assert len(corpus.documents) == len(set(corpus.documents)) >= 2000
    assert set("".join(corpus.documents)) == set("abcdefghijklmnopqrstuvwxyz")
    assert max(map(len, corpus.documents)) < 16
    assert len(corpus.validation) == 200
    assert not corpus.notices
    assert not set(corpus.validation) & set(corpus.training)


def write(tmp_path, content):
    path = tmp_path / "text.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def test_lines_are_documents_and_blank_ones_are_not(rg, tmp_path):
    corpus = models(rg).read_corpus(write(tmp_path, "\ufeffone\r\n\n  two \n\nthree"), 0.0)
    assert corpus.documents == ["one", "two", "three"]


@pytest.mark.parametrize("content", ["", "\n\n  \n", "\ufeff"])
def test_an_empty_file_is_refused(rg, tmp_path, content):
    with pytest.raises(rg.errors.CorpusError, match="has no documents"):
        models(rg).read_corpus(write(tmp_path, content))


def test_what_cannot_be_read_is_refused(rg, tmp_path):
    with pytest.raises(rg.errors.CorpusError, match="not UTF-8 text: byte 2"):
        models(rg).read_corpus(write(tmp_path, b"ab\xff\xfe"))
    with pytest.raises(rg.errors.CorpusError, match="cannot be read"):
        models(rg).read_corpus(str(tmp_path))
    with pytest.raises(rg.errors.SettingError, match="share for validation"):
        models(rg).read_corpus(None, validation=1.0)


def test_a_file_of_one_character_can_be_learnt(rg, tmp_path):
    corpus = models(rg).read_corpus(write(tmp_path, "x"))
    assert corpus.notices == ["1 document: too few to set any aside for validation"]
    trainer = models(rg).Trainer(
        corpus, {"embedding": 2, "heads": 1, "context": 3}, models(rg).Settings(steps=60)
    )
    losses = [trainer.step() for _ in range(60)]
    assert losses[-1] < losses[0]
    assert trainer.validate() is None
    assert trainer.samples(1, 0.0) == ["x"]


def test_the_example_is_short_and_stands_alone():
    text = (ROOT / "examples" / "microgpt.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    assert "from retrograde import Value\n" in text
    assert text.count("retrograde") <= 4
    assert Path(ROOT / "src/retrograde/models/names.txt").exists()


def test_a_compiled_step_is_the_eager_one(native):
    """Documents of several lengths, one longer than the context, one of them twice."""
    rg = native
    training = importlib.import_module(f"{rg.__name__}.models.training")
    model = models(rg).GPT(models(rg).Shape(4, **SIZES), seed=1)
    documents = [[3, 0, 1, 3], [3, 2, 2, 2, 3], [3, 1, 0, 3], [3, *([1, 2, 0] * 6), 3]]
    eager, compiled = training.EagerStep(model), training.CompiledStep(model)
    for batch in ([documents[0]], documents, documents[1:]):
        loss, slopes = eager(batch), rg.grads(model)
        assert compiled(batch) == pytest.approx(loss, rel=1e-14)
        assert rg.grads(model) == pytest.approx(slopes, abs=1e-15)


def test_training_compiled_gives_the_losses_of_eager_training(native):
    models_ = models(native)
    training = importlib.import_module(f"{native.__name__}.models.training")
    corpus = models_.read_corpus()

    def losses(compiled):
        settings = training.Settings(steps=6, batch=3, compiled=compiled)
        trainer = training.Trainer(corpus, {"embedding": 4, "heads": 2, "context": 4}, settings)
        return [trainer.step() for _ in range(6)]

    assert losses(True) == pytest.approx(losses(False), abs=1e-9)
