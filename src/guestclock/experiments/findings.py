"""What an examination means: findings in plain words, worst first, each with consequence and remedy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from guestclock.experiments.doctor import PVCLOCK_PAGE, Examination
from guestclock.experiments.figures import Figures
from guestclock.host.clocks import CLOCKS, MONOTONIC, RAW
from guestclock.verdict.quantities import count, duration, rate, times

SWITCH = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
WITH_VDSO = frozenset(
    {
        "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter", "timebase", "tod",
        "riscv_clocksource", "Constant",
    }
)  # fmt: skip
"""Clocksources that the vDSO can read (kvm-clock and xen: while the hypervisor vouches for the TSC)."""
TRAPPED_NS = 300.0
"""A TSC read takes some ten ns; a trap into a hypervisor takes a thousand."""
COARSE_NS = 1_000
NOTABLE_JUMP_NS = 1_000_000.0
NOTABLE_PPM = 200.0
"""A time daemon slews by at most 500 ppm and rarely by half of that."""


class Level(IntEnum):
    """How bad a finding is; the worst come first."""

    FAULT = 3
    """A clock does what a clock must not do."""
    SLOW = 2
    """Reads cost more than they need to."""
    RISK = 1
    """Right now, but a known event will disturb it."""
    NOTE = 0


@dataclass(frozen=True)
class Finding:
    """One thing to know: what is so, what follows, and what to do about it."""

    level: Level
    title: str
    consequence: str
    remedy: str


def findings(found: Examination) -> list[Finding]:
    """Return all findings, worst first; at least one."""
    figures = Figures.of(found)
    everything = [finding for check in CHECKS for finding in check(found, figures)]
    everything.sort(key=lambda finding: -finding.level)
    if all(finding.level is Level.NOTE for finding in everything):
        everything.insert(0, _all_well(found, figures))
    return everything


def _all_well(found: Examination, figures: Figures) -> Finding:
    read = figures.least_ns("CLOCK_MONOTONIC")
    clocks = {clock.name for clock in CLOCKS}
    looks = sum(seen.reads for name, seen in found.steps.items() if name in clocks)
    steps = f"no clock went back in {count(looks, 'read')}" if looks else "no reads could be compared"
    costs = "" if read is None else f" and costs {duration(read)} a read"
    return Finding(
        Level.NOTE,
        f"No fault was found: {steps}, and clocksource"
        f" {found.identity.clocksource or 'unknown'} serves well{costs}.",
        "Programs can trust CLOCK_MONOTONIC on this machine.",
        "Nothing to do.",
    )


# ---- steps ------------------------------------------------------------------------------------------


def _clocks_that_step(found: Examination, figures: Figures) -> Iterator[Finding]:
    settable = {clock.name for clock in CLOCKS if clock.settable}
    for clock in CLOCKS:
        steps = figures.steps.get(clock.name)
        if clock.name not in found.steps or steps is None or not steps.backward.count:
            continue
        backward = steps.backward
        yield Finding(
            Level.RISK if clock.name in settable else Level.FAULT,
            f"{clock.name} went back {times(backward.count)} in"
            f" {count(figures.compared[clock.name], 'read')}, worst {duration(backward.worst_ns)}"
            f" ({_where(found, clock.name)}).",
            "A program that subtracts two readings can get a negative duration.",
            "Was it set meanwhile? If not, report it with `guestclock doctor --json`."
            if clock.name in settable
            else _other_clocksource(found, "Report it with `guestclock doctor --json`; until then"),
        )


def _tsc_steps(found: Examination, figures: Figures) -> Iterator[Finding]:
    for name in ("lfence_rdtsc", "rdtscp"):
        steps = figures.steps.get(name)
        if name not in found.steps or steps is None or not steps.backward.count:
            continue
        used = found.identity.clocksource == "tsc"
        yield Finding(
            Level.FAULT if used else Level.RISK,
            f"The CPUs' TSCs are not in step: {name.replace('_', '; ')} went back"
            f" {times(steps.backward.count)}, worst {duration(steps.backward.worst_ns)}"
            f" ({_where(found, name)}).",
            "Time goes back when a thread moves between CPUs."
            if used
            else "Only programs that read the TSC themselves are hit.",
            _other_clocksource(found, "Boot with tsc=unstable, or")
            if used
            else "Do not switch to clocksource tsc.",
        )
        return


def _bare_tsc(found: Examination, figures: Figures) -> Iterator[Finding]:
    steps = figures.steps.get("rdtsc")
    if "rdtsc" in found.steps and steps is not None and steps.backward.count:
        yield Finding(
            Level.NOTE,
            f"rdtsc without a barrier went back {times(steps.backward.count)} in"
            f" {count(figures.compared['rdtsc'], 'read')}, worst {duration(steps.backward.worst_ns)};"
            " this is how processors work.",
            "The processor reads the TSC before older loads are done.",
            "Order it: lfence before rdtsc, or rdtscp. The kernel and the vDSO do.",
        )


def _where(found: Examination, name: str) -> str:
    groups = [
        group
        for group, results in found.steps[name].groups.items()
        if any(result.steps for result in results)
    ]
    shown = " ".join("–".join(str(cpu) for cpu in group) for group in groups[:3])
    return f"CPUs {shown}{' …' if len(groups) > 3 else ''}"


def _other_clocksource(found: Examination, lead: str) -> str:
    others = [name for name in found.identity.clocksources if name != found.identity.clocksource]
    if not others:
        return f"{lead} there is no other clocksource to take."
    return f"{lead} take another clocksource, as root: echo {others[0]} > {SWITCH}"


# ---- cost ---------------------------------------------------------------------------------------------


def _system_calls(found: Examination, figures: Figures) -> Iterator[Finding]:
    if not figures.enters_kernel(MONOTONIC):
        return
    identity = found.identity
    read = figures.least_ns("CLOCK_MONOTONIC") or 0.0
    source = identity.clocksource
    if source is not None and source not in WITH_VDSO:
        better = next((name for name in ("tsc", "kvm-clock") if name in identity.clocksources), None)
        yield Finding(
            Level.SLOW,
            f"clock_gettime costs {duration(read)} because clocksource {source} has no vDSO path:"
            " every call enters the kernel.",
            "Programs that read the clock often lose time, and virtual devices such as hpet and acpi_pm leave"
            " the guest on top.",
            f"As root: echo {better} > {SWITCH}; for good: clocksource={better} on the kernel's command line."
            if better
            else "The kernel offers neither tsc nor kvm-clock: dmesg says why ('Marking TSC unstable').",
        )
    elif not found.vdso:
        yield Finding(
            Level.SLOW,
            f"clock_gettime costs {duration(read)} because this process has no vDSO.",
            "Every read of a clock is a system call.",
            "Look for vdso=0 on the kernel's command line, or a sandbox that hides the vDSO.",
        )
    else:
        stable = found.page is None or found.page.tsc_stable
        yield Finding(
            Level.SLOW,
            f"clock_gettime costs {duration(read)}: the vDSO is there, but enters the kernel for clocksource"
            f" {source or 'unknown'}.",
            "Every read of a clock is a system call.",
            "Is the process traced, sandboxed (gVisor) or in another time namespace?"
            if stable
            else "The hypervisor does not vouch for the TSC (TSC_STABLE is clear): its host's TSC or the VM's"
            " migration is the cause.",
        )


def _some_system_calls(_found: Examination, figures: Figures) -> Iterator[Finding]:
    if figures.enters_kernel(MONOTONIC) is not False:
        return
    slow = [clock.name for clock in CLOCKS if not clock.cpu_time and figures.enters_kernel(clock)]
    if slow:
        yield Finding(
            Level.SLOW,
            f"{', '.join(slow)} {'costs' if len(slow) == 1 else 'cost'} a system call;"
            " CLOCK_MONOTONIC does not.",
            f"A read costs {duration(max(figures.least_ns(name) or 0.0 for name in slow))}.",
            "Read CLOCK_MONOTONIC where it serves; newer kernels read more clocks in the vDSO.",
        )


def _trapped_tsc(_found: Examination, figures: Figures) -> Iterator[Finding]:
    read = figures.least_ns("rdtsc")
    if read is not None and read > TRAPPED_NS:
        yield Finding(
            Level.SLOW,
            f"Reading the TSC costs {duration(read)}: the hypervisor intercepts or emulates it.",
            "Every clock that is made from the TSC costs at least that.",
            "Migration to a host with another TSC frequency causes it, or an emulator: see the hypervisor's"
            " TSC scaling and offsetting.",
        )


def _kvm_clock_or_tsc(found: Examination, figures: Figures) -> Iterator[Finding]:
    pvclock, plain = figures.least_ns("pvclock_one"), figures.least_ns("tsc_clocksource")
    if pvclock is None or plain is None or found.page is None:
        return
    used = found.identity.clocksource
    if used not in {"kvm-clock", "tsc"}:
        return
    yield Finding(
        Level.NOTE,
        f"A read in the shape of kvm-clock costs {duration(pvclock)}, in that of tsc {duration(plain)}"
        f" ({pvclock / plain:.2f} to 1); this machine uses {used}.",
        "The reader of 2014 (two barriers, two getcpu) would cost"
        f" {duration(figures.least_ns('pvclock_2014') or 0.0)}.",
        "Speed is no reason to switch." if pvclock < 1.25 * plain else f"tsc is faster: echo tsc > {SWITCH}",
    )


def _coarse_clock(found: Examination, _figures: Figures) -> Iterator[Finding]:
    step = found.resolution_ns.get("CLOCK_MONOTONIC", 0)
    if step >= COARSE_NS:
        yield Finding(
            Level.SLOW,
            f"CLOCK_MONOTONIC advances in steps of {duration(step)}.",
            "Shorter durations cannot be told apart.",
            "Take a clocksource with a higher frequency; jiffies and acpi_pm are coarse.",
        )


def _python_price(_found: Examination, figures: Figures) -> Iterator[Finding]:
    python, read = figures.least_ns("time.monotonic_ns()"), figures.least_ns("CLOCK_MONOTONIC")
    if python is not None and read is not None and read < 0.8 * python:
        yield Finding(
            Level.NOTE,
            f"From Python a read costs {duration(python)}, at C speed {duration(read)}.",
            "Most of what a Python program pays for a read is Python.",
            "Nothing to do.",
        )


# ---- rates and jumps ------------------------------------------------------------------------------------


def _page(found: Examination, _figures: Figures) -> Iterator[Finding]:
    page = found.page
    if page is None:
        return
    used = found.identity.clocksource == "kvm-clock"
    if not page.tsc_stable:
        yield Finding(
            Level.RISK,
            "The pvclock page is not TSC_STABLE: the vCPUs' TSCs are not in step.",
            "kvm-clock costs a system call and is clamped to a global last value.",
            "The host must run on clocksource tsc, and the guest's TSCs must not be set apart.",
        )
    notable = used and abs(page.jump_at_next_update_ns) >= NOTABLE_JUMP_NS
    yield Finding(
        Level.RISK if notable else Level.NOTE,
        f"kvm-clock runs {_ppb(page.rate_error_ppb)} against its host, by rounding alone (TSC at"
        f" {page.tsc_khz / 1e6:.4g} GHz).",
        f"The master clock was last updated {duration(page.since_update_s * 1e9)} ago: at the next update the"
        f" clock jumps by {duration(page.jump_at_next_update_ns)}"
        f" ({duration(page.jump_per_day_ns)} for each day without one)"
        + ("." if used else ", which this machine does not notice: its clocksource is another."),
        "Take clocksource tsc, which no update touches." if notable else "Nothing to do.",
    )


def _ppb(value: float) -> str:
    return f"{value:+.1f} ppb".replace("-", "−")


def _rates(found: Examination, figures: Figures) -> Iterator[Finding]:
    coarse = {clock.name for clock in CLOCKS if clock.coarse}
    for name, offsets in figures.drifts.items():
        ppm = offsets.rate_ppm
        if name in coarse | {RAW.name, PVCLOCK_PAGE} or ppm is None or abs(ppm) < 0.5:
            continue
        far = abs(ppm) > NOTABLE_PPM
        yield Finding(
            Level.RISK if far else Level.NOTE,
            f"{name} runs at {rate(ppm)} against CLOCK_MONOTONIC_RAW.",
            "A time daemon is steering it."
            if not far
            else "That is more than a time daemon does in the long run.",
            "Nothing to do." if not far else "Look at the time daemon (chronyc tracking, timedatectl).",
        )


# ---- the machine ----------------------------------------------------------------------------------------


def _tsc_flags(found: Examination, _figures: Figures) -> Iterator[Finding]:
    flags = found.identity.tsc_flags
    if flags is None or "tsc" not in flags or found.identity.clocksource != "tsc":
        return
    lacking = [flag for flag in ("constant_tsc", "nonstop_tsc") if flag not in flags]
    if lacking:
        yield Finding(
            Level.RISK,
            f"Clocksource tsc is in use, but the processor does not promise {' and '.join(lacking)}.",
            "The TSC may change its rate or stop in deep sleep.",
            "In a VM: have the hypervisor pass the invariant TSC (QEMU: -cpu host,+invtsc).",
        )


def _interpreted(found: Examination, _figures: Figures) -> Iterator[Finding]:
    if found.tsc is not None and found.tsc.cycles_per_turn > 20:
        yield Finding(
            Level.SLOW,
            f"Code is not run natively here: a turn of an empty loop takes {found.tsc.cycles_per_turn:.0f}"
            " cycles.",
            "No time on this machine says anything about a processor.",
            "Expect it under an emulator (TCG); under KVM it is a fault of the set-up.",
        )


def _noise(found: Examination, _figures: Figures) -> Iterator[Finding]:
    load = found.identity.load_average
    if load is not None and load > len(found.cpus):
        yield Finding(
            Level.NOTE,
            f"The machine is busy (load {load:.1f} on {count(len(found.cpus), 'CPU')}).",
            "Medians and percentiles are high; the minima hold.",
            "Measure again when it is idle.",
        )


def _extent(found: Examination, _figures: Figures) -> Iterator[Finding]:
    if len(found.cpus) < 2:
        yield Finding(
            Level.NOTE,
            "Only one CPU may be used, so CPUs could not be compared.",
            "Steps between CPUs stay unseen.",
            "Run without a CPU restriction (taskset, cpuset) to compare them.",
        )
    looked = min((len(steps.groups) for steps in found.steps.values()), default=0)
    if looked < found.groups:
        yield Finding(
            Level.NOTE,
            f"{count(looked)} of {count(found.groups)} CPUs and pairs of CPUs were compared in that time.",
            "Steps between the others stay unseen.",
            "Give it more time: guestclock doctor --seconds 60.",
        )


def _missing(found: Examination, _figures: Figures) -> Iterator[Finding]:
    for what in found.missing:
        yield Finding(Level.NOTE, f"Not looked at: {what}.", "", "")


CHECKS: tuple[Callable[[Examination, Figures], Iterator[Finding]], ...] = (
    _clocks_that_step,
    _tsc_steps,
    _system_calls,
    _some_system_calls,
    _trapped_tsc,
    _interpreted,
    _coarse_clock,
    _page,
    _rates,
    _tsc_flags,
    _kvm_clock_or_tsc,
    _python_price,
    _bare_tsc,
    _noise,
    _extent,
    _missing,
)
