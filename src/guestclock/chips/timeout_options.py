"""What is open about the cycle of a 6522's timeout, as options with names (docs/6522.md, facts 7 and 8)."""

from guestclock.chips.registers import (
    READ_T1CL,
    READ_T2CL,
    WRITE_IFR,
    WRITE_T1CH,
    WRITE_T1LH,
    WRITE_T2CH,
)

ACCESSES = {
    "t1cl-read": READ_T1CL,
    "t1ch-write": WRITE_T1CH,
    "t1lh-write": WRITE_T1LH,
    "t2cl-read": READ_T2CL,
    "t2ch-write": WRITE_T2CH,
    "ifr-write": WRITE_IFR,
}


def timeout_beats(*names: str) -> int:
    """Return the chip's argument ``timeout_beats``: these accesses fail to clear a flag in its first cycle.

    The chip's default is all but ``ifr-write``.  Raises :class:`ValueError` for a name that is none.

    >>> timeout_beats("t1cl-read", "ifr-write") == READ_T1CL | WRITE_IFR
    True
    """
    mask = 0
    for name in names:
        if name not in ACCESSES:
            raise ValueError(f"no access {name!r}: {', '.join(ACCESSES)}")
        mask |= ACCESSES[name]
    return mask
