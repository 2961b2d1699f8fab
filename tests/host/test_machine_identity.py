"""What the machine is, from fake trees: files there, missing, unreadable, and odd."""

from pathlib import Path
from typing import cast

from guestclock.host.identity import CLOCKSOURCE, identify
from guestclock.host.native import Native
from guestclock.host.tree import Tree

X86 = """\
processor	: 0
model name	: A CPU
flags		: fpu tsc rdtscp nonstop_tsc hypervisor

processor	: 1
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"


def tree(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(root)


class Cpuid:
    """Answers CPUID from a table, zeros elsewhere."""

    def __init__(self, leaves: dict[int, tuple[int, int, int, int]]) -> None:
        self.leaves = leaves

    def cpuid(self, leaf: int, _subleaf: int = 0) -> tuple[int, int, int, int]:
        return self.leaves.get(leaf, (0, 0, 0, 0))


def signed(signature: bytes, features: int = 0) -> Native:
    words = [int.from_bytes(signature.ljust(12, b"\0")[at : at + 4], "little") for at in (0, 4, 8)]
    leaves = {
        1: (0, 0, 1 << 31, 0),
        0x40000000: (0x40000010, words[0], words[1], words[2]),
        0x40000001: (features, 0, 0, 0),
    }
    return cast(Native, Cpuid(leaves))


def test_an_ordinary_kvm_guest(tmp_path: Path) -> None:
    files = {
        "/proc/cpuinfo": X86,
        CLOCKSOURCE + "current_clocksource": "kvm-clock\n",
        CLOCKSOURCE + "available_clocksource": "kvm-clock tsc acpi_pm \n",
        "/proc/sys/kernel/osrelease": "6.1.0-test\n",
        "/proc/loadavg": "0.52 0.40 0.30 1/200 999\n",
        "/proc/1/cgroup": "0::/init.scope\n",
    }
    found = identify(tree(tmp_path, files), signed(b"KVMKVMKVM", 1 << 3), "x86_64")
    assert found.hypervisor == "KVM"
    assert found.hypervisor_features == 1 << 3
    assert found.clocksource == "kvm-clock"
    assert found.clocksources == ("kvm-clock", "tsc", "acpi_pm")
    assert found.tsc_flags == ("tsc", "rdtscp", "nonstop_tsc")
    assert (found.cpu, found.kernel, found.load_average) == ("A CPU", "6.1.0-test", 0.52)
    assert found.container is None
    assert found.unreadable == {}


def test_an_empty_tree_is_told_and_not_fatal(tmp_path: Path) -> None:
    found = identify(Tree(tmp_path), None, "x86_64")
    assert (found.clocksource, found.clocksources, found.tsc_flags, found.hypervisor) == (
        None,
        (),
        None,
        None,
    )
    assert found.unreadable["/proc/cpuinfo"] == "no such file or directory"
    assert CLOCKSOURCE + "current_clocksource" in found.unreadable


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "proc/cpuinfo").mkdir(parents=True)
    assert identify(Tree(tmp_path), None).unreadable["/proc/cpuinfo"] == "is a directory"


def test_garbage_in_files_is_survived(tmp_path: Path) -> None:
    files = {
        "/proc/cpuinfo": "\0\xff::\n:",
        "/proc/loadavg": "busy",
        CLOCKSOURCE + "current_clocksource": "\n",
    }
    found = identify(tree(tmp_path, files), None)
    assert (found.load_average, found.clocksource, found.cpu) == (None, None, None)


def test_a_hypervisor_without_a_known_name(tmp_path: Path) -> None:
    assert identify(Tree(tmp_path), signed(b"ODD")).hypervisor == "ODD"
    assert identify(tree(tmp_path, {"/proc/cpuinfo": X86}), None).hypervisor == "unknown"


def test_hypervisors_that_files_name(tmp_path: Path) -> None:
    xen = tree(tmp_path / "xen", {"/sys/hypervisor/type": "xen\n", "/proc/cpuinfo": ARM})
    assert identify(xen, None, "aarch64").hypervisor == "xen"
    arm = tree(
        tmp_path / "arm", {"/proc/device-tree/hypervisor/compatible": "linux,kvm\0", "/proc/cpuinfo": ARM}
    )
    found = identify(arm, None, "aarch64")
    assert (found.hypervisor, found.tsc_flags) == ("linux,kvm", None)
    vendor = tree(tmp_path / "dmi", {"/sys/class/dmi/id/product_name": "VMware Virtual Platform\n"})
    assert identify(vendor, None).hypervisor == "VMware"


def test_containers(tmp_path: Path) -> None:
    assert identify(tree(tmp_path / "a", {"/.dockerenv": ""}), None).container == "Docker"
    groups = {"/proc/1/cgroup": "0::/kubepods/pod1/abc\n"}
    assert identify(tree(tmp_path / "b", groups), None).container == "kubepods"


def test_bare_metal_has_no_hypervisor(tmp_path: Path) -> None:
    bare = cast(Native, Cpuid({1: (0, 0, 0, 0)}))
    flags = X86.replace(" hypervisor", "")
    assert identify(tree(tmp_path, {"/proc/cpuinfo": flags}), bare).hypervisor is None
