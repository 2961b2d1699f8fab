"""QEMU 8.2's answers to calibrations: the sequences, what is nearly one, and who does not answer."""

import mmap
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.chips.qemu_calibration import Calibration
from guestclock.chips.qemu_deviations import QEMU_7_2, QEMU_8_2, SETS, Deviation
from guestclock.chips.qemu_via import ALONE, VIA1, VIA2, QemuVia, Wiring
from guestclock.chips.registers import (
    DDRA,
    IER,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    SR,
    T1CL,
    T2CH,
    T2CL,
)

Writes = tuple[tuple[int, int], ...]

MACOS: Writes = ((PCR, 0x22), (T2CL, 0x0C), (T2CH, 0x03), (IER, 0x20))
AUX: Writes = ((T2CL, 0xF0), (T2CH, 0x3C))
RESULTS = bytes.fromhex("7e0016d7")
UNTOUCHED = bytes(range(256)) * 16


def machine(deviations: Deviation = QEMU_8_2, wiring: Wiring = VIA1) -> tuple[QemuVia, bytearray]:
    """Return a VIA that reaches a memory."""
    via = QemuVia(deviations, wiring)
    via.calibration.memory = bytearray(UNTOUCHED)
    return via, via.calibration.memory


def write_all(via: QemuVia, writes: Writes, ns: int = 0) -> None:
    for register, value in writes:
        via.write(register, value, ns)


def errors(writes: Writes, deviations: Deviation = QEMU_8_2, from_ns: int = 1000) -> list[int]:
    """Return by how much T2CH reads high after the writes, at four instants of one count."""
    off = []
    via, right = QemuVia(deviations, VIA1), QemuVia(deviations & ~Deviation.CALIBRATION_ANSWERED, VIA1)
    write_all(via, writes)
    write_all(right, writes)
    for ns in range(from_ns, from_ns + 4):
        off.append((via.read(T2CH, ns) - right.read(T2CH, ns)) % 256)
        assert via.read(T2CL, ns) == right.read(T2CL, ns)
    return off


# MacOS's results.


def test_the_sequence_of_macos_puts_two_words_into_memory_and_nothing_else() -> None:
    via, memory = machine()
    write_all(via, MACOS[:-1])
    assert memory == UNTOUCHED
    write_all(via, MACOS[-1:])
    assert memory == UNTOUCHED[:0xD00] + RESULTS + UNTOUCHED[0xD04:]


@pytest.mark.parametrize("place", range(len(MACOS)))
@pytest.mark.parametrize("change", ["left out", "another value", "another register"])
def test_what_is_nearly_the_sequence_leaves_memory_alone(place: int, change: str) -> None:
    register, value = MACOS[place]
    instead = {"left out": (), "another value": ((register, value ^ 1),), "another register": ((SR, value),)}
    via, memory = machine()
    write_all(via, (*MACOS[:place], *instead[change], *MACOS[place + 1 :]))
    assert memory == UNTOUCHED


def test_another_order_is_not_the_sequence() -> None:
    via, memory = machine()
    write_all(via, MACOS[::-1])
    assert memory == UNTOUCHED


@given(st.lists(st.tuples(st.sampled_from([ORB, ORA, T1CL, SR, PCR]), st.integers(0, 255)), max_size=4))
def test_other_writes_between_do_not_matter(between: list[tuple[int, int]]) -> None:
    via, memory = machine()
    for write in MACOS:
        write_all(via, (write, *between))
    assert memory[0xD00:0xD04] == RESULTS


def test_where_the_results_are_in_memory_a_sequence_is_not_followed() -> None:
    for held_from in (1, 2):
        via, memory = machine()
        write_all(via, MACOS[:held_from])
        memory[0xD00:0xD04] = RESULTS
        write_all(via, MACOS[held_from:-1])
        memory[0xD00:0xD04] = bytes(4)
        write_all(via, MACOS[-1:])
        assert memory[0xD00:0xD04] == bytes(4)


