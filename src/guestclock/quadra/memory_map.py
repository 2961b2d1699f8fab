"""Where things are in the Quadra's physical memory.

The I/O window repeats every 256 KiB; offsets count from the start of such a slice.  The compiled bus holds
the same names as C constants (``bus.pxd``); a test compares the two.
"""

IO_BASE = 0x5000_0000
IO_END = 0x5100_0000
IO_MASK = 0x3FFFF

VIA2_START = 0x2000  # VIA1 lies before it; each repeats its registers, one every 0x200 bytes
VIA_END = 0x4000
SCC_START = 0xC020
SCC_END = 0xC028
PROBE_START = 0x3F000  # docs/guest-protocol.md, "Probe port"

PROBE_VERSION = 0x04
PROBE_TAG = 0x10
PROBE_CALLS = 0x14
PROBE_TICKS = 0x18
PROBE_HIGH = 0x20
PROBE_LOW = 0x24
PROBE_MAGIC = 0x47434C4B
