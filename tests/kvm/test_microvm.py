"""The micro-VM: it runs functions in user mode, and whatever the guest does it comes back with a reason."""

import os
import platform
from pathlib import Path

import pytest

from guestclock.errors import UnavailableError
from guestclock.kvm import longmode
from guestclock.kvm.microvm import Call, MicroVm, cycles_per_turn, getcpu, runs_natively, tsc_now

NEVER_ENDS = b"\xeb\xfe"  # jmp .
PRIVILEGED = b"\xf4"  # hlt
BREAKS = b"\x0f\x0b"  # ud2


def plant(vm: MicroVm, code: bytes) -> None:
    vm.write(longmode.CODE + vm.image.offset("tsc"), code)


def test_a_function_runs_in_the_guest(vm: MicroVm) -> None:
    first = tsc_now(vm)
    assert first < tsc_now(vm)


def test_kvm_fills_the_page(vm: MicroVm) -> None:
    assert vm.has_kvmclock()
    assert any(vm.read(longmode.PVCLOCK, 32))


def test_both_vcpus_know_their_number(pair: MicroVm) -> None:
    assert getcpu(pair)["lsl"] == [0, 1]


def test_an_empty_loop_tells_native_from_interpreted() -> None:
    assert runs_natively(1.0)
    assert not runs_natively(700.0)


def test_the_probe_sees_a_turn(vm: MicroVm) -> None:
    assert cycles_per_turn(vm, 1000, 2) > 0.1


@pytest.mark.parametrize("code", [PRIVILEGED, BREAKS])
def test_a_guest_that_breaks_is_told(vm: MicroVm, code: bytes) -> None:
    plant(vm, code)
    with pytest.raises(UnavailableError, match=r"the guest stopped in tsc at 0x[0-9a-f]+: shutdown"):
        vm.call(Call("tsc"))


def test_a_guest_that_never_ends_is_ended(vm: MicroVm) -> None:
    plant(vm, NEVER_ENDS)
    vm.patience_s = 0.05
    with pytest.raises(UnavailableError, match=r"did not come back within 0\.05 s"):
        vm.call(Call("tsc"))


def test_machines_leave_nothing_open(vm: MicroVm) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with MicroVm(1) as another:
            another.call(Call("tsc"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_kvm_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="is not there: load kvm_intel or kvm_amd"):
        MicroVm(1, tmp_path / "kvm")


def test_another_device_is_told() -> None:
    with pytest.raises(UnavailableError, match="is not a KVM device"):
        MicroVm(1, Path("/dev/null"))


def test_a_device_that_is_not_permitted_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnavailableError, match="not permitted: join its group"):
        MicroVm(1, tmp_path / "kvm")


def test_another_processor_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(UnavailableError, match="this is aarch64"):
        MicroVm(1)
