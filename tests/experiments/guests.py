"""Tiny kernels for tests of runs that end badly."""

import struct
from pathlib import Path

ENTRY = 0x2000


def kernel(path: Path, code_hex: str) -> Path:
    """Write an m68k executable of this machine code; it starts as a Quadra's kernel does."""
    code = bytes.fromhex(code_hex)
    ident = b"\x7fELF" + bytes([1, 2, 1]) + bytes(9)
    header = struct.pack(">HHIIIIIHHHHHH", 2, 4, 1, ENTRY, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    segment = struct.pack(">8I", 1, 84, ENTRY, ENTRY, len(code), len(code), 5, 2)
    path.write_bytes(ident + header + segment + code)
    return path


# lea $5000c022,a0 (SCC control A); move.b #5,(a0); move.b #$68,(a0): transmitter on
_SCC_ON = "41f95000c022 10bc0005 10bc0068"


def say(text: str) -> str:
    """Return code that sends a text to the console."""
    # move.b #c,$5000c026 for each character
    return _SCC_ON + "".join(f"13fc{byte:04x}5000c026" for byte in text.encode())


SPIN = "60fe"
SLEEP_MASKED = "4e722700 60fa"
# lea $50002000,a0; move.b #4,$400(a0); move.b #0,(a0); bra .: VIA2 port B bit 2 low
POWER_OFF = "41f950002000 117c00040400 10bc0000 60fe"
