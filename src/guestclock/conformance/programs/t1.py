"""T1: counting, reloading, its flag and its interrupt."""

from collections.abc import Iterator

from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    IER,
    IER_SET,
    IFR,
    IFR_T1,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
)
from guestclock.conformance.programs.builder import LOAD, T1, Program, falls, t1_count, timeout

MODES = {"one-shot": 0, "free-run": ACR_T1_FREE_RUN}
N = 5
"""What most programs load."""


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _counts()
    yield from _reloads()
    yield from _flag()
    yield from _pin()
    yield from _flags_once()
    yield from _clears()
    yield from _timeout_beats()
    yield from _contested()
    yield from _rearming()
    yield from _acr_changes()
    yield from _late_latches()
    yield from _latches()


def _in_mode(name: str, mode: str, fact: int | None, claim: str, grade: str = "") -> Program:
    program = Program(f"t1.{name}.{mode}" if mode else f"t1.{name}", fact, claim, grade)
    program.write(0, ACR, MODES.get(mode, 0))
    return program


def _counts() -> Iterator[Program]:
    for n, k in [(20, 1), (20, 3), (0xFFFF, 4), (0x0100, 2), (0x0100, 3), (0x1234, 0x35), (0x0001, 2)]:
        program = Program(f"t1.count.n{n:04x}-k{k}", 1, f"loaded with {n}, T1 reads {n - k + 1} in cycle {k}")
        program.load(T1, n)
        program.read(LOAD + k, T1CL, t1_count(n, k) & 0xFF)
        program.read(LOAD + k + 1, T1CH, t1_count(n, k + 1) >> 8)
        yield program


def _reloads() -> Iterator[Program]:
    for mode in MODES:
        for n in (0, 1, 3, 20, 0x0101):
            program = _in_mode(
                f"period-n+2.n{n}",
                mode,
                2,
                f"N = {n}: down to 0, then FFFF, then N again, every {n + 2} cycles",
            )
            program.load(T1, n)
            for k in (n + 1, n + 2, n + 3):
                program.read(LOAD + k, T1CH if k % 2 else T1CL, t1_count(n, k) >> (8 if k % 2 else 0))
            for periods in (3, 50):
                for k in range((n + 2) * periods, (n + 2) * periods + 3):
                    program.read(LOAD + k, T1CL, t1_count(n, k))
            yield program
    program = _in_mode("ffff-shows-twice", "", 2, "N = FFFF: the counter shows FFFF in passing zero and as N")
    program.load(T1, 0xFFFF)
    for k in (0x10000, 0x10001, 0x10002, 0x10003):
        program.read(LOAD + k, T1CL, t1_count(0xFFFF, k))
    yield program


def _flag() -> Iterator[Program]:
    for mode in MODES:
        for n in (0, 1, 2, N, 0xFF, 0x0100):
            program = _in_mode(f"flag-at-n+2.n{n}", mode, 3, "IFR6 reads 0 in cycle N + 1 and 1 in N + 2")
            program.load(T1, n)
            program.read(timeout(n) - 1, IFR, 0)
            program.read(timeout(n), IFR, IFR_T1)
            yield program


