"""``backend="cuda"`` on an emulated device: the same kernels as C, the rest as it is."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import retrograde as rg
from retrograde.errors import BackendWarning, PrintingError, RowsError, TakeError
from retrograde.printing.cuda import backend, cupy_driver, driver, streaming

from .emulated_driver import Emulated, Foreign, OnDevice, on_device
from .support import needs_compiler, same_bits
from .test_c_source import asian, draws, forked

pytestmark = needs_compiler


def black_scholes(S, K, r, sigma, T):
    spread = sigma * rg.sqrt(T)
    d1 = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
    return S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d1 - spread)


def heston(z, w, v0, kappa, theta, xi, rho, T):
    step = T / len(z)
    s, v = rg.log(100.0 * rg.exp(0.0 * v0)), v0
    for i in range(len(z)):
        there = rg.maximum(v, 0.0)
        root = rg.sqrt(there + 1e-12)
        s = s - 0.5 * there * step + root * rg.sqrt(step) * z[i]
        v = (
            v
            + kappa * (theta - there) * step
            + xi * root * rg.sqrt(step) * (rho * z[i] + rg.sqrt(1 - rho * rho) * w[i])
        )
    return rg.maximum(rg.exp(s) - 100.0, 0.0)


def options(rows):
    draw = np.random.default_rng(4)
    bounds = ((80, 120), (80, 120), (0, 0.08), (0.1, 0.5), (0.1, 2))
    return [draw.uniform(*each, rows) for each in bounds]


@pytest.fixture(autouse=True)
def _native(native):
    """Plans are the native core's."""


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """A device of any kind in the place of a GPU."""

    devices = []

    def made(**kind):
        device = Emulated(tmp_path, **kind)
        devices.append(device)
        monkeypatch.setattr(backend, "driver", lambda: device)
        return device

    yield made
    assert not any(device.overrun for device in devices)


def there(nest):
    """Arrays on the device; numbers as they are."""
    if isinstance(nest, dict):
        return {key: there(part) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)([there(part) for part in nest])
    return on_device(nest) if isinstance(nest, np.ndarray) else nest


