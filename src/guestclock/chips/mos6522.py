# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""The 6522 versatile interface adapter in closed form.

The cost of an access does not depend on how many cycles went by: a counter is kept as the cycle
in which it shows 0, so that reading it is one subtraction, and only an access beyond a whole
reload period divides.  :mod:`guestclock.chips.mos6522_stepwise` is the same chip one cycle at a
time.

Time is the number of the φ2 cycle; half-cycle ``h`` belongs to cycle ``h // 2``.  With T1CH
written in cycle w, and N loaded::

    cycle      w     w+1   w+2         w+N+1   w+N+2   w+N+3
    counter    ?     N     N-1   ...   0       FFFF    N
    IFR6       0     0     0           0       1       1
    IRQ pin    high  high  high        high    low     low
                                           low
                                           ^ half-cycle 2(w+N+1)+1

A read returns what the CPU sees in its cycle; a write takes effect from the next cycle.
"Fact n" cites the table of recorded behaviour in ``docs/6522.md``.
"""

from typing import Any

import cython

if not cython.compiled:  # Compiled, these names are C constants: see mos6522.pxd.
    from guestclock.chips.registers import *  # noqa: F403

# Fact 20: neither counters nor latches are zero at power-up.  Which values they hold is chance.
POWER_UP_COUNT = 0xFFFF

# Fact 7 is recorded for the T1CL read alone and the timers' other registers are taken to be
# alike; fact 8 is contested, and by default the IFR write wins.
TIMEOUT_BEATS = 0x1F


class CycleError(ValueError):
    """An access or a pin change at a cycle which the chip has left behind."""


class Mos6522:
    """One 6522: timers, ports, flags and the IRQ pin.

    ``variant`` is ``"nmos"`` (MOS, Rockwell, Synertek 6522) or ``"cmos"`` (65C22).  In what is
    modelled here the two agree: recordings of a WDC 65C22 give the same values (fact 1 to 7).

    ``timeout_beats`` is a mask of the accesses (``READ_T1CL``, ``WRITE_IFR``, ... of
    ``registers``) that fail to clear a timer's flag in the very cycle of its timeout, the one
    that shows FFFF (facts 7 and 8).

    >>> from guestclock.chips.registers import WATCH_IRQ
    >>> from guestclock.chips.registers import IER, T1CH, T1CL, WATCH_IRQ
    >>> via = Mos6522()
    >>> via.write(IER, 0xC0, cycle=0)
    >>> via.write(T1CL, 20, cycle=1)
    >>> via.write(T1CH, 0, cycle=2)
    >>> via.read(T1CL, cycle=5)  # three cycles after the write of T1CH
    18
    >>> via.next_event(WATCH_IRQ) / 2  # the IRQ pin falls 20 + 1.5 cycles after it
    23.5
    """

    def __init__(self, variant: str = "nmos", timeout_beats: int = TIMEOUT_BEATS) -> None:
        if variant not in {"nmos", "cmos"}:
            raise ValueError(f"variant {variant!r}: a 6522 is 'nmos' or 'cmos'")
        self.variant = variant
        self.timeout_beats = timeout_beats
        self.now = 0
        self.last_access = -1
        self.ora = self.orb = self.ddra = self.ddrb = 0
        self.sr = self.acr = self.pcr = self.ifr = self.ier = 0
        self.pins_a = self.pins_b = 0xFF
        # T1: the counter shows (t1_zero - now) mod 65536 up to the cycle t1_zero + 1, in which it
        # has passed zero; t1_timed_out says that this cycle has come and been dealt with.
        self.t1_latch = POWER_UP_COUNT
        self.t1_zero = POWER_UP_COUNT
        self.t1_timed_out = False
        self.t1_armed = False
        self.t1_underflows = 0
        self.t1_flag_half = -1
        self.pb7_output = 1
        # T2: the counter shows (t2_base - now) mod 65536, or t2_base while PB6 clocks it.
        # t2_low_zero: the cycle in which the low byte shows 0, kept while T2 clocks the shift
        # register.  t2_loaded: the cycle in which it last came from the latch.  t2_borrowed:
        # whether it last passed zero, kept while PB6 clocks T2.
        self.t2_latch = POWER_UP_COUNT & 0xFF
        self.t2_base = POWER_UP_COUNT
        self.t2_low_zero = 0
        self.t2_loaded = 0
        self.t2_borrowed = False
        self.t2_armed = False
        self.t2_flag_half = -1
        # PB6 in cycle pb6_cycle and in the one before; whether its fall then waits to be counted.
        self.pb6 = self.pb6_before = PB6
        self.pb6_cycle = 0
        self.t2_pulse_waits = False
        self._schedule()

    # ------------------------------------------------------------------ checked access

    def read(self, register: int, cycle: int) -> int:
        """Return what a read of the register (0 to 15) gives in that φ2 cycle.

        Raises :class:`CycleError` unless the cycle comes after that of the last access.
        """
        if cycle <= self.last_access or cycle < self.now or register & ~0xF:
            self._refuse(register, cycle)
        self.last_access = cycle
        self.advance(cycle)
        return self.read_here(register)

    def write(self, register: int, value: int, cycle: int) -> None:
        """Write the register in that φ2 cycle; the chip then stands at the cycle after it.

        Raises :class:`CycleError` unless the cycle comes after that of the last access.
        """
        if cycle <= self.last_access or cycle < self.now or register & ~0xF:
            self._refuse(register, cycle)
        self.last_access = cycle
        self.advance(cycle)
        self.write_here(register, value)

    def _refuse(self, register: int, cycle: int) -> None:
        if register & ~0xF:
            raise ValueError(f"register {register}: a 6522 has registers 0 to 15")
        if cycle <= self.last_access:
            raise CycleError(
                f"cycle {cycle} is not after cycle {self.last_access}: one bus access per φ2 cycle"
            )
        self._check_not_over(cycle)

    def _check_not_over(self, cycle: int) -> None:
        if cycle < self.now:
            raise CycleError(f"cycle {cycle} is over: the chip is at cycle {self.now}")

    # ------------------------------------------------------------------ primitives of a bus

    def advance(self, cycle: int) -> None:
        """Bring the chip to that φ2 cycle; nothing happens if it is there or beyond."""
        if cycle > self.now:
            self.now = cycle
            if cycle >= self.attention:
                self._catch_up()

    def read_here(self, register: int) -> int:
        """Return what a read gives in the cycle last advanced to, and do what the read does."""
        if register == T1CL:
            if self.ifr & IFR_T1 and not self._t1_beats(READ_T1CL):
                self.ifr &= ~IFR_T1
            return (self.t1_zero - self.now) & 0xFF
        if register == T1CH:
            return ((self.t1_zero - self.now) >> 8) & 0xFF
        if register == IFR:
            return self.ifr | IFR_ANY if self.ifr & self.ier else self.ifr
        if register == T1LL:
            return self.t1_latch & 0xFF
        if register == T1LH:
            return self.t1_latch >> 8
        if register == T2CL:
            if self.ifr & IFR_T2 and not self._t2_beats(READ_T2CL):
                self.ifr &= ~IFR_T2
            return self._t2_count() & 0xFF
        if register == T2CH:
            return self._t2_count() >> 8
        return self._read_rest(register)

    def _read_rest(self, register: int) -> int:
        if register == ORB:
            self._clear_port_b_flags()
            return self.port_b_levels()
        if register == ORA:
            self._clear_port_a_flags()
            return self.port_a_levels()
        if register == ORA_NO_HANDSHAKE:
            return self.port_a_levels()
        if register == DDRB:
            return self.ddrb
        if register == DDRA:
            return self.ddra
        if register == SR:
            self.ifr &= ~IFR_SR
            return self.sr
        if register == ACR:
            return self.acr
        if register == PCR:
            return self.pcr
        return self.ier | IER_SET

    def write_here(self, register: int, value: int) -> None:
        """Write in the cycle last advanced to, and step to the next cycle, where it takes effect."""
        value &= 0xFF
        if T1CL <= register <= T2CH:
            self._write_timer(register, value)
        elif register == IFR:
            self._write_ifr(value)
        elif register >= SR and register != ORA_NO_HANDSHAKE:
            self._write_control(register, value)
        else:
            self._write_port(register, value)
        self._schedule()

    def irq_asserted(self) -> bool:
        """Tell whether the IRQ pin is low at the end of the current cycle.

        The pin falls half a cycle before the flag can be read (fact 4).
        """
        flags = self.ifr
        if self.now == self.t1_zero and self.t1_armed:
            flags |= IFR_T1
        if self._t2_timeout() == self.now + 1:
            flags |= IFR_T2
        return (flags & self.ier) != 0

    def next_event_half(self, watch: int) -> int:
        """Return the half-cycle of the next change of a watched output if nobody touches the chip.

        ``watch`` is a sum of ``WATCH_IRQ`` and ``WATCH_PB7``.  Changes up to the end of the
        current cycle are over; ``NEVER`` when no change comes.
        """
        event = NEVER
        if watch & WATCH_IRQ and not self.irq_asserted():
            if self.ier & IFR_T1:
                event = self._t1_next_half()
            if self.ier & IFR_T2:
                event = min(event, self._t2_next_half())
        if watch & WATCH_PB7 and self.acr & ACR_T1_PB7:
            event = min(event, self._t1_next_half())
        return event

    # ------------------------------------------------------------------ pins

    def set_pins_a(self, levels: int, cycle: int) -> None:
        """Drive port A's pins from outside, from that cycle on.  Pins come before the cycle's access."""
        self._pins_at(cycle)
        self.pins_a = levels & 0xFF

    def set_pins_b(self, levels: int, cycle: int) -> None:
        """Drive port B's pins from outside, from that cycle on.  Pins come before the cycle's access."""
        self._pins_at(cycle)
        self.pins_b = levels & 0xFF
        self._pb6_may_change()

    def _pins_at(self, cycle: int) -> None:
        self._check_not_over(cycle)
        self.advance(cycle)

    def port_a_levels(self) -> int:
        """Return the levels of port A's pins: the chip's where it drives, else those from outside."""
        return (self.ora & self.ddra) | (self.pins_a & ~self.ddra)

    def port_b_levels(self) -> int:
        """Return the levels of port B's pins: the chip's where it drives, else those from outside."""
        if self.acr & ACR_T1_PB7:  # PB7 is the timer's whatever DDRB7 says (fact 15)
            rest = (self.orb & self.ddrb) | (self.pins_b & ~self.ddrb)
            return (rest & ~PB7) | (PB7 if self.pb7_output else 0)
        return (self.orb & self.ddrb) | (self.pins_b & ~self.ddrb)

    def port_a_output(self) -> int:
        """Return what the chip drives on port A; 1 where it does not drive."""
        return self.ora | (~self.ddra & 0xFF)

    def port_b_output(self) -> int:
        """Return what the chip drives on port B; 1 where it does not drive."""
        levels = self.orb | (~self.ddrb & 0xFF)
        if self.acr & ACR_T1_PB7:
            return (levels & ~PB7) | (PB7 if self.pb7_output else 0)
        return levels

    @property
    def irq(self) -> bool:
        """Whether the IRQ pin is low at the end of the current cycle."""
        return self.irq_asserted()

    @property
    def pb7(self) -> bool:
        """Whether the PB7 pin is high at the end of the current cycle."""
        level = (self.port_b_levels() & PB7) != 0
        if self.acr & ACR_T1_PB7 and self.t1_armed and self.now == self.t1_zero:
            return not level
        return level

    def next_event(self, watch: int) -> int:
        """Return :meth:`next_event_half`: the half-cycle of the next change of a watched output."""
        return self.next_event_half(watch)

    # ------------------------------------------------------------------ reset and state

    def reset(self, cycle: int) -> None:
        """Pull RES in that cycle: registers are clear and timers disarmed from it on (fact 20).

        Counters, latches and the shift register survive.
        """
        self._pins_at(cycle)
        self.ora = self.orb = self.ddra = self.ddrb = 0
        self.pcr = self.ifr = self.ier = 0
        self.t1_armed = False
        self.t2_armed = False
        self._set_acr(0)
        self._pb6_may_change()

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data: names and integers, and the variant's name."""
        return {name: getattr(self, name) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned, of this or another chip."""
        if state.keys() != set(STATE):
            raise ValueError(f"not a 6522's state, wrong or missing: {sorted(state.keys() ^ set(STATE))}")
        for name in STATE:
            setattr(self, name, state[name])
        self._schedule()

    # ------------------------------------------------------------------ time passes

    def _schedule(self) -> None:
        """Set the cycle from which on `advance` has to do more than count."""
        self.t2_due = self._t2_next_due()
        self.attention = min(self.t1_zero + 1 + self.t1_timed_out, self.t2_due)

    def _catch_up(self) -> None:
        if self.now > self.t1_zero:
            self._t1_catch_up()
        if self.now >= self.t2_due:
            self._t2_catch_up()
        self._schedule()

    def _t1_catch_up(self) -> None:
        if not self.t1_timed_out:
            self._t1_times_out(1)
            if self.now == self.t1_zero + 1:
                self.t1_timed_out = True
                return
        # The cycle of the timeout is over: what ACR6 says now decides on the next (facts 9, 10),
        # and the latch as it is now is the next count (facts 2, 11).
        if not self.acr & ACR_T1_FREE_RUN:
            self.t1_armed = False
        period = self.t1_latch + 2
        self.t1_zero += period
        self.t1_timed_out = False
        if self.now > self.t1_zero:
            whole_periods = 0
            if self.now - self.t1_zero > period:
                whole_periods = (self.now - self.t1_zero - 1) // period
                self.t1_zero += whole_periods * period
            self._t1_times_out(whole_periods + 1)
            self.t1_timed_out = self.now == self.t1_zero + 1
            if not self.t1_timed_out:
                self.t1_zero += period

    def _t1_times_out(self, times: int) -> None:
        """Count timeouts, the last of them half a cycle into the cycle t1_zero."""
        self.t1_underflows += times
        if self.t1_armed:
            self.ifr |= IFR_T1
            self.t1_flag_half = 2 * self.t1_zero + 1
            if self.acr & ACR_T1_PB7 and times & 1:
                self.pb7_output = not self.pb7_output

    def _t1_next_half(self) -> int:
        """Return the half-cycle of T1's next armed timeout after the current cycle, or NEVER."""
        if not self.t1_armed:
            return NEVER
        if self.now < self.t1_zero:
            return 2 * self.t1_zero + 1
        if not self.acr & ACR_T1_FREE_RUN:
            return NEVER
        return 2 * (self.t1_zero + self.t1_latch + 2) + 1

    def _t1_beats(self, access: int) -> bool:
        """Tell whether T1's flag has been set in this very cycle and survives the access."""
        return self.t1_flag_half == 2 * self.now - 1 and self.timeout_beats & access != 0

    def _t2_beats(self, access: int) -> bool:
        """Tell whether T2's flag has been set in this very cycle and survives the access."""
        return self.t2_flag_half == 2 * self.now - 1 and self.timeout_beats & access != 0

    def _t2_count(self) -> int:
        if self.acr & ACR_T2_PULSES:
            return self.t2_base & 0xFFFF
        return (self.t2_base - self.now) & 0xFFFF

    def _t2_clocks_sr(self) -> bool:
        mode = self.acr & ACR_SR_MODE
        return mode in (SR_IN_T2, SR_OUT_FREE, SR_OUT_T2)

    def _t2_high(self) -> int:
        """Return how many more times the low byte passes zero before the timeout."""
        return ((self.t2_base - self.t2_low_zero) >> 8) & 0xFF

    def _t2_start(self, count: int, borrowed: bool) -> None:
        """Let T2 show the count in this cycle and go on from there in the mode that ACR sets."""
        self.t2_borrowed = borrowed
        self.t2_base = count
        if not self.acr & ACR_T2_PULSES:
            self.t2_base += self.now
            self.t2_low_zero = self.now - 1 if borrowed else self.now + (count & 0xFF)

    def _t2_low_byte_borrowed(self) -> bool:
        """Tell whether the low byte passed zero in the step to this cycle."""
        if self.acr & ACR_T2_PULSES:
            return self.t2_borrowed
        return self._t2_count() & 0xFF == 0xFF and self.now != self.t2_loaded

    def _t2_timeout(self) -> int:
        """Return the cycle in which T2's flag can next be read, or NEVER if nothing waits to set it."""
        if not self.t2_armed:
            return NEVER
        if self.acr & ACR_T2_PULSES:
            return self.pb6_cycle + 1 if self.t2_pulse_waits and self.t2_base == 0 else NEVER
        if self._t2_clocks_sr():
            return self.t2_low_zero + 1 + self._t2_high() * (self.t2_latch + 2)
        return self.now + self._t2_count() + 1

    def _t2_next_half(self) -> int:
        """Return the half-cycle of T2's next timeout, or NEVER."""
        timeout = self._t2_timeout()
        return NEVER if timeout == NEVER else 2 * timeout - 1

    def _t2_next_due(self) -> int:
        """Return the cycle in which T2 next does something else than count down."""
        if self.acr & ACR_T2_PULSES:
            return self.pb6_cycle + 1 if self.t2_pulse_waits else NEVER
        if self._t2_clocks_sr():
            return self.t2_low_zero + (1 if self.t2_armed and self._t2_high() == 0 else 2)
        return self._t2_timeout()

    def _t2_catch_up(self) -> None:
        if self.acr & ACR_T2_PULSES:
            self._t2_counts_pulse()
        elif self._t2_clocks_sr():
            self._t2_low_byte_reloads()
        else:
            self._t2_times_out(self.t2_due)

    def _t2_times_out(self, cycle: int) -> None:
        if self.t2_armed:
            self.ifr |= IFR_T2
            self.t2_flag_half = 2 * cycle - 1
            self.t2_armed = False

    def _t2_counts_pulse(self) -> None:
        self.t2_pulse_waits = False
        if self.t2_borrowed and self._t2_clocks_sr():
            self.t2_base = (self.t2_base & 0xFF00) | self.t2_latch
            self.t2_borrowed = False
            return
        self.t2_base = (self.t2_base - 1) & 0xFFFF
        self.t2_borrowed = self.t2_base & 0xFF == 0xFF
        if self.t2_base == 0xFFFF:
            self._t2_times_out(self.pb6_cycle + 1)

    def _t2_low_byte_reloads(self) -> None:
        """Fact 16: the low byte reloads from its latch after xxFF; one flag when both bytes are through."""
        period = self.t2_latch + 2
        passed = (self.now - self.t2_low_zero - 1) // period + 1
        high = self._t2_high()
        if passed > high:
            self._t2_times_out(self.t2_low_zero + 1 + high * period)
        reloads = passed
        if self.now == self.t2_low_zero + 1 + (passed - 1) * period:
            reloads -= 1
        if reloads:
            self.t2_low_zero += reloads * period
            self.t2_base += reloads * (period - 0x100)
            self.t2_loaded = self.t2_low_zero - self.t2_latch

    # ------------------------------------------------------------------ writes

    def _next_cycle(self) -> None:
        self.advance(self.now + 1)

    def _write_timer(self, register: int, value: int) -> None:
        if register in (T1CL, T1LL):
            self.t1_latch = (self.t1_latch & 0xFF00) | value
        elif register in (T1CH, T1LH):
            self.t1_latch = (self.t1_latch & 0x00FF) | (value << 8)
            access = WRITE_T1CH if register == T1CH else WRITE_T1LH
            if not self._t1_beats(access):
                self.ifr &= ~IFR_T1  # also by T1LH, in both modes (fact 6)
            if register == T1CH:
                self._load_t1()
        elif register == T2CL:
            self.t2_latch = value
        else:
            if not self._t2_beats(WRITE_T2CH):
                self.ifr &= ~IFR_T2
            self._load_t2(value)
            return
        self._next_cycle()

    def _load_t1(self) -> None:
        self.t1_zero = self.now + 1 + self.t1_latch
        self.t1_timed_out = False
        self.t1_armed = True
        if self.acr & ACR_T1_PB7:
            self.pb7_output = False

    def _load_t2(self, high: int) -> None:
        self.t2_armed = False  # a timeout due in the next cycle does not come
        self._next_cycle()
        self._t2_start((high << 8) | self.t2_latch, False)
        self.t2_loaded = self.now
        self.t2_armed = True

    def _write_ifr(self, value: int) -> None:
        if self._t1_beats(WRITE_IFR):
            value &= ~IFR_T1
        if self._t2_beats(WRITE_IFR):
            value &= ~IFR_T2
        self.ifr &= ~value
        self._next_cycle()

    def _write_control(self, register: int, value: int) -> None:
        timed_out = self.t1_timed_out
        self._next_cycle()
        if register == ACR:
            self._set_acr(value)
            if timed_out and not value & ACR_T1_FREE_RUN:
                self.t1_armed = False  # fact 9: in the timeout's cycle this write still counts
        elif register == PCR:
            self.pcr = value
        elif register == SR:
            self.sr = value
            self.ifr &= ~IFR_SR
        elif value & IER_SET:
            self.ier |= value & IFR_FLAGS
        else:
            self.ier &= ~value

    def _set_acr(self, value: int) -> None:
        """Change the modes in this cycle.  Neither timer restarts (fact 10)."""
        count = self._t2_count()
        borrowed = self._t2_low_byte_borrowed()
        self.acr = value
        self._t2_start(count, borrowed)
        self.t2_pulse_waits = False
        if not value & ACR_T1_PB7:
            self.pb7_output = True

    def _write_port(self, register: int, value: int) -> None:
        if register == ORB:
            self._clear_port_b_flags()
        elif register == ORA:
            self._clear_port_a_flags()
        self._next_cycle()
        if register == DDRA:
            self.ddra = value
        elif register in (ORA, ORA_NO_HANDSHAKE):
            self.ora = value
        elif register == DDRB:
            self.ddrb = value
        else:
            self.orb = value
        self._pb6_may_change()

    def _clear_port_a_flags(self) -> None:
        """An access to ORA acknowledges CA1, and CA2 unless its input is independent (fact 25)."""
        self.ifr &= ~IFR_CA1
        mode = self.pcr & PCR_CA2_MODE
        if mode not in (CA2_INDEPENDENT_FALLING, CA2_INDEPENDENT_RISING):
            self.ifr &= ~IFR_CA2

    def _clear_port_b_flags(self) -> None:
        """An access to ORB acknowledges CB1, and CB2 unless its input is independent (fact 25)."""
        self.ifr &= ~IFR_CB1
        mode = self.pcr & PCR_CB2_MODE
        if mode not in (CB2_INDEPENDENT_FALLING, CB2_INDEPENDENT_RISING):
            self.ifr &= ~IFR_CB2

    def _pb6_may_change(self) -> None:
        """Compare PB6 with the cycle before: a fall is counted in the next cycle (fact 14)."""
        if self.pb6_cycle != self.now:
            self.pb6_cycle = self.now
            self.pb6_before = self.pb6
        self.pb6 = (self.orb if self.ddrb & PB6 else self.pins_b) & PB6
        self.t2_pulse_waits = (self.pb6_before & ~self.pb6) != 0
        self._schedule()


STATE = (
    "variant", "timeout_beats", "now", "last_access",
    "ora", "orb", "ddra", "ddrb", "pins_a", "pins_b", "sr", "acr", "pcr", "ifr", "ier",
    "t1_latch", "t1_zero", "t1_timed_out", "t1_armed", "t1_underflows", "t1_flag_half", "pb7_output",
    "t2_latch", "t2_base", "t2_low_zero", "t2_loaded", "t2_borrowed", "t2_armed", "t2_flag_half",
    "pb6", "pb6_before", "pb6_cycle", "t2_pulse_waits",
)  # fmt: skip
