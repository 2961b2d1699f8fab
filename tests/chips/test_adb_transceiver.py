"""The ADB transceiver beside a 6522, asked as Linux asks it (drivers/macintosh/via-macii.c)."""

import pytest

from guestclock.chips.adb_transceiver import HALF_BIT_CYCLES, TIMEOUT_CYCLES, AdbTransceiver
from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import ACR, IFR, IFR_SR, NEVER, SR

SHIFT_IN, SHIFT_OUT = 0x0C, 0x1C
COMMAND, EVEN, ODD, IDLE = range(4)
# A bit of waiting, and fifteen half-bits from the first edge to the last.
BYTE_CYCLES = 17 * HALF_BIT_CYCLES

TALK_3 = 0x0F
LISTEN_3 = 0x0B
SEND_RESET = 0x00


class Host:
    """The CPU's side: shifts a byte and waits for the flag."""

    def __init__(self, via: Mos6522 | Mos6522Stepwise) -> None:
        self.via = via
        self.adb = AdbTransceiver(via)
        self.cycle = 0
        self.took = 0

    def write(self, register: int, value: int) -> None:
        self.cycle += 1
        self.adb.advance(self.cycle)
        self.via.write(register, value, self.cycle)

    def read(self, register: int) -> int:
        self.cycle += 1
        self.adb.advance(self.cycle)
        return self.via.read(register, self.cycle)

    def state(self, state: int) -> None:
        self.adb.state_lines(state, self.via.now)

    def wait(self) -> None:
        """Wait until the shift register's flag is set, and note how long it took."""
        began = self.cycle
        while not self.read(IFR) & IFR_SR:
            assert self.cycle < began + 10_000, "the shift register never filled"
        self.took = self.cycle - began

    def send(self, value: int, state: int) -> bool:
        """Send a byte and return the interrupt line."""
        self.write(ACR, SHIFT_OUT)
        self.write(SR, value)
        self.state(state)
        self.wait()
        return self.adb.interrupt

    def receive(self, state: int) -> tuple[int, bool]:
        """Receive a byte and return it with the interrupt line."""
        self.write(ACR, SHIFT_IN)
        self.read(SR)
        self.state(state)
        self.wait()
        return self.read(SR), self.adb.interrupt


@pytest.fixture(params=[Mos6522, Mos6522Stepwise])
def host(request: pytest.FixtureRequest) -> Host:
    return Host(request.param())


@pytest.mark.parametrize("address", range(1, 16))
def test_a_talk_to_nobody_times_out(host: Host, address: int) -> None:
    assert host.send(address << 4 | TALK_3, COMMAND) is False
    assert host.took == pytest.approx(BYTE_CYCLES, abs=4)
    assert host.receive(EVEN) == (0xFF, True)  # bus_timeout
    assert host.took == pytest.approx(TIMEOUT_CYCLES + BYTE_CYCLES - 2 * HALF_BIT_CYCLES, abs=4)
    assert host.receive(ODD) == (0xFF, False)  # no device requests service
    assert host.receive(EVEN) == (0xFF, True)  # the end
    host.state(IDLE)
    assert not host.adb.interrupt
    assert host.adb.next_cycle == NEVER


@pytest.mark.parametrize("command", [SEND_RESET, 0x2B, 0x2F, 0x55, 0xAA])
@pytest.mark.parametrize("steps", [1, 7 * HALF_BIT_CYCLES, 100 * HALF_BIT_CYCLES])
def test_the_command_arrives_however_rarely_the_host_looks(host: Host, command: int, steps: int) -> None:
    host.write(ACR, SHIFT_OUT)
    host.write(SR, command)
    host.state(COMMAND)
    while host.adb.next_cycle != NEVER:
        host.cycle += steps
        host.adb.advance(host.cycle)
    assert host.adb.snapshot()["_command"] == command


def test_a_listen_takes_bytes_until_idle(host: Host) -> None:
    assert host.send(0x30 | LISTEN_3, COMMAND) is False
    assert host.send(0x6E, EVEN) is False
    assert host.send(0xFE, ODD) is False
    host.state(IDLE)
    assert host.adb.next_cycle == NEVER


def test_each_talk_begins_anew(host: Host) -> None:
    for _ in range(2):
        host.send(0x20 | TALK_3, COMMAND)
        assert [host.receive(state)[1] for state in (EVEN, ODD, EVEN)] == [True, False, True]
        host.state(IDLE)


def test_a_byte_given_up_leaves_the_clock_high(host: Host) -> None:
    host.write(ACR, SHIFT_OUT)
    host.write(SR, 0x55)
    host.state(COMMAND)
    host.cycle += 5 * HALF_BIT_CYCLES
    host.adb.advance(host.cycle)
    host.state(IDLE)
    assert host.via.cb1
    assert host.adb.next_cycle == NEVER


def test_a_snapshot_goes_on_where_it_was_taken(host: Host) -> None:
    host.send(0x20 | TALK_3, COMMAND)
    host.receive(EVEN)
    other = AdbTransceiver(host.via)
    other.restore(host.adb.snapshot())
    host.adb = other
    assert host.receive(ODD) == (0xFF, False)
