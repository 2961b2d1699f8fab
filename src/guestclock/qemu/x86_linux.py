"""The command that boots the x86 Linux guest, with KVM or without."""

from collections.abc import Sequence
from pathlib import Path

PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
MEMORY_MIB = 256
PROCESSORS = {"kvm": "host", "tcg": "max"}
ACCELERATORS = {"kvm": "kvm", "tcg": "tcg,thread=multi"}
WORDS = {
    "kvm": ("console=ttyS0", "quiet", "panic=-1"),
    # TCG's TSC is not invariant by its CPUID, and then the kernel does not offer it with several CPUs.
    # An Intel processor would be believed, but page-table isolation then empties TCG's TLB at every call.
    "tcg": ("console=ttyS0", "quiet", "panic=-1", "tsc=reliable"),
}


def command(
    program: str, kernel: Path, initrd: Path, *, accelerator: str, cpus: int, orders: Sequence[str]
) -> list[str]:
    """Return the command; the guest's console is on standard output, and a panic ends QEMU."""
    return [
        program,
        *("-accel", ACCELERATORS[accelerator], "-cpu", PROCESSORS[accelerator]),
        *("-smp", str(cpus), "-m", f"{MEMORY_MIB}M"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot"),
        *(
            "-kernel",
            str(kernel),
            "-initrd",
            str(initrd),
            "-append",
            " ".join((*WORDS[accelerator], *orders)),
        ),
    ]
