"""A Quadra whose guest is a script: a list of accesses, waits and changes of the interrupt mask."""

import json
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from guestclock.chips import registers as reg
from guestclock.experiments.snapshot_file import with_bytes, without_bytes
from guestclock.quadra.board import EVENT_COLUMNS
from guestclock.quadra.image import BootImage
from guestclock.quadra.machine import Quadra
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.timebase.pacing import Pacer

RAM_BYTES = 1 << 20
IO = 0x5000_0000
VIA1, VIA2, SCC, PROBE = IO, IO + 0x2000, IO + 0xC020, IO + 0x3F000
SCC_CONTROL_A, SCC_DATA_A = SCC + 2, SCC + 6
SCRIPT, RESULTS = 0x10000, 0x40000
RTC_SECONDS = 0xDEADBEEF
MARK = 0xF0000000

# What a script's steps are: three longwords, the operation, an address and a value.
END, READ, WRITE, WRITE_LONG, READ_LONG, SPIN, SET_SR, PAUSE, TWICE = range(0, 36, 4)

Step = tuple[int, int, int]


def via(base: int, register: int) -> int:
    return base + 0x200 * register


def read(address: int) -> Step:
    return READ, address, 0


def twice(address: int) -> Step:
    """Two reads within one block of code."""
    return TWICE, address, 0


def read_long(address: int) -> Step:
    return READ_LONG, address, 0


def write(address: int, value: int) -> Step:
    return WRITE, address, value


def write_long(address: int, value: int) -> Step:
    return WRITE_LONG, address, value


def spin(rounds: int) -> Step:
    """Run 4 bytes of code so many times."""
    return SPIN, 0, rounds


OPEN: Step = (SET_SR, 0, 0x2000)
MASKED: Step = (SET_SR, 0, 0x2700)
WAIT: Step = (PAUSE, 0, 0)


def start_t1(latch: int, *, base: int = VIA1, level6: bool = True, free_run: bool = True) -> list[Step]:
    """Start timer 1 with its interrupt enabled."""
    return [
        write(via(base, reg.DDRB), 0x40),
        write(via(base, reg.ORB), 0x00 if level6 else 0x40),
        write(via(base, reg.ACR), 0x40 if free_run else 0),
        write(via(base, reg.IER), 0xC0),
        write(via(base, reg.T1CL), latch & 0xFF),
        write(via(base, reg.T1CH), latch >> 8),
    ]


def rtc_byte(command: int) -> tuple[list[Step], Callable[[list[int]], int]]:
    """Return the script that sends a command and reads eight bits, and what assembles them."""
    orb, ddrb = via(VIA1, reg.ORB), via(VIA1, reg.DDRB)
    # PB2 enable (low selects), PB1 clock, PB0 data
    script = [write(orb, 0x06), write(ddrb, 0x07), write(orb, 0x02)]
    for bit in range(7, -1, -1):
        data = command >> bit & 1
        script += [write(orb, data), write(orb, 2 | data)]
    script.append(write(ddrb, 0x06))
    for _ in range(8):
        script += [write(orb, 0), read(orb), write(orb, 2)]
    script.append(write(orb, 0x06))

    def value(bits: list[int]) -> int:
        return int("".join(str(bit & 1) for bit in bits), 2)

    return script, value


#      lea SCRIPT,a1; lea RESULTS,a2
# next: move.l (a1)+,d0; movea.l (a1)+,a0; move.l (a1)+,d1; jmp (table,pc,d0.l)
# table: bra.w end, read, write, long, longread, spin, setsr, pause, twice
# read: clr.l d2; move.b (a0),d2; move.l d2,(a2)+; bra next
# write: move.b d1,(a0); bra next          long: move.l d1,(a0); bra next
# longread: move.l (a0),(a2)+; bra next    spin: subq.l #1,d1; bne spin; bra next
# setsr: move d1,sr; bra next              pause: stop #$2000; bra next
# twice: clr.l d2; clr.l d3; move.b (a0),d2; move.b (a0),d3; move.l d2,(a2)+; move.l d3,(a2)+; bra next
# end: stop #$2700; bra end
INTERPRETER = bytes.fromhex(
    f"43f9{SCRIPT:08x} 45f9{RESULTS:08x} 2019 2059 2219 4efb0802"
    "60000054 6000001e 60000022 60000022 60000022 60000022 60000024 60000024 60000026"
    "4282 1410 24c2 60ca  1081 60c6  2081 60c2  24d0 60be  538166fc 60b8  46c1 60b4  4e722000 60ae"
    "4282 4283 1410 1610 24c2 24c3 60a0  4e722700 60fa"
)
BEGIN = 0x400
HANDLERS = 0x600
HANDLER_BYTES = 0x40


