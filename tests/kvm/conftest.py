"""Tests that need /dev/kvm get machines here; without it, and only then, they skip."""

from collections.abc import Iterator

import pytest

from guestclock.errors import UnavailableError
from guestclock.kvm.microvm import MicroVm, permitted_cpus


def machine(vcpus: int) -> Iterator[MicroVm]:
    try:
        vm = MicroVm(vcpus, patience_s=20.0)
    except UnavailableError as reason:
        pytest.skip(f"no KVM: {reason}")
    with vm:
        vm.switch_clock_on()
        yield vm


@pytest.fixture
def vm() -> Iterator[MicroVm]:
    yield from machine(1)


@pytest.fixture
def pair() -> Iterator[MicroVm]:
    if len(permitted_cpus()) < 2:
        pytest.skip("two vCPUs want two CPUs")
    yield from machine(2)
