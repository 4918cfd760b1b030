"""The filter of system calls, run here on paper: for both machines, whichever this one is."""

from __future__ import annotations

import errno

import pytest

from retrograde.learn.inside.boundary import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSED, NOT_THERE = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
OWN = 2


def decided(machine, number, *arguments, abi=None):
    """What the filter says to a call."""
    kinds = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
    data = {0: number, 4: abi or kinds[machine]}
    data |= {16 + 8 * place: it for place, it in enumerate([*arguments, 0, 0, 0, 0, 0, 0][:6])}
    program = seccomp.program(OWN, machine)
    place = held = 0
    for _ in range(len(program)):
        code, yes, no, value = program[place]
        place += 1
        if code == 0x20:
            held = data[value]
        elif code == 0x15:
            place += yes if held == value else no
        elif code == 0x35:
            place += yes if held >= value else no
        else:
            assert code == 0x06
            return value
    raise AssertionError("the filter does not end")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_only_what_a_calculation_needs_is_allowed(machine):
    column = ("x86_64", "aarch64").index(machine)
    for name, numbers in seccomp._CALLS.items():
        assert decided(machine, numbers[column]) == ALLOW, name
    allowed = {number for number in range(600) if decided(machine, number) == ALLOW}
    listed = {numbers[column] for numbers in seccomp._CALLS.values()}
    old = set(seccomp._OLD_CALLS.values()) if machine == "x86_64" else set()
    checked = allowed - listed - old  # with arguments of 0: flags of a descriptor, own limits
    assert checked == {seccomp._FCNTL[column], seccomp._PRLIMIT[column]}


@pytest.mark.parametrize(
    ("call", "arguments", "verdict"),
    [
        ("_KILL_CALL", (OWN, 9), ALLOW), ("_KILL_CALL", (1, 9), REFUSED),
        ("_KILL_CALL", (0, 9), REFUSED), ("_KILL_CALL", (0xFFFFFFFF, 9), REFUSED),
        ("_TGKILL", (OWN, OWN, 6), ALLOW), ("_TGKILL", (77, 77, 6), REFUSED),
        ("_FCNTL", (3, 4, 0), ALLOW), ("_FCNTL", (3, 8, 77), REFUSED),
        ("_FCNTL", (3, 10, 9), REFUSED), ("_FCNTL", (3, 1031, 1 << 20), REFUSED),
        ("_IOCTL", (0, 0x5401), ALLOW), ("_IOCTL", (0, 0x5412), REFUSED),
        ("_PRLIMIT", (0, 1), ALLOW), ("_PRLIMIT", (77, 1), REFUSED),
    ],
)  # fmt: skip
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_arguments_are_looked_at(machine, call, arguments, verdict):
    number = getattr(seccomp, call)[("x86_64", "aarch64").index(machine)]
    assert decided(machine, number, *arguments) == verdict


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_other_tables_of_calls_are_no_way_round(machine):
    assert decided(machine, 0, abi=0x40000003) == KILL
    assert decided(machine, 0x40000000) == REFUSED
    assert decided(machine, 435) == NOT_THERE


def test_the_longest_jump_fits():
    for machine in ("x86_64", "aarch64"):
        for _, yes, no, _ in seccomp.program(OWN, machine):
            assert 0 <= yes < 256
            assert 0 <= no < 256
