"""What this machine is: hypervisor, clocksource, TSC flags, CPUs, container."""

import platform
from dataclasses import dataclass, field

from guestclock.host.native import Native
from guestclock.host.tree import Tree

CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/"
_SIGNATURES = {
    "KVMKVMKVM": "KVM",
    "Linux KVM Hv": "KVM with Hyper-V enlightenments",
    "Microsoft Hv": "Hyper-V",
    "XenVMMXenVMM": "Xen",
    "VMwareVMware": "VMware",
    "VBoxVBoxVBox": "VirtualBox",
    "TCGTCGTCGTCG": "QEMU without KVM (TCG)",
    "bhyve bhyve": "bhyve",
    "ACRNACRNACRN": "ACRN",
    "prl hyperv": "Parallels",
    "lrpepyh  vr": "Parallels",
    "Jailhouse": "Jailhouse",
}
_TSC_FLAGS = ("tsc", "rdtscp", "constant_tsc", "nonstop_tsc", "tsc_reliable", "tsc_known_freq", "tsc_adjust")
_CONTAINERS = ("docker", "containerd", "kubepods", "libpod", "lxc", "machine.slice")


@dataclass(frozen=True)
class Identity:
    """The machine in words; None where nothing could be found out."""

    architecture: str
    kernel: str | None
    hypervisor: str | None
    """Its name; ``unknown`` when there is one that does not tell; None on bare metal, as far as one sees."""
    clocksource: str | None
    clocksources: tuple[str, ...]
    tsc_flags: tuple[str, ...] | None
    """None where the processor's flags are unreadable, or it has no TSC."""
    cpu: str | None
    container: str | None
    load_average: float | None
    hypervisor_features: int = 0
    """KVM: CPUID 0x40000001 eax (bit 3: kvm-clock, bit 24: stable); else 0."""
    unreadable: dict[str, str] = field(default_factory=dict)


def identify(tree: Tree, native: Native | None, architecture: str | None = None) -> Identity:
    """Find out what the machine is, from files and the processor."""
    cpuinfo = _cpuinfo(tree)
    hypervisor, features = _hypervisor(tree, native, cpuinfo)
    available = tree.text(CLOCKSOURCE + "available_clocksource")
    load = tree.text("/proc/loadavg")
    return Identity(
        architecture=architecture or platform.machine(),
        kernel=tree.text("/proc/sys/kernel/osrelease"),
        hypervisor=hypervisor,
        clocksource=tree.text(CLOCKSOURCE + "current_clocksource") or None,
        clocksources=tuple((available or "").split()),
        tsc_flags=_tsc_flags(cpuinfo),
        cpu=cpuinfo.get("model name"),
        container=_container(tree),
        load_average=_first_number(load),
        hypervisor_features=features,
        unreadable=dict(tree.unreadable),
    )


def _cpuinfo(tree: Tree) -> dict[str, str]:
    """Return the first processor's lines."""
    text = tree.text("/proc/cpuinfo") or ""
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _colon, value in pairs}


def _tsc_flags(cpuinfo: dict[str, str]) -> tuple[str, ...] | None:
    flags = cpuinfo.get("flags")
    if flags is None:
        return None
    present = set(flags.split())
    return tuple(flag for flag in _TSC_FLAGS if flag in present)


def _hypervisor(tree: Tree, native: Native | None, cpuinfo: dict[str, str]) -> tuple[str | None, int]:
    if native is not None and native.cpuid(1)[2] >> 31 & 1:
        _eax, *words = native.cpuid(0x40000000)
        signature = b"".join(word.to_bytes(4, "little") for word in words)
        name = signature.rstrip(b"\0").decode("latin-1").strip()
        features = native.cpuid(0x40000001)[0] if name == "KVMKVMKVM" else 0
        return _SIGNATURES.get(name, name or "unknown"), features
    told = _from_files(tree)
    if told is None and "hypervisor" in cpuinfo.get("flags", "").split():
        told = "unknown"
    return told, 0


def _from_files(tree: Tree) -> str | None:
    """Return the hypervisor that files name: Xen's own, the device tree's (arm64), the firmware's."""
    if tree.exists("/sys/hypervisor/type"):
        return tree.text("/sys/hypervisor/type")
    if tree.exists("/proc/device-tree/hypervisor/compatible"):
        return (tree.text("/proc/device-tree/hypervisor/compatible") or "").strip("\0") or None
    for name in ("/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor"):
        vendor = tree.text(name) if tree.exists(name) else None
        for word, hypervisor in (
            ("KVM", "KVM"),
            ("QEMU", "QEMU"),
            ("VMware", "VMware"),
            ("VirtualBox", "VirtualBox"),
        ):
            if vendor and word in vendor:
                return hypervisor
    return None


def _container(tree: Tree) -> str | None:
    for mark, name in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")):
        if tree.exists(mark):
            return name
    groups = tree.text("/proc/1/cgroup") or ""
    return next((name for name in _CONTAINERS if name in groups), None)


def _first_number(text: str | None) -> float | None:
    try:
        return float(text.split()[0]) if text else None
    except (ValueError, IndexError):
        return None
