"""A micro-VM that runs the read loops: load, call a function in the guest, look at its memory."""

import os
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guestclock import readloops
from guestclock.errors import UnavailableError
from guestclock.kvm import longmode
from guestclock.kvm.api import (
    EXIT_IO,
    MSR_TSC_AUX,
    Vcpu,
    Vm,
)
from guestclock.pvclock.layouts import MSR_KVM_SYSTEM_TIME, MSR_KVM_WALL_CLOCK

EXIT_PORT = 0x10
MEMORY_BYTES = 8 << 20
NATIVE_CYCLES_PER_TURN = 20
"""A turn of an empty loop takes a cycle or two where code runs natively, hundreds where it does not."""
_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_LAST_PATIENCE_S = 5.0
_KVMCLOCK_LEAF = 0x40000001


@dataclass(frozen=True)
class Call:
    """A function of the read loops with its arguments (integers and guest addresses)."""

    function: str
    arguments: tuple[int, ...] = ()


class MicroVm:
    """One or two vCPUs in user mode with the read loops loaded and a pvclock page each."""

    def __init__(self, vcpus: int = 1, device: Path = Path("/dev/kvm"), patience_s: float = 60.0) -> None:
        self.vm = Vm(MEMORY_BYTES, device)
        self.device = device
        self.patience_s = patience_s
        self._lost = False
        self.image = readloops.load()
        try:
            self._set_up(vcpus)
        except OSError as error:
            self.vm.close()
            raise UnavailableError(
                f"{device}: this KVM refuses the guest's set-up: {error.strerror}"
            ) from error
        except BaseException:
            self.vm.close()
            raise

    def _set_up(self, vcpus: int) -> None:
        memory = self.vm.memory
        longmode.write_tables(memory, MEMORY_BYTES, vcpus)
        memory[longmode.CODE : longmode.CODE + len(self.image.code)] = self.image.code
        self._cpuid = cpuid = self.vm.supported_cpuid()
        for number in range(vcpus):
            vcpu = self.vm.create_vcpu()
            vcpu.set_cpuid(cpuid)
            longmode.enter_user_mode(vcpu, number)
            vcpu.set_msr(MSR_TSC_AUX, number)
        self.tsc_khz = self.vcpus[0].tsc_khz()

    def __enter__(self) -> "MicroVm":
        return self

    def __exit__(self, *_: object) -> None:
        # A thread that is still in the guest keeps using the memory: leave that to the process's end.
        if not self._lost:
            self.vm.close()

    @property
    def vcpus(self) -> list[Vcpu]:
        """The vCPUs in the order of their numbers."""
        return self.vm.vcpus

    def has_kvmclock(self) -> bool:
        """Return whether KVM offers kvm-clock (CPUID 0x40000001, bit 3)."""
        return self.cpuid_bit(_KVMCLOCK_LEAF, "eax", 3)

    def cpuid_bit(self, leaf: int, register: str, bit: int) -> bool:
        """Return one bit of the guest's CPUID (subleaf 0)."""
        place = {"eax": 3, "ebx": 4, "ecx": 5, "edx": 6}[register]
        return any(entry[0] == leaf and entry[1] == 0 and entry[place] >> bit & 1 for entry in self._cpuid)

    def switch_clock_on(self) -> None:
        """Have KVM fill the pvclock pages, and lay out what the tsc clocksource's reader needs."""
        for number, vcpu in enumerate(self.vcpus):
            page = pvclock_address(number)
            self.write(page, bytes(longmode.PVCLOCK_STRIDE))
            if not vcpu.set_msr(MSR_KVM_SYSTEM_TIME, page | 1):
                raise UnavailableError("this KVM has no kvm-clock (MSR 0x4b564d01 refused)")
        # One page for the machine's life: with a new base the clock would step.
        self.write(longmode.TSC_PAGE, readloops.tsc_page(tsc_now(self), self.tsc_khz * 1000))

    def write_wall_clock(self) -> None:
        """Have KVM write the wall clock page."""
        self.vcpus[0].set_msr(MSR_KVM_WALL_CLOCK, longmode.WALL_CLOCK)

    def read(self, address: int, count: int) -> bytes:
        """Return guest memory."""
        return bytes(self.vm.memory[address : address + count])

    def write(self, address: int, data: bytes | bytearray) -> None:
        """Change guest memory."""
        self.vm.memory[address : address + len(data)] = bytes(data)

    def read_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return 64-bit words of guest memory."""
        return struct.unpack_from(f"<{count}Q", self.vm.memory, address)

    def call(self, call: Call, vcpu: int = 0) -> int:
        """Run one function on one vCPU; return its rax."""
        return self.call_on({vcpu: call})[vcpu]

    def call_on(self, calls: dict[int, Call], cpus: Sequence[int] | None = None) -> dict[int, int]:
        """Run functions at the same time, one vCPU each in a thread; return each one's rax.

        Args:
            calls: what each vCPU (by number) does.
            cpus: the host CPU for each, in the same order; without it, the first permitted ones.

        Raises:
            UnavailableError: the guest left for another reason than its end, or did not come back.
        """
        chosen = list(cpus if cpus is not None else permitted_cpus())
        results: dict[int, int] = {}
        failures: list[BaseException] = []

        def work(number: int, call: Call, cpu: int) -> None:
            try:
                os.sched_setaffinity(0, {cpu})
                results[number] = self._run(number, call)
            except BaseException as error:
                failures.append(error)

        threads = [
            threading.Thread(target=work, args=(number, call, chosen[index % len(chosen)]), daemon=True)
            for index, (number, call) in enumerate(calls.items())
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join(self.patience_s)
        finally:
            stuck = self._end(threads)
        if stuck:
            raise UnavailableError(f"the guest did not come back within {self.patience_s:g} s")
        if failures:
            raise failures[0]
        return results

    def _end(self, threads: Sequence[threading.Thread]) -> bool:
        """Get threads out of a guest that is not done (too slow, or Ctrl-C); return whether any was in it."""
        if not any(thread.is_alive() for thread in threads):
            return False
        self.vm.take_memory_away()
        for thread in threads:
            thread.join(_LAST_PATIENCE_S)
        self._lost = any(thread.is_alive() for thread in threads)
        return True

    def _run(self, number: int, call: Call) -> int:
        vcpu = self.vcpus[number]
        registers = dict(zip(_ARGUMENTS, call.arguments, strict=False)) | {
            "rip": longmode.CODE + self.image.offset("guest_start"),
            "rax": longmode.CODE + self.image.offset(call.function),
            "rsp": longmode.stack_top(number),
        }
        vcpu.set_registers(registers)
        vcpu.run()
        if vcpu.exit_reason() != EXIT_IO or vcpu.exit_port() != EXIT_PORT:
            rip = vcpu.registers()["rip"]
            raise UnavailableError(
                f"the guest stopped in {call.function} at 0x{rip:x}: {vcpu.describe_exit()}:"
                " this KVM cannot run it"
            )
        return vcpu.registers()["rax"]


def pvclock_address(vcpu: int) -> int:
    """Return where KVM writes the page of a vCPU."""
    return longmode.PVCLOCK + vcpu * longmode.PVCLOCK_STRIDE


def permitted_cpus() -> list[int]:
    """Return the host CPUs that this process may use."""
    if not sys.platform.startswith("linux"):
        raise UnavailableError(f"KVM is part of Linux; this is {sys.platform}")
    return sorted(os.sched_getaffinity(0))


def cycles_per_turn(vm: MicroVm, turns: int = 20_000, looks: int = 5) -> float:
    """Return the TSC cycles of one turn of an empty loop in the guest: the best of some looks."""
    return min(vm.call(Call("spin", (turns,))) for _ in range(looks)) / turns


def runs_natively(turn_cycles: float) -> bool:
    """Return whether that many cycles a turn mean native code; else times mean nothing."""
    return turn_cycles <= NATIVE_CYCLES_PER_TURN


def check_kernel_code(device: Path) -> None:
    """Find out whether a KVM runs kernel code natively.

    Raises:
        UnavailableError: no KVM, or one under which a Linux kernel would take minutes to boot.
    """
    with MicroVm(1, device) as vm:
        longmode.enter_kernel_mode(vm.vcpus[0], 0)
        turn = cycles_per_turn(vm, turns=2_000, looks=2)
    if not runs_natively(turn):
        raise UnavailableError(
            f"this KVM interprets kernel code ({turn:,.0f} cycles for an empty turn; it runs inside a virtual"
            " machine without hardware help), so a Linux kernel would take minutes to boot"
        )


def tsc_now(vm: MicroVm) -> int:
    """Return the guest's TSC."""
    return vm.call(Call("tsc"))


def getcpu(vm: MicroVm) -> dict[str, list[int]]:
    """Return each vCPU's number as the guest learns it, for each way that this machine has.

    Neither the CPUID nor the answer can be trusted: a KVM may hide RDTSCP and yet run it, and
    RDTSCP and RDPID may tell the host's CPU.  What the CPUID hides is tried in a machine of its own.
    """
    ways = {
        "lsl": ("getcpu_lsl", True),
        "rdtscp": ("getcpu_rdtscp", vm.cpuid_bit(0x80000001, "edx", 27)),
        "rdpid": ("getcpu_rdpid", vm.cpuid_bit(7, "ecx", 22)),
    }
    return {
        way: [vm.call(Call(function), number) for number in range(len(vm.vcpus))]
        for way, (function, offered) in ways.items()
        if offered or _runs(Call(function), vm.device)
    }


def _runs(call: Call, device: Path) -> bool:
    """Try a function that may end its machine."""
    try:
        with MicroVm(1, device) as vm:
            vm.call(call)
    except UnavailableError:
        return False
    return True
