# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""QEMU's VIA, the one in its Macintosh Quadra 800: a 6522 by registers, not by timing.

A model in its own right: what QEMU 6.1 to 11.1 do, which are alike in their timers, and what they would do
with other sets of :class:`~guestclock.chips.qemu_deviations.Deviation`.  ``docs/qemu-via.md`` says how far
it has been compared with QEMU itself.

Time is in integer ns.  An access happens at an instant and takes none; several may share one.
"""

from dataclasses import dataclass
from typing import Any

import cython

from guestclock.chips.qemu_calibration import Calibration
from guestclock.chips.qemu_deviations import ALWAYS, QEMU_7_2, Deviation
from guestclock.chips.qemu_timer import Arithmetic, Timer

if not cython.compiled:  # C constants: see qemu_via.pxd.
    from guestclock.chips.registers import *  # noqa: F403

    COUNTING = 0
    FLAG_SET = 1
    FLAG_CLEARED = 2

    SIXTY_HZ_PERIOD_NS = 16_625_800
    SECOND_NS = 1_000_000_000
    ADB_POLL_NS = 20_000_000
    VADB_INT = 0x08


@dataclass(frozen=True)
class Wiring:
    """What is around a VIA: when its inputs first move, and what its ports are after a reset.

    ``sixty_hz_ns``
        CA1 falls at 60.15 Hz, on a grid from instant 0.
    ``second_ns``
        CA2 falls once a second.
    ``adb_ns``
        the ADB has polled its devices: its answer, nothing, is in SR then.  Until port B tells it to go on
        it waits.
    ``machine_bits``, ``machine``
        which bits of port A tell what machine this is, and what they say, to a version that shows it.
    ``calibrates``
        programs calibrate their loops by this VIA's T2, to a version that looks for it.
    """

    sixty_hz_ns: int = NEVER
    second_ns: int = NEVER
    adb_ns: int = NEVER
    ora: int = 0
    orb: int = 0
    ddrb: int = 0xFF
    machine_bits: int = 0
    machine: int = 0
    calibrates: bool = False


ALONE = Wiring()
# Port B bits 4 and 5 (ADB idle), 3 (no ADB interrupt), 2 (clock chip not selected).
VIA1 = Wiring(
    SIXTY_HZ_PERIOD_NS, SECOND_NS, ADB_POLL_NS, orb=0x3C, machine_bits=0x56, machine=0x12, calibrates=True
)
# Ports are inputs, for a low bit 2 of port B switches the machine off.
VIA2 = Wiring(ora=0x7F, ddrb=0)
"""VIA1 and VIA2 as QEMU's Quadra 800 wires them."""


