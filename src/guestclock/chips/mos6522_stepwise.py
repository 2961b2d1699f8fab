"""The 6522 one φ2 cycle at a time: slow, obvious, and the oracle of the closed form.

The same public interface as :class:`guestclock.chips.mos6522.Mos6522`, with plain Python
integers, and nothing computed ahead: :meth:`Mos6522Stepwise.step` goes from one cycle to the next.
"Fact n" cites the table of recorded behaviour in ``docs/6522.md``.
"""

import copy
from typing import Any

from guestclock.chips.mos6522 import TIMEOUT_BEATS, CycleError
from guestclock.chips.registers import *  # noqa: F403
from guestclock.chips.stepwise_port import StepwisePort
from guestclock.chips.stepwise_shifter import BY_CB1, BY_T2, DISABLED, OUT_FREE, StepwiseShifter

# ruff: noqa: F405

# Untouched, every output that will ever change does so within the longest period there is: T2's,
# 256 runs of a low byte of 257 cycles.
LONGEST_PERIOD_CYCLES = 256 * 257

LATCHES_AND_SR_MODE = ACR_LATCH_A | ACR_LATCH_B | ACR_SR_MODE

PARTS = ("port_a", "port_b", "shifter")

INDEPENDENT = {C2_INDEPENDENT_FALLING, C2_INDEPENDENT_RISING}


