"""Ledgers of tensors: use by use bit for bit, of one number term by term, and through tensors."""

from __future__ import annotations

from math import fsum

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F
from torch import nn

import retrograde as rg


class Everything(nn.Module):
    """One layer of each kind that has a rule of its own."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 6)
        self.linear = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.conv = nn.Conv2d(1, 3, 3, padding=1, stride=1)
        self.batch = nn.BatchNorm2d(3)
        self.prelu = nn.PReLU(3)
        self.head = nn.Linear(3 * 5 * 6, 7)

    def forward(self, tokens):
        x = self.norm(self.linear(self.embed(tokens)))
        x = x @ self.embed.weight.T @ self.embed.weight  # a second and a third use
        x = self.prelu(self.batch(self.conv(x[:, None])))
        return F.cross_entropy(self.head(x.flatten(1)), tokens[:, 0])


@pytest.fixture(scope="module")
def whole():
    torch.manual_seed(0)
    model = Everything()
    tokens = torch.randint(0, 7, (4, 5))
    loss = model(tokens)
    loss.backward(retain_graph=True)
    return model, loss


NAMES = [name for name, _ in Everything().named_parameters()]


@pytest.mark.parametrize("name", NAMES)
def test_uses_add_up_to_the_gradient_bit_for_bit(whole, name):
    model, loss = whole
    parameter = dict(model.named_parameters())[name]
    kept = parameter.grad.clone()
    account = rg.torch.ledger(loss, parameter, name=name)
    assert account.exact
    assert fsum(use.share for use in account.uses) == pytest.approx(1.0, abs=1e-4)
    assert account.gradient.norm == pytest.approx(parameter.grad.norm().item(), rel=1e-5)
    assert torch.equal(parameter.grad, kept)  # nothing was changed
    assert len(account.uses) == (3 if name == "embed.weight" else 1)


@pytest.mark.parametrize("name", NAMES)
def test_terms_of_one_number_add_up(whole, name):
    model, loss = whole
    parameter = dict(model.named_parameters())[name]
    flat = int(parameter.grad.abs().argmax())
    index = tuple(int(k) for k in torch.unravel_index(torch.tensor(flat), parameter.shape))
    account = rg.torch.ledger(loss, parameter, index, name=name)
    own = parameter.grad[index].item()
    assert account.gradient == own
    assert fsum(entry.amount for entry in account.entries) == pytest.approx(own, abs=1e-12)
    terms = [entry for entry in account.entries if entry.name != "float32 rounding"]
    rounding = fsum([own, *(-entry.amount for entry in terms)])
    assert abs(rounding) < 1e-5 * account.absolute + 1e-9
    told = [entry.amount for entry in account.entries[len(terms) :]]
    assert told == ([rounding] if rounding else [])  # the last line, where there is any
    for entry in account.entries[:3]:
        assert entry.partial * entry.upstream == pytest.approx(entry.amount)


def test_a_term_names_sample_and_position():
    torch.manual_seed(0)
    embed, tokens = nn.Embedding(5, 4), torch.tensor([[1, 2, 1], [3, 1, 4]])
    loss = embed(tokens).pow(2).sum()
    account = rg.torch.ledger(loss, embed.weight, (1, 2))
    assert {entry.name for entry in account.entries[:3]} == {
        "sample 0, position 0", "sample 0, position 2", "sample 1, position 1",
    }  # fmt: skip


def test_any_op_is_taken_apart_by_masking():
    torch.manual_seed(0)
    w = torch.randn(4, requires_grad=True)
    x = torch.randn(6, 4)
    loss = torch.erf(x * w).sum(1).pow(2).sum()
    account = rg.torch.ledger(loss, w, (2,))
    assert account.routes == 6
    (gradient,) = torch.autograd.grad(loss, w)
    assert fsum(e.amount for e in account.entries) == pytest.approx(gradient[2].item(), rel=1e-6)


def test_routes_are_grouped_by_the_tensors_they_meet_first():
    torch.manual_seed(0)
    w = torch.randn(5, requires_grad=True)
    a, b = torch.tanh(w), torch.sigmoid(w)
    loss = (a * b).sum() + w.sum()
    account = rg.torch.ledger(loss, w, through={"a": a, "b": b}, name="w")
    names = {use.group: use.share for use in account.uses}
    assert set(names) == {"a", "b", "none of these"}
    assert sum(names.values()) == pytest.approx(1.0, abs=1e-5)
    with torch.no_grad():
        by_a = b * (1 - a * a)
    whole = torch.autograd.grad(loss, w)[0]
    assert names["a"] == pytest.approx(float(by_a @ whole / (whole @ whole)), rel=1e-4)
    assert account.words().startswith("w learns ")
