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

from guestclock.chips.shift_register import ShiftRegister
from guestclock.chips.via_port import ViaPort
from guestclock.chips.via_timer1 import Timer1
from guestclock.chips.via_timer2 import Timer2

if not cython.compiled:  # Compiled, these names are C constants: see via_constants.pxd.
    from guestclock.chips.registers import *  # noqa: F403

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
        self.timer1 = Timer1()
        self.timer2 = Timer2()
        self.shifter = ShiftRegister()
        self.port_a = ViaPort()
        self.port_b = ViaPort()
        self.acr = self.pcr = self.ifr = self.ier = 0
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
            return (self.timer1.zero - self.now) & 0xFF
        if register == T1CH:
            return ((self.timer1.zero - self.now) >> 8) & 0xFF
        if register == IFR:
            return self.ifr | IFR_ANY if self.ifr & self.ier else self.ifr
        if register == T1LL:
            return self.timer1.latch & 0xFF
        if register == T1LH:
            return self.timer1.latch >> 8
        if register == T2CL:
            if self.ifr & IFR_T2 and not self._t2_beats(READ_T2CL):
                self.ifr &= ~IFR_T2
            return self._t2_count() & 0xFF
        if register == T2CH:
            return self._t2_count() >> 8
        return self._read_rest(register)

    def _t2_count(self) -> int:
        if self.timer2.pulses:
            return self.timer2.base & 0xFFFF
        return (self.timer2.base - self.now) & 0xFFFF

    def _t1_beats(self, access: int) -> bool:
        """Tell whether T1's flag has been set in this very cycle and survives the access."""
        return self.timer1.flag_half == 2 * self.now - 1 and self.timeout_beats & access != 0

    def _t2_beats(self, access: int) -> bool:
        """Tell whether T2's flag has been set in this very cycle and survives the access."""
        return self.timer2.flag_half == 2 * self.now - 1 and self.timeout_beats & access != 0

    def _read_rest(self, register: int) -> int:
        if register == ORB:
            shown = self._port_b_inputs()
            self._acknowledge_b()
            return shown
        if register == ORA:
            shown = self._port_a_inputs()
            self._acknowledge_a()
            self.port_a.access(self.now)
            return shown
        if register == ORA_NO_HANDSHAKE:
            return self._port_a_inputs()
        if register == DDRB:
            return self.port_b.direction
        if register == DDRA:
            return self.port_a.direction
        if register == SR:
            self.ifr &= ~IFR_SR
            self._access_sr()
            return self.shifter.value
        if register == ACR:
            return self.acr
        if register == PCR:
            return self.pcr
        return self.ier | IER_SET

    def _port_a_inputs(self) -> int:
        """Return what a read of port A shows: the pins, or what the latch caught of them (fact 24)."""
        if self.ifr & IFR_CA1 and self.acr & ACR_LATCH_A:
            return self.port_a.latch
        return self.port_a.levels()

    def _port_b_inputs(self) -> int:
        """Return what a read of port B shows: ORB and PB7's timer where they drive, else as port A."""
        if not (self.ifr & IFR_CB1 and self.acr & ACR_LATCH_B):
            return self.port_b_levels()
        return self._with_pb7(
            (self.port_b.output & self.port_b.direction) | (self.port_b.latch & ~self.port_b.direction)
        )

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
        self._clock_shifter()
        self._schedule()

    def irq_asserted(self) -> bool:
        """Tell whether the IRQ pin is low at the end of the current cycle.

        The pin falls half a cycle before the flag can be read (fact 4).
        """
        flags = self.ifr
        if self.attention == self.now + 1:
            flags |= self._flags_of_next_cycle()
        return (flags & self.ier) != 0

    def _flags_of_next_cycle(self) -> int:
        """Return the flags that will be set in the next cycle whatever the CPU does now."""
        flags = 0
        if self.now == self.timer1.zero and self.timer1.armed:
            flags = IFR_T1
        if self.timer2.timeout(self.now) == self.now + 1:
            flags |= IFR_T2
        if self.port_a.lines_wait:
            flags |= self.port_a.edges()
        if self.port_b.lines_wait:
            flags |= self._port_b_edges() << PORT_B_EDGES
            if self._cb1_clocks() and self.shifter.cb1_completes(self.port_b.c1 != 0):
                flags |= IFR_SR
        if self.shifter.flag_cycle() == self.now + 1:
            flags |= IFR_SR
        return flags

    def next_event_half(self, watch: int) -> int:
        """Return the half-cycle of the next change of a watched output if nobody touches the chip.

        ``watch`` is a sum of ``WATCH_IRQ``, ``WATCH_PB7``, ``WATCH_CA2``, ``WATCH_CB1`` and
        ``WATCH_CB2``.  Changes up to the end of the current cycle are over; ``NEVER`` when no change
        comes.
        """
        event = NEVER
        if watch & WATCH_IRQ and not self.irq_asserted():
            if self.ier & IFR_T1:
                event = self.timer1.next_half(self.now, self.acr)
            if self.ier & IFR_T2:
                event = min(event, _half_before(self.timer2.timeout(self.now)))
            if self.ier & IFR_SR:
                event = min(event, _half_before(self.shifter.flag_cycle()))
        if watch & WATCH_PB7 and self.acr & ACR_T1_PB7:
            event = min(event, self.timer1.next_half(self.now, self.acr))
        if watch & WATCH_CA2:
            event = min(event, _half_within(self._next_ca2_change()))
        if watch & WATCH_CB1 and self.shifter.drives_cb1():
            event = min(event, _half_within(self.shifter.due))
        if watch & WATCH_CB2:
            event = min(event, _half_within(self._next_cb2_change()))
        return event

    def _next_ca2_change(self) -> int:
        edge = self.port_a.lines_wait and self.port_a.edges() & C1_EDGE != 0
        return self.port_a.next_c2_change(self.now, edge)

    def _next_cb2_change(self) -> int:
        if self.acr & ACR_SR_MODE == SR_DISABLED:
            edge = self.port_b.lines_wait and self._port_b_edges() & C1_EDGE != 0
            return self.port_b.next_c2_change(self.now, edge)
        if not self.acr & SR_OUT_FREE:
            return NEVER
        waits = self.port_b.lines_wait and self._cb1_clocks()
        if waits and self.shifter.cb1_changes_data(self.port_b.c1 != 0):
            return self.now + 1
        return self.shifter.data_cycle()

    # ------------------------------------------------------------------ pins

    def set_pins_a(self, levels: int, cycle: int) -> None:
        """Drive port A's pins from outside, from that cycle on.  Pins come before the cycle's access."""
        self._pins_at(cycle)
        self.port_a.pins = levels & 0xFF

    def set_pins_b(self, levels: int, cycle: int) -> None:
        """Drive port B's pins from outside, from that cycle on.  Pins come before the cycle's access."""
        self._pins_at(cycle)
        self.port_b.pins = levels & 0xFF
        self._pb6_may_change()
        self._clock_shifter()
        self._schedule()

    def set_ca1(self, level: int, cycle: int) -> None:
        """Drive CA1 from outside, 0 or 1, from that cycle on; an edge acts in the cycle after it."""
        self._pins_at(cycle)
        self.port_a.set_c1(level, cycle)
        self._schedule()

    def set_ca2(self, level: int, cycle: int) -> None:
        """Drive CA2 from outside, 0 or 1, from that cycle on; an edge acts in the cycle after it."""
        self._pins_at(cycle)
        self.port_a.set_c2(level, cycle)
        self._schedule()

    def set_cb1(self, level: int, cycle: int) -> None:
        """Drive CB1 from outside, 0 or 1, from that cycle on; an edge acts in the cycle after it."""
        self._pins_at(cycle)
        self.port_b.set_c1(level, cycle)
        self._schedule()

    def set_cb2(self, level: int, cycle: int) -> None:
        """Drive CB2 from outside, 0 or 1, from that cycle on; an edge acts in the cycle after it."""
        self._pins_at(cycle)
        self.port_b.set_c2(level, cycle)
        self._schedule()

    def _pins_at(self, cycle: int) -> None:
        self._check_not_over(cycle)
        self.advance(cycle)

    def port_a_levels(self) -> int:
        """Return the levels of port A's pins: the chip's where it drives, else those from outside."""
        return self.port_a.levels()

    def port_b_levels(self) -> int:
        """Return the levels of port B's pins: the chip's where it drives, else those from outside."""
        return self._with_pb7(self.port_b.levels())

    def port_a_output(self) -> int:
        """Return what the chip drives on port A; 1 where it does not drive."""
        return self.port_a.driven_levels()

    def port_b_output(self) -> int:
        """Return what the chip drives on port B; 1 where it does not drive."""
        return self._with_pb7(self.port_b.driven_levels())

    def _with_pb7(self, levels: int) -> int:
        """Replace PB7 where it is the timer's, whatever DDRB7 says (fact 15)."""
        if self.acr & ACR_T1_PB7:
            return (levels & ~PB7) | (PB7 if self.timer1.output else 0)
        return levels

    def _cb2_level(self, cycle: int) -> bool:
        """Tell whether the CB2 pin is high at the end of the cycle, the current one or that before."""
        if self.acr & ACR_SR_MODE == SR_DISABLED:
            return self.port_b.c2_level(cycle)
        if self.acr & SR_OUT_FREE:
            return self.shifter.data != 0
        return self.port_b.c2 != 0

    @property
    def irq(self) -> bool:
        """Whether the IRQ pin is low at the end of the current cycle."""
        return self.irq_asserted()

    @property
    def pb7(self) -> bool:
        """Whether the PB7 pin is high at the end of the current cycle."""
        level = (self.port_b_levels() & PB7) != 0
        if self.acr & ACR_T1_PB7 and self.timer1.armed and self.now == self.timer1.zero:
            return not level
        return level

    @property
    def ca1(self) -> bool:
        """Whether the CA1 pin is high at the end of the current cycle."""
        return self.port_a.c1 != 0

    @property
    def ca2(self) -> bool:
        """Whether the CA2 pin is high at the end of the current cycle."""
        return self.port_a.c2_level(self.now)

    @property
    def cb1(self) -> bool:
        """Whether the CB1 pin is high at the end of the current cycle."""
        return (self.shifter.clock if self.shifter.drives_cb1() else self.port_b.c1) != 0

    @property
    def cb2(self) -> bool:
        """Whether the CB2 pin is high at the end of the current cycle."""
        return self._cb2_level(self.now)

    @property
    def t1_underflows(self) -> int:
        """How many times T1 has passed zero, armed or not."""
        return self.timer1.underflows

    @property
    def t1_flag_half(self) -> int:
        """The half-cycle in which T1's flag was last set; -1 before the first."""
        return self.timer1.flag_half

    @property
    def t2_flag_half(self) -> int:
        """The half-cycle in which T2's flag was last set; -1 before the first."""
        return self.timer2.flag_half

    def next_event(self, watch: int) -> int:
        """Return :meth:`next_event_half`: the half-cycle of the next change of a watched output."""
        return self.next_event_half(watch)

    # ------------------------------------------------------------------ reset and state

    def reset(self, cycle: int) -> None:
        """Pull RES in that cycle: registers are clear and timers disarmed from it on (fact 20).

        Counters, latches and the shift register survive.
        """
        self._pins_at(cycle)
        self.port_a.reset(cycle)
        self.port_b.reset(cycle)
        self.pcr = self.ifr = self.ier = 0
        self.timer1.armed = False
        self.timer2.disarm()
        self._set_acr(0, False)
        self._pb6_may_change()
        self._clock_shifter()
        self._schedule()

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data: names and integers, and the variant's name."""
        state = {name: getattr(self, name) for name in STATE}
        return state | {name: getattr(self, name).snapshot() for name in PARTS}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned, of this or another chip."""
        wrong = state.keys() ^ {*STATE, *PARTS}
        if wrong:
            raise ValueError(f"not a 6522's state, wrong or missing: {sorted(wrong)}")
        for name in STATE:
            setattr(self, name, state[name])
        for name in PARTS:
            getattr(self, name).restore(state[name])
        self._schedule()

    # ------------------------------------------------------------------ time passes

    def _schedule(self) -> None:
        """Set the cycle from which on `advance` has to do more than count."""
        self.lines_due = NEVER
        if self.port_a.lines_wait:
            self.lines_due = self.port_a.lines_cycle + 1
        if self.port_b.lines_wait:
            self.lines_due = min(self.lines_due, self.port_b.lines_cycle + 1)
        self._attend()

    def _attend(self) -> None:
        self.rest_due = min(self.lines_due, self.shifter.due, self.timer2.due)
        self.attention = min(self.timer1.zero + 1 + self.timer1.timed_out, self.rest_due)

    def _catch_up(self) -> None:
        """Let all act that is due.  The lines come first: they act on the cycle in which they changed."""
        if self.now >= self.rest_due:
            if self.port_a.lines_wait and self.now > self.port_a.lines_cycle:
                self._port_a_lines_act()
            if self.port_b.lines_wait and self.now > self.port_b.lines_cycle:
                self._port_b_lines_act()
            if self.now >= self.shifter.due and self.shifter.catch_up(self.now, self.port_b.c2 != 0):
                self.ifr |= IFR_SR
            if self.now >= self.timer2.due and self.timer2.catch_up(self.now):
                self.ifr |= IFR_T2
            self._clock_shifter()
            self._schedule()
        if self.now > self.timer1.zero and self.timer1.catch_up(self.now, self.acr):
            self.ifr |= IFR_T1
        self.attention = min(self.timer1.zero + 1 + self.timer1.timed_out, self.rest_due)

    # What waits since the cycle before: edges of the lines, seen by PCR and ACR as they were then.

    def _port_a_lines_act(self) -> None:
        edges = self.port_a.edges()
        if edges & C1_EDGE and not self.ifr & IFR_CA1:
            self.port_a.latch = self.port_a.levels()
        self.ifr |= edges
        self.port_a.lines_acted(edges & C1_EDGE != 0)

    def _port_b_lines_act(self) -> None:
        edges = self._port_b_edges()
        if self._cb1_clocks() and self.shifter.cb1_moves(
            self.port_b.c1 != 0, self._cb2_level(self.port_b.lines_cycle)
        ):
            self.ifr |= IFR_SR
        if edges & C1_EDGE and not self.ifr & IFR_CB1:
            self.port_b.latch = self.port_b_levels()
        self.ifr |= edges << PORT_B_EDGES
        self.port_b.lines_acted(edges & C1_EDGE != 0)

    def _port_b_edges(self) -> int:
        """Return the active edges of CB1 and CB2; one that the shift register drives makes none."""
        edges = self.port_b.edges()
        if self.shifter.drives_cb1():
            edges &= ~C1_EDGE
        if self.acr & SR_OUT_FREE:
            edges &= ~C2_EDGE
        return edges

    def _cb1_clocks(self) -> bool:
        """Tell whether CB1, changed from outside, is the shift clock."""
        return self.port_b.c1 != self.port_b.c1_before and not self.shifter.drives_cb1()

    def _clock_shifter(self) -> None:
        """Tell the shift register when the chip's clock next moves it: T2's reloads, or every cycle of φ2."""
        if not self.shifter.runs():
            self.shifter.clock_with(NEVER, NEVER)
            return
        earliest = max(self.now + 1, self.shifter.ready)
        if not self.shifter.clocked_by_t2():
            self.shifter.clock_with(earliest, 1)
        elif self.timer2.pulses:
            self.shifter.clock_with(self.timer2.next_tick(earliest), NEVER)
        else:
            self.shifter.clock_with(self.timer2.next_tick(earliest), self.timer2.latch + 2)

    # ------------------------------------------------------------------ writes

    def _next_cycle(self) -> None:
        self.advance(self.now + 1)

    def _write_timer(self, register: int, value: int) -> None:
        if register in (T1CL, T1LL):
            self.timer1.latch = (self.timer1.latch & 0xFF00) | value
        elif register in (T1CH, T1LH):
            self.timer1.latch = (self.timer1.latch & 0x00FF) | (value << 8)
            access = WRITE_T1CH if register == T1CH else WRITE_T1LH
            if not self._t1_beats(access):
                self.ifr &= ~IFR_T1  # also by T1LH, in both modes (fact 6)
            if register == T1CH:
                self.timer1.load(self.now, self.acr)
        elif register == T2CL:
            self.timer2.latch = value
        elif not self._t2_beats(WRITE_T2CH):
            self.ifr &= ~IFR_T2
        if register == T2CH:
            self.timer2.disarm()  # a timeout due in the next cycle does not come
            self._next_cycle()
            self.timer2.load(value, self.now)
        else:
            self._next_cycle()

    def _write_ifr(self, value: int) -> None:
        if self._t1_beats(WRITE_IFR):
            value &= ~IFR_T1
        if self._t2_beats(WRITE_IFR):
            value &= ~IFR_T2
        self.ifr &= ~value
        self._next_cycle()

    def _write_control(self, register: int, value: int) -> None:
        timed_out = self.timer1.timed_out
        if register == SR:
            self.ifr &= ~IFR_SR
            self._access_sr()
        elif register == ACR:
            self._follow_open_latches()
        self._next_cycle()
        if register == ACR:
            self._set_acr(value, timed_out)
        elif register == PCR:
            self._set_pcr(value)
        elif register == SR:
            self.shifter.value = value
        elif value & IER_SET:
            self.ier |= value & IFR_FLAGS
        else:
            self.ier &= ~value

    def _access_sr(self) -> None:
        self.shifter.access(self.now + 2)
        self._clock_shifter()
        self._attend()

    def _follow_open_latches(self) -> None:
        """Let the latches that the next cycle may find closed hold what the pins are now."""
        if not (self.ifr & IFR_CA1 and self.acr & ACR_LATCH_A):
            self.port_a.latch = self.port_a.levels()
        if not (self.ifr & IFR_CB1 and self.acr & ACR_LATCH_B):
            self.port_b.latch = self.port_b_levels()

    def _set_acr(self, value: int, timed_out: bool) -> None:
        """Change the modes in this cycle.  Neither timer restarts (fact 10)."""
        self.acr = value
        self.shifter.enter(value & ACR_SR_MODE)
        if value & ACR_SR_MODE == SR_DISABLED:
            self.ifr &= ~IFR_SR  # fact 19
        self.timer1.acr_written(value, timed_out)
        self.timer2.set_modes(value & ACR_T2_PULSES != 0, self.shifter.clocked_by_t2(), self.now)

    def _set_pcr(self, value: int) -> None:
        self.pcr = value
        self.port_a.set_control(value & 0xF, self.now)
        self.port_b.set_control(value >> PORT_B_CONTROL, self.now)

    def _write_port(self, register: int, value: int) -> None:
        if register == ORB:
            self._acknowledge_b()
            self.port_b.access(self.now)
        elif register == ORA:
            self._acknowledge_a()
            self.port_a.access(self.now)
        self._next_cycle()
        if register == DDRA:
            self.port_a.direction = value
        elif register in (ORA, ORA_NO_HANDSHAKE):
            self.port_a.output = value
        elif register == DDRB:
            self.port_b.direction = value
        else:
            self.port_b.output = value
        self._pb6_may_change()

    def _acknowledge_a(self) -> None:
        """An access to ORA clears CA1's flag, and CA2's unless its input is independent (fact 25)."""
        self.ifr &= ~(self.port_a.acknowledged())

    def _acknowledge_b(self) -> None:
        """An access to ORB clears CB1's flag, and CB2's unless its input is independent (fact 25)."""
        self.ifr &= ~(self.port_b.acknowledged() << PORT_B_EDGES)

    def _pb6_may_change(self) -> None:
        self.timer2.pb6_is(self.port_b.levels() & PB6, self.now)


def _half_before(cycle: int) -> int:
    """Return when a flag readable in that cycle pulls the pin: half a cycle earlier, or NEVER."""
    return 2 * cycle - 1 if cycle < NEVER // 2 else NEVER


def _half_within(cycle: int) -> int:
    """Return when an output changes that is different at the cycle's end: in its middle, or NEVER."""
    return 2 * cycle + 1 if cycle < NEVER // 2 else NEVER


STATE = ("variant", "timeout_beats", "now", "last_access", "acr", "pcr", "ifr", "ier")
PARTS = ("timer1", "timer2", "shifter", "port_a", "port_b")
