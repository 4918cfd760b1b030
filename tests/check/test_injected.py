"""Faults at random places in healthy networks of random shape: how many are diagnosed rightly."""

from __future__ import annotations

from collections import Counter

import pytest

from .faults import FAULTS, injected, is_right

RIGHT = 0.95
"""The least share of right diagnoses."""


@pytest.mark.bank
@pytest.mark.parametrize("count", [204, pytest.param(680, marks=pytest.mark.sweep)])
def test_the_rate_of_right_diagnoses(rg, record_property, count):
    wrong, tried = [], Counter()
    for seed in range(count):
        fault, case, report = injected(rg, seed)
        tried[fault.__name__] += 1
        if not is_right(case, report):
            said = [f"{v.kind} of '{v.group}'" for v in report.verdicts]
            wrong.append((fault.__name__, seed, case.kind, case.group, said))
    total = sum(tried.values())
    rate = 1 - len(wrong) / total
    record_property("right", rate)
    print(f"\n{total} faults of {len(tried)} kinds: {100 * rate:.1f} % diagnosed rightly")
    assert rate >= RIGHT, wrong[:10]
    for name, count in tried.items():  # no kind may hide behind the others
        assert sum(w[0] == name for w in wrong) <= 0.2 * count, [w for w in wrong if w[0] == name]


@pytest.mark.parametrize("seed", range(len(FAULTS)), ids=[f.__name__ for f in FAULTS])
def test_one_fault_of_each_kind(rg, seed):
    _, case, report = injected(rg, seed)
    assert is_right(case, report), [f"{v.severity} {v}" for v in report.verdicts]
