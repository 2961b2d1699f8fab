# cython: annotation_typing=False
"""What QEMU 8.2 does for programs that measure their delay loops by VIA1's timer 2.

MacOS counts at start-up how often its loops go round in 1 ms, and keeps two results in RAM; an emulator's CPU
goes round so often that they overflow.  A/UX measures until two rounds differ by 0x492 counts, which on a
fast CPU they never do.  QEMU recognises both by what they write to VIA1: it puts results of its own into
RAM, and makes every other read of T2CH wrong.  ``docs/qemu-via.md`` has the table of states.
"""

import mmap
from collections.abc import Callable

import cython

if not cython.compiled:  # C constants: see qemu_calibration.pxd.
    from guestclock.chips.registers import IER, PCR, T2CH, T2CL

    IDLE = 0
    BEGUN = 1
    MACOS_LOW_WRITTEN = 2
    MACOS_MEASURES = 3
    MACOS_DONE = 4
    AUX_LOW_WRITTEN = 5
    AUX_MEASURES = 6
    AUX_DONE = 7

    # A register and the value written to it.
    BEGIN = PCR << 8 | 0x22
    MACOS_LOW = T2CL << 8 | 0x0C
    MACOS_HIGH = T2CH << 8 | 0x03
    AUX_LOW = T2CL << 8 | 0xF0
    AUX_HIGH = T2CH << 8 | 0x3C
    END = IER << 8 | 0x20

    AUX_ERROR = 5

RESULTS_ADDRESS = 0xD00
RESULTS = bytes.fromhex("7e00 16d7")
"""MacOS's TimeDBRA and TimeSCCDB, three times those of a Quadra 800."""


class Calibration:
    """How far a calibration has come, in states that lead from one to the next by writes.

    ``memory`` is the guest's RAM from address 0, at least 0xD04 bytes; None where there is no machine, and
    nothing is found in memory or put there.

    >>> calibration = Calibration()
    >>> calibration.memory = bytearray(0x1000)
    >>> for register, value in ((0xC, 0x22), (0x8, 0x0C), (0x9, 0x03), (0xE, 0x20)):
    ...     calibration.written(register, value)
    >>> calibration.memory[0xD00:0xD04].hex(" ", 2)
    '7e00 16d7'
    """

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.state = IDLE
        self.memory: mmap.mmap | bytearray | None = None

    def __reduce__(self) -> tuple[Callable[[int], "Calibration"], tuple[int]]:
        """Copy the state alone: memory is the machine's, and a copy is of no machine."""
        return _in_state, (self.state,)

    def reset(self) -> None:
        """Forget what was seen."""
        self.state = IDLE

    def written(self, register: int, value: int) -> None:
        """Take a write to VIA1."""
        write = register << 8 | value
        if self.state == AUX_MEASURES:
            self.state = AUX_DONE if register == T2CH or write == END else IDLE
        elif self.state == AUX_LOW_WRITTEN:
            if write == AUX_HIGH:
                self.state = AUX_MEASURES
            elif register == T2CH or write == END:
                self.state = IDLE
        elif write == BEGIN and self.state in {IDLE, MACOS_DONE, AUX_DONE}:
            self.state = BEGUN
        elif self.state == BEGUN and write == MACOS_LOW:
            self.state = IDLE if self._has_results() else MACOS_LOW_WRITTEN
        elif self.state == MACOS_LOW_WRITTEN and write == MACOS_HIGH:
            self.state = IDLE if self._has_results() else MACOS_MEASURES
        elif self.state == MACOS_MEASURES and write == END:
            self._put_results()
            self.state = MACOS_DONE
        elif self.state == MACOS_DONE and write == AUX_LOW:
            self.state = AUX_LOW_WRITTEN

    def t2_high(self, value: int, now_ns: int) -> int:
        """Return what a read of T2CH at an instant gives for the counter's high byte."""
        return value + AUX_ERROR & 0xFF if self.state == AUX_MEASURES and now_ns & 1 else value

    def _has_results(self) -> bool:
        with cython.gil:
            end = RESULTS_ADDRESS + len(RESULTS)
            return self.memory is not None and self.memory[RESULTS_ADDRESS:end] == RESULTS

    def _put_results(self) -> None:
        with cython.gil:
            if self.memory is not None:
                self.memory[RESULTS_ADDRESS : RESULTS_ADDRESS + len(RESULTS)] = RESULTS


def _in_state(state: int) -> Calibration:
    calibration = Calibration()
    calibration.state = state
    return calibration
