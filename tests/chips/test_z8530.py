"""The SCC against its manual, and against the way Linux's pmac_zilog driver uses it."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guestclock.chips.z8530 import CHANNEL_A, CHANNEL_B, Z8530

RES_EXT_INT, INT_NEXT_RX, RES_TX_P, ERR_RES, RES_H_IUS = 0x10, 0x20, 0x28, 0x30, 0x38
TX_INT, RX_INT_FIRST, RX_INT_ALL, RX_INT_SPECIAL = 0x02, 0x08, 0x10, 0x18
RX_ENABLE, TX_ENABLE, MIE, NO_VECTOR = 0x01, 0x08, 0x08, 0x02
RX_AVAILABLE, TX_EMPTY, ALL_SENT = 0x01, 0x04, 0x01
CONTROL = {CHANNEL_A: 2, CHANNEL_B: 0}
RESET = {CHANNEL_A: 0x80, CHANNEL_B: 0x40}
TX_IP = {CHANNEL_A: 0x10, CHANNEL_B: 0x02}
RX_IP = {CHANNEL_A: 0x20, CHANNEL_B: 0x04}

both_channels = pytest.mark.parametrize("channel", [CHANNEL_A, CHANNEL_B])


class Wire:
    """What left the chip, by channel."""

    def __init__(self) -> None:
        self.sent = {CHANNEL_A: bytearray(), CHANNEL_B: bytearray()}

    def __call__(self, channel: int, byte: int) -> None:
        self.sent[channel].append(byte)


class Port:
    """One channel as a driver sees it: a control and a data address."""

    def __init__(self, scc: Z8530, channel: int) -> None:
        self.scc, self.channel = scc, channel
        self.control, self.data = CONTROL[channel], CONTROL[channel] + 4

    def get(self, register: int) -> int:
        if register:
            self.scc.write(self.control, register & 7 | (register & 8))
        return self.scc.read(self.control)

    def put(self, register: int, value: int) -> None:
        if register:
            self.scc.write(self.control, register & 7 | (register & 8))
        self.scc.write(self.control, value)

    def load(self) -> int:
        return self.scc.read(self.data)

    def store(self, value: int) -> None:
        self.scc.write(self.data, value)

    def open(self, interrupts: int = TX_INT | RX_INT_ALL) -> None:
        """Bring the channel up in the order of __pmz_startup and pmz_load_zsregs."""
        self.put(9, RESET[self.channel])
        self.put(9, 0)
        self.put(1, 0)
        for command in (ERR_RES, ERR_RES, RES_H_IUS, RES_H_IUS):
            self.put(0, command)
        assert self.get(1) & ALL_SENT
        for register, value in ((4, 0x44), (10, 0), (3, 0xC0), (5, 0x62), (15, 0x81), (7, 0), (15, 0x80)):
            self.put(register, value)
        for register, value in ((11, 0x50), (12, 0x0A), (13, 0), (14, 0x01)):
            self.put(register, value)
        self.put(3, 0xC0 | RX_ENABLE)
        self.put(5, 0x62 | TX_ENABLE)
        self.put(9, NO_VECTOR | MIE)
        self.put(1, interrupts)


def chip() -> tuple[Z8530, Wire]:
    wire = Wire()
    return Z8530(wire), wire


# --- registers ---


def test_after_power_up_nothing_is_pending() -> None:
    scc, _ = chip()
    for channel in (CHANNEL_A, CHANNEL_B):
        port = Port(scc, channel)
        assert port.get(0) & (RX_AVAILABLE | TX_EMPTY) == TX_EMPTY
        assert port.get(1) == 0x07
        assert port.get(3) == 0
        assert port.get(15) == 0xF8
    assert not scc.irq


def test_each_enable_is_its_own_bit() -> None:
    scc, wire = chip()
    port = Port(scc, CHANNEL_A)
    port.open()
    port.put(3, 0xFF & ~RX_ENABLE)
    port.put(5, 0xFF & ~TX_ENABLE)
    scc.receive(CHANNEL_A, b"a")
    assert not port.get(0) & RX_AVAILABLE
    port.store(0x41)
    assert not wire.sent[CHANNEL_A]
    port.put(3, RX_ENABLE)
    port.put(5, TX_ENABLE)
    assert port.get(0) & RX_AVAILABLE
    assert wire.sent[CHANNEL_A] == b"A"
    assert Port(scc, CHANNEL_A).get(3) == RX_IP[CHANNEL_A] | TX_IP[CHANNEL_A]
    port.put(1, 0xFF & ~(RX_INT_SPECIAL | TX_INT))
    assert port.get(3) == 0
    port.put(1, TX_INT | RX_INT_ALL)
    port.put(9, 0x3F & ~MIE)
    assert not scc.irq
    port.put(9, MIE)
    assert scc.irq


def test_pointer_falls_back_to_zero_after_one_access() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.put(12, 0x5A)
    scc.write(2, 0x08 | 4)
    assert scc.read(2) == 0x5A
    assert scc.read(2) == port.get(0)


def test_there_is_one_pointer_for_both_channels() -> None:
    scc, _ = chip()
    Port(scc, CHANNEL_A).put(12, 0x5A)
    scc.write(0, 0x08 | 4)  # set through channel B
    assert scc.read(2) == 0x5A


def test_data_port_ignores_the_pointer() -> None:
    scc, wire = chip()
    port = Port(scc, CHANNEL_A)
    port.open()
    scc.write(2, 0x08 | 5)
    port.store(0x41)
    assert wire.sent[CHANNEL_A] == b"A"
    assert scc.read(2) == 0  # RR13, still pointed to


@both_channels
def test_time_constant_and_external_enables_read_back(channel: int) -> None:
    scc, _ = chip()
    port = Port(scc, channel)
    for register, value in ((12, 0xA5), (13, 0x3C), (15, 0xFF)):
        port.put(register, value)
    assert [port.get(register) for register in (12, 13, 15)] == [0xA5, 0x3C, 0xFA]
    assert [port.get(register) for register in (9, 11)] == [0x3C, 0xFA]


@both_channels
def test_low_registers_have_images_four_above(channel: int) -> None:
    scc, _ = chip()
    port = Port(scc, channel)
    port.put(2, 0x90)
    assert [port.get(register) for register in (4, 5, 6, 7)] == [
        port.get(register) for register in (0, 1, 2, 3)
    ]


# --- transmitter ---


@both_channels
def test_polled_output_arrives_in_order(channel: int) -> None:
    scc, wire = chip()
    port = Port(scc, channel)
    port.open(interrupts=0)
    for byte in b"Linux\r\n\xff\x00":
        assert port.get(0) & TX_EMPTY
        port.store(byte)
    assert wire.sent[channel] == b"Linux\r\n\xff\x00"
    assert not wire.sent[1 - channel]


def test_output_through_wr8() -> None:
    scc, wire = chip()
    port = Port(scc, CHANNEL_A)
    port.open(interrupts=0)
    port.put(8, 0x58)
    assert wire.sent[CHANNEL_A] == b"X"


@both_channels
def test_disabled_transmitter_keeps_the_byte_until_it_is_enabled(channel: int) -> None:
    scc, wire = chip()
    port = Port(scc, channel)
    port.store(0x58)
    assert not port.get(0) & TX_EMPTY
    assert not port.get(1) & ALL_SENT
    assert not wire.sent[channel]
    port.put(5, 0x60 | TX_ENABLE)
    assert wire.sent[channel] == b"X"
    assert port.get(0) & TX_EMPTY
    assert port.get(1) & ALL_SENT


@both_channels
def test_first_transmit_interrupt_comes_after_the_first_byte(channel: int) -> None:
    scc, _ = chip()
    port = Port(scc, channel)
    port.open()
    assert not scc.irq
    port.store(0x41)
    assert scc.irq
    assert Port(scc, CHANNEL_A).get(3) == TX_IP[channel]


def test_reset_tx_int_pending_silences_until_the_next_byte() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.open()
    port.store(0x41)
    port.put(0, RES_TX_P)
    assert not scc.irq
    assert port.get(3) == 0
    port.store(0x42)
    assert scc.irq


def test_output_between_disabling_and_enabling_the_interrupt_still_interrupts() -> None:
    # pmz_console_write does this; were the interrupt lost, a terminal write under way would never go on.
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.open()
    port.put(1, RX_INT_ALL)
    port.store(0x41)
    assert not scc.irq
    assert port.get(3) == 0
    port.put(1, TX_INT | RX_INT_ALL)
    assert scc.irq


# --- receiver ---


@both_channels
def test_fifo_holds_three_bytes_and_the_line_the_rest(channel: int) -> None:
    scc, _ = chip()
    port = Port(scc, channel)
    port.open()
    scc.receive(channel, b"abcdefgh")
    state = scc.snapshot()
    receiver = state.a if channel == CHANNEL_A else state.b
    assert (receiver.fifo, receiver.line) == (b"abc", b"defgh")
    assert bytes(port.load() for _ in range(8)) == b"abcdefgh"
    assert not port.get(0) & RX_AVAILABLE
    assert port.load() == 0


def test_bytes_wait_for_the_receiver() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    scc.receive(CHANNEL_A, b"early")
    assert not port.get(0) & RX_AVAILABLE
    port.open()
    assert scc.irq
    assert bytes(port.load() for _ in range(5)) == b"early"


def test_data_can_be_read_through_rr8() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.open()
    scc.receive(CHANNEL_A, b"xy")
    assert [port.get(8), port.get(8)] == [0x78, 0x79]


@both_channels
def test_interrupt_on_all_characters_lasts_until_the_fifo_is_empty(channel: int) -> None:
    scc, _ = chip()
    port = Port(scc, channel)
    port.open(RX_INT_ALL)
    scc.receive(channel, b"ab")
    assert scc.irq
    assert Port(scc, CHANNEL_A).get(3) == RX_IP[channel]
    port.load()
    assert scc.irq
    port.load()
    assert not scc.irq


def test_interrupt_on_first_character_comes_once_until_rearmed() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.open(RX_INT_FIRST)
    scc.receive(CHANNEL_A, b"abc")
    assert scc.irq
    port.load()
    assert not scc.irq
    scc.receive(CHANNEL_A, b"d")
    assert not scc.irq
    port.put(0, INT_NEXT_RX)  # three wait: the next one is already there
    assert scc.irq
    for _ in range(3):
        port.load()
    port.put(0, INT_NEXT_RX)
    assert not scc.irq
    scc.receive(CHANNEL_A, b"e")
    assert scc.irq


@pytest.mark.parametrize("mode", [0, RX_INT_SPECIAL])
def test_modes_without_character_interrupts(mode: int) -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_A)
    port.open(mode)
    scc.receive(CHANNEL_A, b"a")
    assert not scc.irq
    assert port.get(0) & RX_AVAILABLE


# --- interrupt logic ---


def vector_bits(code: str) -> tuple[int, int]:
    """Return the RR2B bits for a V3 V2 V1 code, status low and status high."""
    v3, v2, v1 = (int(bit) for bit in code)
    return v3 << 3 | v2 << 2 | v1 << 1, v3 << 4 | v2 << 5 | v1 << 6


# Am8530H manual, table 6-4; in this order of priority.
VECTORS = [
    (CHANNEL_A, "rx", "110"),
    (CHANNEL_A, "tx", "100"),
    (CHANNEL_B, "rx", "010"),
    (CHANNEL_B, "tx", "000"),
]


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("status_high", [0, 1])
def test_channel_b_shows_the_highest_pending_source(first: int, status_high: int) -> None:
    scc, _ = chip()
    ports = {channel: Port(scc, channel) for channel in (CHANNEL_A, CHANNEL_B)}
    for port in ports.values():
        port.open()
    ports[CHANNEL_A].put(2, 0xFF)
    ports[CHANNEL_A].put(9, MIE | status_high << 4)
    for channel, kind, _ in VECTORS[first:]:
        if kind == "rx":
            scc.receive(channel, b"x")
        else:
            ports[channel].store(0x78)
    code = VECTORS[first][2] if first < 4 else "011"
    keep = 0x8F if status_high else 0xF1
    assert ports[CHANNEL_B].get(2) == keep | vector_bits(code)[status_high]
    assert ports[CHANNEL_A].get(2) == 0xFF


def test_rr3_of_channel_b_is_zero() -> None:
    scc, _ = chip()
    for channel in (CHANNEL_A, CHANNEL_B):
        Port(scc, channel).open()
        Port(scc, channel).store(0)
        scc.receive(channel, b"x")
    assert Port(scc, CHANNEL_A).get(3) == 0x36
    assert Port(scc, CHANNEL_B).get(3) == 0


def test_master_interrupt_enable_gates_the_pin_only() -> None:
    scc, _ = chip()
    port = Port(scc, CHANNEL_B)
    port.open()
    port.store(0x41)
    port.put(9, NO_VECTOR)
    assert not scc.irq
    assert Port(scc, CHANNEL_A).get(3) == TX_IP[CHANNEL_B]
    Port(scc, CHANNEL_A).put(9, MIE)  # one WR9 for both channels
    assert scc.irq


@pytest.mark.parametrize(("command", "hit"), [(0x80, {CHANNEL_A}), (0x40, {CHANNEL_B}), (0xC0, {0, 1})])
def test_resets_hit_their_channels(command: int, hit: set[int]) -> None:
    scc, wire = chip()
    for channel in (CHANNEL_A, CHANNEL_B):
        Port(scc, channel).open()
        Port(scc, channel).put(12, 0x5A)
        scc.receive(channel, b"abcd")
        Port(scc, channel).store(0x41)
    Port(scc, CHANNEL_A).put(9, command | MIE)
    for channel in (CHANNEL_A, CHANNEL_B):
        port = Port(scc, channel)
        assert bool(port.get(0) & RX_AVAILABLE) == (channel not in hit)
        assert port.get(15) == (0xF8 if channel in hit else 0x80)
        assert port.get(12) == 0x5A
        port.store(0x42)
        assert wire.sent[channel] == (b"A" if channel in hit else b"AB")
        state = scc.snapshot()
        assert (state.a if channel == CHANNEL_A else state.b).line == b"d"  # what has not arrived is not lost
        scc.receive(channel, b"")
        assert bool(port.get(0) & RX_AVAILABLE) == (channel not in hit)
    assert scc.irq == (len(hit) == 1)


# --- a driver, whatever is sent to it ---


class Driver:
    """pmz_interrupt and its two helpers: echoes what it receives."""

    def __init__(self, scc: Z8530, channels: Iterable[int]) -> None:
        self.scc = scc
        self.ports = {channel: Port(scc, channel) for channel in channels}
        self.received = {channel: bytearray() for channel in self.ports}
        self.to_send = {channel: bytearray() for channel in self.ports}
        self.active = dict.fromkeys(self.ports, False)
        for port in self.ports.values():
            port.open()

    def interrupt(self) -> None:
        pending = Port(self.scc, CHANNEL_A).get(3)
        assert pending, "the pin is asserted, but RR3 names no source"
        for channel, port in self.ports.items():
            if pending & (TX_IP[channel] | RX_IP[channel]):
                port.put(0, RES_H_IUS)
            if pending & RX_IP[channel]:
                self.take(channel)
            if pending & TX_IP[channel]:
                self.feed(channel)

    def take(self, channel: int) -> None:
        port = self.ports[channel]
        while True:
            assert port.get(1) & 0x70 == 0
            self.received[channel].append(port.load())
            if not port.get(0) & RX_AVAILABLE:
                return

    def feed(self, channel: int) -> None:
        port = self.ports[channel]
        if self.to_send[channel]:
            port.store(self.to_send[channel].pop(0))
        else:
            self.active[channel] = False
            port.put(0, RES_TX_P)

    def send(self, channel: int, data: bytes) -> None:
        """pmz_start_tx: the first byte starts the chain of interrupts."""
        self.to_send[channel] += data
        if data and not self.active[channel]:
            self.active[channel] = True
            self.ports[channel].store(self.to_send[channel].pop(0))


steps = st.lists(
    st.tuples(
        st.sampled_from(["receive", "send", "console", "serve"]),
        st.sampled_from([CHANNEL_A, CHANNEL_B]),
        st.binary(max_size=9),
    ),
    max_size=40,
)


@given(steps)
def test_every_byte_passes_the_driver_in_order(program: list[tuple[str, int, bytes]]) -> None:
    scc, wire = chip()
    driver = Driver(scc, (CHANNEL_A, CHANNEL_B))
    said = {CHANNEL_A: bytearray(), CHANNEL_B: bytearray()}
    sent_in = {CHANNEL_A: bytearray(), CHANNEL_B: bytearray()}
    for action, channel, data in program:
        if action == "receive":
            scc.receive(channel, data)
            sent_in[channel] += data
        elif action == "send":
            driver.send(channel, data)
            said[channel] += data
        elif action == "console":  # only on an idle line, so that the order stays known
            if not driver.active[channel]:
                driver.ports[channel].put(1, RX_INT_ALL)
                for byte in data:
                    driver.ports[channel].store(byte)
                driver.ports[channel].put(1, RX_INT_ALL | TX_INT)
                said[channel] += data
        elif scc.irq:
            driver.interrupt()
    for _ in range(2000):
        if not scc.irq:
            break
        driver.interrupt()
    assert not scc.irq, "the driver never comes to rest"
    assert wire.sent == said
    assert driver.received == sent_in


accesses = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(0, 7), st.just(b"")),
        st.tuples(st.just("write"), st.integers(0, 7), st.binary(min_size=1, max_size=1)),
        st.tuples(st.just("receive"), st.integers(0, 1), st.binary(max_size=5)),
    ),
    max_size=60,
)


def run(scc: Z8530, program: list[tuple[str, int, bytes]]) -> list[tuple[int, bool]]:
    log = []
    for action, where, data in program:
        value = 0
        if action == "read":
            value = scc.read(where)
        elif action == "write":
            scc.write(where, data[0])
        else:
            scc.receive(where, data)
        log.append((value, scc.irq))
    return log


@settings(max_examples=200)
@given(accesses, accesses)
def test_a_restored_chip_goes_on_like_the_first(
    before: list[tuple[str, int, bytes]], after: list[tuple[str, int, bytes]]
) -> None:
    scc, wire = chip()
    run(scc, before)
    copy, copy_wire = chip()
    copy.restore(scc.snapshot())
    assert copy.snapshot() == scc.snapshot()
    assert copy.irq == scc.irq
    for channel in wire.sent:
        wire.sent[channel].clear()
    assert run(copy, after) == run(scc, after)
    assert copy_wire.sent == wire.sent


@settings(max_examples=200)
@given(accesses)
def test_whatever_is_written_the_pin_agrees_with_rr3(program: list[tuple[str, int, bytes]]) -> None:
    scc, _ = chip()
    for action, where, data in program:
        run(scc, [(action, where, data)])
        twin, _ = chip()
        twin.restore(scc.snapshot()._replace(pointer=0))
        pending = Port(twin, CHANNEL_A).get(3)
        assert 0 <= pending < 0x40
        assert scc.irq == bool(pending and scc.snapshot().wr9 & MIE)
        assert 0 <= Port(twin, CHANNEL_B).get(2) <= 0xFF


def test_an_error_of_the_outside_reaches_the_writer() -> None:
    def broken(channel: int, byte: int) -> None:
        raise OSError("the terminal is gone")

    scc = Z8530(broken)
    Port(scc, CHANNEL_A).put(5, TX_ENABLE)
    with pytest.raises(OSError, match="terminal is gone"):
        scc.write(6, 0x41)
