"""What watching a PyTorch program costs: medians of interleaved steps over plain ones.

    python benchmarks/torch_watch.py [--device cpu|cuda] [--rounds N] [--strict] [--json FILE]

Before anything is timed, watched and unwatched steps are compared bit for bit. Times are CPU times
of one thread, or wall clock with the device waited for. Figures are ratios of medians.
Where something is missing for ``--device cuda``, that is said and nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("PyTorch is not installed: pip install 'retrograde[torch]'")
from torch_models import workload

import retrograde as rg
from retrograde.torch import _private
from retrograde.value import core_name

GOALS = {
    "cpu": {"light": 1.05, "light, tiny": 1.25, "examined": 1.5, "story": 2.0, "100 steps": 1.1,
            "memory": 1.05, "ledger": 1.0, "ledger of one": 2.0},
    "cuda": {"light": 1.05, "light, tiny": 1.25, "examined": 2.0, "story": 3.0, "100 steps": 1.1,
             "memory": 1.05, "ledger": 1.0, "ledger of one": 2.0},
}  # fmt: skip
"""The most each may cost, as a multiple of the plain step."""

WAYS = {
    "light": {"examine": lambda n: False},
    "examined": {"examine": lambda n: True},
    "story": {"examine": lambda n: True, "pictures": True},
}


def clock(device):
    if device == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def timed(step, device, times=3):
    begin = clock(device)
    for _ in range(times):
        step()
    return (clock(device) - begin) / times


def same_bits(name, device):
    """Whether a watched program computes what it computes alone."""
    runs = []
    for watched in (False, True):
        model, _, step = workload(name, device)
        if watched:
            with rg.torch.watch(model):
                losses = [step().item() for _ in range(4)]
        else:
            losses = [step().item() for _ in range(4)]
        runs.append((losses, [p.detach().clone() for p in model.parameters()]))
    (plain, numbers), (seen, others) = runs
    return plain == seen and all(map(torch.equal, numbers, others))


def overheads(name, device, rounds):
    """The ratio of each way of watching to the plain step, and the plain step in ms."""
    model, _, step = workload(name, device)
    found = {way: [] for way in ("plain", *WAYS)}
    for _ in range(2):
        step()
    for _ in range(rounds):
        found["plain"].append(timed(step, device))
        for way, options in WAYS.items():
            with rg.torch.watch(model, **options):
                step()
                found[way].append(timed(step, device))
    plain = statistics.median(found["plain"])
    ratios = {way: statistics.median(found[way]) / plain for way in WAYS}
    return plain, ratios


def hundred_steps(name, device, plain, rounds):
    """The mean over 100 steps, of which 1, 2, 4, …, 64 are examined."""
    model, _, step = workload(name, device)
    step()
    found = []
    for _ in range(rounds):
        bare = timed(step, device, 100)
        with rg.torch.watch(model):
            found.append(timed(step, device, 100) / bare)
    return statistics.median(found)


def ledgers(device, plain):
    """The cost of a ledger, in plain steps of the GPT."""
    model, batch, _ = workload("gpt", device)
    weight, found = model.blocks[2].fc.weight, {}
    loss = model(*batch)
    for what, index in (("ledger", None), ("ledger of one", (3, 7))):
        rg.torch.ledger(loss, weight, index)
        times = []
        for _ in range(5):
            begin = clock(device)
            rg.torch.ledger(loss, weight, index)
            times.append(clock(device) - begin)
        found[what] = statistics.median(times) / plain
    return found


def peak(device, watched):
    """The most memory of a few steps: of the device, or of this process."""
    model, _, step = workload("gpt", device)
    if watched:
        with rg.torch.watch(model, examine=lambda n: True):
            for _ in range(3):
                step()
    else:
        for _ in range(3):
            step()
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory_ratio(device):
    """Peak memory watched over unwatched, each in a process of its own."""
    peaks = []
    for watched in ("0", "1"):
        command = [sys.executable, __file__, "--device", device, "--peak", watched]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.split()[-1]))
    return peaks[1] / peaks[0]


def saved_share():
    """Saved bytes by line over what the allocator says, on a GPU."""
    model, batch, _ = workload("gpt", "cuda")
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    loss = model(*batch)
    after = torch.cuda.memory_allocated()
    return rg.torch.memory(loss, model).recorded / (after - before)


def missing(device):
    """What keeps the figures of a device from being measured, in sentences."""
    found = []
    if device == "cuda" and torch.version.cuda is None:
        found.append(f"this PyTorch ({torch.__version__}) is built without CUDA")
    elif device == "cuda" and not torch.cuda.is_available():
        found.append(
            f"PyTorch is built for CUDA {torch.version.cuda}, and sees no GPU (nvidia-smi)"
        )
    lacks = [name for name in _private.missing() if device == "cuda" or "cuda" not in name]
    found += [f"this PyTorch ({torch.__version__}) lacks {name}" for name in lacks]
    if core_name != "native":
        found.append("the native core is not built: pip install . with a C compiler at hand")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--strict", action="store_true", help="fail on a missed goal")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    device, goals = options.device, GOALS[options.device]
    absent = missing(device)
    if absent:
        print("\n".join(f"missing: {each}" for each in absent))
        return 2
    if device == "cpu":
        torch.set_num_threads(1)
    if options.peak is not None:
        print(peak(device, options.peak == "1"))
        return 0
    told, missed = {"device": device, "torch": torch.__version__, "cores": os.cpu_count()}, []
    if device == "cuda":
        told["gpu"] = torch.cuda.get_device_name()
        torch.use_deterministic_algorithms(True, warn_only=True)
        print(f"{told['gpu']}, PyTorch {torch.__version__}", flush=True)

    def say(name, what, ratio, goal):
        told.setdefault(name, {})[what] = round(ratio, 3)
        missed.extend([f"{name}: {what}"] if ratio > goal else [])
        print(f"  {what:<16} {ratio:6.2f}x  (goal {goal:g}x){' missed' if ratio > goal else ''}")

    for name in ("tiny", "mlp", "cnn", "gpt"):
        same = same_bits(name, device)
        assert same or device == "cuda", f"{name}: watching changed a bit"
        if not same:  # two plain runs may differ on a GPU: it is said, not asserted
            told.setdefault("other bits", []).append(name)
            print(f"{name}: other bits than unwatched")
        rounds = options.rounds * (4 if name == "tiny" else 1)
        plain, ratios = overheads(name, device, rounds)
        print(f"{name}: plain step {1e3 * plain:.2f} ms", flush=True)
        told[name] = {"plain_ms": round(1e3 * plain, 3)}
        for way, ratio in ratios.items():
            tiny = ", tiny" if way == "light" and plain < 0.01 else ""
            goal = goals[way + tiny]
            if device == "cpu" and plain < 0.01 and way != "light":
                goal = float("inf")  # goals for these are from 10 ms on
            say(name, way, ratio, goal)
        if name != "gpt" or device == "cuda":
            goal = goals["100 steps"] if plain >= 0.01 or device == "cuda" else float("inf")
            say(name, "100 steps", hundred_steps(name, device, plain, 3), goal)
        if name == "gpt":
            for what, ratio in ledgers(device, plain).items():
                say(name, what, ratio, goals[what])
    say("gpt", "memory", memory_ratio(device), goals["memory"])
    if device == "cuda":
        share = saved_share()
        told["saved bytes over the allocator's"] = round(share, 4)
        print(f"  saved bytes by line: {100 * share:.2f} % of the allocator's")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)
    print("missed: " + ", ".join(missed) if missed else "every goal met")
    return int(bool(missed) and options.strict)


if __name__ == "__main__":
    sys.exit(main())
