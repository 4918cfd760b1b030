"""Programs as they come: watched, they compute what they compute alone, bit for bit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import retrograde as rg

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def trainer(model, batch, loss_of, optimizer=None):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(*batch))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


def mean_square(output):
    return (output[0] if isinstance(output, tuple) else output).pow(2).mean()


@program
def modules():
    return trainer(
        nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)),
        (torch.randn(9, 4),),
        mean_square,
    )


@program
def lstm():
    return trainer(
        nn.LSTM(8, 16, num_layers=2, batch_first=True), (torch.randn(4, 10, 8),), mean_square
    )


@program
def encoder_with_dropout():
    model = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1)
    return trainer(model, (torch.randn(3, 7, 16),), mean_square)


def checkpointed(reentrant):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.c = nn.Linear(8, 8), nn.Linear(8, 1)
            self.b = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 8))

        def forward(self, x):
            return self.c(checkpoint(self.b, torch.relu(self.a(x)), use_reentrant=reentrant))

    return trainer(Net(), (torch.randn(16, 8),), mean_square)


@program
def checkpoint_new():
    return checkpointed(False)


@program
def checkpoint_reentrant():
    return checkpointed(True)


@program
def functional():
    holder = nn.Module()
    holder.w = nn.Parameter(torch.randn(4, 1))
    x, y = torch.randn(16, 4), torch.randn(16, 1)

    def step():
        loss = (x @ holder.w - y).pow(2).mean()
        loss.backward()
        holder.w.data -= 0.1 * holder.w.grad
        holder.w.grad = None
        return loss.detach()

    return holder, step


@program
def amp_with_scaler():
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    x, y = torch.randn(32, 16), torch.randint(0, 4, (32,))

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return model, step


@program
def accumulation():
    model = nn.Linear(4, 1)
    optimizer, x, count = torch.optim.SGD(model.parameters(), lr=0.1), torch.randn(8, 4), [0]

    def step():
        loss = model(x).pow(2).mean()
        loss.backward()
        count[0] += 1
        if count[0] % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach()

    return model, step


@program
def custom_function():
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, upstream):
            (x,) = ctx.saved_tensors
            return upstream * x.exp()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return Exp.apply(self.inner(x))

    return trainer(Net(), (torch.randn(8, 4),), lambda out: out.mean())


@program
def double_backward():
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        x = torch.randn(8, 4, requires_grad=True)
        optimizer.zero_grad()
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = (slope.norm(dim=1) - 1).pow(2).mean() + model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


@program
def hooks():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    model[0].weight.register_hook(lambda grad: grad * 0.5)
    model[1].register_full_backward_hook(lambda module, given, received: None)
    model[2].register_forward_hook(lambda module, inputs, output: output * 1.5)
    return trainer(model, (torch.randn(9, 4),), mean_square)


@program
def vmap():
    from torch.func import functional_call, grad
    from torch.func import vmap as mapped

    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        parameters = dict(model.named_parameters())
        each = mapped(grad(lambda p, x: functional_call(model, p, (x,)).pow(2).sum()), (None, 0))(
            parameters, x
        )
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach() + each["weight"].sum().detach()

    return model, step


@program
def lbfgs():
    model, x, y = nn.Linear(4, 1), torch.randn(16, 4), torch.randn(16, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5)

    def step():
        def closure():
            optimizer.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            return loss

        return optimizer.step(closure).detach()

    return model, step


@program
def gan():
    maker = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    judge = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    both = nn.ModuleList([maker, judge])
    first, second = (torch.optim.Adam(net.parameters(), lr=1e-3) for net in (maker, judge))

    def step():
        noise, real = torch.randn(16, 4), torch.randn(16, 2)
        second.zero_grad()
        seen = F.softplus(judge(maker(noise).detach())).mean() + F.softplus(-judge(real)).mean()
        seen.backward()
        second.step()
        first.zero_grad()
        made = F.softplus(-judge(maker(noise))).mean()
        made.backward()
        first.step()
        return (seen + made).detach()

    return both, step


@program
def loader_with_workers():
    from torch.utils.data import DataLoader, TensorDataset

    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(16, 4), torch.randn(16, 1))

    def step():
        for x, y in DataLoader(data, batch_size=8, num_workers=1):
            optimizer.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            optimizer.step()
        return loss.detach()

    return model, step


@program
def sparse_embedding():
    model = nn.Embedding(50, 8, sparse=True)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
    return trainer(model, (torch.randint(0, 50, (10,)),), mean_square, optimizer)


@program
def device_context():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        with torch.device("cpu"):
            x = torch.randn(8, 4)
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


@program
def complex_numbers():
    model = nn.Linear(4, 4, dtype=torch.complex64)
    x = torch.randn(8, 4, dtype=torch.complex64)
    return trainer(
        model,
        (x,),
        lambda out: out.abs().pow(2).mean(),
        torch.optim.SGD(model.parameters(), lr=0.01),
    )


@program
def one_parameter():
    model = nn.Linear(1, 1, bias=False)
    return trainer(model, (torch.randn(8, 1),), mean_square)


def run(make, watching, steps=5):
    torch.manual_seed(0)
    model, step = make()
    watch = None
    if watching is None:
        losses = [float(step()) for _ in range(steps)]
    else:
        with rg.torch.watch(model, examine=watching) as watch:
            losses = [float(step()) for _ in range(steps)]
    return losses, [p.detach().clone() for p in model.parameters()], watch


@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_watching_changes_no_bit(name):
    losses, numbers, _ = run(PROGRAMS[name], None)
    for examine in (lambda n: True, lambda n: n % 2 == 0):
        seen, others, watch = run(PROGRAMS[name], examine)
        assert seen == losses
        assert all(map(torch.equal, numbers, others))
        report = watch.report()
        assert report.healthy, report.text()
        graph = watch.last
        inner = [i for i in range(len(graph)) if graph.name(i) != "leaf"]
        assert sum(graph.site(i) is not None for i in inner) >= 0.99 * len(inner)


@pytest.mark.slow
@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
def test_compiled_code_is_compiled_no_second_time():
    import torch._dynamo as dynamo

    dynamo.reset()
    dynamo.utils.counters.clear()

    def compiled():
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        fast = torch.compile(model, backend="aot_eager")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x, y = torch.randn(32, 16), torch.randint(0, 4, (32,))

        def step():
            optimizer.zero_grad()
            loss = F.cross_entropy(fast(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, step

    try:
        losses, numbers, _ = run(compiled, None)
        graphs = dynamo.utils.counters["stats"]["unique_graphs"]
        torch.manual_seed(0)
        model, step = compiled()
        own = [float(step()) for _ in range(2)]
        graphs = dynamo.utils.counters["stats"]["unique_graphs"]
        with rg.torch.watch(model, examine=lambda n: True) as watch:
            own += [float(step()) for _ in range(3)]
        assert own == losses
        assert all(map(torch.equal, numbers, model.parameters()))
        assert dynamo.utils.counters["stats"]["unique_graphs"] == graphs
        assert not dynamo.utils.counters["graph_break"]
        assert watch.report().healthy
    finally:
        dynamo.reset()


class Partly(nn.Module):
    """A model of which one part is compiled."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 4)
        self.fast = torch.compile(self.last, backend="aot_eager")

    def forward(self, x):
        return self.fast(torch.tanh(self.first(x)))


