"""What QEMU's VIA does otherwise than a 6522, a switch each, and the sets that versions and patches have.

"B1" to "B13" and "S1" to "S5" are the rows of ``docs/qemu-via.md``.
"""

from enum import Flag, auto


class Deviation(Flag):
    """One way in which a VIA is not a 6522.  A set of them is a VIA; the empty set is the chip."""

    SHORT_RELOAD = auto()
    FLAG_AT_ZERO = auto()
    EXPIRY_FLOORED = auto()
    MODES_WITHOUT_ALARM = auto()
    LINE_MISSES_READ = auto()
    T2_FIRES_AGAIN = auto()
    LATCH_MOVES_COUNT = auto()
    LATCH_WRITE_UPDATES = auto()
    PULSES_IGNORED = auto()
    ACCESS_TAKES_NO_TIME = auto()
    PINS_IGNORED = auto()
    FLAG_AFTER_RESET = auto()
    LINE_MISSES_CLEAR = auto()
    IFR_READ_STALE = auto()
    FLAG_RETURNS = auto()
    LOAD_FLOORED = auto()
    PORTS_KEEP_FLAGS = auto()
    CALIBRATION_ANSWERED = auto()
    PORT_A_NAMES_MACHINE = auto()


D = Deviation

# Member -> (number in docs/qemu-via.md, what it means).
MEANINGS: dict[Deviation, tuple[str, str]] = {
    D.SHORT_RELOAD: ("B1 B3", "the first reload skips a count, and the times of the flag with it"),
    D.FLAG_AT_ZERO: ("B2", "the flag comes with count 0, from a time computed ahead"),
    D.EXPIRY_FLOORED: ("B4 S1", "a timeout is expected up to 1 ns before the count gets there"),
    D.MODES_WITHOUT_ALARM: ("B5", "only T1's free run without PB7 interrupts on its own"),
    D.LINE_MISSES_READ: ("B6", "a read may set a timer's flag and leave the IRQ line as it is"),
    D.T2_FIRES_AGAIN: ("B7", "T2 times out again and again, not once per write of T2CH"),
    D.LATCH_MOVES_COUNT: ("B8", "after the first reload a latch write changes the running count"),
    D.LATCH_WRITE_UPDATES: ("B8", "a write of T1's latch computes the time of the flag anew"),
    D.PULSES_IGNORED: ("B9 S4", "T2 counts φ2 in pulse mode too"),
    D.ACCESS_TAKES_NO_TIME: ("B10", "counting starts at the instant of the write; reads may agree"),
    D.PINS_IGNORED: ("B11", "ports read as written; no PB7, shifting, latching or handshake"),
    D.FLAG_AFTER_RESET: ("B12", "the first read after a reset sets T2's flag"),
    D.LINE_MISSES_CLEAR: ("B13", "writes of T1CH, T1LH and T2CH clear the flag, not the IRQ line"),
    D.IFR_READ_STALE: ("S2", "a read of IFR does not look whether a timer has timed out"),
    D.FLAG_RETURNS: ("S3", "a one-shot's flag is set again after each acknowledge"),
    D.LOAD_FLOORED: ("S5", "each reload may move the timer back by up to 1 ns"),
    D.PORTS_KEEP_FLAGS: ("6.1", "an access to ORA or ORB leaves the CA and CB flags"),
    D.CALIBRATION_ANSWERED: ("8.2", "VIA1: the calibrations of MacOS and A/UX are recognised and falsified"),
    D.PORT_A_NAMES_MACHINE: ("8.2", "VIA1: four bits of port A read as those of a Quadra 800"),
}

# No model has these three apart: they are what it means to count ns from a write instead of cycles.
ALWAYS = D.PULSES_IGNORED | D.ACCESS_TAKES_NO_TIME | D.PINS_IGNORED

QEMU_7_2 = (
    ALWAYS
    | D.SHORT_RELOAD
    | D.FLAG_AT_ZERO
    | D.EXPIRY_FLOORED
    | D.MODES_WITHOUT_ALARM
    | D.LINE_MISSES_READ
    | D.T2_FIRES_AGAIN
    | D.LATCH_MOVES_COUNT
    | D.LATCH_WRITE_UPDATES
    | D.FLAG_AFTER_RESET
    | D.LINE_MISSES_CLEAR
)
QEMU_6_1 = QEMU_7_2 | D.PORTS_KEEP_FLAGS
QEMU_8_2 = QEMU_7_2 | D.CALIBRATION_ANSWERED | D.PORT_A_NAMES_MACHINE

# The timers of the series' patch 8: counter and flag come from one state, moved on at each reload.
_ONE_STATE = D.SHORT_RELOAD | D.FLAG_AT_ZERO | D.LATCH_MOVES_COUNT | D.LINE_MISSES_READ
_ONE_STATE_DEFECTS = D.IFR_READ_STALE | D.FLAG_RETURNS | D.LOAD_FLOORED
_PATCH_8 = QEMU_6_1 & ~_ONE_STATE | _ONE_STATE_DEFECTS
# Patch 9 stops timers by the state that patch 8 brings: it cannot be without it.
_PATCH_9 = _PATCH_8 & ~(D.MODES_WITHOUT_ALARM | D.T2_FIRES_AGAIN)

# The nine patches were made for 6.1.  Four of them (hooks, names, one reading of the clock for a whole
# operation) change nothing that a Quadra's guest could see.
SETS: dict[str, Deviation] = {
    "chip": Deviation(0),
    "qemu-6.1": QEMU_6_1,
    "qemu-7.2": QEMU_7_2,
    "qemu-8.2": QEMU_8_2,
    "patch-1": QEMU_6_1,
    "patch-2": QEMU_6_1,
    "patch-3": QEMU_6_1 & ~D.LATCH_WRITE_UPDATES,
    "patch-4": QEMU_6_1,
    "patch-5": QEMU_6_1 & ~D.SHORT_RELOAD,
    "patch-6": QEMU_6_1 & ~D.LINE_MISSES_READ,
    "patch-7": QEMU_6_1,
    "patch-8": _PATCH_8,
    "patch-9": _PATCH_9,
    "series-2021": _PATCH_9 & ~D.LATCH_WRITE_UPDATES,
}
