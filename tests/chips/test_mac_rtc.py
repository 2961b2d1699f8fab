"""The clock chip, driven through a VIA port the way Linux drives it (arch/m68k/mac/misc.c)."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.chips.mac_rtc import MacRtc

DATA, CLOCK, ENABLE_N = 1, 2, 4
RTC_OFFSET = 2082844800  # 1904 to 1970


class ViaPort:
    """Port B of VIA1: output latch, directions, and the chip on bits 0-2."""

    def __init__(self, rtc: MacRtc) -> None:
        self.rtc = rtc
        self.latch, self.direction = 0x07, 0x07
        self.show()

    def show(self) -> None:
        pins = self.latch | ~self.direction
        self.rtc.lines(not pins & ENABLE_N, bool(pins & CLOCK), bool(pins & DATA))

    def write(self, value: int) -> None:
        self.latch = value
        self.show()

    def write_direction(self, value: int) -> None:
        self.direction = value
        self.show()

    def read(self) -> int:
        pins = self.latch & self.direction
        if not self.direction & DATA:
            pins |= self.rtc.data_out
        return pins


class Linux:
    """The kernel's routines: bytes out and in, and commands made of them."""

    def __init__(self, rtc: MacRtc) -> None:
        self.port = ViaPort(rtc)

    def send(self, value: int) -> None:
        idle = self.port.read() & ~(CLOCK | DATA)
        for place in range(7, -1, -1):
            bit = value >> place & 1
            self.port.write(idle | bit)
            self.port.write(idle | bit | CLOCK)

    def receive(self) -> int:
        idle = self.port.read() & ~CLOCK
        self.port.write_direction(self.port.direction & ~DATA)
        value = 0
        for _ in range(8):
            self.port.write(idle)
            self.port.write(idle | CLOCK)
            value = value << 1 | self.port.read() & DATA
        self.port.write_direction(self.port.direction | DATA)
        return value

    def command(self, command: int, value: int = 0) -> int:
        command = command & ~3 | 1
        self.port.write((self.port.read() | CLOCK) & ~ENABLE_N)
        if command & 0xFF00:
            self.send(command >> 8)
            is_read = command & 0x8000
        else:
            is_read = command & 0x80
        self.send(command & 0xFF)
        if is_read:
            value = self.receive()
        else:
            self.send(value)
        self.port.write(self.port.read() | ENABLE_N)
        return value

    def read_register(self, register: int) -> int:
        return self.command(0x80 | register << 2)

    def write_register(self, register: int, value: int) -> None:
        self.command(register << 2, value)

    def read_seconds(self) -> int:
        return sum(self.read_register(place) << 8 * place for place in range(4))

    def read_time(self) -> int:
        """via_read_time: until two readings in a row agree."""
        last = self.read_seconds()
        for _ in range(10):
            now = self.read_seconds()
            if now == last:
                return now - RTC_OFFSET
            last = now
        raise AssertionError("no two readings agree")

    def unlocked(self, action: Callable[[], None]) -> None:
        self.write_register(13, 0x55)
        action()
        self.write_register(13, 0xD5)

    def set_time(self, unix_s: int) -> None:
        """via_set_rtc_time."""
        raw = (unix_s + RTC_OFFSET) & 0xFFFFFFFF
        self.unlocked(lambda: [self.write_register(i, raw >> 8 * i & 0xFF) for i in range(4)] and None)

    def pram_argument(self, address: int) -> int:
        return (address & 0xE0) << 3 | (address & 0x1F) << 2

    def read_pram(self, address: int) -> int:
        return self.command(0xB800 | self.pram_argument(address))

    def write_pram(self, address: int, value: int) -> None:
        self.unlocked(lambda: self.command(0x3800 | self.pram_argument(address), value) and None)


