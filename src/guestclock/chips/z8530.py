# cython: annotation_typing=False
"""Zilog Z8530 serial communications controller (SCC): its asynchronous half.

```
             D/C  A/B    offset on a Quadra
channel B     0    0     +0   control: register pointer, then the register
channel A     0    1     +2   control
channel B     1    0     +4   data: WR8 when written, RR8 when read
channel A     1    1     +6   data
```

Sources: Zilog UM0109 "SCC/ESCC User Manual" (register descriptions, 2.3 register access, 2.4 interrupts)
and AMD's Am8530H manual, which words the same chip differently.  Written WR1, WR2, WR3, WR5, WR9, WR12,
WR13, WR15 and the commands of WR0 act; the line format (WR4, WR6, WR7, WR10, WR11, WR14) is taken and has
no effect.

What stands beside the chip: a perfect line.  Every byte arrives whole, without parity, framing or overrun
errors and without breaks, and nothing has a baud rate:

- A transmitted byte is on the line at once, so the transmit buffer is always empty while the transmitter is
  enabled.
- Received bytes wait on the line, without limit, until the three-byte FIFO behind the enabled receiver has
  room.
- CTS and DCD are asserted and never change, so no External/Status interrupt ever comes.

There is no interrupt-acknowledge cycle (a Macintosh autovectors and ties INTACK high): no source is ever
under service, and Reset Highest IUS does nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

CHANNEL_B = 0
CHANNEL_A = 1

# Offset bits as the Quadra wires A/B and D/C.
OFFSET_CHANNEL_A = 2
OFFSET_DATA = 4

# WR0 commands, bits 5-3.
POINT_HIGH = 1
ENABLE_INT_ON_NEXT_RX = 4
RESET_TX_INT_PENDING = 5

# WR1, WR3, WR5, WR9.
WR1_TX_INT = 0x02
WR1_RX_INT_MODE = 0x18
WR1_RX_INT_FIRST = 0x08
WR1_RX_INT_ALL = 0x10
WR3_RX_ENABLE = 0x01
WR5_TX_ENABLE = 0x08
WR9_MIE = 0x08
WR9_STATUS_HIGH = 0x10
WR9_DLC = 0x04
WR9_RESET = 0xC0
WR9_RESET_B = 0x40
WR9_RESET_A = 0x80

# RR0; bits 5 and 3 are the pins, true when asserted.  Bit 6 is always 1 in asynchronous mode.
RR0_RX_AVAILABLE = 0x01
RR0_TX_EMPTY = 0x04
RR0_DCD_CTS_EOM = 0x68
# RR1: residue code of a whole byte, and all sent.
RR1_RESIDUE = 0x06
RR1_ALL_SENT = 0x01

# Interrupt pending, as in RR3: channel B in bits 2-0, channel A in bits 5-3.
IP_TX = 0x02
IP_RX = 0x04

FIFO_BYTES = 3
NOTHING = -1


class ChannelState(NamedTuple):
    """One channel as data: written registers, bytes on their way, and what interrupts remember."""

    wr1: int
    wr3: int
    wr5: int
    wr12: int
    wr13: int
    wr15: int
    fifo: bytes
    line: bytes
    tx_held: int
    tx_emptied: bool
    rx_armed: bool
    rx_first: bool


class Z8530State(NamedTuple):
    """The whole chip as data."""

    pointer: int
    wr2: int
    wr9: int
    b: ChannelState
    a: ChannelState


class Channel:
    """One of the two channels.  `line` is what was sent to it and has not reached its FIFO."""

    def __init__(self) -> None:
        self.wr1 = self.wr3 = self.wr5 = self.wr12 = self.wr13 = self.wr15 = 0
        self.fifo = bytearray()
        self.line = bytearray()
        self.reset()

    def reset(self) -> None:
        """Reset what UM0109's reset table resets and this chip acts on: enables, and bytes on their way."""
        self.wr1 = 0
        self.wr3 &= ~WR3_RX_ENABLE
        self.wr5 &= ~WR5_TX_ENABLE
        self.wr15 = 0xF8
        self.fifo.clear()
        self.tx_held = NOTHING
        self.tx_emptied = False
        self.rx_armed = True
        self.rx_first = False

    def refill(self) -> None:
        """Let waiting bytes into the FIFO while the receiver is enabled and has room."""
        if not self.wr3 & WR3_RX_ENABLE:
            return
        while self.line and len(self.fifo) < FIFO_BYTES:
            self.fifo.append(self.line[0])
            del self.line[0]
            if self.rx_armed:
                self.rx_armed = False
                self.rx_first = True

    def pop(self) -> int:
        """Return the byte at the FIFO's exit, 0 when there is none."""
        if not self.fifo:
            return 0
        value = self.fifo[0]
        del self.fifo[0]
        self.rx_first = False
        self.refill()
        return value

    def arm(self) -> None:
        """Interrupt once more on the next character; one that waits already counts as next."""
        self.rx_first = len(self.fifo) > 0
        self.rx_armed = not self.rx_first

    def pending(self) -> int:
        """Return the channel's three interrupt-pending bits, External/Status in bit 0."""
        bits = 0
        # An IP is never set while its enable is off.  The empty buffer is remembered all the same: a driver
        # that switches the interrupt off, writes, and switches it on again (pmz_console_write) does so on a
        # real line while the last byte still fills the buffer, and gets its interrupt when that leaves.
        if self.wr1 & WR1_TX_INT and self.tx_emptied:
            bits |= IP_TX
        mode = self.wr1 & WR1_RX_INT_MODE
        if (mode == WR1_RX_INT_ALL and self.fifo) or (mode == WR1_RX_INT_FIRST and self.rx_first):
            bits |= IP_RX
        return bits

    def status(self) -> int:
        """Return RR0."""
        value = RR0_DCD_CTS_EOM
        if self.fifo:
            value |= RR0_RX_AVAILABLE
        if self.tx_held == NOTHING:
            value |= RR0_TX_EMPTY
        return value

    def special(self) -> int:
        """Return RR1."""
        return RR1_RESIDUE | RR1_ALL_SENT if self.tx_held == NOTHING else RR1_RESIDUE

    def snapshot(self) -> ChannelState:
        """Return the channel's state as data."""
        return ChannelState(
            self.wr1,
            self.wr3,
            self.wr5,
            self.wr12,
            self.wr13,
            self.wr15,
            bytes(self.fifo),
            bytes(self.line),
            self.tx_held,
            self.tx_emptied,
            self.rx_armed,
            self.rx_first,
        )

    def restore(self, state: ChannelState) -> None:
        """Become what `snapshot` saw."""
        self.wr1, self.wr3, self.wr5 = state.wr1, state.wr3, state.wr5
        self.wr12, self.wr13, self.wr15 = state.wr12, state.wr13, state.wr15
        self.fifo, self.line = bytearray(state.fifo), bytearray(state.line)
        self.tx_held, self.tx_emptied = state.tx_held, state.tx_emptied
        self.rx_armed, self.rx_first = state.rx_armed, state.rx_first