def flat(nest):
    """All numbers of a result, one after another; arrays lie where they should."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        return np.concatenate([flat(part) for part in nest])
    return np.asarray(nest).view(np.ndarray).reshape(-1)


def everything(function, arguments, wrt=None):
    """What a call can ask of a function with one result."""
    draw = np.random.default_rng(2)
    rows = next((len(a) for a in arguments if isinstance(a, np.ndarray)), 1)
    weights = draw.normal(size=rows)
    if any(isinstance(a, OnDevice) for a in arguments):
        weights = on_device(weights)
    yield function(*arguments)
    yield function.value_and_grad(*arguments, wrt=wrt)
    yield function.value_and_grad(*arguments, wrt=wrt, reduce="sum")
    yield function.value_and_grad(*arguments, wrt=wrt, weights=weights, reduce="mean")
    yield function.value_and_grad(*arguments, wrt=wrt, weights=weights)
    yield function.jacobian(*arguments, wrt=wrt)


CASES = {
    "options": (black_scholes, lambda: options(2500), None),
    "loop": (asian, lambda: [draws(2100, 21), 100.0, 100.0, 0.03, 0.2, 1.0], None),
    "long loop": (asian, lambda: [draws(1030, 75), 100.0, 100.0, 0.03, 0.2, 1.0], ("S0", "K")),
    "two arrays": (
        heston, lambda: [draws(1100, 40), draws(1100, 40, seed=5), 0.04, 1.5, 0.04, 0.3, -0.7, 1.0],
        ("z", "v0", "kappa", "T"),
    ),
    "branches": (forked, lambda: [draws(3000), draws(3000, seed=1)], None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("place", ["host", "device"])
def test_it_has_the_bits_of_the_cpu(emulated, name, place):
    device = emulated()
    function, arguments, wrt = CASES[name]
    given = arguments()
    expected = list(everything(rg.compile(function), given, wrt))
    fast = rg.compile(function, backend="cuda")
    if place == "device":
        given = there(given)
    for _ in range(2):
        for found, wanted in zip(everything(fast, given, wrt), expected):
            same_bits(flat(found), flat(wanted))
    assert any(kernel == "rg_program_rows" for kernel, _ in device.launched)
    assert fast._target.words.startswith(f"cuda: {fast._target.done} plans compiled; a device")


@pytest.mark.parametrize("place", ["host", "device"])
def test_functions_whose_kernels_are_the_same(emulated, place):
    emulated()
    one, two = (rg.compile(lambda x, a: rg.exp(-x) * a, backend="cuda") for _ in range(2))
    given = [(draws(1100, seed=seed), 0.5 + seed) for seed in range(2)]
    plain = rg.compile(lambda x, a: rg.exp(-x) * a)
    expected = [plain.value_and_grad(*each) for each in given]
    if place == "device":
        given = [there(list(each)) for each in given]
    for _ in range(3):
        for function, arguments, wanted in zip((one, two), given, expected):
            same_bits(flat(function.value_and_grad(*arguments)), flat(wanted))


def test_pieces_wait_for_what_the_caller_left_running(emulated):
    device, happened = emulated(), []
    wait, copy = device.wait, device.copy
    device.wait = lambda stream, mark: happened.append((stream, mark)) or wait(stream, mark)
    device.copy = lambda *given: happened.append((given[-1], None)) or copy(*given)
    fast, x = rg.compile(lambda x, a: rg.exp(-x) * a, backend="cuda"), draws(1100)
    fast(x, 0.5)
    there, compute, home = fast._target.streams
    for rows in (on_device(x), x, x):
        happened.clear()
        fast.value_and_grad(rows, 0.7)
        if rows is x:
            assert happened[0] == (there, device.current())
            known = {there}
            for stream, mark in happened:
                assert stream in known or mark in known  # after the caller's work, by way of others
                known.add(stream)
            assert known == {there, compute, home}


def test_uniform_numbers_are_computed_apart_for_each_kind_of_columns(emulated):
    device = emulated()
    plain = rg.compile(lambda x, a: rg.exp(-x) * (a * a))
    fast, x = rg.compile(plain._function, backend="cuda"), on_device(draws(2200))
    for rows in (x[:1100], x[::2]):
        same_bits(flat(fast(rows, 0.5)), flat(plain(flat(rows), 0.5)))
    assert ("RG_PACKED=1",) in device.modules
    assert () in device.modules
    assert len({at for kernel, at in device.launched if kernel == "rg_program_once"}) == 2


def test_results_come_in_the_library_of_the_first_array(emulated):
    emulated()
    fast = rg.compile(black_scholes, backend="cuda")
    given = options(1500)
    value, slopes = fast.value_and_grad(*map(Foreign, given))
    expected = rg.compile(black_scholes).value_and_grad(*given)
    assert isinstance(value, Foreign)
    for one, two in zip((value, *slopes), (expected[0], *expected[1])):
        assert isinstance(one, Foreign)
        same_bits(one.array.view(np.ndarray), two)


def test_arrays_are_read_where_they_lie(emulated):
    device = emulated()
    fast = rg.compile(lambda x, y: x * y, backend="cuda")
    x, y = on_device(draws(4000)), on_device(draws(4000, seed=3))
    fast(x, y)
    device.launched.clear()
    copied = []
    before, device.copy = (
        device.copy,
        lambda to, start, size, stream: copied.append(size) or before(to, start, size, stream),
    )
    found = fast(x[::2], y[:2000])
    assert max(copied, default=0) < 1000
    same_bits(
        found.view(np.ndarray), np.asarray(x[::2]).view(np.ndarray) * y[:2000].view(np.ndarray)
    )
    assert ("RG_PACKED=1",) in device.modules
    assert () in device.modules


def test_nests_and_integers_and_columns_of_other_arrays(emulated):
    emulated()

    def function(parts, i, w):
        total = 0.0
        for part in parts["legs"]:
            total = total + rg.exp(part * w) * i
        return total

    legs = [draws(1300, seed=n) for n in range(25)]
    given = ({"legs": legs}, np.arange(1300), 0.3)
    plain = rg.compile(function)
    fast = rg.compile(function, backend="cuda")
    same_bits(flat(fast(*given)), plain(*given))
    for one, two in zip(
        everything(fast, there(list(given)), ("parts", "w")),
        everything(plain, list(given), ("parts", "w")),
    ):
        same_bits(flat(one), flat(two))


def test_products_with_the_hessian(emulated):
    emulated()
    given = [draws(1200, 3), draws(1200)]

    def function(v, a):
        return v[0] ** 2 * v[1] * rg.exp(v[2] * a)

    plain, fast = rg.compile(function), rg.compile(function, backend="cuda")
    vector = (draws(1200, 3, seed=8), 0.5)
    expected = plain.hvp(*given, vector=(vector[0], draws(1200)), wrt=("v", "a"))
    found = fast.hvp(*there(given), vector=there((vector[0], draws(1200))), wrt=("v", "a"))
    same_bits(flat(found), flat(expected))
    same_bits(flat(fast.hessian(*there(given))), flat(plain.hessian(*given)))
    with pytest.raises(RowsError, match=r"vector lies on the host, and v on a GPU"):
        fast.hvp(*there(given), vector=(vector[0], draws(1200)), wrt=("v", "a"))


def test_uniform_vectors_of_products(emulated):
    emulated()
    function, x = lambda x, a: rg.exp(a * x), draws(1100)
    expected = rg.compile(function).hvp(x, 0.5, vector=(x, 2.0))
    found = rg.compile(function, backend="cuda").hvp(on_device(x), 0.5, vector=(on_device(x), 2.0))
    same_bits(flat(found), flat(expected))


def test_parameters_that_are_captured(emulated):
    emulated()
    weight = rg.Value(0.4)

    def loss(x):
        return (rg.tanh(weight * x) - 0.1) ** 2

    x = draws(2500)
    plain, fast = rg.compile(loss), rg.compile(loss, backend="cuda")
    for given in (x, on_device(x)):
        weight.grad = 0.0
        expected = plain.backward(x), weight.grad
        weight.grad = 0.0
        assert (fast.backward(given), weight.grad) == expected
    weight.data = 0.7
    same_bits(flat(fast(on_device(x))), plain(x))


def test_rows_that_leave_the_trace_and_nan(emulated):
    emulated()

    def walk(x, barrier):
        total = x
        for _ in range(6):
            if total > barrier:
                return total * 0.5
            total = total + rg.exp(0.2 * x)
        return total * total

    x = draws(5000)
    x[::7] = math.nan
    x[3::11] = math.inf
    plain, fast = rg.compile(walk), rg.compile(walk, backend="cuda")
    for given, barrier in ((x, 1.0), (on_device(x), 1.0), (on_device(x), 3.0), (x[:1100], -1.0)):
        host = np.asarray(given).view(np.ndarray)
        for one, two in zip(everything(fast, [given, barrier]), everything(plain, [host, barrier])):
            same_bits(flat(one), flat(two))
    assert len(fast.traces) >= 7


def test_an_index_out_of_range(emulated):
    emulated()
    weights = [rg.Value(0.1 * i) for i in range(5)]
    fast = rg.compile(lambda i, x: rg.take(weights, i) * x, backend="cuda")
    i, x = np.arange(3000.0) % 5, draws(3000)
    same_bits(flat(fast(on_device(i), on_device(x))), rg.compile(fast._function)(i, x))
    i[1700] = 5.0
    for given in ((i, x), (on_device(i), on_device(x))):
        with pytest.raises(TakeError):
            fast(*given)


def test_little_memory_means_fewer_rows_at_once(emulated):
    device = emulated(room=60_000)
    given = [draws(20_000, 5), 100.0, 100.0, 0.03, 0.2, 1.0]
    expected = rg.compile(asian).value_and_grad(*given, reduce="sum")
    fast = rg.compile(asian, backend="cuda")
    same_bits(flat(fast.value_and_grad(*given, reduce="sum")), flat(expected))
    assert max(rows for kernel, rows in device.launched if kernel == "rg_program_rows") < 5000
    assert device.used < 1000
    device.launched.clear()
    device.room = 20_000 * 5 + 30_000
    same_bits(
        flat(fast.value_and_grad(*there(given), wrt="K", reduce="sum")),
        flat(rg.compile(asian).value_and_grad(*given, wrt="K", reduce="sum")),
    )
    device.room = 1000
    with pytest.raises(PrintingError, match="no memory left, even for 1,024 rows at a time"):
        fast.value_and_grad(*given, reduce="sum")
    with pytest.raises(PrintingError, match="no memory left"):
        fast(*there(given))


def test_pieces_on_the_device(emulated):
    device = emulated()
    given = [draws(9000), 0.3]
    function = lambda x, a: rg.exp(a * x)  # noqa: E731
    fast = rg.compile(function, backend="cuda")
    fast.value_and_grad(*there(given), wrt="a", reduce="sum")
    device.launched.clear()
    device.room = device.used + 6000
    found = fast.value_and_grad(*there(given), wrt="a", reduce="sum")
    same_bits(flat(found), flat(rg.compile(function).value_and_grad(*given, wrt="a", reduce="sum")))
    rows = [rows for kernel, rows in device.launched if kernel == "rg_program_rows"]
    assert len(rows) > 2
    assert sum(rows) == 9000


def test_much_to_keep_a_row_goes_to_memory_of_the_launch(emulated):
    emulated()

    def function(x, a):
        s = made = x
        kept = []
        for _ in range(3000):
            s = rg.sin(s * a) + x
            kept.append(s)
        for each in kept[::3]:
            made = made + each * a
        return made

    x = draws(1100)
    fast = rg.compile(function, backend="cuda")
    expected = rg.compile(function).value_and_grad(x, 0.5)
    for given in (x, on_device(x)):
        same_bits(flat(fast.value_and_grad(given, 0.5)), flat(expected))
    codes = [code for _, code in fast._target._codes.values()]
    assert any(code.program.tape for code in codes)


def test_a_few_rows_and_numbers_stay_on_the_cpu(emulated):
    device = emulated()
    fast = rg.compile(black_scholes, backend="cuda")
    assert fast(100.0, 95.0, 0.03, 0.2, 1.0) == rg.compile(black_scholes)(
        100.0, 95.0, 0.03, 0.2, 1.0
    )
    fast(*options(streaming.LEAST_ROWS - 1))
    assert device.launched == []
    fast(*options(streaming.LEAST_ROWS))
    assert device.launched


def test_no_rows(emulated):
    emulated()
    fast = rg.compile(black_scholes, backend="cuda")
    assert fast(*[on_device(np.zeros(0))] * 5).shape == (0,)
    assert fast(*[np.zeros(0)] * 5).shape == (0,)


def test_arrays_in_two_places(emulated):
    emulated()
    fast = rg.compile(lambda x, y: x * y, backend="cuda")
    x = draws(2000)
    with pytest.raises(RowsError, match=r"y lies on a GPU, and x on the host.*cupy\.asarray"):
        fast(x, on_device(x))
    with pytest.raises(RowsError, match="x lies on a GPU, and y on the host"):
        fast(on_device(x), x)
    with pytest.raises(RowsError, match="weights lies on the host, and x on a GPU"):
        fast.value_and_grad(on_device(x), on_device(x), weights=x)
    with pytest.raises(RowsError, match="weights lies on a GPU, and x on the host"):
        fast.value_and_grad(x, x, weights=on_device(x))


def test_what_the_cpu_does_is_refused_for_arrays_on_the_device(emulated):
    emulated()
    fast = rg.compile(lambda x: rg.sqrt(x), backend="cuda")
    x = on_device(draws(2000))
    for ask, what in ((fast.births, "births"), (fast.story, "a story")):
        with pytest.raises(RowsError, match=f"{what} is computed on the CPU.*NumPy arrays"):
            ask(x)
    with rg.anomaly(), pytest.raises(RowsError, match=r"rg.anomaly\(\) is computed on the CPU"):
        fast(x)
    with pytest.raises(RowsError, match="the rows lie on a device"):
        fast(x, out=np.zeros(2000))
    assert fast.story(draws(2000), row=3).forward


def test_a_function_without_the_backend_says_where_arrays_are():
    with pytest.raises(RowsError, match=r"x is Foreign.* on a GPU.*backend='cuda'"):
        rg.compile(lambda x: x * x)(Foreign(draws(10)))


def test_kernels_with_other_bits_are_not_used(emulated):
    emulated(bend="bits")
    fast = rg.compile(lambda x, a: x * a, backend="cuda")
    x = draws(2000)
    with pytest.warns(BackendWarning, match="other bits than the interpreter on a device"):
        same_bits(fast(x, 0.5), x * 0.5)
    with pytest.raises(PrintingError, match="other bits than the interpreter"):
        fast(on_device(x), 0.5)
    assert "left to the interpreter" in fast._target.words


def test_kernels_that_do_not_compile(emulated):
    emulated(bend="fail")
    fast = rg.compile(lambda x, a: x * a, backend="cuda")
    x = draws(2000)
    with pytest.warns(BackendWarning, match="NVRTC failed:\n  it does not want to"):
        same_bits(fast(x, 0.5), x * 0.5)
    with pytest.raises(PrintingError, match="NVRTC failed"):
        fast(on_device(x), 0.5)


def test_without_cupy_the_extra_is_named(monkeypatch):
    driver.driver.cache_clear()
    cupy_driver.cupy.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(PrintingError, match=r"needs CuPy .*Install retrograde\[cuda\]"):
        rg.compile(lambda x: x, backend="cuda")
    driver.driver.cache_clear()


@pytest.mark.parametrize("count", [0, None])
def test_without_a_gpu_it_is_said(monkeypatch, count):
    driver.driver.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", _cupy(count))
    cupy_driver.cupy.cache_clear()
    with pytest.raises(PrintingError, match=r"NVIDIA GPU.*finds none.*retrograde\[cuda\]"):
        rg.compile(lambda x: x, backend="cuda")
    driver.driver.cache_clear()
    cupy_driver.cupy.cache_clear()


def _cupy(count):
    """A package like CuPy on a machine with so many devices; None: without a driver."""
    from types import ModuleType, SimpleNamespace

    class CUDARuntimeError(Exception):
        pass

    def devices():
        if count is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return count

    package = ModuleType("cupy")
    runtime = SimpleNamespace(getDeviceCount=devices, CUDARuntimeError=CUDARuntimeError)
    package.cuda = SimpleNamespace(runtime=runtime)
    return package
