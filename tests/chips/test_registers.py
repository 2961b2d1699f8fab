"""The compiled chip's constants are those of registers.py."""

import re
from pathlib import Path

from guestclock.chips import registers

PXD = Path(__file__).parents[2] / "src/guestclock/chips/via_constants.pxd"


def test_the_constants_of_the_compiled_chip_are_those_of_registers() -> None:
    declared = dict(re.findall(r"^    ([A-Z]\w+) = (\w+)$", PXD.read_text(), re.MULTILINE))
    assert len(declared) > 40
    assert {name: int(value, 0) for name, value in declared.items()} == {
        name: getattr(registers, name) for name in declared
    }
    assert registers.NEVER == 2**63 - 1  # INT64_MAX there


def test_register_names_are_in_order() -> None:
    assert [getattr(registers, name) for name in registers.REGISTER_NAMES] == list(range(16))
