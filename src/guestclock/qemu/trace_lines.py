# cython: annotation_typing=False, cdivision=True, boundscheck=False, wraparound=False
"""Lines of QEMU's log trace backend, decoded into columns.

What a line looks like, from `hw/misc/trace-events` and the log backend of QEMU's tracetool:

    mos6522_read reg=0x5 [T1CH] val=0x1e                  since 7.0
    mos6522_read reg=0x5 val=0x1e                         up to 6.1
    mos6522_get_next_irq_time latch=7831 counter=0x523ea delta_next=0x1e5f
    mos6522_set_counter T1.counter=7831

and what stands before it: nothing; ``TID@SECONDS.MICROSECONDS:`` with ``-msg timestamp=on``, and always in
old versions; from 10.2 on what stands before all of QEMU's messages, an ISO 8601 time and, in brackets or
before colons, guest, program and thread:

    2026-01-02T03:04:05.678901Z qemu-system-m68k: (17:CPU 0/TCG): mos6522_read reg=0x5 [T1CH] val=0x1e
"""

from typing import NamedTuple

import cython
import numpy as np
import numpy.typing as npt

ROWS = 65536
"""At most so many lines are decoded at once."""

if not cython.compiled:  # C constants: see trace_lines.pxd.
    DAMAGED, READ, WRITE, RECOMPUTE, SET_COUNTER, OTHER, BLANK = range(7)
    ROWS_MAX = ROWS
    NO_STAMP = -1
    NEWLINE = 10

_EVENT = b"mos6522_"
_READ = b"read "
_WRITE = b"write "
_RECOMPUTE = b"get_next_irq_time "
_SET_COUNTER = b"set_counter "
_REG = b"reg=0x"
_VAL = b"val=0x"
_LATCH = b"latch="
_COUNTER = b" counter=0x"
_DELTA = b" delta_next=0x"
_COUNTER_END = b".counter="


class Columns(NamedTuple):
    """The decoded lines, one row each; only the first :attr:`LineDecoder.rows` count.

    ``kind``: a number of :class:`guestclock.qemu.trace_kinds.Kind`.  ``reg``: 0 to 15 of an access, the timer
    of a set counter, else 0.  ``value``: of an access what was read or written, of a recomputation the latch,
    of a set counter the counter.  ``stamp_us``: microseconds since 1970, −1 without.  ``start``: where in the
    chunk the event's name begins, of a damaged line the line.
    """

    kind: npt.NDArray[np.uint8]
    reg: npt.NDArray[np.uint8]
    value: npt.NDArray[np.int64]
    stamp_us: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]


