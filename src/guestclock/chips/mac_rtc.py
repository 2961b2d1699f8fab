"""Apple 343-0042-B: the Macintosh clock chip with 256 bytes of parameter RAM (PRAM).

```
VIA1 port B   PB2 enable  ‾\\______________________________________________________________/‾
              PB1 clock   ‾‾\\_/‾\\_/‾ ... \\_/‾ \\_/‾ ... \\_/‾
              PB0 data      c7  c6       c0   d7        d0
```

Eight bits of command, most significant first, then eight bits of data.  The chip takes a bit when the clock
rises and puts one out when it falls, so it is valid at the rise.  Nothing but raising enable begins a new
command.

Commands (Inside Macintosh III-37; z is 1 to read; the extended ones as Linux's RTC_CMD_XPRAM_ARG forms them):

| command | register |
|---|---|
| `z00xaa01` | seconds, byte aa (0 is the least significant) |
| `z010aa01` | PRAM 08-0B (bytes 10-13 of the old chip's twenty) |
| `00110001` | test; taken and without effect here |
| `001101xx` | write protect, bit 7: no other register can be written while it is set |
| `z1aaaa01` | PRAM 10-1F (bytes 00-0F of the old chip's twenty) |
| `z0111aaa 0aaaaa00` | PRAM 00-FF: extended command of two bytes |

Time is the seconds since 1904-01-01 00:00, 32 bits.  The four bytes are read by four commands, so the count
can move on between them: drivers read twice and compare.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

PRAM_BYTES = 256
SECONDS_MASK = 0xFFFFFFFF

READ = 0x80
WRITE_PROTECT = 0x80
REGISTER_WRITE_PROTECT = 13


class Phase(IntEnum):
    """What the chip expects of the next clock edges."""

    COMMAND = 0
    ADDRESS = 1
    DATA_IN = 2
    DATA_OUT = 3
    DONE = 4


class MacRtcState(NamedTuple):
    """The chip as data.  `offset_s` is what the guest added to the time given from outside."""

    pram: bytes
    offset_s: int
    write_protected: bool
    enable: bool
    clock: bool
    data_out: bool
    phase: int
    command: int
    address: int
    shift: int
    bits: int


class MacRtc:
    """The chip behind three lines.

    `seconds()` gives the time of the outside in seconds since 1904; `pram` is what the battery kept.
    `data_out` is the level the chip puts on the data line; it is high while the chip does not drive it.
    """

    def __init__(self, seconds: Callable[[], int], pram: bytes = bytes(PRAM_BYTES)) -> None:
        if len(pram) != PRAM_BYTES:
            raise ValueError(f"parameter RAM has {PRAM_BYTES} bytes, not {len(pram)}")
        self._seconds = seconds
        self.pram = bytearray(pram)
        self._offset_s = 0
        self._write_protected = False
        self._enable = False
        self._clock = True
        self._begin()

    def lines(self, enable: bool, clock: bool, data: bool) -> None:
        """Show the chip its three lines after a change.

        `enable` is true while the chip is selected, that is while PB2 is low; `clock` and `data` are the
        levels of PB1 and PB0.  A change of the clock in the moment of selection is no clock edge.
        """
        was_enabled, was_high = self._enable, self._clock
        self._enable, self._clock = enable, clock
        if not enable:
            self._begin()
        elif was_enabled and clock != was_high:
            if clock:
                self._rise(data)
            else:
                self._fall()

    def now_s(self) -> int:
        """Return the chip's time: seconds since 1904, modulo 2^32."""
        return (self._seconds() + self._offset_s) & SECONDS_MASK

    def snapshot(self) -> MacRtcState:
        """Return the whole state as data."""
        return MacRtcState(
            bytes(self.pram),
            self._offset_s,
            self._write_protected,
            self._enable,
            self._clock,
            self.data_out,
            self._phase,
            self._command,
            self._address,
            self._shift,
            self._bits,
        )

    def restore(self, state: MacRtcState) -> None:
        """Become what `snapshot` saw; the time of the outside stays the one given at construction."""
        self.pram[:] = state.pram
        self._offset_s = state.offset_s
        self._write_protected = state.write_protected
        self._enable, self._clock, self.data_out = state.enable, state.clock, state.data_out
        self._phase = Phase(state.phase)
        self._command, self._address = state.command, state.address
        self._shift, self._bits = state.shift, state.bits

    def _begin(self) -> None:
        self.data_out = True
        self._phase = Phase.COMMAND
        self._command = self._address = 0
        self._shift = self._bits = 0

    def _rise(self, data: bool) -> None:
        if self._phase in (Phase.DATA_OUT, Phase.DONE):
            return
        self._shift = self._shift << 1 | data
        self._bits += 1
        if self._bits == 8:
            value, self._shift, self._bits = self._shift, 0, 0
            self._take(value)

    def _fall(self) -> None:
        if self._phase is not Phase.DATA_OUT:
            return
        if self._bits == 8:
            self._finish()
            return
        self.data_out = bool(self._shift & 0x80)
        self._shift = self._shift << 1 & 0xFF
        self._bits += 1

    def _finish(self) -> None:
        self._phase = Phase.DONE
        self.data_out = True

    def _take(self, value: int) -> None:
        if self._phase is Phase.COMMAND:
            self._command = value
            if value & 0x78 == 0x38:
                self._phase = Phase.ADDRESS
                return
            self._address = value >> 2 & 0x1F
        elif self._phase is Phase.ADDRESS:
            self._address = (self._command & 7) << 5 | value >> 2 & 0x1F
        else:
            if not self._write_protected or self._writes_protection():
                self._write(value)
            self._finish()
            return
        if self._command & READ:
            self._reply()
        else:
            self._phase = Phase.DATA_IN

    def _extended(self) -> bool:
        return self._command & 0x78 == 0x38

    def _writes_protection(self) -> bool:
        return not self._extended() and self._address == REGISTER_WRITE_PROTECT

    def _reply(self) -> None:
        if self._is_pram():
            self._shift = self.pram[self._address]
        elif self._address < 8:
            self._shift = self.now_s() >> 8 * (self._address & 3) & 0xFF
        else:  # test and write protect cannot be read: nothing drives the line
            self._finish()
            return
        self._phase = Phase.DATA_OUT

    def _write(self, value: int) -> None:
        if self._is_pram():
            self.pram[self._address] = value
        elif self._address < 8:
            place = 8 * (self._address & 3)
            now_s = self.now_s()
            self._offset_s += (now_s & ~(0xFF << place) | value << place) - now_s
        elif self._address == REGISTER_WRITE_PROTECT:
            self._write_protected = bool(value & WRITE_PROTECT)

    def _is_pram(self) -> bool:
        # The old twenty bytes are registers 8-11 and 16-31, and lie at the same numbers of the 256.
        return self._extended() or 8 <= self._address < 12 or self._address >= 16
