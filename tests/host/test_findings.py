"""Findings from made-up machines: each fault is named with its consequence and remedy, the worst first."""

from typing import Any

import pytest

from guestclock.experiments.doctor import BETWEEN, DRIFT, SYSTEM_CALL, Examination
from guestclock.experiments.findings import Finding, Level, findings
from guestclock.host import tsc
from guestclock.host.clocks import CLOCKS
from guestclock.host.identity import Identity
from guestclock.host.steps import Steps
from guestclock.host.tsc import TscFacts
from guestclock.readings import EventKind, TablesBuilder
from guestclock.readloops import WarpResult

GHZ = 2_300_000_000
QUIET = WarpResult(1000, 0, 0, 0, 0, 90_000, 10, 200, ())
STEPPING = WarpResult(1000, 3, 4, 9, 20, 90_000, 10, 200, ((100, 91),))


class Machine:
    """A made-up machine whose figures a test chooses; a healthy kvm-clock guest without them."""

    def __init__(self, **identity: Any) -> None:
        told: dict[str, Any] = {
            "architecture": "x86_64",
            "kernel": "6.1.0",
            "hypervisor": "KVM",
            "clocksource": "tsc",
            "clocksources": ("tsc", "kvm-clock", "hpet"),
            "tsc_flags": ("tsc", "constant_tsc", "nonstop_tsc"),
            "cpu": "A CPU",
            "container": None,
            "load_average": 0.1,
        }
        self.found = Examination(
            identity=Identity(**told | identity),
            clocks=CLOCKS,
            cpus=(0, 1),
            machine_code=True,
            vdso=True,
            superuser=False,
            groups=3,
        )
        self.builder = TablesBuilder()
        self.cost("CLOCK_THREAD_CPUTIME_ID", 250.0)

    def cost(self, name: str, cost_ns: float, call_ns: float | None = None) -> "Machine":
        phase = self.builder.phase("cost")
        for source, value in ((name, cost_ns), (name + SYSTEM_CALL, call_ns)):
            if value is not None:
                self.builder.add_reading(
                    source=self.builder.source(source), phase=phase, said_ns=0, calls=100, cost_ns=value
                )
        return self

    def steps(self, name: str, result: WarpResult) -> "Machine":
        self.found.steps[name] = Steps({(0,): [QUIET], (1,): [QUIET], (0, 1): [result, QUIET]})
        names = {"source": self.builder.source(name), "phase": self.builder.phase(BETWEEN)}
        row = {"low_ns": 0, "high_ns": 1 << 62, "sum_ns": 90_000, "min_ns": 10, "max_ns": 200}
        self.builder.add_histogram_row(**names, **row, count=4000 - result.steps)
        if result.steps:
            worst = -result.worst
            self.builder.add_event(EventKind.BACKWARD, **names, value=worst)
            row = {"low_ns": -(1 << 62), "high_ns": 0, "sum_ns": -result.sum, "min_ns": worst, "max_ns": -1}
            self.builder.add_histogram_row(**names, **row, count=result.steps)
        return self

    def drift(self, name: str, ppm: float) -> "Machine":
        source, phase = self.builder.source(name), self.builder.phase(DRIFT)
        for host_ns in range(0, 4_000_000_001, 1_000_000_000):
            said_ns = round(host_ns * (1 + ppm * 1e-6))
            self.builder.add_reading(source=source, phase=phase, host_ns=host_ns, said_ns=said_ns)
        return self

    def findings(self) -> list[Finding]:
        self.found.tables = self.builder.freeze({})
        return findings(self.found)

    def one(self, text: str) -> Finding:
        fitting = [finding for finding in self.findings() if text in finding.title]
        assert len(fitting) == 1, [finding.title for finding in self.findings()]
        return fitting[0]


def healthy() -> Machine:
    return (
        Machine()
        .cost("CLOCK_MONOTONIC", 25.0, 250.0)
        .steps("CLOCK_MONOTONIC", QUIET)
        .steps("lfence_rdtsc", QUIET)
        .drift("CLOCK_MONOTONIC", 0.1)
    )


def test_a_healthy_machine_is_told_so_first() -> None:
    told = healthy().findings()
    assert told[0].title.startswith(
        "No fault was found: no clock went back in 4,000 reads, and clocksource tsc"
    )
    assert all(finding.level is Level.NOTE for finding in told)


def test_a_clock_that_goes_back_is_the_worst_finding() -> None:
    machine = healthy().steps("CLOCK_BOOTTIME", STEPPING).cost("CLOCK_TAI", 260.0, 250.0)
    told = machine.findings()
    assert [finding.level for finding in told] == sorted((finding.level for finding in told), reverse=True)
    assert told[0].level is Level.FAULT
    assert told[0].title == "CLOCK_BOOTTIME went back 3 times in 4,000 reads, worst −9 ns (CPUs 0–1)."
    assert "echo kvm-clock >" in told[0].remedy


def test_a_settable_clock_may_have_been_set() -> None:
    finding = healthy().steps("CLOCK_REALTIME", STEPPING).one("CLOCK_REALTIME went back")
    assert finding.level is Level.RISK
    assert "set meanwhile" in finding.remedy


def test_tscs_out_of_step() -> None:
    machine = healthy().steps("rdtscp", STEPPING)
    finding = machine.one("not in step")
    assert (finding.level, "rdtscp went back 3 times" in finding.title) == (Level.FAULT, True)
    other = Machine(clocksource="hpet").steps("lfence_rdtsc", STEPPING).one("not in step")
    assert (other.level, other.remedy) == (Level.RISK, "Do not switch to clocksource tsc.")