class Mos6522Stepwise:
    """One 6522; see :class:`guestclock.chips.mos6522.Mos6522` for what the arguments mean."""

    def __init__(self, variant: str = "nmos", timeout_beats: int = TIMEOUT_BEATS) -> None:
        self.variant = variant
        self.timeout_beats = timeout_beats
        self.now = 0
        self.last_access = -1
        self.port_a = StepwisePort()
        self.port_b = StepwisePort()
        self.shifter = StepwiseShifter()
        self.acr = self.pcr = self.ifr = self.ier = 0
        self.pb6_before = PB6  # PB6 in the cycle before
        self.t1 = self.t1_latch = 0xFFFF
        self.t1_timed_out = False  # the counter shows FFFF because it has passed zero
        self.t1_armed = False
        self.t1_flag_is_new = False  # the flag was set for this very cycle
        self.t1_underflows = 0
        self.t1_flag_half = -1
        self.pb7_output = True
        self.t2 = 0xFFFF
        self.t2_latch = 0xFF
        self.t2_borrowed = False  # the low byte shows FF because it has passed zero
        self.t2_reloaded = False  # the low byte shows its latch because it has passed zero
        self.t2_armed = False
        self.t2_flag_is_new = False
        self.t2_flag_half = -1

    # ------------------------------------------------------------------ one cycle

    def step(self) -> None:
        """Go to the next cycle, nothing being written in this one."""
        if not self._lines_rest():
            self._step_lines(self.pcr)
        self._step_t1(False, self.acr)
        self._step_t2(None)
        self.pb6_before = self._pb6()
        self.now += 1

    def _step_and_write(self, register: int, value: int) -> None:
        """Go to the next cycle, where the write takes effect."""
        if register in (T1CL, T1LL):
            self.t1_latch = self.t1_latch & 0xFF00 | value
        if register in (T1CH, T1LH):
            self.t1_latch = self.t1_latch & 0x00FF | value << 8
        if register == T2CL:
            self.t2_latch = value
        self.ifr &= ~self._cleared_by_write(register, value)
        self._note_access(register, writes=True)
        self._step_lines(value if register == PCR else self.pcr)
        self._step_t1(register == T1CH, value if register == ACR else self.acr)
        self._step_t2(value << 8 | self.t2_latch if register == T2CH else None)
        self.pb6_before = self._pb6()
        self.now += 1
        self._store(register, value)

    def _note_access(self, register: int, writes: bool) -> None:
        """Remember a handshake or an access to the shift register until the end of this cycle."""
        if register == ORA:
            self.port_a.accessed = True
        if register == ORB and writes:
            self.port_b.accessed = True
        if register == SR:
            self.shifter.access(self._sr_mode())

    def _lines_rest(self) -> bool:
        """Tell whether a step would change nothing but the counters: most do not."""
        return not (self.acr & LATCHES_AND_SR_MODE or self.port_a.stirs() or self.port_b.stirs())

    def _step_lines(self, new_pcr: int) -> None:
        """Let the ports' lines, latches and the shift register go to the next cycle."""
        raised = self._raised_by_lines()
        if not self._latched(ACR_LATCH_A, IFR_CA1):
            self.port_a.latch = self.port_a_levels()
        if not self._latched(ACR_LATCH_B, IFR_CB1):
            self.port_b.latch = self.port_b_levels()
        self.shifter.step(self._sr_mode(), self.t2_reloaded, self._cb1_moves(), int(self.cb2))
        self.port_a.step(self._control_a(), new_pcr & 0x0F, bool(raised & IFR_CA1))
        self.port_b.step(self._control_b(), new_pcr >> PORT_B_CONTROL, bool(raised & IFR_CB1))
        self.ifr |= raised

    def _raised_by_lines(self) -> int:
        """Return the flags that the lines and the shift register set with the next cycle.

        A line that the shift register drives makes no edges.
        """
        mode = self._sr_mode()
        driven = (C1_EDGE if mode not in BY_CB1 else 0) | (C2_EDGE if mode >= OUT_FREE else 0)
        flags_b = self.port_b.edges(self._control_b()) & ~driven
        flags = self.port_a.edges(self._control_a()) | flags_b << PORT_B_EDGES
        if self.shifter.completes(mode, self.t2_reloaded, self._cb1_moves()):
            flags |= IFR_SR
        return flags

    def _cb1_moves(self) -> int:
        """Return 1 if CB1 rises in this cycle as driven from outside, -1 if it falls, 0 if it stays."""
        return self.port_b.c1 - self.port_b.c1_before

    def _sr_mode(self) -> int:
        return (self.acr & ACR_SR_MODE) >> 2

    def _control_a(self) -> int:
        return self.pcr & 0x0F

    def _control_b(self) -> int:
        return self.pcr >> PORT_B_CONTROL

    def _latched(self, latching: int, flag: int) -> bool:
        """Tell whether a port's input latch is closed (fact 24)."""
        return bool(self.acr & latching and self.ifr & flag)

    def _step_t1(self, loads: bool, new_acr: int) -> None:
        if self.t1_timed_out and not self.acr & new_acr & ACR_T1_FREE_RUN:
            self.t1_armed = False  # facts 5, 9
        times_out = self.t1 == 0 and not loads
        raises = times_out and self.t1_armed
        if loads or self.t1_timed_out:
            self.t1 = self.t1_latch  # fact 2: also in one-shot mode
        else:
            self.t1 = (self.t1 - 1) & 0xFFFF
        self.t1_timed_out = times_out
        self.t1_underflows += times_out
        self.t1_flag_is_new = raises
        if raises:
            self.ifr |= IFR_T1
            self.t1_flag_half = 2 * self.now + 1
            self.pb7_output = not self.pb7_output
        if loads:
            self.t1_armed = True
            self.pb7_output = False
        if not self.acr & new_acr & ACR_T1_PB7:
            self.pb7_output = True  # fact 15

    def _step_t2(self, load: int | None) -> None:
        counts = load is None and self._t2_counts()
        self.t2_reloaded = False
        raises = counts and self.t2 == 0 and self.t2_armed
        if load is not None:
            self.t2 = load
            self.t2_borrowed = False
            self.t2_armed = True
        elif counts and self.t2_borrowed and self._t2_clocks_sr():
            self.t2 = self.t2 & 0xFF00 | self.t2_latch  # fact 16
            self.t2_borrowed = False
            self.t2_reloaded = True
        elif counts:
            self.t2 = (self.t2 - 1) & 0xFFFF
            self.t2_borrowed = self.t2 & 0xFF == 0xFF
        self.t2_flag_is_new = raises
        if raises:
            self.ifr |= IFR_T2
            self.t2_flag_half = 2 * self.now + 1
            self.t2_armed = False

    def _t2_counts(self) -> bool:
        """Tell whether T2 counts in the step from this cycle to the next (facts 13, 14)."""
        if self.acr & ACR_T2_PULSES:
            return bool(self.pb6_before and not self._pb6())
        return True

    def _t2_clocks_sr(self) -> bool:
        return self._sr_mode() in BY_T2

    def _pb6(self) -> int:
        return self.port_b.levels() & PB6

    # ------------------------------------------------------------------ registers

    def _timeout_beats(self, access: int, is_new: bool) -> bool:
        """Tell whether a flag outlives an access that clears it (facts 7, 8)."""
        return is_new and bool(self.timeout_beats & access)

    def _cleared_by_write(self, register: int, value: int) -> int:
        cleared = 0
        if register == IFR:
            cleared = value
            if self._timeout_beats(WRITE_IFR, self.t1_flag_is_new):
                cleared &= ~IFR_T1
            if self._timeout_beats(WRITE_IFR, self.t2_flag_is_new):
                cleared &= ~IFR_T2
        if register == T1CH and not self._timeout_beats(WRITE_T1CH, self.t1_flag_is_new):
            cleared = IFR_T1
        if register == T1LH and not self._timeout_beats(WRITE_T1LH, self.t1_flag_is_new):
            cleared = IFR_T1
        if register == T2CH and not self._timeout_beats(WRITE_T2CH, self.t2_flag_is_new):
            cleared = IFR_T2
        if register == SR:
            cleared = IFR_SR
        if register == ORA:
            cleared = self._port_a_flags()
        if register == ORB:
            cleared = self._port_b_flags()
        return cleared

    def _cleared_by_read(self, register: int) -> int:
        if register == T1CL and not self._timeout_beats(READ_T1CL, self.t1_flag_is_new):
            return IFR_T1
        if register == T2CL and not self._timeout_beats(READ_T2CL, self.t2_flag_is_new):
            return IFR_T2
        return {SR: IFR_SR, ORA: self._port_a_flags(), ORB: self._port_b_flags()}.get(register, 0)

    def _port_a_flags(self) -> int:
        """Return the flags that an access to ORA clears (fact 25)."""
        return IFR_CA1 | (0 if self._control_a() & C2_MODE in INDEPENDENT else IFR_CA2)

    def _port_b_flags(self) -> int:
        """Return the flags that an access to ORB clears (fact 25)."""
        return IFR_CB1 | (0 if self._control_b() & C2_MODE in INDEPENDENT else IFR_CB2)

    def _store(self, register: int, value: int) -> None:
        if register == ORB:
            self.port_b.output = value
        if register in (ORA, ORA_NO_HANDSHAKE):
            self.port_a.output = value
        if register == DDRB:
            self.port_b.direction = value
        if register == DDRA:
            self.port_a.direction = value
        if register == SR:
            self.shifter.value = value
        if register == ACR:
            self._set_acr(value)
        if register == PCR:
            self.pcr = value
        if register == IER:
            ones = value & IFR_FLAGS
            self.ier = self.ier | ones if value & IER_SET else self.ier & ~ones

    def _set_acr(self, value: int) -> None:
        self.acr = value
        self.shifter.enter(self._sr_mode())
        if self._sr_mode() == DISABLED:
            self.ifr &= ~IFR_SR  # fact 19

    def _shown(self, register: int) -> int:
        any_flag = IFR_ANY if self.ifr & self.ier else 0
        return {
            ORB: self._shown_by_orb(), ORA: self._shown_by_ora(),
            DDRB: self.port_b.direction, DDRA: self.port_a.direction,
            T1CL: self.t1 & 0xFF, T1CH: self.t1 >> 8, T1LL: self.t1_latch & 0xFF, T1LH: self.t1_latch >> 8,
            T2CL: self.t2 & 0xFF, T2CH: self.t2 >> 8, SR: self.shifter.value, ACR: self.acr, PCR: self.pcr,
            IFR: self.ifr | any_flag, IER: self.ier | IER_SET, ORA_NO_HANDSHAKE: self._shown_by_ora(),
        }[register]  # fmt: skip

    def _shown_by_ora(self) -> int:
        return self.port_a.latch if self._latched(ACR_LATCH_A, IFR_CA1) else self.port_a_levels()

    def _shown_by_orb(self) -> int:
        """Return ORB where it is an output, PB7 where the timer drives it, the pin or its latch elsewhere."""
        port = self.port_b
        inputs = port.latch if self._latched(ACR_LATCH_B, IFR_CB1) else port.pins
        driven = port.direction | self.acr & ACR_T1_PB7
        return self.port_b_output() & driven | inputs & ~driven

    # ------------------------------------------------------------------ the interface of Mos6522

    def read(self, register: int, cycle: int) -> int:
        """Return what a read of the register gives in that φ2 cycle."""
        self._begin_access(register, cycle)
        return self.read_here(register)

    def write(self, register: int, value: int, cycle: int) -> None:
        """Write the register in that φ2 cycle; the chip then stands at the cycle after it."""
        self._begin_access(register, cycle)
        self.write_here(register, value)

    def _begin_access(self, register: int, cycle: int) -> None:
        if register not in range(16):
            raise ValueError(f"register {register}: a 6522 has registers 0 to 15")
        if cycle <= self.last_access:
            raise CycleError(
                f"cycle {cycle} is not after cycle {self.last_access}: one bus access per φ2 cycle"
            )
        self._pins_at(cycle)
        self.last_access = cycle

    def advance(self, cycle: int) -> None:
        """Bring the chip to that φ2 cycle; nothing happens if it is there or beyond."""
        while self.now < cycle:
            self.step()

    def read_here(self, register: int) -> int:
        """Return what a read gives in the cycle last advanced to, and do what the read does."""
        shown = self._shown(register)
        self.ifr &= ~self._cleared_by_read(register)
        self._note_access(register, writes=False)
        return shown

    def write_here(self, register: int, value: int) -> None:
        """Write in the cycle last advanced to, and step to the next cycle, where it takes effect."""
        self._step_and_write(register, value & 0xFF)

    def irq_asserted(self) -> bool:
        """Tell whether the IRQ pin is low at the end of the current cycle (fact 4)."""
        flags = self.ifr
        if not self._lines_rest():
            flags |= self._raised_by_lines()
        if self.t1 == 0 and self.t1_armed:
            flags |= IFR_T1
        if self.t2 == 0 and self.t2_armed and self._t2_counts():
            flags |= IFR_T2
        return bool(flags & self.ier)

    @property
    def irq(self) -> bool:
        """Whether the IRQ pin is low at the end of the current cycle."""
        return self.irq_asserted()

    @property
    def pb7(self) -> bool:
        """Whether the PB7 pin is high at the end of the current cycle."""
        level = bool(self.port_b_levels() & PB7)
        if self.acr & ACR_T1_PB7 and self.t1 == 0 and self.t1_armed:
            return not level
        return level

    def next_event_half(self, watch: int) -> int:
        """Return the half-cycle of the next change of a watched output if nobody touches the chip."""
        future = copy.deepcopy(self)
        before = future._watched(watch)
        for _ in range(LONGEST_PERIOD_CYCLES + 2):
            future.step()
            if future._watched(watch) != before:
                return 2 * future.now + 1
        return NEVER

    def next_event(self, watch: int) -> int:
        """Return :meth:`next_event_half`."""
        return self.next_event_half(watch)

    def _watched(self, watch: int) -> list[bool]:
        outputs = {
            WATCH_IRQ: self.irq, WATCH_PB7: self.pb7,
            WATCH_CA2: self.ca2, WATCH_CB1: self.cb1, WATCH_CB2: self.cb2,
        }  # fmt: skip
        return [level for bit, level in outputs.items() if watch & bit]

    def set_pins_a(self, levels: int, cycle: int) -> None:
        """Drive port A's pins from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_a.pins = levels & 0xFF

    def set_pins_b(self, levels: int, cycle: int) -> None:
        """Drive port B's pins from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_b.pins = levels & 0xFF

    def set_ca1(self, level: int, cycle: int) -> None:
        """Drive CA1 from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_a.c1 = int(bool(level))

    def set_ca2(self, level: int, cycle: int) -> None:
        """Drive CA2 from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_a.c2 = int(bool(level))

    def set_cb1(self, level: int, cycle: int) -> None:
        """Drive CB1 from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_b.c1 = int(bool(level))

    def set_cb2(self, level: int, cycle: int) -> None:
        """Drive CB2 from outside, from that cycle on."""
        self._pins_at(cycle)
        self.port_b.c2 = int(bool(level))

    @property
    def ca1(self) -> bool:
        """Whether the CA1 pin is high at the end of the current cycle."""
        return bool(self.port_a.c1)

    @property
    def ca2(self) -> bool:
        """Whether the CA2 pin is high at the end of the current cycle."""
        return bool(self.port_a.c2_level(self._control_a()))

    @property
    def cb1(self) -> bool:
        """Whether the CB1 pin is high at the end of the current cycle: the chip's where it is the clock."""
        return bool(self.port_b.c1 if self._sr_mode() in BY_CB1 else self.shifter.clock)

    @property
    def cb2(self) -> bool:
        """Whether the CB2 pin is high at the end of the current cycle: PCR rules unless shifting does."""
        mode = self._sr_mode()
        if mode >= OUT_FREE:
            return bool(self.shifter.data)
        if mode == DISABLED:
            return bool(self.port_b.c2_level(self._control_b()))
        return bool(self.port_b.c2)

    def _pins_at(self, cycle: int) -> None:
        if cycle < self.now:
            raise CycleError(f"cycle {cycle} is over: the chip is at cycle {self.now}")
        self.advance(cycle)

    def port_a_levels(self) -> int:
        """Return the levels of port A's pins (fact 26)."""
        return self.port_a.levels()

    def port_b_levels(self) -> int:
        """Return the levels of port B's pins (facts 15, 26)."""
        driven = self.port_b.direction | self.acr & ACR_T1_PB7
        return self.port_b_output() & driven | self.port_b.pins & ~driven

    def port_a_output(self) -> int:
        """Return what the chip drives on port A; 1 where it does not drive."""
        return self.port_a.output | ~self.port_a.direction & 0xFF

    def port_b_output(self) -> int:
        """Return what the chip drives on port B; 1 where it does not drive."""
        output = self.port_b.output | ~self.port_b.direction & 0xFF
        if self.acr & ACR_T1_PB7:
            output = output & ~PB7 | (PB7 if self.pb7_output else 0)
        return output

    def reset(self, cycle: int) -> None:
        """Pull RES in that cycle: registers are clear and timers disarmed from it on (fact 20)."""
        self._pins_at(cycle)
        for port in (self.port_a, self.port_b):
            port.output = port.direction = 0
            port.handshake_low = port.pulse_low = False
        self._set_acr(0)
        self.pcr = self.ifr = self.ier = 0
        self.t1_armed = self.t2_armed = False
        self.pb7_output = True

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        state = dict(vars(self))
        return state | {part: dict(vars(state[part])) for part in PARTS}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        if state.keys() != vars(self).keys():
            raise ValueError(f"not a 6522's state: {sorted(state.keys() ^ vars(self).keys())}")
        for part in PARTS:
            vars(getattr(self, part)).update(state[part])
        vars(self).update({name: value for name, value in state.items() if name not in PARTS})