def _pin() -> Iterator[Program]:
    for n in (0, 1, N, 0x0100):
        program = _in_mode(
            f"pin-at-n+1.5.n{n}", "one-shot", 4, "the IRQ pin falls in the middle of cycle N + 1"
        )
        program.write(1, IER, IER_SET | IFR_T1)
        program.load(T1, n)
        program.check(falls(n) - 1, "irq", 1)
        program.check(falls(n), "irq", 0)
        yield program
    program = _in_mode(
        "pin-every-n+2", "free-run", 4, "acknowledged, the IRQ pin falls again every N + 2 cycles"
    )
    program.write(1, IER, IER_SET | IFR_T1)
    program.load(T1, N)
    for half in range(falls(N), falls(N) + 5 * 2 * (N + 2), 2 * (N + 2)):
        program.check(half - 1, "irq", 1)
        program.check(half, "irq", 0)
        program.write(half // 2 + 1, IFR, IFR_T1)
        program.check(half + 4, "irq", 1)
    yield program
    program = _in_mode("pin-acknowledged-by-read", "free-run", 4, "a read of T1CL releases it for a period")
    program.write(1, IER, IER_SET | IFR_T1)
    program.load(T1, N)
    for half in range(falls(N), falls(N) + 5 * 2 * (N + 2), 2 * (N + 2)):
        program.check(half - 1, "irq", 1)
        program.check(half, "irq", 0)
        program.touch(half // 2 + 3, T1CL)
    yield program
    program = _in_mode(
        "pin-not-enabled", "free-run", 4, "a flag that IER does not enable leaves the pin alone"
    )
    program.write(1, IER, IFR_T1)
    program.load(T1, N)
    program.check(falls(N), "irq", 1)
    program.check(falls(N) + 20, "irq", 1)
    yield program


def _flags_once() -> Iterator[Program]:
    program = _in_mode(
        "flags-once", "one-shot", 5, "one flag for a write of T1CH, though the counter goes round"
    )
    program.load(T1, N)
    program.read(timeout(N), IFR, IFR_T1)
    program.write(timeout(N) + 1, IFR, IFR_T1)
    for periods in (1, 2, 30):
        program.read(timeout(N) + periods * (N + 2), IFR, 0)
    yield program
    program = _in_mode("flags-once-a-load", "one-shot", 5, "each write of T1CH gives one more flag")
    for at in (LOAD, 50, 90):
        program.load(T1, N, at)
        program.read(timeout(N, at) - 1, IFR, 0)
        program.read(timeout(N, at), IFR, IFR_T1)
        program.write(timeout(N, at) + 1, IFR, IFR_T1)
        program.read(at + 35, IFR, 0)
    yield program
    program = _in_mode("flags-every-period", "free-run", 5, "in free run every passing of zero sets the flag")
    program.load(T1, N)
    for periods in range(4):
        at = timeout(N) + periods * (N + 2)
        program.read(at - 1, IFR, 0)
        program.read(at, IFR, IFR_T1)
        program.write(at + 1, IFR, IFR_T1)
    yield program


ACCESSES = {
    "read-t1cl": (T1CL, None, True),
    "read-t1ch": (T1CH, None, False),
    "read-t1ll": (T1LL, None, False),
    "read-t1lh": (T1LH, None, False),
    "write-t1cl": (T1CL, 0x40, False),
    "write-t1ch": (T1CH, 0x01, True),
    "write-t1ll": (T1LL, 0x40, False),
    "write-t1lh": (T1LH, 0x01, True),
}
"""Register, value written or None, and whether it clears IFR6 (fact 6)."""


def _access(program: Program, at: int, access: str) -> None:
    register, value, _ = ACCESSES[access]
    if value is None:
        program.touch(at, register)
    else:
        program.write(at, register, value)


def _clears() -> Iterator[Program]:
    for mode in MODES:
        for access, (_, _, clears) in ACCESSES.items():
            program = _in_mode(
                f"clear.{access}", mode, 6, f"{access} {'clears' if clears else 'does not clear'} IFR6"
            )
            program.load(T1, 30)
            program.read(timeout(30) + 2, IFR, IFR_T1)
            _access(program, timeout(30) + 3, access)
            program.read(timeout(30) + 4, IFR, 0 if clears else IFR_T1)
            yield program


def _timeout_beats() -> Iterator[Program]:
    for mode in MODES:
        for access in ("read-t1cl", "write-t1ch", "write-t1lh"):
            grade = "" if access == "read-t1cl" else "model"
            for late in (0, 1):
                program = _in_mode(
                    f"timeout-beats.{access}.n+{2 + late}",
                    mode,
                    7,
                    f"{access} in cycle N + {2 + late} {'clears' if late else 'does not clear'} IFR6",
                    grade,
                )
                program.load(T1, 30)
                _access(program, timeout(30) + late, access)
                program.read(timeout(30) + late + 1, IFR, 0 if late else IFR_T1)
                yield program


def _contested() -> Iterator[Program]:
    for mode in MODES:
        program = _in_mode(
            "ifr-write-in-timeout", mode, 8, "a write of IFR6 in cycle N + 2: cleared, or not", "contested"
        )
        program.load(T1, 30)
        program.write(timeout(30), IFR, IFR_T1)
        program.read(timeout(30) + 1, IFR)
        yield program
    for offset, word, flag in ((-1, "too-early", IFR_T1), (1, "clears", 0)):
        program = _in_mode(f"ifr-write-{word}", "one-shot", 22, f"a write of IFR6 in cycle N + {2 + offset}")
        program.load(T1, 30)
        program.write(timeout(30) + offset, IFR, IFR_T1)
        program.read(timeout(30) + offset + 1, IFR, flag)
        yield program


def _rearming() -> Iterator[Program]:
    for offset, flag in ((1, IFR_T1), (2, 0), (3, 0)):
        program = Program(
            f"t1.acr6-set-at-n+{offset}",
            9,
            f"free run entered in cycle N + {offset}: {'another flag' if flag else 'too late for one more'}",
        )
        program.write(0, ACR, 0)
        program.load(T1, N)
        program.write(LOAD + N + offset, ACR, ACR_T1_FREE_RUN)
        program.write(timeout(N) + 2, IFR, IFR_T1)
        program.read(timeout(N) + N + 2, IFR, flag)
        yield program
    for offset, flag in ((1, 0), (2, 0), (3, IFR_T1)):
        program = Program(
            f"t1.acr6-cleared-at-n+{offset}",
            9,
            f"free run left in cycle N + {offset}: {'one more flag' if flag else 'no more flags'}",
        )
        program.write(0, ACR, ACR_T1_FREE_RUN)
        program.load(T1, N)
        program.write(LOAD + N + offset, ACR, 0)
        program.write(timeout(N) + 2, IFR, IFR_T1)
        program.read(timeout(N) + N + 2, IFR, flag)
        program.write(timeout(N) + N + 3, IFR, IFR_T1)
        program.read(timeout(N) + 2 * (N + 2), IFR, 0)
        yield program


def _acr_changes() -> Iterator[Program]:
    program = Program("t1.acr-never-restarts", 10, "T1 counts on through every write of ACR")
    program.load(T1, 100)
    for number, acr in enumerate((ACR_T1_FREE_RUN, 0xC0, 0x80, 0x00, 0x20, ACR_T1_FREE_RUN)):
        at = LOAD + 5 + 4 * number
        program.write(at, ACR, acr)
        program.read(at + 1, T1CL, t1_count(100, at + 1 - LOAD))
    yield program
    program = Program("t1.one-shot-after-reloads", 10, "one-shot entered after reloads still gives one flag")
    program.write(0, ACR, ACR_T1_FREE_RUN)
    program.load(T1, N)
    program.write(LOAD + 3 * (N + 2) + 1, ACR, 0)
    program.write(LOAD + 3 * (N + 2) + 2, IFR, IFR_T1)
    program.read(LOAD + 4 * (N + 2) - 1, IFR, 0)
    program.read(LOAD + 4 * (N + 2), IFR, IFR_T1)
    program.write(LOAD + 4 * (N + 2) + 1, IFR, IFR_T1)
    program.read(LOAD + 5 * (N + 2), IFR, 0)
    yield program


def _late_latches() -> Iterator[Program]:
    for mode in MODES:
        for register, name in ((T1LL, "t1ll"), (T1CL, "t1cl")):
            for offset in (1, 2, 3):
                used = offset < 3
                program = _in_mode(
                    f"{name}-written-at-n+{offset}",
                    mode,
                    11,
                    f"{name} written in cycle N + {offset} is {'in time' if used else 'too late'} to reload",
                )
                program.load(T1, N)
                program.write(LOAD + N + offset, register, 0x20)
                program.read(LOAD + N + 4, T1CL, (0x20 if used else N) - 1)
                program.read(LOAD + N + 5, T1CL, (0x20 if used else N) - 2)
                yield program
    program = _in_mode(
        "t1lh-used-by-the-reload", "free-run", 11, "the latch's high byte takes part in a reload"
    )
    program.load(T1, N)
    program.write(LOAD + 3, T1LH, 0x01)
    program.read(LOAD + N + 3, T1CH, 0x01)
    program.read(LOAD + N + 4, T1CL, N - 1)
    yield program


def _latches() -> Iterator[Program]:
    program = Program("t1.latches-read-back", None, "T1LL and T1LH read what T1CL, T1CH, T1LL, T1LH wrote")
    program.load(T1, 0x1234)
    program.read(LOAD + 1, T1LL, 0x34)
    program.read(LOAD + 2, T1LH, 0x12)
    program.write(LOAD + 3, T1LL, 0x56)
    program.write(LOAD + 4, T1LH, 0x78)
    program.read(LOAD + 5, T1LL, 0x56)
    program.read(LOAD + 6, T1LH, 0x78)
    program.read(LOAD + 7, T1CL, t1_count(0x1234, 7))
    program.read(LOAD + 8, T1CH, t1_count(0x1234, 8) >> 8)
    yield program
    program = Program("t1.t1ch-loads-the-whole-latch", None, "a write of T1CH loads T1LL as it then is")
    program.write(5, T1LL, 0x77)
    program.write(LOAD, T1CH, 0x01)
    program.read(LOAD + 1, T1CL, 0x77)
    program.read(LOAD + 2, T1CH, 0x01)
    yield program
    program = Program(
        "t1.load-in-the-cycle-that-shows-0",
        None,
        "T1CH written in cycle N + 1: the counter is loaded, zero is not passed",
        "model",
    )
    program.write(0, ACR, 0)
    program.load(T1, 30)
    program.write(LOAD + 31, T1CH, 0)
    program.read(LOAD + 32, T1CL, 30)
    program.read(LOAD + 33, IFR, 0)
    program.read(timeout(30, LOAD + 31), IFR, IFR_T1)
    yield program
