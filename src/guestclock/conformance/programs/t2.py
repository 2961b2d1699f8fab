"""T2 as a timer: counting without reload, its flag and interrupt; what shift modes do to it."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, IER, IER_SET, IFR, IFR_T2, T2CH, T2CL
from guestclock.conformance.programs.builder import LOAD, T1, T2, Program, falls, t2_count, timeout

N = 5
"""What most programs load."""

SHIFT_MODES = {1: 0x04, 4: 0x10, 5: 0x14}
"""Shift register modes that T2 clocks, as ACR has them."""


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _counts()
    yield from _flag()
    yield from _pin()
    yield from _clears()
    yield from _timeout_beats()
    yield from _no_reload()
    yield from _under_the_shift_register()
    yield _pin_beside_t1()


def _counts() -> Iterator[Program]:
    for n, k in [(20, 1), (20, 3), (0xFFFF, 4), (0x0100, 2), (0x0100, 3), (0x1234, 0x35), (0x0001, 2)]:
        program = Program(f"t2.count.n{n:04x}-k{k}", 1, f"loaded with {n}, T2 reads {n - k + 1} in cycle {k}")
        program.load(T2, n)
        program.read(LOAD + k, T2CL, t2_count(n, k) & 0xFF)
        program.read(LOAD + k + 1, T2CH, t2_count(n, k + 1) >> 8)
        yield program


def _flag() -> Iterator[Program]:
    for n in (0, 1, 2, N, 0xFF, 0x0100):
        program = Program(f"t2.flag-at-n+2.n{n}", 3, "IFR5 reads 0 in cycle N + 1 and 1 in N + 2")
        program.load(T2, n)
        program.read(timeout(n) - 1, IFR, 0)
        program.read(timeout(n), IFR, IFR_T2)
        yield program


def _pin() -> Iterator[Program]:
    for n in (0, 1, N, 0x0100):
        program = Program(
            f"t2.pin-at-n+1.5.n{n}", 4, "the IRQ pin falls in the middle of cycle N + 1, as with T1", "model"
        )
        program.write(1, IER, IER_SET | IFR_T2)
        program.load(T2, n)
        program.check(falls(n) - 1, "irq", 1)
        program.check(falls(n), "irq", 0)
        yield program


ACCESSES = {
    "read-t2cl": (T2CL, None, True),
    "read-t2ch": (T2CH, None, False),
    "write-t2cl": (T2CL, 0x40, False),
    "write-t2ch": (T2CH, 0x01, True),
}
"""Register, value written or None, and whether it clears IFR5 (fact 6)."""


def _access(program: Program, at: int, access: str) -> None:
    register, value, _ = ACCESSES[access]
    if value is None:
        program.touch(at, register)
    else:
        program.write(at, register, value)


def _clears() -> Iterator[Program]:
    for access, (_, _, clears) in ACCESSES.items():
        program = Program(
            f"t2.clear.{access}", 6, f"{access} {'clears' if clears else 'does not clear'} IFR5"
        )
        program.load(T2, 30)
        program.read(timeout(30) + 2, IFR, IFR_T2)
        _access(program, timeout(30) + 3, access)
        program.read(timeout(30) + 4, IFR, 0 if clears else IFR_T2)
        yield program


def _timeout_beats() -> Iterator[Program]:
    for access in ("read-t2cl", "write-t2ch"):
        for late in (0, 1):
            program = Program(
                f"t2.timeout-beats.{access}.n+{2 + late}",
                7,
                f"{access} in cycle N + {2 + late} {'clears' if late else 'does not clear'} IFR5",
                "model",
            )
            program.load(T2, 30)
            _access(program, timeout(30) + late, access)
            program.read(timeout(30) + late + 1, IFR, 0 if late else IFR_T2)
            yield program
    program = Program(
        "t2.ifr-write-in-timeout", 8, "a write of IFR5 in cycle N + 2: cleared, or not", "contested"
    )
    program.load(T2, 30)
    program.write(timeout(30), IFR, IFR_T2)
    program.read(timeout(30) + 1, IFR)
    yield program


def _no_reload() -> Iterator[Program]:
    program = Program("t2.low-byte-write-sets-the-latch", 12, "a write of T2CL leaves the counter alone")
    program.load(T2, 0x30)
    program.write(LOAD + 2, T2CL, 0x77)
    program.read(LOAD + 3, T2CL, t2_count(0x30, 3))
    program.write(LOAD + 4, T2CH, 0x00)
    program.read(LOAD + 5, T2CL, 0x77)
    yield program
    for n in (0, 2, N):
        program = Program(
            f"t2.goes-on-through-ffff.n{n}", 12, "after 0 come FFFF, FFFE, ...: T2 never reloads"
        )
        program.load(T2, n)
        for k in (n + 1, n + 2, n + 3, 2 * (n + 2), 300, *([0x10000 + n + 2] if n == N else [])):
            program.read(LOAD + k, T2CL, t2_count(n, k))
            program.read(LOAD + k + 100, T2CH, t2_count(n, k + 100) >> 8)
        yield program
    program = Program("t2.flags-once", 12, "one flag for a write of T2CH, however often zero is passed")
    program.load(T2, N)
    program.read(timeout(N), IFR, IFR_T2)
    program.write(timeout(N) + 1, IFR, IFR_T2)
    program.read(timeout(N) + 0x10000, IFR, 0)
    yield program
    program = Program("t2.never-armed-never-flags", 12, "a T2 that nobody has started sets no flag")
    program.write(0, T2CL, N)
    program.read(0x10001, IFR, 0)
    yield program
    program = Program(
        "t2.load-in-the-cycle-that-shows-0",
        None,
        "T2CH written in cycle N + 1: the counter is loaded, zero is not passed",
        "model",
    )
    program.load(T2, 30)
    program.write(LOAD + 31, T2CH, 0)
    program.read(LOAD + 32, T2CL, 30)
    program.read(LOAD + 33, IFR, 0)
    program.read(timeout(30, LOAD + 31), IFR, IFR_T2)
    yield program


def _under_the_shift_register() -> Iterator[Program]:
    low, high = 2, 1
    for mode, acr in SHIFT_MODES.items():
        program = Program(
            f"t2.low-byte-reloads.mode{mode}",
            16,
            "after xxFF the low byte shows its latch again: a period of lo + 2 cycles",
        )
        program.write(0, ACR, acr)
        program.load(T2, high << 8 | low)
        for k in range(1, 3 * (low + 2)):
            program.read(LOAD + k, T2CL, low - (k - 1) % (low + 2))
        yield program
        program = Program(
            f"t2.flag-at-(lo+2)(hi+1).mode{mode}", 16, "IFR5 comes once, when both bytes are through"
        )
        program.write(0, ACR, acr)
        program.load(T2, high << 8 | low)
        at = LOAD + (low + 2) * (high + 1)
        program.read(at - 1, IFR, 0, IFR_T2)
        program.read(at, IFR, IFR_T2, IFR_T2)
        program.write(at + 1, IFR, IFR_T2)
        for more in (low + 2, 100, (low + 2) * 0x100):
            program.read(at + more, IFR, 0, IFR_T2)
        yield program
    program = Program("t2.low-byte-goes-on.mode2", 16, "a shift register that φ2 clocks leaves T2 as it is")
    program.write(0, ACR, 0x08)
    program.load(T2, high << 8 | low)
    for k in (low + 1, low + 2, low + 3):
        program.read(LOAD + k, T2CL, t2_count(high << 8 | low, k))
    yield program


def _pin_beside_t1() -> Program:
    program = Program("t2.pin-beside-t1", 4, "the pin falls for T2 in the cycle in which T1 shows FFFF")
    program.write(1, IER, IER_SET | IFR_T2)
    program.load(T2, 10, 6)
    program.load(T1, 5)
    program.check(falls(10, 6) - 1, "irq", 1)
    program.check(falls(10, 6), "irq", 0)
    return program
