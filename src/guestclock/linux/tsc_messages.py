"""Messages of one line about an x86's TSC and about kvm-clock, each rule with what prints it in Linux 6.1."""

import re
from fractions import Fraction

from guestclock.linux.clock_facts import Known
from guestclock.linux.explanation import TSC, Explanation, Level, compiled, took
from guestclock.verdict.quantities import duration

# TSC (arch/x86/kernel/tsc.c, tsc_sync.c, kernel/sched/clock.c)


def _frequency(match: re.Match[str], known: Known) -> Explanation:
    """``tsc_refine_calibration_work()`` and ``determine_cpu_tsc_frequencies()``."""
    hz = Fraction(match["mhz"]) * 1_000_000
    old = known.of(TSC).hz
    known.learn(TSC, hz=hz)
    known.learn("tsc-early", hz=hz)
    ppm = f", {float((hz - old) / old) * 1e6:+.0f} ppm from before" if old else ""
    return Explanation("frequency", Level.NOTE, None, f"The TSC runs at {match['mhz']} MHz{ppm}.")


_TSC_REASONS = {
    "clocksource watchdog": "its rate differs from the watchdog's clock; the lines before have the figures",
    "check_tsc_sync_source failed": "two CPUs' TSCs do not agree",
    "TSCs unsynchronized": "firmware or hypervisor does not promise that the CPUs' TSCs agree",
    "cpufreq changes": "it changes its rate with the CPU's",
    "boot parameter": "the command line says so",
    "could not calculate TSC khz": "no other timer to measure it by",
}


def _tsc_unstable(match: re.Match[str], known: Known) -> Explanation:
    """``mark_tsc_unstable()`` and ``tsc_cs_mark_unstable()``."""
    reason = match["reason"].strip()
    told = next((text for key, text in _TSC_REASONS.items() if reason.startswith(key)), reason)
    level = Level.NOTE if "boot parameter" in reason else Level.FAULT
    return Explanation("unstable", level, TSC, f"The kernel gave the TSC up: {told}.")


def _tsc_warp(match: re.Match[str], known: Known) -> Explanation:
    """``check_tsc_sync_source()``."""
    cycles = -int(match["cycles"])
    return Explanation(
        "CPUs disagree",
        Level.FAULT,
        TSC,
        f"A TSC was up to {took(known, TSC, cycles)} behind what another CPU had just read.",
        "firmware or a hypervisor set the TSCs apart",
        cycles,
        known.time_ns(TSC, cycles),
    )


def _tsc_adjust(match: re.Match[str], known: Known) -> Explanation:
    """``tsc_verify_tsc_adjust()``."""
    cycles = int(match["new"]) - int(match["old"])
    way = "ahead" if cycles > 0 else "back"
    return Explanation(
        "moved",
        Level.FAULT,
        TSC,
        f"The TSC of CPU {match['cpu']} was moved {way} by {took(known, TSC, cycles)}; the kernel undid it.",
        "firmware wrote IA32_TSC_ADJUST behind the kernel's back",
        cycles,
        known.time_ns(TSC, cycles),
    )


def _tsc_compensated(match: re.Match[str], known: Known) -> Explanation:
    """``check_tsc_sync_target()``."""
    cycles = int(match["warp"])
    return Explanation(
        "CPUs disagree",
        Level.RISK,
        TSC,
        f"The TSC of CPU {match['cpu']} was {took(known, TSC, cycles)} off; the kernel moved it.",
        "firmware or a hypervisor set the TSCs apart",
        cycles,
        known.time_ns(TSC, cycles),
    )


def _tsc_after_boot(match: re.Match[str], known: Known) -> Explanation:
    """``__sched_clock_work()``."""
    return Explanation(
        "unstable",
        Level.FAULT,
        TSC,
        "The TSC turned out unusable after the kernel had begun to rely on it.",
        "boot with tsc=unstable",
    )


def _calibration(match: re.Match[str], known: Known) -> Explanation:
    """``pit_hpet_ptimer_calibrate_cpu()``."""
    pit, other = int(match["pit"]), int(match["other"])
    ppm = (pit - other) / other * 1e6 if other else 0.0
    return Explanation(
        "calibration",
        Level.RISK,
        TSC,
        f"The TSC measured by the PIT is {pit} kHz and by {match['by']} {other} kHz: {ppm:+,.0f} ppm apart.",
        "one of the two timers is emulated badly, or the guest was held up while it measured",
    )


# kvm-clock (arch/x86/kernel/kvmclock.c)


def _kvm_offset(match: re.Match[str], known: Known) -> Explanation:
    """``kvm_sched_clock_init()``; its cycles are ns."""
    cycles = int(match["cycles"])
    return Explanation(
        "kvm-clock",
        Level.NOTE,
        None,
        f"The host's kvm-clock had counted {duration(cycles)} when this kernel started its own time at 0.",
        cycles=cycles,
        time_ns=cycles,
    )


def _kvm_msrs(match: re.Match[str], known: Known) -> Explanation:
    """``kvmclock_init()``."""
    new = match["msr"] == "4b564d01"
    return Explanation(
        "kvm-clock",
        Level.NOTE,
        None,
        f"kvm-clock is there, by the {'current' if new else 'old'} pair of MSRs ({match['msr']}).",
        "" if new else "the hypervisor is very old, or hides KVM_FEATURE_CLOCKSOURCE2",
    )


RULES = compiled(
    (r"Refined TSC clocksource calibration: (?P<mhz>\d+\.\d+) MHz", _frequency),
    (r"tsc: Detected (?P<mhz>\d+\.\d+) MHz", _frequency),
    (r"Marking TSC unstable due to (?P<reason>.+)", _tsc_unstable),
    (r"Measured (?P<cycles>\d+) cycles TSC warp between CPUs", _tsc_warp),
    (r"TSC ADJUST differs: CPU(?P<cpu>\d+) (?P<old>-?\d+) --> (?P<new>-?\d+)", _tsc_adjust),
    (r"TSC ADJUST compensate: CPU(?P<cpu>\d+) observed (?P<warp>-?\d+) warp", _tsc_compensated),
    (r"TSC found unstable after boot", _tsc_after_boot),
    (r"PIT calibration deviates from (?P<by>\w+): (?P<pit>\d+) (?P<other>\d+)", _calibration),
    (r"kvm-clock: using sched offset of (?P<cycles>\d+) cycles", _kvm_offset),
    (r"kvm-clock: Using msrs (?P<msr>[0-9a-f]+) and", _kvm_msrs),
)
