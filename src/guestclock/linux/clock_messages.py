"""Messages of one line about clocks, as Linux 6.1 prints them, each rule with the function that prints it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from guestclock.linux.clock_facts import KVM_CLOCK, VIA1, Known, registered_hz, signed
from guestclock.verdict.quantities import count, duration

TSC = "tsc"


class Level(StrEnum):
    """How bad a message is."""

    FAULT = "fault"  # a clock did what a clock must not do
    RISK = "risk"  # it may have; or the kernel could not tell
    NOTE = "note"  # information


@dataclass(frozen=True)
class Explanation:
    """One message explained.

    ``cycles`` and ``time_ns``: by how much the clock was off, signed, None where the message does not tell;
    ``suspect``: the clock to look at; ``advice``: what to do.
    """

    kind: str
    level: Level
    suspect: str | None
    what: str
    advice: str = ""
    cycles: int | None = None
    time_ns: int | None = None
    line: int = 0
    text: str = ""

    def at(self, line: int, text: str) -> "Explanation":
        """Return the same for a place in a log."""
        return replace(self, line=line, text=text)


Rule = Callable[[re.Match[str], Known], Explanation | None]


def advice_for(clock: str) -> str:
    """Return what to do about a clock that went back."""
    if clock == VIA1:
        return (
            "T1's counter and the count of ticks disagreed: an emulated 6522 that sets its flag before it"
            " reloads, or a host that stalled the guest between two reads"
        )
    if clock.startswith(TSC):
        return "the CPUs' TSCs disagree, or a hypervisor moved one: use another clocksource"
    return "compare it with another clocksource"


def took(known: Known, clock: str, cycles: int) -> str:
    """Return cycles of a clock in words, with their time where the frequency is known."""
    time_ns = known.time_ns(clock, abs(cycles))
    words = count(abs(cycles), "cycle")
    return words if time_ns is None else f"{words} ({duration(time_ns)})"


# Timekeeping (kernel/time/timekeeping.c)


def _cycle_offset(match: re.Match[str], known: Known) -> Explanation:
    """``timekeeping_check_update()``, with CONFIG_DEBUG_TIMEKEEPING."""
    offset, clock, limit = int(match["offset"]), match["clock"], int(match["limit"])
    mask = known.of(clock).mask or _mask_of(2 * limit + 1 if "50%" in match[0] else limit)
    cycles = signed(offset, mask)
    bits = (mask + 1).bit_length() - 1
    time_ns = known.time_ns(clock, cycles)
    if cycles < 0:
        return Explanation(
            "went back",
            Level.FAULT,
            clock,
            f"{clock} read {took(known, clock, cycles)} less than at the kernel's last update:"
            f" {offset} is −{-cycles} modulo 2^{bits}.",
            advice_for(clock),
            cycles,
            time_ns,
        )
    return Explanation(
        "late update",
        Level.FAULT,
        clock,
        f"{clock} advanced {took(known, clock, cycles)} between two updates of the kernel, near its limit.",
        "the timer interrupt came that much too late, or the clock jumped ahead",
        cycles,
        time_ns,
    )


def _mask_of(max_cycles: int) -> int:
    """Return the mask of a clock of which only max_cycles is known: all ones if it is, else 64 bits."""
    return max_cycles if max_cycles & (max_cycles + 1) == 0 else 2**64 - 1


def _clamped(match: re.Match[str], known: Known) -> Explanation:
    """``timekeeping_check_update()``: the delta was made 0, or max_cycles."""
    clock = match["clock"]
    if match["what"] == "Under":
        text = f"{clock} read less than at the kernel's last update; the kernel took the difference as 0."
        return Explanation(
            "went back", Level.FAULT, clock, text, f"{advice_for(clock)}; such kernels hide the size"
        )
    text = f"{clock} advanced more between two updates than the kernel can convert; the rest is lost."
    return Explanation("late update", Level.FAULT, clock, text, "the timer interrupt came far too late")


def _adjusting(match: re.Match[str], known: Known) -> Explanation:
    """``timekeeping_adjust()``: NTP wants more than the kernel allows."""
    mult, limit = int(match["mult"]), int(match["limit"])
    percent = (mult * 1.11 / limit - 1) * 100 if limit else 0.0
    return Explanation(
        "steered too far",
        Level.FAULT,
        match["clock"],
        f"The kernel steers {match['clock']} {percent:+.1f} % from its nominal rate; 11 % are allowed.",
        "its frequency was measured wrong, or time synchronisation follows a wrong clock",
    )


# Lockups (kernel/watchdog.c)

TIMESTAMP_NS = 1 << 30
"""``get_timestamp()``: what the soft lockup detector calls a second."""
_LOCKUP_SLACK = 24
"""It compares every 4 s and complains from 20 s on: so much true time may be in its figure besides a wrap."""


def _soft_lockup(match: re.Match[str], known: Known) -> Explanation:
    """``watchdog_timer_fn()``."""
    stuck = int(match["seconds"])
    time_ns = stuck * TIMESTAMP_NS
    clock = known.current or VIA1
    wrap_ns = known.of(clock).wrap_ns()
    if wrap_ns and 0 <= stuck - wrap_ns // TIMESTAMP_NS <= _LOCKUP_SLACK < wrap_ns // TIMESTAMP_NS:
        mask = known.of(clock).mask or 0
        bits = (mask + 1).bit_length() - 1
        return Explanation(
            "wrap",
            Level.FAULT,
            clock,
            f"No lockup: the clock jumped ahead by a {bits}-bit wrap of {clock}. 2^{bits} cycles are"
            f" {duration(wrap_ns)}, {wrap_ns / TIMESTAMP_NS:.1f} of the detector's seconds of 2^30 ns.",
            f"{clock} went back a little, and the difference was taken modulo 2^{bits}",
            mask + 1,
            wrap_ns,
        )
    return Explanation(
        "soft lockup",
        Level.RISK,
        known.current,
        f"CPU {match['cpu']} ran no other task for {duration(time_ns)}, no wrap of a clock known here.",
        "a busy kernel, a vCPU that the host did not run, or a clock that jumped",
        None,
        time_ns,
    )


# Clocksources (kernel/time/clocksource.c)


def _registered(match: re.Match[str], known: Known) -> None:
    """``__clocksource_update_freq_scale()``: worth remembering, not telling."""
    hz = registered_hz(int(match["max_cycles"], 16), int(match["idle"]))
    known.learn(match["clock"], int(match["mask"], 16), known.of(match["clock"]).hz or hz)


def _switched(match: re.Match[str], known: Known) -> Explanation:
    """``__clocksource_select()``."""
    old, known.current = known.current, match["clock"]
    fast = (TSC, KVM_CLOCK)
    fell_back = old is not None and old.startswith(fast) and not known.current.startswith(fast)
    hz = known.of(known.current).hz
    rate = f", {float(hz) / 1e6:.6g} MHz" if hz else ""
    before = f" (before: {old})" if old else ""
    return Explanation(
        "switch",
        Level.RISK if fell_back else Level.NOTE,
        old if fell_back else None,
        f"The kernel now keeps time by {known.current}{rate}{before}.",
        f"{old} was given up; reads become slower" if fell_back else "",
    )


def _retried(match: re.Match[str], known: Known) -> Explanation:
    """``cs_watchdog_read()``: it succeeded after all."""
    return Explanation(
        "slow read",
        Level.NOTE,
        None,
        f"The watchdog read {match['clock']} {int(match['tries']) + 1} times until nothing came between.",
        "the host or an interrupt held this CPU up",
    )


def _read_back(match: re.Match[str], known: Known) -> Explanation:
    """``cs_watchdog_read()``: too slow every time."""
    delay_ns = int(match["ns"])
    given_up = "unstable" in match["rest"]
    then = "so the clock compared with it was given up" if given_up else "too long to compare clocks by it"
    return Explanation(
        "slow read",
        Level.RISK,
        match["clock"],
        f"Reading {match['clock']} took {duration(delay_ns)}, {then}.",
        "a slow watchdog clock or a stalled CPU, no proof against the clock that was checked",
        None,
        delay_ns,
    )


def _long_interval(match: re.Match[str], known: Known) -> Explanation:
    """``clocksource_watchdog()``: the check came too late to mean anything."""
    cs_ns, wd_ns = int(match["cs"]), int(match["wd"])
    return Explanation(
        "late check",
        Level.RISK,
        None,
        f"The watchdog came after {duration(max(cs_ns, wd_ns))} instead of 500 ms and compared nothing:"
        f" clock {duration(cs_ns)}, watchdog {duration(wd_ns)}.",
        "the guest was stopped or starved",
        None,
        cs_ns - wd_ns,
    )


def _unstable_before_4_1(match: re.Match[str], known: Known) -> Explanation:
    """``clocksource_unstable()`` before Linux 4.1: the checked clock's time minus the watchdog's."""
    clock, skew_ns = match["clock"], int(match["ns"])
    what = f"{clock} and the watchdog's clock were {duration(skew_ns)} apart; no more is told."
    return Explanation("unstable", Level.FAULT, clock, what, "", None, skew_ns)


def _percpu(match: re.Match[str], known: Known) -> Explanation:
    """``clocksource_verify_percpu()``."""
    clock, word = match["clock"], match["way"]
    where = f"{clock} of CPUs {match['cpus']} is {word} that of CPU {match['cpu']}"
    text = f"{where}: a thread that moves sees it step."
    return Explanation("CPUs disagree", Level.FAULT, clock, text, advice_for(clock))


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


# Others


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


def _hrtimer(match: re.Match[str], known: Known) -> Explanation:
    """``hrtimer_interrupt()``."""
    time_ns = int(match["ns"])
    return Explanation(
        "slow interrupt",
        Level.RISK,
        known.current,
        f"A timer interrupt took {duration(time_ns)}.",
        "the host did not run this vCPU meanwhile, or the clock jumped ahead",
        None,
        time_ns,
    )


_NAME = r"[\w.:-]+"
RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (
            r"Cycle offset \((?P<offset>-?\d+)\) is larger than (?:allowed by )?the '(?P<clock>[^']+)'"
            r" clock's (?:50% safety margin|max_cycles value) \((?P<limit>\d+)\)",
            _cycle_offset,
        ),
        (r"(?P<what>Under|Over)flow in clocksource '(?P<clock>[^']+)' observed", _clamped),
        (rf"Adjusting (?P<clock>{_NAME}) more than 11% \((?P<mult>\d+) vs (?P<limit>\d+)\)", _adjusting),
        (r"soft lockup - CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s", _soft_lockup),
        (
            rf"(?P<clock>{_NAME}): mask: 0x(?P<mask>[0-9a-f]+) max_cycles: 0x(?P<max_cycles>[0-9a-f]+),"
            r" max_idle_ns: (?P<idle>\d+) ns",
            _registered,
        ),
        (rf"Switched to clocksource (?P<clock>{_NAME})", _switched),
        (rf"watchdog on CPU\d+: (?P<clock>{_NAME}) retried (?P<tries>\d+) times before success", _retried),
        (
            rf"watchdog on CPU\d+: (?P<clock>{_NAME}) (?:wd-wd |excessive )?read-back delay of"
            r" (?P<ns>\d+)ns(?P<rest>.*)",
            _read_back,
        ),
        (r"skipping watchdog check: cs_nsec: (?P<cs>-?\d+) wd_nsec: (?P<wd>-?\d+)", _long_interval),
        (
            rf"Clocksource (?P<clock>{_NAME}) unstable \(delta = (?P<ns>-?\d+) ns\)",
            _unstable_before_4_1,
        ),
        (
            rf"CPUs (?P<cpus>[\d,-]+) (?P<way>ahead of|behind) CPU (?P<cpu>\d+) for clocksource"
            rf" (?P<clock>{_NAME}?)\.?$",
            _percpu,
        ),
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
        (r"hrtimer: interrupt took (?P<ns>\d+) ns", _hrtimer),
    )
)
