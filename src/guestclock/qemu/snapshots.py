"""The whole machine's state, kept inside of QEMU and put back (savevm, loadvm)."""

import struct
from pathlib import Path
from typing import Any

from guestclock.qemu.qmp import Qmp

NODE = "snapshots"
TAG = "one"
_WHERE: dict[str, Any] = {"tag": TAG, "vmstate": NODE, "devices": [NODE]}

# A qcow2 image of version 2 (docs/interop/qcow2.txt): header, refcount table, its first block and an empty
# L1 table, a cluster each.  QEMU keeps snapshots in no other format, and its tools may not be installed.
_CLUSTER_BITS = 16
_CLUSTERS = 4
_DISK_BYTES = 1 << 20
_HEADER = struct.Struct(">4sIQIIQIIQQIIQ")


def _empty_image() -> bytes:
    image = bytearray(_CLUSTERS << _CLUSTER_BITS)
    table, block, l1 = (number << _CLUSTER_BITS for number in (1, 2, 3))
    _HEADER.pack_into(image, 0, b"QFI\xfb", 2, 0, 0, _CLUSTER_BITS, _DISK_BYTES, 0, 1, l1, table, 1, 0, 0)
    struct.pack_into(">Q", image, table, block)
    struct.pack_into(f">{_CLUSTERS}H", image, block, *[1] * _CLUSTERS)
    return bytes(image)


def arguments(path: Path) -> list[str]:
    """Write an empty image to keep snapshots in; return the arguments that give it to QEMU."""
    path.write_bytes(_empty_image())
    return ["-blockdev", f"driver=qcow2,node-name={NODE},file.driver=file,file.filename={path}"]


def save(control: Qmp) -> None:
    """Save the machine's state; it goes on."""
    control.job("snapshot-save", **_WHERE)


def load(control: Qmp) -> None:
    """Put the machine back into the state that was saved, and let it go on."""
    control.command("stop")
    control.job("snapshot-load", **_WHERE)
    control.command("cont")
