"""What lies where in RAM when the machine starts.

```
0        0x1000       kernel.end      records_end         initrd          RAM end
| vectors | kernel ... | boot records | tables by head.S | ...  | initrd  |
          ^ A7 starts here and grows down
```
"""

from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.quadra.bootinfo import MIB, RAM_MAX_BYTES, boot_records, check_ram
from guestclock.quadra.elf import ElfImage

# Linux/m68k boot protocol: supervisor, all interrupts masked, MMU off, a small stack below the kernel.
INITIAL_A7 = 0x1000
INITIAL_SR = 0x2700

PAGE_BYTES = 4096
# head.S builds its first page tables right behind the records, before anything knows of the initrd: pointer
# tables and 16 MiB of page tables (64 of 256 bytes) fit well into this.
EARLY_TABLES_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class BootImage:
    """Where to start, and what to write first.

    `writes` are (physical address, bytes), by rising address, disjoint, all inside RAM.  Everything else is
    taken to be zero, the kernel's bss included.  `ramdisk` is the initrd's address and size.
    """

    entry: int
    writes: tuple[tuple[int, bytes], ...]
    records_at: int
    ramdisk: tuple[int, int] | None


def assemble(
    kernel: ElfImage,
    *,
    initrd: bytes | None,
    command_line: str,
    ram_bytes: int,
    initrd_name: str = "initrd",
) -> BootImage:
    """Lay out a kernel (or a bare-metal guest), its boot records and an initrd in `ram_bytes` of RAM.

    Raises BadInputError when something does not fit, or cannot be said in boot records.
    """
    check_ram(ram_bytes)
    records_at = kernel.end + kernel.end % 2
    ramdisk = _place(initrd, initrd_name, ram_bytes)
    records = boot_records(ram_bytes, command_line, ramdisk)
    records_end = records_at + len(records)
    if records_end > ram_bytes:
        raise BadInputError(
            f"{kernel.name}: the kernel and its boot records reach to {records_end:#x}, beyond "
            f"{ram_bytes // MIB} MiB of RAM; {_way_out(records_end)}"
        )
    writes = [(segment.paddr, segment.data) for segment in kernel.segments if segment.data]
    writes.append((records_at, records))
    if ramdisk is not None and initrd is not None:
        needed = records_end + EARLY_TABLES_BYTES
        if ramdisk[0] < needed:
            raise BadInputError(
                f"{initrd_name}: {len(initrd)} bytes at the top of {ram_bytes // MIB} MiB of RAM begin at "
                f"{ramdisk[0]:#x}, inside the kernel and its first page tables (to {needed:#x}); "
                f"{_way_out(needed + len(initrd) + PAGE_BYTES)}"
            )
        writes.append((ramdisk[0], initrd))
    return BootImage(kernel.entry, tuple(writes), records_at, ramdisk)


def _place(initrd: bytes | None, name: str, ram_bytes: int) -> tuple[int, int] | None:
    if initrd is None:
        return None
    if not initrd:
        raise BadInputError(f"{name}: is empty; leave the initrd out when there is none")
    if len(initrd) > ram_bytes:
        raise BadInputError(
            f"{name}: {len(initrd)} bytes do not fit into {ram_bytes // MIB} MiB of RAM; "
            f"{_way_out(len(initrd) + EARLY_TABLES_BYTES)}"
        )
    return (ram_bytes - len(initrd)) & -PAGE_BYTES, len(initrd)


def _way_out(needed_bytes: int) -> str:
    if needed_bytes > RAM_MAX_BYTES:
        return f"no Quadra here has more than {RAM_MAX_BYTES // MIB} MiB, so make it smaller or link it lower"
    return f"give the machine at least {-(-needed_bytes // MIB)} MiB"
