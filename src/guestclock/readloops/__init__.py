"""Timed read loops in machine code: the same bytes run in a KVM guest and in this process.

``x86_64.S`` is the source, ``x86_64.bin`` the assembled image; a test assembles the one and compares it
with the other.  The image needs no compiler, no symbol table and no fixed address.

>>> image = load()
>>> image.offset("cost_rdtsc") % 64
0
"""

from guestclock.readloops.blocks import (
    COST_RECORD,
    LIVE_RECORD,
    RESULT_HEADER_BYTES,
    SAMPLE_RECORD,
    SHARED_BYTES,
    CostRecords,
    WarpResult,
    pack_shared,
    parse_result,
    result_block,
    tsc_page,
)
from guestclock.readloops.image import Image, load
from guestclock.readloops.shapes import SHAPES, Page, Shape

__all__ = [
    "COST_RECORD",
    "LIVE_RECORD",
    "RESULT_HEADER_BYTES",
    "SAMPLE_RECORD",
    "SHAPES",
    "SHARED_BYTES",
    "CostRecords",
    "Image",
    "Page",
    "Shape",
    "WarpResult",
    "load",
    "pack_shared",
    "parse_result",
    "result_block",
    "tsc_page",
]
