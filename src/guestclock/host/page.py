"""The machine's own pvclock page, where the kernel lets every process see it.

On a KVM or Xen guest the vDSO reads the page, so it is mapped into every process: as the first page of
``[vvar_vclock]`` (Linux 6.13 on), as the second page of ``[vvar]`` before.  A plain load reads it, but
where no page is behind the mapping the load is a SIGBUS: a child process does it.  All processes see the
same page.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.host.tree import Tree
from guestclock.pvclock.layouts import PvclockTime

PAGE_BYTES = 4096
ENTRY_BYTES = 32
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*\[(vvar|vvar_vclock)\]$", re.MULTILINE)
# The child finds the mapping anew: its address space is laid out otherwise.
_CHILD = """
import ctypes, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
name, skip = sys.argv[1], int(sys.argv[2])
for line in open("/proc/self/maps"):
    if line.rstrip().endswith("[" + name + "]"):
        start = int(line.split("-")[0], 16)
        sys.stdout.buffer.write(ctypes.string_at(start + skip, 32))
"""


@dataclass(frozen=True)
class Found:
    """The bytes of entry 0, or why there are none."""

    entry: bytes | None
    where: str


def candidates(maps: str) -> list[tuple[str, int]]:
    """Return where the page may be: the mapping's name, and bytes to skip in it.

    >>> candidates("7f0194c5a000-7f0194c5c000 r--p 00000000 00:00 0                  [vvar_vclock]")
    [('vvar_vclock', 0)]
    """
    found = {name: (int(start, 16), int(end, 16)) for start, end, name in _MAPPING.findall(maps)}
    if "vvar_vclock" in found:
        return [("vvar_vclock", 0)]
    if "vvar" in found and found["vvar"][1] - found["vvar"][0] > PAGE_BYTES:
        return [("vvar", PAGE_BYTES)]
    return []


def try_in_child(mapping: str, skip: int) -> bytes:
    """Return the 32 bytes that a child could read there; empty when that ended it.

    Raises OSError where no child can be started.
    """
    command = [sys.executable, "-I", "-S", "-c", _CHILD, mapping, str(skip)]
    done = subprocess.run(command, capture_output=True, timeout=10, check=False)
    return done.stdout if done.returncode == 0 else b""


def find(tree: Tree, probe: Callable[[str, int], bytes] = try_in_child) -> Found:
    """Return the page's first entry, or the reason why it cannot be had."""
    maps = tree.text("/proc/self/maps")
    if maps is None:
        return Found(None, f"/proc/self/maps: {tree.unreadable['/proc/self/maps']}")
    places = candidates(maps)
    if not places:
        return Found(None, "the kernel maps no page for a hypervisor's clock")
    for mapping, skip in places:
        try:
            seen = probe(mapping, skip)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Found(None, f"no child process that could look at it: {error}")
        if len(seen) == ENTRY_BYTES and looks_like_a_page(seen):
            return Found(seen, f"[{mapping}]+{skip}")
    return Found(None, "no pvclock page behind the mapping: not a KVM or Xen guest, or one without it")


def looks_like_a_page(entry: bytes) -> bool:
    """Return whether the bytes are a page that a hypervisor has filled.

    A multiplier has its top bit set: hypervisors scale it up as far as 32 bits go.
    """
    try:
        page = PvclockTime.parse(entry)
    except BadInputError:
        return False
    return page.tsc_to_system_mul >= 1 << 31 and -32 < page.tsc_shift < 32