class QemuVia:
    """One VIA as QEMU has it, by default that of 7.2 with nothing around it.

    >>> from guestclock.chips.registers import T1CH, T1CL
    >>> via = QemuVia()
    >>> via.write(T1CL, 5, 0)
    >>> via.write(T1CH, 0, 0)
    >>> [via.read(T1CL, cycle * 1277) for cycle in range(9)]  # B1: 4 where a 6522 has 5
    [5, 4, 3, 2, 1, 0, 255, 4, 3]

    ``calibration`` is a calibration that 8.2 answers; a machine gives it the guest's memory.
    ``t1_acknowledges`` counts how often the guest has cleared T1's flag, ``ca1_edges`` and
    ``ca2_edges`` how often an edge of the line should have set its own, whatever the flag was.

    Raises :class:`ValueError` for a set that lacks one of those that no model can be without.
    """

    def __init__(self, deviations: Deviation = QEMU_7_2, wiring: Wiring = ALONE) -> None:
        """Take the set of deviations and what is around the VIA, and reset at instant 0."""
        if missing := ALWAYS & ~deviations:
            raise ValueError(f"{missing}: only the chip itself (no deviation at all) is without it")
        self.deviations = deviations
        self.wiring = wiring
        self.sixty_hz_ns = wiring.sixty_hz_ns
        self.second_ns = wiring.second_ns
        self.adb_ns = wiring.adb_ns
        self._arithmetic = Arithmetic(deviations)
        self._ahead = self._arithmetic.ahead
        self._modes_without_alarm = Deviation.MODES_WITHOUT_ALARM in deviations
        self._line_misses_read = Deviation.LINE_MISSES_READ in deviations
        self._t2_fires_again = Deviation.T2_FIRES_AGAIN in deviations
        self._latch_write_updates = Deviation.LATCH_WRITE_UPDATES in deviations
        self._flag_after_reset = Deviation.FLAG_AFTER_RESET in deviations
        self._line_misses_clear = Deviation.LINE_MISSES_CLEAR in deviations
        self._ifr_read_stale = Deviation.IFR_READ_STALE in deviations
        self._flag_returns = Deviation.FLAG_RETURNS in deviations
        self._ports_keep_flags = Deviation.PORTS_KEEP_FLAGS in deviations
        self._machine_bits = wiring.machine_bits if Deviation.PORT_A_NAMES_MACHINE in deviations else 0
        self._machine = wiring.machine & self._machine_bits
        self._answers_calibration = Deviation.CALIBRATION_ANSWERED in deviations and wiring.calibrates
        self.calibration = Calibration()
        self.now_ns = 0
        self.control_lines = 0
        self.t1_acknowledges = 0
        self.ca1_edges = 0
        self.ca2_edges = 0
        self.t1 = Timer(IFR_T1, reloads=True)
        self.t2 = Timer(IFR_T2, reloads=False)
        self.reset()

    def reset(self) -> None:
        """Do what QEMU's reset of a machine does to a VIA, at the present instant.

        T1's next flag stays uncomputed until the first update.  T2 keeps the load it had.
        """
        self.ora = self.wiring.ora
        self.orb = self.wiring.orb
        self.ddra = 0
        self.ddrb = self.wiring.ddrb
        self.sr = self.acr = self.pcr = self.ifr = self.ier = 0
        self.irq = False
        self.calibration.reset()
        self._stop(self.t1)
        self._stop(self.t2)
        self.t1.load(0xFFFF, self.now_ns)
        self.t2.done = not self._flag_after_reset
        self.t2.progress = COUNTING if self._flag_after_reset else FLAG_CLEARED
        if self._flag_after_reset:
            self.t2.next_ns = 0

    def _stop(self, timer: Timer) -> None:
        timer.latch = 0xFFFF
        timer.next_ns = NEVER
        timer.alarm_ns = NEVER

    # ------------------------------------------------------------------ time

    def read(self, register: int, ns: int) -> int:
        """Return what a read of the register (RS0-RS3) gives at that instant, after alarms that are due."""
        self.advance(ns)
        return self.read_here(register)

    def write(self, register: int, value: int, ns: int) -> None:
        """Write at that instant, after alarms that are due."""
        self.advance(ns)
        self.write_here(register, value)

    def advance(self, ns: int) -> None:
        """Let all alarms up to that instant go off; nothing happens if the VIA is beyond it."""
        while self.next_event() <= ns:
            self._go_off()
        self.reach(ns)

    def reach(self, ns: int) -> None:
        """Come to that instant with alarms still to go off: a CPU in mid-instruction sees the time so."""
        self.now_ns = max(self.now_ns, ns)

    def next_event(self) -> int:
        """Return the instant of the next alarm, or NEVER: until then nothing changes on its own."""
        return min(self.t1.alarm_ns, self.t2.alarm_ns, self.sixty_hz_ns, self.second_ns, self.adb_ns)

    def _go_off(self) -> None:
        """Do what happens first; of what falls together a timer comes first."""
        at_ns = self.next_event()
        if at_ns == self.t1.alarm_ns:
            self._ring(self.t1)
        elif at_ns == self.t2.alarm_ns:
            self._ring(self.t2)
        elif at_ns == self.sixty_hz_ns:
            self.sixty_hz_ns += SIXTY_HZ_PERIOD_NS
            self._pulse(IFR_CA1)
        elif at_ns == self.adb_ns:
            self._adb_answers()
        else:
            self.second_ns += SECOND_NS
            self._pulse(IFR_CA2)

    def _ring(self, timer: Timer) -> None:
        at_ns = timer.alarm_ns
        self._update(timer, at_ns)
        if self._ahead:
            self._time_out(timer)
            self._update_line()
        elif timer.alarm_ns <= at_ns:
            # Set again for an instant that is over, as QEMU does until its time or its guest moves on.
            timer.spinning = timer.elapsed(at_ns) >= timer.count + 2
            timer.alarm_ns = NEVER if timer.spinning else at_ns + 1  # S1: 1 ns makes the count whole

    # ------------------------------------------------------------------ the timers

    def _update(self, timer: Timer, now_ns: int) -> None:
        """Compute the timer's next flag as from an instant, and set its alarm or not."""
        if self._ahead:
            timer.next_ns = NEVER if timer.done else self._arithmetic.next_flag_ns(timer, now_ns)
        else:
            self._sync(timer, now_ns)
            timer.next_ns = self._arithmetic.reload_ns(timer)
        timer.spinning = False
        timer.alarm_ns = timer.next_ns if self.ier & timer.flag and self._may_alarm(timer) else NEVER

    def _may_alarm(self, timer: Timer) -> bool:
        through = not self._ahead and timer.progress >= FLAG_SET
        if timer.flag == IFR_T2:
            if self._t2_fires_again:
                return True
            return not through and (self._ahead or self.acr & ACR_T2_PULSES == 0)
        if self._modes_without_alarm:
            return self.acr & (ACR_T1_FREE_RUN | ACR_T1_PB7) == ACR_T1_FREE_RUN
        return self.acr & (ACR_T1_FREE_RUN | ACR_T1_PB7) != 0 or not through

    def _time_out(self, timer: Timer) -> None:
        """Set the flag, and stop what times out once only."""
        self.ifr |= timer.flag
        if timer.flag == IFR_T2:
            once = not self._t2_fires_again
        else:
            once = not self._modes_without_alarm and not self.acr & ACR_T1_FREE_RUN
        if self._ahead and once:
            timer.done = True
            timer.next_ns = NEVER
            timer.alarm_ns = NEVER

    def _sync(self, timer: Timer, now_ns: int) -> None:
        """Of the one-state kind: set the flag if the counter has reloaded."""
        if not self._arithmetic.has_reloaded(timer, now_ns):
            return
        again = self._flag_returns or (timer.flag == IFR_T1 and self.acr & ACR_T1_FREE_RUN)
        if timer.progress == COUNTING or (again and timer.progress == FLAG_CLEARED):
            timer.progress = FLAG_SET
            self.ifr |= timer.flag
            self._update_line()

    def _look(self) -> None:
        """Before a read: set the flags whose time has come."""
        if self.now_ns >= self.t1.next_ns:
            self._look_at(self.t1)
        if self.now_ns >= self.t2.next_ns:
            self._look_at(self.t2)

    def _look_at(self, timer: Timer) -> None:
        self._update(timer, self.now_ns)
        self._time_out(timer)
        if not self._line_misses_read:
            self._update_line()

    def _sync_both(self) -> None:
        self._sync(self.t1, self.now_ns)
        self._sync(self.t2, self.now_ns)

    def _counter(self, timer: Timer) -> int:
        if not self._ahead:
            self._sync(timer, self.now_ns)
        return self._arithmetic.counter(timer, self.now_ns)

    def _clear(self, flags: int) -> None:
        if flags & self.ifr & IFR_T1:
            self.t1_acknowledges += 1
        self.ifr &= ~flags
        if flags & IFR_T1:
            self._cleared(self.t1)
        if flags & IFR_T2:
            self._cleared(self.t2)

    def _cleared(self, timer: Timer) -> None:
        if timer.progress == FLAG_SET:
            timer.progress = FLAG_CLEARED
            if timer.spinning and self._flag_returns:
                timer.alarm_ns = self.now_ns + 1

    def _update_line(self) -> None:
        self.irq = self.ifr & self.ier != 0

    # ------------------------------------------------------------------ registers

    def read_here(self, register: int) -> int:
        """Return what a read gives at the present instant, and do what the read does."""
        if self._ahead:
            self._look()
        if T1CL <= register <= T2CH:
            return self._read_timer(register)
        if register == IFR:
            if not self._ahead and not self._ifr_read_stale:
                self._sync_both()
            return self.ifr | IFR_ANY if self.ifr & self.ier else self.ifr
        if register == IER:
            return self.ier | IER_SET
        if register == SR:
            self.ifr &= ~IFR_SR
            self._update_line()
            return self.sr
        return self._read_rest(register)

    def _read_timer(self, register: int) -> int:
        if register == T1CL:
            value = self._counter(self.t1) & 0xFF
            self._clear(IFR_T1)
            self._update_line()
            return value
        if register == T2CL:
            value = self._counter(self.t2) & 0xFF
            self._clear(IFR_T2)
            self._update_line()
            return value
        if register == T1CH:
            value = self._counter(self.t1) >> 8
            self._update_line()
            return value
        if register == T2CH:
            return self.calibration.t2_high(self._counter(self.t2) >> 8, self.now_ns)
        return self.t1.latch & 0xFF if register == T1LL else self.t1.latch >> 8

    def _read_rest(self, register: int) -> int:
        if register in {ORB, ORA, ORA_NO_HANDSHAKE}:
            self._acknowledge_port(register)
            if register == ORB:
                return self.orb
            return self.ora & ~self._machine_bits | self._machine
        if register == DDRB:
            return self.ddrb
        if register == DDRA:
            return self.ddra
        return self.acr if register == ACR else self.pcr

    def write_here(self, register: int, value: int) -> None:
        """Write at the present instant."""
        value &= 0xFF
        if self._answers_calibration:
            self.calibration.written(register, value)
        if T1CL <= register <= T1LH:
            self._write_t1(register, value)
        elif register == T2CL:
            self.t2.latch = self.t2.latch & 0xFF00 | value
        elif register == T2CH:
            self._write_t2_high(value)
        elif register == IFR:
            if not self._ahead:
                self._sync_both()
            self._clear(value)
            self._update_line()
        elif register == IER:
            self.ier = self.ier | value & IFR_FLAGS if value & IER_SET else self.ier & ~value
            self._update_line()
            self._update(self.t1, self.now_ns)
            self._update(self.t2, self.now_ns)
        elif register == ACR:
            self.acr = value
            self._update(self.t1, self.now_ns)
            if not self._ahead and not self._t2_fires_again:
                self._update(self.t2, self.now_ns)
        else:
            self._write_rest(register, value)

    def _write_t1(self, register: int, value: int) -> None:
        if not self._ahead:
            self._sync(self.t1, self.now_ns)
        self._arithmetic.settle_latch(self.t1, self.now_ns)
        if register in {T1CL, T1LL}:
            self.t1.latch = self.t1.latch & 0xFF00 | value
        else:
            self.t1.latch = self.t1.latch & 0x00FF | value << 8
            self._clear(IFR_T1)
            if not self._line_misses_clear:
                self._update_line()
        if register == T1CH:
            self.t1.load(self.t1.latch, self.now_ns)
        if register == T1CH or self._latch_write_updates:
            self._update(self.t1, self.now_ns)

    def _write_t2_high(self, value: int) -> None:
        self.t2.latch = self.t2.latch & 0x00FF | value << 8
        if not self._ahead:
            self._sync(self.t2, self.now_ns)
        self._clear(IFR_T2)
        if not self._line_misses_clear:
            self._update_line()
        self.t2.load(self.t2.latch, self.now_ns)
        self._update(self.t2, self.now_ns)

    def _write_rest(self, register: int, value: int) -> None:
        if register == SR:
            self.sr = value
        elif register == PCR:
            self.pcr = value
        elif register == DDRA:
            self.ddra = value
        elif register == DDRB:
            self.ddrb = value
        elif register == ORB:
            self.orb = self.orb & ~self.ddrb | value & self.ddrb
            self._acknowledge_port(ORB)
        else:
            self.ora = self.ora & ~self.ddra | value & self.ddra
            self._acknowledge_port(register)

    def _acknowledge_port(self, register: int) -> None:
        """An access to a port, to A without handshake too, clears its flags; an independent C2's stays."""
        if self._ports_keep_flags:
            return
        if register == ORB:
            independent = self.pcr >> PORT_B_CONTROL & C2_INDEPENDENT_FALLING
            self.ifr &= ~(IFR_CB1 if independent else IFR_CB1 | IFR_CB2)
        else:
            self.ifr &= ~(IFR_CA1 if self.pcr & C2_INDEPENDENT_FALLING else IFR_CA1 | IFR_CA2)
        self._update_line()

    def set_control_line(self, flag: int, high: bool) -> None:
        """Drive the control line of a flag (CA1, CA2, CB1, CB2): its edges set the flag as PCR says."""
        if (self.control_lines & flag != 0) == high:
            return
        self.control_lines ^= flag
        if self._counts_rising(flag) != high:
            return
        if flag == IFR_CA1:
            self.ca1_edges += 1
        elif flag == IFR_CA2:
            self.ca2_edges += 1
        if not self.ifr & flag:
            self.ifr |= flag
            self._update_line()

    def _pulse(self, flag: int) -> None:
        """Pull a line low and let it go.  At first it is low: the first pulse has its second edge only."""
        self.set_control_line(flag, False)
        self.set_control_line(flag, True)

    def _adb_answers(self) -> None:
        self.adb_ns = NEVER
        self.sr = 0
        self.orb &= ~VADB_INT
        if not self.ifr & IFR_SR:
            self.ifr |= IFR_SR
            self._update_line()

    def _counts_rising(self, flag: int) -> bool:
        """Tell whether a control line's rising edge is the one that counts."""
        control = self.pcr if flag in (IFR_CA1, IFR_CA2) else self.pcr >> PORT_B_CONTROL
        return control & (C1_RISING if flag in (IFR_CA1, IFR_CB1) else C2_RISING) != 0

    # ------------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data; the deviations are no part of it."""
        state = {name: int(getattr(self, name)) for name in STATE}
        timers = {"t1": self.t1.snapshot(), "t2": self.t2.snapshot()}
        return state | timers | {"calibration": self.calibration.state}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned, of a VIA with the same deviations."""
        for name in STATE:
            setattr(self, name, state[name])
        self.t1.restore(state["t1"])
        self.t2.restore(state["t2"])
        self.calibration.state = state["calibration"]

    # ------------------------------------------------------------------ what T1 should have done

    def t1_periods(self) -> int:
        """Return how many periods of T1 have ended since it was loaded, flag or no flag."""
        return self._arithmetic.periods(self.t1, self.now_ns)

    def t1_last_period_ns(self) -> int:
        """Return when the last of them ended."""
        return self._arithmetic.last_period_ns(self.t1, self.now_ns)

    def t1_next_period_ns(self) -> int:
        """Return when the next one will end."""
        return self._arithmetic.next_period_ns(self.t1, self.now_ns)


STATE = (
    "sixty_hz_ns", "second_ns", "adb_ns", "now_ns", "control_lines", "t1_acknowledges",
    "ca1_edges", "ca2_edges", "ora", "orb", "ddra", "ddrb", "sr", "acr", "pcr", "ifr", "ier", "irq",
)  # fmt: skip
