"""Where the cost of watching a PyTorch program goes: part by part, launch by launch, wait by wait.

    python benchmarks/torch_parts.py [--device cpu|cuda] [--only mlp,gpt] [--steps N] [--json FILE]

For each program: plain, light, examined and story steps; the steps of the first hundred that cost
most; own times of the parts of an examined pass; how many operators of PyTorch it calls beyond
those of the plain step; on a GPU its launches, copies, waits and the device time of its kernels.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
import warnings
from collections import Counter, defaultdict

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch_models import workload

import retrograde as rg
from retrograde.diagnose import array_history
from retrograde.torch import (
    alike,
    board,
    gates,
    glances,
    graph,
    lines,
    modules,
    motion,
    patients,
    pulling,
    samples,
    watching,
)  # fmt: skip
from retrograde.torch.summaries import look, summary

WAYS = {
    "light": {"examine": lambda n: False},
    "examined": {"examine": lambda n: True},
    "story": {"examine": lambda n: True, "pictures": True},
}
HOMES = (
    watching, watching.Watch, graph.Reading, pulling.Pulling, patients.Patients, gates, board,
    array_history.ArrayHistory, motion.TensorMotion, glances.Glances, modules.Modules, lines.Lines,
    alike.Alike, samples.Pictures,
)  # fmt: skip
OFTEN = frozenset(
    "of here put applied _enter _leave _hook _place read go far kind_of board_of _add draw _draw"
    " drawn summary await_".split()
)
"""Parts called so often that a clock around them would be what is measured."""


class Parts:
    """Own times of functions, by name: what they call that is a part too is not theirs."""

    def __init__(self, device):
        self.times, self._inner, self._put_back = defaultdict(float), [], []
        self._clock = time.perf_counter if device == "cuda" else time.process_time

    def __enter__(self):
        for home in HOMES:
            for name, part in list(vars(home).items()):
                ours = str(getattr(part, "__module__", "")).startswith("retrograde")
                if type(part) is type(main) and ours and name not in OFTEN:
                    if not name.startswith("__") or name == "__init__":
                        self._put_back.append((home, name, part))
                        where = getattr(home, "__qualname__", "")
                        setattr(home, name, self._timed(part, f"{where}.{name}".strip(".")))
        return self

    def __exit__(self, *exception):
        for home, name, part in reversed(self._put_back):
            setattr(home, name, part)

    def _timed(self, part, name):
        @functools.wraps(part)
        def timed(*arguments, **options):
            self._inner.append(0.0)
            begin = self._clock()
            try:
                return part(*arguments, **options)
            finally:
                took = self._clock() - begin
                self.times[name] += took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took

        return timed


class Operators(TorchDispatchMode):
    """Counts what PyTorch dispatches."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen[str(func)] += 1
        return func(*args, **(kwargs or {}))


def waited(device):
    if device == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def times_of(step, device, count):
    """Of so many steps: each one's time in ms, with the device waited for; of processor time on
    the CPU."""
    found = []
    for _ in range(count):
        begin = waited(device)
        step()
        found.append(1e3 * (waited(device) - begin))
    return found


def dispatched(step):
    with Operators() as counted:
        step()
    return counted.seen


def on_device(step, count=4):
    """Calls of the driver in a step, and the kernels that take longest."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(count):
            step()
        torch.cuda.synchronize()
    calls, kernels = Counter(), Counter()
    for event in profile.events():
        on_gpu = event.device_type == torch.autograd.DeviceType.CUDA
        if on_gpu:
            kernels[event.name] += event.device_time / count
        elif event.name.startswith(("cuda", "cuLaunch")):
            calls[event.name] += 1 / count
    return calls, kernels


def waits(step):
    """Where a step waits for the device, by line."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return Counter(
        f"{'/'.join(each.filename.split('/')[-2:])}:{each.lineno}"
        for each in told
        if "synchroniz" in str(each.message)
    )


def costs(name, device, steps):
    """Plain and watched steps, in ms: medians, interleaved."""
    model, _, step = workload(name, device)
    found = defaultdict(list)
    times_of(step, device, 3)
    for _ in range(3):
        found["plain"] += times_of(step, device, steps)
        for way, options in WAYS.items():
            with rg.torch.watch(model, **options):
                found[f"{way}, first"] += times_of(step, device, 1)
                found[way] += times_of(step, device, steps)
    return {way: statistics.median(each) for way, each in found.items()}


def dear(name, device):
    """The steps of a hundred that cost most, and the mean of all, over a plain one."""
    model, _, step = workload(name, device)
    times_of(step, device, 3)
    plain = sum(times_of(step, device, 100)) / 100
    with rg.torch.watch(model):
        found = times_of(step, device, 100)
    most = sorted(range(100), key=lambda n: -found[n])[:12]
    return sum(found) / 100 / plain, {n + 1: found[n] / plain for n in sorted(most)}


def parts_of(name, device, steps, way):
    """The parts of an examined pass, in microseconds a step."""
    model, _, step = workload(name, device)
    with Parts(device) as parts, rg.torch.watch(model, **WAYS[way]):
        times_of(step, device, 2)
        each = []
        for _ in range(steps):
            parts.times.clear()
            times_of(step, device, 1)
            each.append(dict(parts.times))
    names = set().union(*each)
    return {n: 1e6 * statistics.median(one.get(n, 0.0) for one in each) for n in names}