class Z8530:
    """The chip: `read` and `write` by offset, the interrupt pin in `irq`.

    `transmitted(channel, byte)` is called for each byte that leaves, before `write` returns.  `irq` is true
    while INT is asserted; it can change in `read`, `write`, `receive` and `restore` only.

    >>> sent = bytearray()
    >>> scc = Z8530(lambda channel, byte: sent.append(byte))
    >>> scc.write(2, 5); scc.write(2, 0x68)     # channel A: point to WR5; 8 bits, transmitter on
    >>> scc.write(6, ord("!"))
    >>> bytes(sent)
    b'!'
    """

    def __init__(self, transmitted: Callable[[int, int], None]) -> None:
        self._transmitted = transmitted
        self._a = Channel()
        self._b = Channel()
        # Only one set of pointer bits, one WR2 and one WR9 exist; either channel's control address reaches
        # them.
        self._pointer = 0
        self._wr2 = 0
        self._wr9 = 0
        self.irq = False

    def read(self, offset: int) -> int:
        """Read the control or data port at `offset` (only bits 1 and 2 count)."""
        channel = self._a if offset & OFFSET_CHANNEL_A else self._b
        if offset & OFFSET_DATA:
            value = channel.pop()
        else:
            register = self._pointer
            self._pointer = 0
            if register == 0:  # the poll loop's register; reading it changes nothing
                return channel.status()
            value = self._register(channel, register)
        self._update()
        return value

    def write(self, offset: int, value: int) -> None:
        """Write a byte to the control or data port at `offset` (only bits 1 and 2 count)."""
        channel = self._a if offset & OFFSET_CHANNEL_A else self._b
        if offset & OFFSET_DATA:
            self._transmit(channel, value)
        elif self._pointer == 0:
            self._command(channel, value)
        else:
            register = self._pointer
            self._pointer = 0
            self._configure(channel, register, value)
        self._update()

    def receive(self, channel: int, data: bytes) -> None:
        """Send `data` to `channel` (CHANNEL_A or CHANNEL_B); what the FIFO cannot take waits on the line."""
        receiver = self._a if channel == CHANNEL_A else self._b
        receiver.line += data
        receiver.refill()
        self._update()

    def snapshot(self) -> Z8530State:
        """Return the whole state as data."""
        return Z8530State(self._pointer, self._wr2, self._wr9, self._b.snapshot(), self._a.snapshot())

    def restore(self, state: Z8530State) -> None:
        """Become what `snapshot` saw; the line to the outside stays the one given at construction."""
        self._pointer, self._wr2, self._wr9 = state.pointer, state.wr2, state.wr9
        self._b.restore(state.b)
        self._a.restore(state.a)
        self._update()

    def _register(self, channel: Channel, register: int) -> int:
        if register in (4, 5, 6, 7):  # NMOS decodes no RR4-RR7
            register -= 4
        if register == 0:
            return channel.status()
        if register == 1:
            return channel.special()
        if register == 2:
            return self._wr2 if channel is self._a else self._modified_vector()
        if register == 3:
            return self._pending() if channel is self._a else 0
        if register == 8:
            return channel.pop()
        if register == 12:
            return channel.wr12
        if register in (9, 13):
            return channel.wr13
        if register in (11, 15):
            return channel.wr15 & 0xFA
        return 0  # RR10 and its image RR14: nothing but SDLC and DPLL status

    def _command(self, channel: Channel, value: int) -> None:
        command = value >> 3 & 7
        self._pointer = value & 7
        if command == POINT_HIGH:
            self._pointer |= 8
        elif command == ENABLE_INT_ON_NEXT_RX:
            channel.arm()
        elif command == RESET_TX_INT_PENDING:
            channel.tx_emptied = False

    def _configure(self, channel: Channel, register: int, value: int) -> None:
        value &= 0xFF
        if register == 1:
            if value & WR1_RX_INT_MODE == WR1_RX_INT_FIRST != channel.wr1 & WR1_RX_INT_MODE:
                channel.arm()
            channel.wr1 = value
        elif register == 2:
            self._wr2 = value
        elif register == 3:
            channel.wr3 = value
            channel.refill()
        elif register == 5:
            channel.wr5 = value
            if value & WR5_TX_ENABLE and channel.tx_held != NOTHING:
                held = channel.tx_held
                channel.tx_held = NOTHING
                self._transmit(channel, held)
        elif register == 8:
            self._transmit(channel, value)
        elif register == 9:
            self._control(value)
        elif register == 12:
            channel.wr12 = value
        elif register == 13:
            channel.wr13 = value
        elif register == 15:
            channel.wr15 = value

    def _control(self, value: int) -> None:
        # The interrupt control bits are programmed by the same write, also by one that resets.
        self._wr9 = value & (WR9_MIE | WR9_STATUS_HIGH | WR9_DLC | 0x03)
        reset = value & WR9_RESET
        if reset == WR9_RESET:
            self._wr9 &= WR9_MIE | WR9_STATUS_HIGH | WR9_DLC
        if reset in (WR9_RESET_B, WR9_RESET):
            self._b.reset()
        if reset in (WR9_RESET_A, WR9_RESET):
            self._a.reset()

    def _transmit(self, channel: Channel, value: int) -> None:
        if channel.wr5 & WR5_TX_ENABLE:
            channel.tx_emptied = True
            self._transmitted(CHANNEL_A if channel is self._a else CHANNEL_B, value & 0xFF)
        else:  # a disabled transmitter leaves the byte in the buffer
            channel.tx_held = value & 0xFF
            channel.tx_emptied = False

    def _pending(self) -> int:
        return self._a.pending() << 3 | self._b.pending()

    def _modified_vector(self) -> int:
        # V3 V2 V1 of RR2B: highest priority first, 011 when nothing is pending; status high puts them in V4
        # V5 V6.
        pending = self._pending()
        code = 3
        if pending & IP_RX << 3:
            code = 6
        elif pending & IP_TX << 3:
            code = 4
        elif pending & IP_RX:
            code = 2
        elif pending & IP_TX:
            code = 0
        if self._wr9 & WR9_STATUS_HIGH:
            return self._wr2 & 0x8F | (code & 1) << 6 | (code & 2) << 4 | (code & 4) << 2
        return self._wr2 & 0xF1 | code << 1

    def _update(self) -> None:
        self.irq = bool(self._wr9 & WR9_MIE and self._pending())