def test_half_of_the_results_is_none() -> None:
    via, memory = machine()
    memory[0xD00:0xD02] = RESULTS[:2]
    write_all(via, MACOS)
    assert memory[0xD00:0xD04] == RESULTS


def test_a_reset_forgets_what_was_written() -> None:
    via, memory = machine()
    write_all(via, MACOS[:-1])
    via.reset()
    write_all(via, MACOS[-1:])
    assert memory == UNTOUCHED


# A/UX's counts.


def test_t2ch_is_five_too_high_at_odd_instants_while_aux_measures() -> None:
    assert errors((*MACOS, *AUX)) == [0, 5, 0, 5]
    assert errors((*MACOS, *AUX), from_ns=1001) == [5, 0, 5, 0]


def test_the_high_byte_wraps() -> None:
    via = QemuVia(QEMU_8_2, VIA1)
    write_all(via, (*MACOS, *AUX))
    below_0_ns = 2 * (10**9 * 0x3D00 // 783_360 // 2)  # 0x3CF0 counts lead to 0
    assert [via.read(T2CH, below_0_ns | odd) for odd in (0, 1)] == [0xFF, 0x04]


@pytest.mark.parametrize("end", [(IER, 0x20), (T2CH, 0x3C), (T2CL, 0xF0), (ORB, 0), (PCR, 0x22)])
def test_any_write_ends_it(end: tuple[int, int]) -> None:
    assert errors((*MACOS, *AUX, end)) == [0, 0, 0, 0]
    assert errors((*MACOS, *AUX, end, *AUX)) == [0, 0, 0, 0]  # A/UX is answered once, behind MacOS


@pytest.mark.parametrize(
    "writes",
    [
        AUX,
        (*MACOS[:-1], *AUX),
        (*MACOS, AUX[0], (T2CH, 0x3D), AUX[1]),
        (*MACOS, AUX[0], (IER, 0x20), AUX[1]),
        (*MACOS, (T2CL, 0xF1), AUX[1]),
        (*MACOS, AUX[1]),
    ],
)
def test_what_is_nearly_aux_reads_right(writes: Writes) -> None:
    assert errors(writes) == [0, 0, 0, 0]


@given(st.lists(st.sampled_from([(T2CL, 0xF1), (T1CL, 0), (IER, 0xA0), (ORB, 0), (PCR, 0x22)]), max_size=4))
def test_other_writes_between_the_bytes_of_aux_do_not_matter(between: list[tuple[int, int]]) -> None:
    assert errors((*MACOS, AUX[0], *between, AUX[1])) == [0, 5, 0, 5]


def test_a_copy_goes_on_without_the_machine() -> None:
    via = QemuVia(QEMU_8_2, VIA1)
    with mmap.mmap(-1, 0x1000) as memory:
        via.calibration.memory = memory
        write_all(via, MACOS[:-1])
        write_all(deepcopy(via), MACOS[-1:])
        assert memory[0xD00:0xD04] == bytes(4)
        write_all(via, MACOS[-1:])
        assert memory[0xD00:0xD04] == RESULTS
    write_all(via, AUX)
    assert [deepcopy(via).read(T2CH, ns) for ns in (1000, 1001)] == [0x3C, 0x41]


# The states, stated a second time: by state, the writes that lead on; "any" is any other write.

T2CH_WRITES = [(T2CH, value) for value in range(256)]
LEADS: list[dict[tuple[int, int] | str, int]] = [
    {(PCR, 0x22): 1},
    {(T2CL, 0x0C): 2},
    {(T2CH, 0x03): 3},
    {(IER, 0x20): 4},
    {(PCR, 0x22): 1, (T2CL, 0xF0): 5},
    {**dict.fromkeys(T2CH_WRITES, 0), (IER, 0x20): 0, (T2CH, 0x3C): 6},
    {"any": 0, **dict.fromkeys(T2CH_WRITES, 7), (IER, 0x20): 7},
    {(PCR, 0x22): 1},
]
interesting = st.one_of(
    st.sampled_from([*MACOS, *AUX]), st.tuples(st.integers(0, 15), st.sampled_from([0x22, 0x20, 0x3C, 3, 0]))
)


@given(st.integers(0, 7), st.lists(interesting, max_size=12), st.booleans())
def test_states_follow_the_table(state: int, writes: list[tuple[int, int]], held: bool) -> None:
    calibration = Calibration()
    calibration.memory = memory = bytearray(0x1000)
    memory[0xD00:0xD04] = RESULTS if held else bytes(4)
    calibration.state = state
    for write in writes:
        leads = LEADS[state]
        after = leads.get(write, leads.get("any", state))
        if state in (1, 2) and after == state + 1 and memory[0xD00:0xD04] == RESULTS:
            after = 0
        calibration.written(*write)
        assert calibration.state == after
        state = after
        if held:
            assert memory[0xD00:0xD04] == RESULTS


# Port A.


@pytest.mark.parametrize("register", [ORA, ORA_NO_HANDSHAKE])
def test_port_a_of_via1_names_the_machine(register: int) -> None:
    via = QemuVia(QEMU_8_2, VIA1)
    assert via.read(register, 0) == 0x12
    via.write(DDRA, 0xFF, 0)
    for value, read in ((0xFF, 0xBB), (0x00, 0x12), (0x81, 0x93)):
        via.write(register, value, 0)
        assert via.read(register, 0) == read
        assert via.ora == value


# Who does none of this.


@pytest.mark.parametrize(
    ("deviations", "wiring"),
    [(each, VIA1) for name, each in SETS.items() if name not in ("chip", "qemu-8.2")]
    + [(QEMU_8_2, VIA2), (QEMU_8_2, ALONE)],
)
def test_all_other_sets_and_vias_take_the_sequences_as_mere_writes(
    deviations: Deviation, wiring: Wiring
) -> None:
    via, memory = machine(deviations, wiring)
    write_all(via, (*MACOS, *AUX))
    assert memory == UNTOUCHED
    assert len({via.read(T2CH, ns) for ns in range(1000, 1004)}) == 1
    assert via.read(ORA, 1004) == wiring.ora


def test_each_of_the_two_is_a_switch_of_its_own() -> None:
    calibrated, memory = machine(QEMU_7_2 | Deviation.CALIBRATION_ANSWERED)
    write_all(calibrated, (*MACOS, *AUX))
    assert memory[0xD00:0xD04] == RESULTS
    assert errors((*MACOS, *AUX), calibrated.deviations) == [0, 5, 0, 5]
    assert calibrated.read(ORA, 1004) == 0
    named, memory = machine(QEMU_7_2 | Deviation.PORT_A_NAMES_MACHINE)
    write_all(named, (*MACOS, *AUX))
    assert memory == UNTOUCHED
    assert named.read(ORA, 1004) == 0x12


@given(
    st.lists(
        st.tuples(st.integers(0, 5000), st.booleans(), st.integers(0, 15), st.integers(0, 255)), max_size=40
    )
)
def test_8_2_is_7_2_but_for_port_a_and_calibrations(steps: list[tuple[int, bool, int, int]]) -> None:
    """A calibration begins with PCR."""
    new, old, ns = QemuVia(QEMU_8_2, VIA1), QemuVia(QEMU_7_2, VIA1), 0
    for gap, is_write, register, value in steps:
        ns += gap
        if is_write and register != PCR:
            new.write(register, value, ns)
            old.write(register, value, ns)
        elif not is_write:
            found, known = new.read(register, ns), old.read(register, ns)
            assert found == (known & ~0x56 | 0x12 if register in (ORA, ORA_NO_HANDSHAKE) else known)
        assert (new.irq, new.ifr, new.next_event()) == (old.irq, old.ifr, old.next_event())
