"""What a line of a trace can be."""

from enum import IntEnum


class Kind(IntEnum):
    """Kinds of decoded lines; the compiled decoder holds the same numbers (``trace_lines.pxd``)."""

    DAMAGED = 0
    READ = 1
    WRITE = 2
    RECOMPUTE = 3
    SET_COUNTER = 4
    OTHER = 5
    BLANK = 6


EVENT_NAMES = {
    Kind.READ: "mos6522_read",
    Kind.WRITE: "mos6522_write",
    Kind.RECOMPUTE: "mos6522_get_next_irq_time",
    Kind.SET_COUNTER: "mos6522_set_counter",
}
OUR_EVENTS = ("mos6522_", "via1_")
