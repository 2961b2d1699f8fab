"""The timers of QEMU's VIA once more, slow and obvious: it counts, and divides by fractions.

Written from the table in ``docs/qemu-via.md`` alone.  One register access at a time; nothing is shared with
the model but the names of registers.
"""

from fractions import Fraction
from math import floor

from guestclock.chips.registers import ACR, IER, IFR, T1CH, T1CL, T1LH, T1LL, T2CH, T2CL

CYCLE_NS = Fraction(10**9, 783_360)
FOREVER = 10**30


def t1_counts(loaded: int, latch: int, cycles: int) -> int:
    """Count T1 down, cycle by cycle: to FFFF, and then not from the latch but from one below it (B1)."""
    value = loaded
    first = True
    for _ in range(cycles):
        if value != -1:
            value -= 1
        elif first:
            value = latch - 1
            first = False
        else:
            value = latch
    return value & 0xFFFF


class OracleTimer:
    def __init__(self) -> None:
        self.latch = 0xFFFF
        self.loaded = 0
        self.since_ns = 0
        self.next_ns = FOREVER

    def cycles(self, ns: int) -> int:
        return floor((ns - self.since_ns) / CYCLE_NS)

    def expect(self, ns: int) -> None:
        """Compute the next time of count 0; T2's is computed as if it reloaded like T1."""
        cycles = self.cycles(ns)
        count = t1_counts(self.loaded, self.latch, cycles)
        until = {0xFFFF: self.latch + 1, 0: self.latch + 2}.get(count, count)
        when = self.since_ns + floor((cycles + until) * CYCLE_NS)
        self.next_ns = when if when > ns else ns + 1


class Oracle:
    """VIA of QEMU 7.2 after a reset at 0: timers, ACR, IFR (bits 5 and 6), IER, and the IRQ line."""

    def __init__(self) -> None:
        self.timers = {6: OracleTimer(), 5: OracleTimer()}
        self.timers[6].loaded = 0xFFFF
        self.timers[5].next_ns = 0
        self.armed: set[int] = set()
        self.flags: set[int] = set()
        self.enabled: set[int] = set()
        self.acr = 0
        self.irq = False

    def line(self) -> None:
        self.irq = bool(self.flags & self.enabled)

    def update(self, bit: int, ns: int) -> None:
        self.timers[bit].expect(ns)
        may = bit in self.enabled and (bit == 5 or self.acr & 0xC0 == 0x40)
        (self.armed.add if may else self.armed.discard)(bit)

    def pass_time(self, ns: int) -> None:
        while due := [bit for bit in self.armed if self.timers[bit].next_ns <= ns]:
            bit = min(due, key=lambda bit: self.timers[bit].next_ns)
            self.update(bit, self.timers[bit].next_ns)
            self.flags.add(bit)
            self.line()

    def bits(self, bits: set[int]) -> int:
        return sum(1 << bit for bit in bits)

    def counter(self, bit: int, ns: int) -> int:
        timer = self.timers[bit]
        if bit == 6:
            return t1_counts(timer.loaded, timer.latch, timer.cycles(ns))
        return (timer.loaded - timer.cycles(ns)) % 0x10000

    def read(self, register: int, ns: int) -> int:
        self.pass_time(ns)
        for bit, timer in self.timers.items():
            if ns >= timer.next_ns:
                self.update(bit, ns)
                self.flags.add(bit)
        if register in (T1CL, T2CL):
            bit = 6 if register == T1CL else 5
            self.flags.discard(bit)
            self.line()
            return self.counter(bit, ns) % 256
        if register == T1CH:
            self.line()
            return self.counter(6, ns) // 256
        if register == T2CH:
            return self.counter(5, ns) // 256
        if register == T1LL:
            return self.timers[6].latch % 256
        if register == T1LH:
            return self.timers[6].latch // 256
        if register == ACR:
            return self.acr
        if register == IER:
            return self.bits(self.enabled) + 0x80
        return self.bits(self.flags) + (0x80 if self.flags & self.enabled else 0)

    def write(self, register: int, value: int, ns: int) -> None:
        self.pass_time(ns)
        named = {bit for bit in (5, 6) if value >> bit & 1}
        if register in (T1CL, T1LL, T2CL):
            timer = self.timers[5 if register == T2CL else 6]
            timer.latch = timer.latch // 256 * 256 + value
        elif register in (T1CH, T1LH, T2CH):
            bit = 5 if register == T2CH else 6
            timer = self.timers[bit]
            timer.latch = timer.latch % 256 + 256 * value
            self.flags.discard(bit)
            if register != T1LH:
                timer.since_ns, timer.loaded = ns, timer.latch
                self.update(bit, ns)
        elif register == ACR:
            self.acr = value
        elif register == IFR:
            self.flags -= named
            self.line()
        elif register == IER:
            self.enabled = self.enabled | named if value >= 0x80 else self.enabled - named
            self.line()
            self.update(5, ns)
        if register in (T1CL, T1LL, T1LH, ACR, IER):
            self.update(6, ns)
