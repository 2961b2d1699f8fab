"""The guests' common C code, compiled for this host and driven from Python."""

import ctypes
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from guestclock.guests.compiler import COMMON
from guestclock.guests.orders import LARGEST_AMOUNT

pytestmark = pytest.mark.real

# Stands in for line.c, whose lines leave through a system call: keeps the numbers of each line.
CAPTURE = """
#include "line.h"
s64 captured[4096];
u32 captured_count;
void line_begin(const char *kind) { (void)kind; }
void line_number(const char *key, s64 value) { (void)key; captured[captured_count++] = value; }
void line_word(const char *key, const char *word) { (void)key; (void)word; }
void line_end(void) {}
"""


class Order(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 16), ("amount", ctypes.c_uint32))


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.fail("gcc is missing: apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("common")
    (folder / "capture.c").write_text(CAPTURE)
    sources = [COMMON / "orders.c", COMMON / "histogram.c", folder / "capture.c"]
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-O2",
        "-Wall",
        "-Werror",
        f"-I{COMMON}",
        "-o",
        folder / "common.so",
    ]
    subprocess.run([*command, *sources], check=True)
    library = ctypes.CDLL(str(folder / "common.so"))
    library.find_word.restype = ctypes.c_char_p
    library.next_order.restype = ctypes.c_void_p
    library.parse_number.restype = ctypes.c_uint32
    library.histogram_add.argtypes = (ctypes.c_void_p, ctypes.c_int64)
    return library


NEAR_BOUNDS = st.sampled_from([-(10**9), -9_900_000, -1, 0, 1, 320_000, 335_000, 10**9, 2**31, -(2**31)])
DELTAS = st.one_of(
    st.integers(-(2**56), 2**56),
    st.integers(-(10**7), 10**7),
    st.builds(int.__add__, NEAR_BOUNDS, st.integers(-1, 1)),
)


@given(st.lists(DELTAS, max_size=50))
def test_histogram_rows(common: ctypes.CDLL, deltas: list[int]) -> None:
    histogram = ctypes.create_string_buffer(64 * 1024)
    common.histogram_clear(histogram)
    for delta in deltas:
        common.histogram_add(histogram, delta)
    count = ctypes.c_uint32.in_dll(common, "captured_count")
    count.value = 0
    common.histogram_report(histogram, 7, b"mono")
    numbers = list((ctypes.c_int64 * 4096).in_dll(common, "captured"))[: count.value]
    rows = [tuple(numbers[at : at + 7]) for at in range(0, len(numbers), 7)]
    expected = []
    for low, high in {(row[1], row[2]) for row in rows}:
        inside = [delta for delta in deltas if low <= delta < high]
        expected.append((7, low, high, len(inside), sum(inside), min(inside), max(inside)))
    assert rows == sorted(expected, key=lambda row: row[1])
    assert sum(row[3] for row in rows) == len(deltas)


WORD = st.text("abcdefgh0123456789:,=", min_size=1, max_size=20)


@given(st.lists(WORD), st.sampled_from(["phases", "probe", "a", "level"]), WORD)
@example(["xphases=1", "phases", "phasesx=2"], "phases", "calls:1")
def test_words(common: ctypes.CDLL, words: list[str], key: str, value: str) -> None:
    line = " ".join([*words, f"{key}={value}"])
    found = common.find_word(line.encode(), key.encode())
    first = next(word for word in line.split(" ") if word.startswith(f"{key}="))
    assert found.decode().split(" ")[0] == first.removeprefix(f"{key}=")
    assert common.find_word(" ".join(words).encode(), b"absent") is None


@given(st.integers(0, LARGEST_AMOUNT), st.sampled_from(["", " ", ",", "x"]))
def test_numbers(common: ctypes.CDLL, number: int, rest: str) -> None:
    for form in (f"{number}", f"0x{number:x}", f"0X{number:X}"):
        assert common.parse_number((form + rest).encode()) == number


NAME = st.text("abcdefgh", min_size=1, max_size=15)


@given(
    st.lists(st.tuples(NAME, st.integers(0, LARGEST_AMOUNT))), st.sampled_from(["", " probe=1", "\n", "\r"])
)
def test_order_lists(common: ctypes.CDLL, orders: list[tuple[str, int]], rest: str) -> None:
    text = ctypes.create_string_buffer(
        (",".join(f"{name}:{amount}" for name, amount in orders) + rest).encode()
    )
    position = ctypes.addressof(text)
    order = Order()
    got = []
    while position := common.next_order(ctypes.c_void_p(position), ctypes.byref(order)):
        got.append((order.name.decode(), order.amount))
    assert got == orders
