"""A machine's state moved into another machine at any moment: what follows is as if it had not been."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_quadra import (
    MASKED,
    OPEN,
    PROBE,
    SCC_CONTROL_A,
    SCC_DATA_A,
    VIA1,
    VIA2,
    WAIT,
    Played,
    Step,
    play,
    read,
    rtc_byte,
    spin,
    start_t1,
    via,
    write,
    write_long,
)

from guestclock.chips import registers as reg
from guestclock.quadra.log import Log
from guestclock.timebase.host import SimulatedHost
from guestclock.timebase.pacing import HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.stalls import parse_stalls

MACHINES = [("phi2", "chip"), ("fast", "chip"), ("none", "qemu-7.2"), ("none", "series-2021")]
TYPED = b"longer than a FIFO"
ROWS_OF_A_CHUNK = 4096


def scc_on() -> list[Step]:
    """Receiver and its interrupts, transmitter, master interrupt enable."""
    written = ((3, 0xC1), (5, 0x68), (1, 0x10), (9, 0x08))
    return [write(SCC_CONTROL_A, byte) for pair in written for byte in pair]


def everything() -> list[Step]:
    """A bit of all that the machine can do, much of it under way at any moment."""
    told = [write_long(PROBE + 0x10, 3), write_long(PROBE + 0x14, 9), write_long(PROBE + 0x20, 1)]
    clock_chip, _ = rtc_byte(0x81)
    adb = [write(via(VIA1, reg.DDRB), 0x77), write(via(VIA1, reg.ACR), 0x5C), write(via(VIA1, reg.SR), 0x3C)]
    return [
        *scc_on(),
        *told,
        *clock_chip,
        *start_t1(1500),
        *start_t1(2500, base=VIA2),
        OPEN,
        write_long(PROBE + 0x24, 5),
        *(step for number in range(4) for step in (spin(300), read(via(VIA1, reg.T1CL)), WAIT)),
        *adb,
        write(via(VIA1, reg.ORB), 0x00),
        *(step for number in range(6) for step in (spin(200), write(SCC_DATA_A, 0x41 + number))),
        *(step for number in range(4) for step in (WAIT, write_long(PROBE + 0x24, number))),
        MASKED,
        spin(3000),
        read(0x60000000),
        OPEN,
        spin(400),
        read(via(VIA1, reg.IFR)),
        read(via(VIA1, reg.SR)),
        MASKED,
    ]


def pacer(pacing: str) -> Pacer:
    if pacing == "virtual":
        return VirtualPacer()
    host = SimulatedHost(parse_stalls("every=3ms,for=2ms", 1), ps_per_byte=20_000, look_ns=50)
    return PacedPacer(host) if pacing == "paced" else HostPacer(host)


def whole(machine: tuple[str, str], pacing: str) -> Played:
    bus, chip = machine
    return play(pacer(pacing), bus, everything(), typed=TYPED, chip=chip)


@settings(max_examples=40)
@given(st.sampled_from(MACHINES), st.sampled_from(["virtual", "paced", "host"]), st.floats(0, 0.98))
def test_what_follows_is_the_same(machine: tuple[str, str], pacing: str, share: float) -> None:
    bus, chip = machine
    expected = whole(machine, pacing)
    at = int(share * expected.executed_bytes)
    moved = play(pacer(pacing), bus, everything(), typed=TYPED, chip=chip, moved_at=(at, pacer(pacing)))
    if pacing == "virtual":
        assert moved == expected
    else:
        # Asking for a look at that moment is a look of the host's clock, which takes its 50 ns.
        again = play(pacer(pacing), bus, everything(), typed=TYPED, chip=chip, moved_at=(at, pacer(pacing)))
        assert moved == again
        assert moved.sent == expected.sent


def test_the_script_does_a_bit_of_all() -> None:
    played = whole(("phi2", "chip"), "virtual")
    assert {2, 4, 6} <= set(played.levels)
    assert len(played.events) > 15
    assert played.sent == b"ABCDEF"
    assert len(played.probes) == 5


@pytest.mark.parametrize("rows", [1, ROWS_OF_A_CHUNK - 1, ROWS_OF_A_CHUNK, ROWS_OF_A_CHUNK + 1])
def test_the_probe_log_goes_on_wherever_its_chunk_ended(rows: int) -> None:
    script = [write_long(PROBE + 0x24, number) for number in range(rows + 100)]
    bytes_of_one = play(VirtualPacer(), "fast", script).executed_bytes / len(script)
    at = int(rows * bytes_of_one)
    moved = play(VirtualPacer(), "fast", script, moved_at=(at, VirtualPacer()))
    assert [row["value"] for row in moved.probes] == list(range(rows + 100))


@pytest.mark.parametrize("count", [0, 1, ROWS_OF_A_CHUNK - 1, ROWS_OF_A_CHUNK, ROWS_OF_A_CHUNK + 1, 9000])
def test_rows_come_back(count: int) -> None:
    rows = np.arange(count * 7).reshape(-1, 7)
    log = Log(7)
    log.restore(rows)
    assert log.count == count
    assert np.array_equal(log.rows(), rows)