def test_rdtsc_alone_may_go_back() -> None:
    assert healthy().steps("rdtsc", STEPPING).one("rdtsc without a barrier").level is Level.NOTE


def test_a_clocksource_without_vdso() -> None:
    machine = Machine(clocksource="hpet").cost("CLOCK_MONOTONIC", 1250.0, 1240.0)
    finding = machine.one("has no vDSO path")
    assert finding.level is Level.SLOW
    assert finding.title.startswith("clock_gettime costs 1.25 µs because clocksource hpet has no vDSO path")
    assert "echo tsc >" in finding.remedy
    assert "clocksource=tsc" in finding.remedy


def test_a_clocksource_without_vdso_and_no_better_one() -> None:
    machine = Machine(clocksource="acpi_pm", clocksources=("acpi_pm", "hpet"))
    finding = machine.cost("CLOCK_MONOTONIC", 1250.0, 1240.0).one("has no vDSO path")
    assert "Marking TSC unstable" in finding.remedy


def test_a_process_without_vdso() -> None:
    machine = Machine().cost("CLOCK_MONOTONIC", 250.0, 250.0)
    machine.found.vdso = False
    assert "vdso=0" in machine.one("has no vDSO.").remedy


def test_a_vdso_that_gives_up() -> None:
    machine = Machine(clocksource="kvm-clock").cost("CLOCK_MONOTONIC", 250.0, 250.0)
    assert "sandboxed" in machine.one("enters the kernel for clocksource kvm-clock").remedy
    entry = bytearray(tsc.made_up_page(GHZ))
    entry[29] = 0
    machine.found.page = tsc.page_facts(bytes(entry), "here", GHZ)
    assert "TSC_STABLE is clear" in machine.one("enters the kernel for clocksource kvm-clock").remedy
    assert machine.one("not TSC_STABLE").level is Level.RISK


def test_a_clock_that_alone_is_a_system_call() -> None:
    finding = (
        healthy().cost("CLOCK_MONOTONIC_RAW", 240.0, 250.0).one("CLOCK_MONOTONIC_RAW costs a system call")
    )
    assert finding.level is Level.SLOW


def test_without_system_call_figures_cpu_time_stands_in() -> None:
    assert Machine().cost("CLOCK_MONOTONIC", 60.0).findings()[0].title.startswith("No fault")
    slow = Machine(clocksource="hpet").cost("CLOCK_MONOTONIC", 240.0)
    assert slow.one("has no vDSO path").level is Level.SLOW


def test_a_trapped_tsc() -> None:
    assert healthy().cost("rdtsc", 1400.0).one("Reading the TSC costs 1.40 µs").level is Level.SLOW


def test_interpreted_code() -> None:
    machine = healthy()
    machine.found.tsc = TscFacts(GHZ, None, None, cycles_per_turn=700.0)
    assert machine.one("not run natively").level is Level.SLOW


def test_a_coarse_clock() -> None:
    machine = healthy()
    machine.found.resolution_ns["CLOCK_MONOTONIC"] = 4_000_000
    assert machine.one("in steps of 4.00 ms").level is Level.SLOW


@pytest.mark.parametrize(("clocksource", "level"), [("kvm-clock", Level.RISK), ("tsc", Level.NOTE)])
def test_the_jump_to_expect(clocksource: str, level: Level) -> None:
    machine = Machine(clocksource=clocksource).cost("CLOCK_MONOTONIC", 25.0, 250.0)
    machine.found.page = tsc.page_facts(tsc.made_up_page(GHZ), "here", GHZ * 86_400)
    finding = machine.one("kvm-clock runs −35.9 ppb")
    assert finding.level is level
    assert "jumps by 3.10 ms" in finding.consequence


def test_the_jump_is_far_off_after_a_short_while() -> None:
    machine = Machine(clocksource="kvm-clock").cost("CLOCK_MONOTONIC", 25.0, 250.0)
    machine.found.page = tsc.page_facts(tsc.made_up_page(GHZ), "here", GHZ * 60)
    assert machine.one("kvm-clock runs").level is Level.NOTE


@pytest.mark.parametrize(("ppm", "level"), [(40.0, Level.NOTE), (-450.0, Level.RISK)])
def test_a_clock_that_is_steered(ppm: float, level: Level) -> None:
    finding = healthy().drift("CLOCK_REALTIME", ppm).one("CLOCK_REALTIME runs at")
    assert finding.level is level


def test_a_tsc_without_promises() -> None:
    finding = Machine(tsc_flags=("tsc", "constant_tsc")).one("does not promise nonstop_tsc")
    assert finding.level is Level.RISK
    assert "+invtsc" in finding.remedy


def test_shapes_are_compared() -> None:
    machine = healthy().cost("pvclock_one", 30.0).cost("tsc_clocksource", 20.0).cost("pvclock_2014", 60.0)
    machine.found.page = tsc.page_facts(tsc.made_up_page(GHZ), "here", GHZ)
    finding = machine.one(
        "A read in the shape of kvm-clock costs 30.0 ns, in that of tsc 20.0 ns (1.50 to 1)"
    )
    assert "60.0 ns" in finding.consequence
    assert finding.remedy.startswith("tsc is faster")


def test_a_busy_machine_and_pairs_that_were_not_compared() -> None:
    machine = healthy()
    machine.found.groups = 2080
    assert "--seconds" in machine.one("3 of 2,080 CPUs and pairs").remedy
    busy = Machine(load_average=7.5)
    assert busy.one("The machine is busy (load 7.5 on 2 CPUs)").level is Level.NOTE


def test_what_python_pays() -> None:
    machine = healthy().cost("time.monotonic_ns()", 70.0)
    assert machine.one("From Python a read costs 70.0 ns, at C speed 25.0 ns").level is Level.NOTE
