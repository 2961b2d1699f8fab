"""Page layouts: published offsets, round trips, and the pages that a reader must refuse."""

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.pvclock import layouts
from guestclock.pvclock.layouts import HypervTsc, PvclockTime, PvclockWallClock, Vmclock

PVCLOCK = PvclockTime(2, 1000, 5000, 0xDE9BD37A, -1, layouts.PvclockFlag.TSC_STABLE)
WALL = PvclockWallClock(2, 1_700_000_000, 999_999_999)
HYPERV = HypervTsc(1, 1 << 62, -5)
VMCLOCK = Vmclock(
    magic=layouts.VMCLOCK_MAGIC,
    size=4096,
    version=1,
    counter_id=layouts.VmclockCounter.X86_TSC,
    time_type=layouts.VmclockTimeType.UTC,
    seq_count=2,
    disruption_marker=7,
    flags=0,
    clock_status=layouts.VmclockStatus.SYNCHRONIZED,
    leap_second_smearing_hint=0,
    tai_offset_sec=-37,
    leap_indicator=0,
    counter_period_shift=30,
    counter_value=1 << 40,
    counter_period_frac_sec=1 << 62,
    counter_period_esterror_rate_frac_sec=1,
    counter_period_maxerror_rate_frac_sec=2,
    time_sec=1_700_000_000,
    time_frac_sec=1 << 63,
    time_esterror_nanosec=3,
    time_maxerror_nanosec=4,
    vm_generation_counter=9,
)
PAGES = [PVCLOCK, WALL, HYPERV, VMCLOCK]

# Page -> field -> (offset, struct format), from the published headers.
OFFSETS: dict[layouts.Page, dict[str, tuple[int, str]]] = {
    PVCLOCK: {
        "version": (0, "<I"),
        "tsc_timestamp": (8, "<Q"),
        "system_time": (16, "<Q"),
        "tsc_to_system_mul": (24, "<I"),
        "tsc_shift": (28, "<b"),
        "flags": (29, "<B"),
    },
    WALL: {"version": (0, "<I"), "sec": (4, "<I"), "nsec": (8, "<I")},
    HYPERV: {"sequence": (0, "<I"), "scale": (8, "<Q"), "offset": (16, "<q")},
    VMCLOCK: {
        "magic": (0x00, "<I"),
        "size": (0x04, "<I"),
        "version": (0x08, "<H"),
        "counter_id": (0x0A, "<B"),
        "time_type": (0x0B, "<B"),
        "seq_count": (0x0C, "<I"),
        "disruption_marker": (0x10, "<Q"),
        "flags": (0x18, "<Q"),
        "clock_status": (0x22, "<B"),
        "leap_second_smearing_hint": (0x23, "<B"),
        "tai_offset_sec": (0x24, "<h"),
        "leap_indicator": (0x26, "<B"),
        "counter_period_shift": (0x27, "<B"),
        "counter_value": (0x28, "<Q"),
        "counter_period_frac_sec": (0x30, "<Q"),
        "counter_period_esterror_rate_frac_sec": (0x38, "<Q"),
        "counter_period_maxerror_rate_frac_sec": (0x40, "<Q"),
        "time_sec": (0x48, "<Q"),
        "time_frac_sec": (0x50, "<Q"),
        "time_esterror_nanosec": (0x58, "<Q"),
        "time_maxerror_nanosec": (0x60, "<Q"),
        "vm_generation_counter": (0x68, "<Q"),
    },
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: type(page).__name__)
def test_every_field_lies_where_it_is_published(page: layouts.Page) -> None:
    raw = page.build()
    assert set(OFFSETS[page]) == set(page.__dataclass_fields__)  # type: ignore[attr-defined]
    for name, (offset, form) in OFFSETS[page].items():
        assert struct.unpack_from(form, raw, offset)[0] == getattr(page, name), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: type(page).__name__)
def test_what_is_built_parses_to_the_same(page: layouts.Page) -> None:
    assert type(page).parse(page.build() + b"\xff" * 8) == page


@given(st.binary(min_size=32, max_size=32))
def test_any_bytes_but_the_padding_survive_a_round_trip(raw: bytes) -> None:
    rebuilt = PvclockTime.unpack(raw).build()
    assert rebuilt[:4] + rebuilt[8:30] == raw[:4] + raw[8:30]
    assert rebuilt[4:8] + rebuilt[30:] == bytes(6)


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        (replace(PVCLOCK, version=0), "version 0 and mul 3734754170: never written"),
        (replace(PVCLOCK, tsc_to_system_mul=0), "version 2 and mul 0: never written"),
        (replace(PVCLOCK, version=3), "version 3 is odd"),
        (replace(WALL, version=0), "version 0: never written"),
        (replace(WALL, version=1), "version 1 is odd"),
        (replace(WALL, nsec=10**9), "no part of a second"),
        (replace(HYPERV, sequence=0), "MSR 0x40000020"),
        (replace(HYPERV, scale=0), "scale 0"),
        (replace(VMCLOCK, magic=0), "no vmclock page"),
        (replace(VMCLOCK, version=2), "only version 1"),
        (replace(VMCLOCK, size=0x67), "need 104 bytes"),
        (replace(VMCLOCK, seq_count=3), "is odd"),
        (replace(VMCLOCK, time_type=3), "smeared"),
    ],
)
def test_a_page_that_tells_no_time_is_refused(page: layouts.Page, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        type(page).parse(page.build())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: type(page).__name__)
def test_too_few_bytes_are_refused(page: layouts.Page) -> None:
    with pytest.raises(BadInputError, match=f"{page.LAYOUT.size - 1} bytes: it has {page.LAYOUT.size}"):
        type(page).parse(page.build()[:-1])


@pytest.mark.parametrize("offset_sec", [-37, 37])
def test_the_tai_offset_is_added_to_tai(offset_sec: int) -> None:
    flags = layouts.VmclockFlag.TAI_OFFSET_VALID
    page = replace(VMCLOCK, time_type=layouts.VmclockTimeType.TAI, tai_offset_sec=offset_sec, flags=flags)
    assert Vmclock.parse(page.build()).utc_minus_time_sec == offset_sec
    assert VMCLOCK.utc_minus_time_sec == 0
    with pytest.raises(BadInputError, match="how far from UTC is unknown"):
        _ = replace(page, flags=0).utc_minus_time_sec


@pytest.mark.parametrize(
    "change",
    [
        {"counter_id": layouts.VmclockCounter.INVALID},
        {"counter_period_frac_sec": 0},
        {"clock_status": layouts.VmclockStatus.UNRELIABLE},
    ],
)
def test_a_vmclock_page_may_be_valid_and_tell_no_time(change: dict[str, int]) -> None:
    page = replace(VMCLOCK, **change)
    assert VMCLOCK.tells_time
    assert not Vmclock.parse(page.build()).tells_time