def disagreements():
    """Where the kernel on the device and the same questions on the CPU differ, in words."""
    torch.manual_seed(0)
    found = []
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        for count in (1, 7, 4099, 1_000_003):
            t = (torch.randn(count + 3) * 3).to(dtype)[3:]
            if count > 7:
                t[5], t[77], t[count - 1] = 0.0, float("nan"), float("-inf")
            there = t.cuda()[1:] if count > 7 else t.cuda()
            mine, seen = summary(t[1:] if count > 7 else t), look(there)
            board.read()
            seen = seen.settled()
            same = all(
                getattr(mine, part) == getattr(seen, part)
                for part in ("count", "low", "high", "zeros", "nans", "infs", "first")
            )
            near = abs(mine.norm - seen.norm) <= 1e-4 * mine.norm
            near = near and abs(mine.mean - seen.mean) <= 1e-3 * (abs(mine.mean) + mine.rms)
            found += [] if same and near else [f"{dtype}, {count}: {mine} and {seen}"]
            board.clear()
    for shape, axis in (((300, 70), 1), ((9, 33, 6, 5), 1), ((2, 600), 1)):
        kept = torch.randn(shape) * 4
        rest = [d for d in range(len(shape)) if d != axis]
        inner = kept.numel() // (shape[0] * shape[1])
        for op, (_, shut) in {**gates._BY_RESULT, **gates._BY_INPUT}.items():
            there = kept.cuda()
            task = (there, board.kind_of(there), op, shape[axis], inner)
            counts = board.board_of(there).count_shut([task]).numbers()
            off = (torch.as_tensor(counts) - shut(kept).sum(rest)).abs().max()
            found += [f"{op}, {shape}: {off} rows"] if off > 0.001 * kept.numel() + 1 else []
    return found


def small_things(steps=300):
    """In microseconds: a launch, a summary with its launch, what is fetched, a bare hook."""
    t, home = torch.ones(64, 64, device="cuda"), board.board_of(torch.ones(1, device="cuda"))
    x = torch.ones(64, device="cuda", requires_grad=True)

    def chain(hooked):
        y = x
        for _ in range(steps):
            y = y * 1.0
            if hooked:
                y.grad_fn.register_hook(lambda given, received: None)
        return y.sum()

    def each(act, times=steps):
        begin = waited("cuda")
        for _ in range(times):
            act()
        return 1e6 * (time.perf_counter() - begin) / times

    def launch():
        home._held.append(t)
        home._most = 1
        home.go()

    found = {"launch": each(launch), "summary": each(lambda: (look(t), board.go()))}
    board.clear()
    found["send and fetch"] = each(lambda: home.send(t.double()).numbers())
    passes = [chain(hooked) for hooked in (False, True)]
    bare, hooked = [each(lambda loss=loss: loss.backward(), 1) for loss in passes]
    found["hook"] = (hooked - bare) / steps
    return ", ".join(f"{what} {cost:.1f}" for what, cost in found.items())


def report(name, device, steps):
    told = {"ms": costs(name, device, steps)}
    plain = told["ms"]["plain"]
    print(f"{name}: plain {plain:.3f} ms", end="")
    for way, cost in told["ms"].items():
        print(f"; {way} {cost / plain:.2f}" if way != "plain" else "", end="")
    told["100 steps"], told["dear"] = dear(name, device)
    print(f"\n  100 steps {told['100 steps']:.3f}; dear: ", end="")
    print(", ".join(f"{n}: {cost:.1f}" for n, cost in told["dear"].items()))
    for way in ("examined", "light"):
        parts = told[f"parts, {way}"] = parts_of(name, device, steps, way)
        top = sorted(parts.items(), key=lambda each: -each[1])[: 16 if way == "examined" else 4]
        print(f"  {way}, us: " + ", ".join(f"{n} {cost:.0f}" for n, cost in top))
    for way in ("plain", *WAYS):
        model, _, step = workload(name, device)
        step()
        with rg.torch.watch(model, **WAYS[way]) if way != "plain" else torch.enable_grad():
            step()
            step()
            ops = dispatched(step)
            print(f"  {way}: {sum(ops.values())} operators", end="")
            if device == "cuda":
                calls, kernels = on_device(step)
                print("; " + ", ".join(f"{n} {c:g}" for n, c in calls.most_common(4)))
                print(f"    device {sum(kernels.values()):.0f} us: ", end="")
                print(", ".join(f"{n[:24]} {t:.0f}" for n, t in kernels.most_common(3)))
                where = waits(step)
                print("    waits: " + ", ".join(f"{at} {c}" for at, c in where.most_common(5)))
            else:
                print()
    if device == "cuda":
        told["memory"] = peaks(name, device)
        print("  peak memory, plain and examined: {:.1f}, {:.1f} MB".format(*told["memory"]))
    return told


def peaks(name, device):
    """Peak memory in MB, plain and examined."""
    found = []
    for watched in (False, True):
        model, _, step = workload(name, device)
        with rg.torch.watch(model, **WAYS["examined"]) if watched else torch.enable_grad():
            step()
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            for _ in range(2):
                step()
            found.append(torch.cuda.max_memory_allocated() / 1e6)
        del model, step
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="tiny,mlp,cnn,gpt")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if options.device == "cpu":
        torch.set_num_threads(1)
    else:
        torch.use_deterministic_algorithms(True, warn_only=True)
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", flush=True)
        found = disagreements()
        print("us: " + small_things())
        print("the kernel agrees with the CPU" if not found else "\n".join(found), flush=True)
    told = {}
    for name in options.only.split(","):
        told[name] = report(name, options.device, options.steps)
        sys.stdout.flush()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)


if __name__ == "__main__":
    main()
