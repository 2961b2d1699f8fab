"""T1's output on PB7."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, ACR_T1_FREE_RUN, ACR_T1_PB7, DDRB, ORB, PB7
from guestclock.conformance.programs.builder import LOAD, T1, Program, falls, timeout

N = 5
COUNTS = (0, 1, N, 0x0100)


def programs() -> Iterator[Program]:
    """Yield programs for each way to reach an output."""
    for n in COUNTS:
        yield _pulse(n)
        yield _square(n)
    yield from _held()
    yield from _enabled_late()
    yield _override()
    yield from _pins()


def _program(name: str, claim: str, acr: int, grade: str = "") -> Program:
    program = Program(f"pb7.{name}", 15, claim, grade)
    program.write(0, ACR, acr)
    return program


def _pulse(n: int) -> Program:
    program = _program(
        f"one-shot-pulse.n{n}", "T1CH drives PB7 low until the timeout, then it stays high", 0x80
    )
    program.load(T1, n)
    program.read(LOAD + 1, ORB, 0, PB7)
    if n:
        program.read(timeout(n) - 1, ORB, 0, PB7)
    for at in (timeout(n), timeout(n) + n + 2, timeout(n) + 3 * (n + 2)):
        program.read(at, ORB, PB7, PB7)
    return program


def _square(n: int) -> Program:
    program = _program(
        f"square-wave.n{n}", "in free run each timeout toggles PB7", ACR_T1_PB7 | ACR_T1_FREE_RUN
    )
    program.load(T1, n)
    program.read(LOAD + 1, ORB, 0, PB7)
    for periods in (0, 1, 2, 3, 20, 51):
        program.read(timeout(n) + periods * (n + 2), ORB, 0 if periods % 2 else PB7, PB7)
    return program


def _held() -> Iterator[Program]:
    program = Program("pb7.input-while-acr7-is-0", 15, "with ACR7 clear a timeout does not reach the port")
    program.load(T1, N)
    program.read(LOAD + 1, ORB, PB7, PB7)
    program.read(timeout(N), ORB, PB7, PB7)
    yield program
    program = _program("acr7-set-shows-1", "ACR7 set before any load: the output is 1", ACR_T1_PB7)
    program.read(4, ORB, PB7, PB7)
    yield program
    program = _program("acr7-off-and-on", "clearing ACR7 takes the output back to 1", 0x80)
    program.load(T1, 100)
    program.read(LOAD + 1, ORB, 0, PB7)
    program.write(LOAD + 5, ACR, 0)
    program.write(LOAD + 10, ACR, ACR_T1_PB7)
    program.read(LOAD + 11, ORB, PB7, PB7)
    yield program


def _enabled_late() -> Iterator[Program]:
    for mode in (0, ACR_T1_FREE_RUN):
        name = "free-run" if mode else "one-shot"
        program = _program(
            f"t1ch-before-acr7.{name}",
            "T1CH written with ACR7 clear, then set: 1, and 0 after the timeout",
            mode,
        )
        program.load(T1, 32)
        program.write(LOAD + 4, ACR, ACR_T1_PB7 | mode)
        program.read(LOAD + 5, ORB, PB7, PB7)
        program.read(timeout(32) - 1, ORB, PB7, PB7)
        program.read(timeout(32), ORB, 0, PB7)
        yield program


def _override() -> Program:
    program = _program(
        "overrides-ddrb", "with ACR7 set IRB7 shows the output whatever DDRB7 and ORB7 say", 0x80
    )
    program.write(1, ORB, PB7)
    program.write(2, DDRB, PB7)
    program.load(T1, 100)
    program.read(LOAD + 1, ORB, 0, PB7)
    program.write(LOAD + 2, DDRB, 0)
    program.read(LOAD + 3, ORB, 0, PB7)
    program.write(LOAD + 4, ORB, 0)
    program.write(LOAD + 5, DDRB, PB7)
    program.read(timeout(100), ORB, PB7, PB7)
    return program


def _pins() -> Iterator[Program]:
    program = _program(
        "pin-with-irq", "the PB7 pin toggles with the IRQ pin, in the middle of N + 1", 0x80, "model"
    )
    program.load(T1, N)
    program.check(2 * (LOAD + 1), "pb7", 0)
    program.check(falls(N) - 1, "pb7", 0)
    program.check(falls(N), "pb7", 1)
    yield program