class Outside:
    """Time of the outside, moved on by the tests."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def __call__(self) -> int:
        return self.seconds


def machine(unix_s: int = 0, pram: bytes = bytes(256)) -> tuple[Linux, MacRtc, Outside]:
    outside = Outside(unix_s + RTC_OFFSET)
    rtc = MacRtc(outside, pram)
    return Linux(rtc), rtc, outside


unix_times = st.integers(-RTC_OFFSET, (1 << 32) - 1 - RTC_OFFSET)
bytes_ = st.integers(0, 255)


@given(unix_times)
def test_linux_reads_the_time(unix_s: int) -> None:
    linux, _, _ = machine(unix_s)
    assert linux.read_time() == unix_s


def test_linux_reads_the_time_while_it_moves() -> None:
    readings = 0

    def ticking() -> int:
        nonlocal readings
        readings += 1
        return RTC_OFFSET + 0xFF + readings // 6  # moves on inside a reading of four bytes

    assert Linux(MacRtc(ticking)).read_time() >= 0xFF


@given(unix_times, unix_times, st.integers(0, 1000))
def test_a_set_time_goes_on_from_there(start: int, new: int, later: int) -> None:
    linux, rtc, outside = machine(start)
    linux.set_time(new)
    assert linux.read_time() == new
    outside.seconds += later
    assert rtc.now_s() == (new + RTC_OFFSET + later) % (1 << 32)


def test_seconds_registers_have_images_at_bit_4() -> None:
    linux, _, _ = machine(0x12345678)
    assert [linux.read_register(place) for place in range(4)] == [
        linux.read_register(4 + place) for place in range(4)
    ]


@given(st.binary(min_size=256, max_size=256), bytes_, bytes_)
def test_pram_round_trip(pram: bytes, address: int, value: int) -> None:
    linux, rtc, _ = machine(pram=pram)
    assert linux.read_pram(address) == pram[address]
    linux.write_pram(address, value)
    assert linux.read_pram(address) == value
    assert rtc.pram == pram[:address] + bytes([value]) + pram[address + 1 :]


def test_the_old_twenty_bytes_lie_inside_the_256() -> None:
    linux, _, _ = machine(pram=bytes(range(256)))
    assert [linux.read_register(register) for register in range(8, 12)] == [8, 9, 10, 11]
    assert [linux.read_register(register) for register in range(16, 32)] == list(range(16, 32))
    linux.unlocked(lambda: linux.write_register(20, 0xEE))
    assert linux.read_pram(20) == 0xEE


def test_write_protection_covers_everything_but_itself() -> None:
    linux, rtc, outside = machine(1000)
    linux.write_register(13, 0x80)
    linux.write_register(0, 0xAA)
    linux.write_register(16, 0xAA)
    linux.command(0x3800 | linux.pram_argument(0x77), 0xAA)
    assert rtc.now_s() == outside.seconds
    assert not any(rtc.pram)
    linux.write_register(13, 0x00)
    linux.write_register(16, 0xAA)
    assert rtc.pram[16] == 0xAA


def test_test_register_and_reading_write_only_registers() -> None:
    linux, rtc, outside = machine(1000)
    linux.write_register(12, 0x80)
    assert rtc.now_s() == outside.seconds
    assert linux.read_register(12) == linux.read_register(13) == 0xFF


@given(st.integers(0, 30))
def test_raising_enable_aborts_a_command(edges: int) -> None:
    linux, rtc, _ = machine(0x12345678)
    linux.port.write(CLOCK)
    for place in range(edges):
        linux.port.write(CLOCK if place % 2 else 0)
    linux.port.write(CLOCK | ENABLE_N)
    assert linux.read_time() == 0x12345678
    assert not any(rtc.pram)


def test_line_is_released_after_eight_bits_and_nothing_follows() -> None:
    linux, rtc, _ = machine(-RTC_OFFSET)
    linux.port.write(CLOCK)
    linux.send(0x81)
    assert linux.receive() == 0
    assert linux.receive() == 0xFF
    linux.send(0x81)
    assert linux.receive() == 0xFF
    linux.port.write(CLOCK | ENABLE_N)
    assert linux.read_register(0) == 0
    assert rtc.data_out


def test_clock_is_ignored_while_not_selected() -> None:
    linux, _, _ = machine(77)
    for _ in range(5):
        linux.port.write(ENABLE_N)
        linux.port.write(ENABLE_N | CLOCK | DATA)
    linux.port.write(ENABLE_N)  # selected next, with the clock rising in the same write
    assert linux.read_time() == 77


line_changes = st.lists(
    st.tuples(st.sampled_from([True] * 9 + [False]), st.booleans(), st.booleans()), max_size=90
)


@given(line_changes, line_changes)
def test_a_restored_chip_goes_on_like_the_first(
    before: list[tuple[bool, bool, bool]], after: list[tuple[bool, bool, bool]]
) -> None:
    first, second = MacRtc(lambda: 0x89ABCDEF), MacRtc(lambda: 0x89ABCDEF)
    for lines in before:
        first.lines(*lines)
    second.restore(first.snapshot())
    for lines in after:
        first.lines(*lines)
        second.lines(*lines)
        assert first.data_out == second.data_out
    assert first.snapshot() == second.snapshot()


def test_what_the_guest_set_is_part_of_the_state() -> None:
    linux, rtc, outside = machine(1000)
    linux.set_time(5000)
    linux.write_pram(7, 0x77)
    copy = MacRtc(outside)
    copy.restore(rtc.snapshot())
    outside.seconds += 5
    assert copy.now_s() == rtc.now_s() == 5005 + RTC_OFFSET
    assert Linux(copy).read_pram(7) == 0x77
    Linux(copy).write_register(16, 0xAA)  # still protected
    assert copy.pram[16] == 0


def test_pram_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="256 bytes, not 20"):
        MacRtc(lambda: 0, bytes(20))