class LineDecoder:
    """Decodes chunks of whole lines into :attr:`columns`, which the next call overwrites."""

    def __init__(self) -> None:
        """Make room for the rows."""
        self.columns = Columns(
            np.zeros(ROWS, np.uint8),
            np.zeros(ROWS, np.uint8),
            np.zeros(ROWS, np.int64),
            np.zeros(ROWS, np.int64),
            np.zeros(ROWS, np.int64),
        )
        self._kind, self._reg, self._value, self._stamp, self._start = self.columns
        self.rows = 0
        self._at = 0
        self._bad = False

    def decode(self, chunk: bytes, at: int) -> int:
        r"""Decode lines of ``chunk`` from byte ``at`` on; return where the first one not decoded begins.

        The chunk must end with a newline.

        >>> decoder = LineDecoder()
        >>> decoder.decode(b"mos6522_read reg=0x5 [T1CH] val=0x1e\n\nnonsense\n", 0), decoder.rows
        (47, 3)
        >>> decoder.columns.kind[:3].tolist(), decoder.columns.value[:1].tolist()
        ([1, 6, 0], [30])
        """
        text = chunk
        end = len(chunk)
        self.rows = 0
        with cython.nogil:
            self._rows(text, at, end)
        return self._at

    def _rows(self, text: bytes, at: int, end: int) -> None:
        row = 0
        self._at = at
        while self._at < end and row < ROWS_MAX:
            self._start[row] = self._at
            self._reg[row] = 0
            self._value[row] = 0
            self._stamp[row] = NO_STAMP
            self._bad = False
            if text[self._at] == NEWLINE:
                kind = BLANK
            else:
                kind = self._line(text, row)
            if self._bad or (kind != OTHER and text[self._at] != NEWLINE and text[self._at] != 13):
                kind = DAMAGED
            self._kind[row] = kind
            row += 1
            while text[self._at] != NEWLINE:
                self._at += 1
            self._at += 1
        self.rows = row

    def _line(self, text: bytes, row: int) -> int:
        """Decode one line; return its kind.  What is wrong with it is told by ``_bad``."""
        if 48 <= text[self._at] <= 57:
            self._stamp[row] = self._stamp_us(text)
        if self._bad:
            return DAMAGED
        begin = self._at
        kind = self._event(text, row)
        if kind == DAMAGED and not self._bad:
            # Not the name of an event: perhaps what QEMU puts before messages.
            self._at = begin
            self._skip_context(text)
            begin = self._at
            kind = self._event(text, row)
        if kind != DAMAGED and not self._bad:
            self._start[row] = begin
        return kind

    # What stands before an event

    def _stamp_us(self, text: bytes) -> int:
        at = self._at
        number = self._decimal(text)
        if text[self._at] == 64:  # @
            self._at += 1
            return self._epoch_us(text)
        if text[self._at] == 45 and self._at == at + 4:  # the dash behind a year
            self._at = at
            return self._iso_us(text)
        self._bad = number >= 0
        return NO_STAMP

    def _epoch_us(self, text: bytes) -> int:
        """Take ``SECONDS.MICROSECONDS:``."""
        seconds = self._decimal(text)
        if text[self._at] != 46:
            self._bad = True
            return NO_STAMP
        micros = self._fraction_us(text)
        self._expect_char(text, 58)
        return seconds * 1_000_000 + micros

    def _iso_us(self, text: bytes) -> int:
        """Take ``YYYY-MM-DDTHH:MM:SS[.FFFFFF]Z`` and a blank."""
        year = self._decimal(text)
        self._expect_char(text, 45)
        month = self._decimal(text)
        self._expect_char(text, 45)
        day = self._decimal(text)
        self._expect_char(text, 84)
        hour = self._decimal(text)
        self._expect_char(text, 58)
        minute = self._decimal(text)
        self._expect_char(text, 58)
        second = self._decimal(text)
        micros = 0
        if text[self._at] == 46:
            micros = self._fraction_us(text)
        self._expect_char(text, 90)
        self._expect_char(text, 32)
        # Days since 1970 of the Gregorian calendar, with years that begin in March.
        if month <= 2:
            year -= 1
            month += 12
        leap_days = year // 4 - year // 100 + year // 400
        days = 365 * year + leap_days + (153 * (month - 3) + 2) // 5 + day - 719469
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros

    def _fraction_us(self, text: bytes) -> int:
        """Take a point and six digits."""
        self._at += 1
        at = self._at
        micros = self._decimal(text)
        self._bad = self._bad or self._at != at + 6
        return micros

    def _skip_context(self, text: bytes) -> None:
        """Go past ``[guest] ``, ``program: `` and ``(thread): ``, as far as they are there."""
        at = self._at
        while text[at] != NEWLINE:
            closing = 58
            if text[at] == 91:  # [
                closing = 93
            elif text[at] == 40:  # (
                closing = 41
            elif text[at] == 32:
                return
            while text[at] != closing and text[at] != NEWLINE:
                if closing == 58 and text[at] == 32:
                    return
                at += 1
            while text[at] == closing or text[at] == 58:
                at += 1
            if text[at] != 32:
                return
            at += 1
            self._at = at

    # The events

    def _event(self, text: bytes, row: int) -> int:
        begin = self._at
        if self._take(text, _EVENT, 8):
            if self._take(text, _READ, 5):
                return self._access(text, row, READ)
            if self._take(text, _WRITE, 6):
                return self._access(text, row, WRITE)
            if self._take(text, _RECOMPUTE, 18):
                return self._recompute(text, row)
            if self._take(text, _SET_COUNTER, 12):
                return self._set_counter(text, row)
        self._at = begin
        return self._named(text)

    def _access(self, text: bytes, row: int, kind: int) -> int:
        self._expect(text, _REG, 6)
        reg = self._hex(text)
        self._expect_char(text, 32)
        if not self._bad and text[self._at] == 91:  # [NAME], since 7.0
            while text[self._at] != 93 and text[self._at] != NEWLINE:
                self._at += 1
            self._expect_char(text, 93)
            self._expect_char(text, 32)
        self._expect(text, _VAL, 6)
        value = self._hex(text)
        self._bad = self._bad or reg > 15 or value > 255
        if not self._bad:
            self._reg[row] = reg
            self._value[row] = value
        return kind

    def _recompute(self, text: bytes, row: int) -> int:
        self._expect(text, _LATCH, 6)
        latch = self._decimal(text)
        self._expect(text, _COUNTER, 11)
        self._hex(text)
        self._expect(text, _DELTA, 14)
        self._hex(text)
        self._bad = self._bad or latch > 65535
        self._value[row] = latch
        return RECOMPUTE

    def _set_counter(self, text: bytes, row: int) -> int:
        self._expect_char(text, 84)  # T
        timer = self._decimal(text)
        self._expect(text, _COUNTER_END, 9)
        value = self._decimal(text)
        self._bad = self._bad or timer < 1 or timer > 2 or value > 65535
        if not self._bad:
            self._reg[row] = timer
            self._value[row] = value
        return SET_COUNTER

    def _named(self, text: bytes) -> int:
        """Take any event's name: small letters, digits, at least one underscore, then a blank or the end."""
        joined = False
        if not 97 <= text[self._at] <= 122:
            return DAMAGED
        while 97 <= text[self._at] <= 122 or 48 <= text[self._at] <= 57 or text[self._at] == 95:
            if text[self._at] == 95:
                joined = True
            self._at += 1
        if joined and (text[self._at] == 32 or text[self._at] == NEWLINE or text[self._at] == 13):
            return OTHER
        return DAMAGED

    # Their pieces.  None goes past the newline at the end: it is no part of any.

    def _take(self, text: bytes, word: bytes, length: int) -> bool:
        index = 0
        while index < length:
            if text[self._at + index] != word[index]:
                return False
            index += 1
        self._at += length
        return True

    def _expect(self, text: bytes, word: bytes, length: int) -> None:
        if not self._bad and not self._take(text, word, length):
            self._bad = True

    def _expect_char(self, text: bytes, code: int) -> None:
        if self._bad or text[self._at] != code:
            self._bad = True
        else:
            self._at += 1

    def _hex(self, text: bytes) -> int:
        value = 0
        begin = self._at
        while True:
            code = text[self._at]
            if 48 <= code <= 57:
                digit = code - 48
            elif 97 <= code <= 102:
                digit = code - 87
            else:
                break
            value = value << 4 | digit
            self._at += 1
        self._bad = self._bad or not 0 < self._at - begin <= 16
        return value

    def _decimal(self, text: bytes) -> int:
        value = 0
        begin = self._at
        while 48 <= text[self._at] <= 57:
            if self._at - begin < 18:
                value = value * 10 + text[self._at] - 48
            self._at += 1
        self._bad = self._bad or not 0 < self._at - begin <= 18
        return value
