"""A program that plays a QEMU with the accelerator qtest: the model is its q800's VIA1."""

import sys

from guestclock.chips.qemu_deviations import QEMU_7_2
from guestclock.chips.qemu_via import VIA1, QemuVia
from guestclock.qemu.steps import REGISTER_BYTES, VIA1_BASE


def answer(via: QemuVia, words: list[str]) -> str:
    match words:
        case ["clock_step", ns]:
            via.advance(via.now_ns + int(ns))
            return str(via.now_ns)
        case ["readb", address]:
            return f"0x{via.read_here((int(address, 16) - VIA1_BASE) // REGISTER_BYTES):016x}"
        case ["writeb", address, value]:
            via.write_here((int(address, 16) - VIA1_BASE) // REGISTER_BYTES, int(value, 16))
    return ""


def main() -> None:
    via = QemuVia(QEMU_7_2, VIA1)
    line = False
    for text in sys.stdin:
        said = answer(via, text.split())
        if via.irq != line:
            line = via.irq
            print("IRQ", "raise" if line else "lower", 0)
        print("OK", said, flush=True)


if __name__ == "__main__":
    if "--version" in sys.argv:
        print("QEMU emulator version 7.2 (played)")
    elif "help" in sys.argv:
        print("q800  Macintosh Quadra 800\ntcg")
    else:
        main()
