"""One-line messages on timekeeping, lockups and clocksources, each rule with what prints it in Linux 6.1."""

import re

from guestclock.linux.clock_facts import KVM_CLOCK, VIA1, Known, registered_hz, signed
from guestclock.linux.explanation import TSC, Explanation, Level, advice_for, compiled, took
from guestclock.verdict.quantities import duration

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


# High-resolution timers (kernel/time/hrtimer.c)


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
RULES = compiled(
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
    (r"hrtimer: interrupt took (?P<ns>\d+) ns", _hrtimer),
)