def _timer_handler(base: int) -> str:
    # clr.l d4; move.b T1CH,d4; move.l d4,(a2)+; move.b T1CL,d4 (acknowledges); move.l d4,(a2)+; rte
    return f"4284 1839{via(base, 5):08x} 24c4 1839{via(base, 4):08x} 24c4 4e73"


# move.b SCC_DATA_A,d4; move.l d4,(a2)+; rte
_SCC_HANDLER = f"4284 1839{SCC_DATA_A:08x} 24c4 4e73"
_BODIES = {1: _timer_handler(VIA1), 2: _timer_handler(VIA2), 4: _SCC_HANDLER, 6: _timer_handler(VIA1)}


def _image(script: Iterable[Step]) -> BootImage:
    words = [word for step in [*script, (END, 0, 0)] for word in step]
    writes = []
    for level, body in _BODIES.items():
        at = HANDLERS + level * HANDLER_BYTES
        writes.append((4 * (24 + level), struct.pack(">I", at)))
        # move.l #MARK+level,(a2)+
        writes.append((at, bytes.fromhex(f"24fc{MARK + level:08x}" + body)))
    writes.append((BEGIN, INTERPRETER))
    writes.append((SCRIPT, struct.pack(f">{len(words)}I", *words)))
    return BootImage(BEGIN, tuple(writes), 0, None)


@dataclass
class Played:
    """What a script read (interrupts mark themselves as MARK + level), and the machine's logs."""

    read: list[int]
    events: list[dict[str, int]]
    probes: list[dict[str, int]]
    unmapped: dict[tuple[str, int], int]
    powered_off: bool
    guest_ns: int
    executed_bytes: int
    sent: bytes = b""
    levels: list[int] = field(default_factory=list)


def _rows(rows: "np.typing.NDArray[np.int64]", columns: tuple[str, ...]) -> list[dict[str, int]]:
    return [dict(zip(columns, row, strict=True)) for row in rows.tolist()]


def play(
    pacer: Pacer,
    bus: str,
    script: Iterable[Step],
    *,
    typed: bytes = b"",
    chip: str = "chip",
    moved_at: tuple[int, Pacer] | None = None,
) -> Played:
    """Run a script to its end (or to power-off); ``typed`` is in the SCC's channel A from the start.

    ``moved_at``: at the first look after so many bytes of code the machine's state moves, as text, into
    another machine with that pacer, which goes on.
    """
    sent = bytearray()
    program = list(script)

    def machine(pacer: Pacer) -> Quadra:
        return Quadra(
            _image(program),
            ram_bytes=RAM_BYTES,
            pacer=pacer,
            chip=chip,
            bus=bus,
            rtc_seconds=lambda: RTC_SECONDS,
            transmitted=lambda channel, byte: sent.append(byte),
        )

    with machine(pacer) as first:
        if typed:
            first.bus.receive(1, typed)
        if moved_at is None:
            return _to_the_end(first, sent)
        code_bytes, new_pacer = moved_at
        first.bus.next_housekeeping_bytes = code_bytes

        def pause() -> None:
            first.bus.stop_requested = first.bus.executed_bytes >= code_bytes

        first.bus.on_housekeeping = pause
        first.run()
        with machine(new_pacer) as second:
            _move(first, second)
            return _to_the_end(second, sent)


def _move(first: Quadra, second: Quadra) -> None:
    second.memory[:] = first.memory[:]
    second.bus.events.restore(first.bus.events.rows())
    second.bus.probes.restore(first.bus.probes.rows())
    second.restore(with_bytes(json.loads(json.dumps(without_bytes(first.snapshot())))))
    second.powered_off = first.powered_off


def _to_the_end(machine: Quadra, sent: bytearray) -> Played:
    def end() -> None:
        if machine.in_stop and machine.cpu.interrupt_mask == 7:
            machine.bus.stop_requested = True

    machine.bus.on_housekeeping = end
    machine.run()
    results_end = machine.cpu.registers[10]
    found = list(struct.unpack(f">{(results_end - RESULTS) // 4}I", machine.memory[RESULTS:results_end]))
    return Played(
        read=found,
        events=_rows(machine.bus.events.rows(), EVENT_COLUMNS),
        probes=_rows(machine.bus.probes.rows(), PROBE_COLUMNS),
        unmapped=dict(machine.bus.unmapped),
        powered_off=machine.powered_off,
        guest_ns=machine.bus.pacer.guest_ns,
        executed_bytes=machine.bus.executed_bytes,
        sent=bytes(sent),
        levels=[value - MARK for value in found if MARK < value <= MARK + 7],
    )