def compiled_part():
    model = Partly()
    return model, model


def compiled_whole():
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
    return model, torch.compile(model, backend="aot_eager")


def compiled_function():
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
    return model, torch.compile(lambda x: model(x) * 2.0, backend="aot_eager")


def broken_function():
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))

    def forward(x):
        hidden = model[1](model[0](x))
        torch._dynamo.graph_break()
        return model[2](hidden)

    return model, torch.compile(forward, backend="aot_eager")


@pytest.mark.slow
@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make", [compiled_part, compiled_whole, compiled_function, broken_function]
)
@pytest.mark.parametrize("before", [0, 2])  # steps before the watch begins
def test_compiled_programs_are_watched_with_their_lines(make, before):
    import torch._dynamo as dynamo

    x, y = torch.linspace(-1, 1, 512).reshape(32, 16), torch.arange(32) % 4

    def losses(watched):
        dynamo.reset()
        dynamo.utils.counters.clear()
        torch.manual_seed(0)
        model, forward = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step():
            optimizer.zero_grad()
            loss = F.cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            return float(loss.detach())

        found, watch = [step() for _ in range(before)], None
        if watched:
            with rg.torch.watch(model, examine=lambda n: True) as watch:
                found += [step() for _ in range(4)]
        else:
            found += [step() for _ in range(4)]
        counters = dynamo.utils.counters
        breaks = sum(counters["graph_break"].values())
        return (found, counters["stats"]["unique_graphs"], breaks, list(model.parameters())), watch

    try:
        (*plain, numbers), _ = losses(False)
        (*seen, others), watch = losses(True)
    finally:
        dynamo.reset()
    assert seen == plain
    assert all(map(torch.equal, numbers, others))
    assert watch.report().healthy
    graph = watch.last
    assert all(graph.site(i) is not None for i in range(len(graph)) if graph.name(i) != "leaf")


@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
def test_lines_are_followed_after_something_else_was_compiled():
    import torch._dynamo as dynamo

    try:
        torch.compile(lambda x: x * 2.0, backend="eager")(torch.ones(3))
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        with rg.torch.watch(model) as watch:
            F.cross_entropy(model(torch.ones(5, 4)), torch.zeros(5).long()).backward()
    finally:
        dynamo.reset()
    graph = watch.last
    assert all(graph.site(i) is not None for i in range(len(graph)) if graph.name(i) != "leaf")
