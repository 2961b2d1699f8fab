"""The page for users of the chip in Python: every example runs and gives what it says."""

import doctest
from pathlib import Path

from guestclock.chips.mos6522 import TIMEOUT_BEATS
from guestclock.chips.timeout_options import ACCESSES, timeout_beats

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert (result.failed, result.attempted > 30) == (0, True)


def test_the_default_is_what_its_description_says() -> None:
    assert timeout_beats(*(set(ACCESSES) - {"ifr-write"})) == TIMEOUT_BEATS
