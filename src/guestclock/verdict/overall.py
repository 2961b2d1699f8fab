"""All judgements together: one status, one sentence."""

from dataclasses import dataclass

from guestclock.readings import Tables
from guestclock.verdict import cost, drift, health, monotonicity, stability, ticks
from guestclock.verdict.quantities import count, duration, times


@dataclass(frozen=True)
class Verdict:
    """Every judgement on one run, whether all is good, and the sentence that says it."""

    monotonicity: monotonicity.Monotonicity
    ticks: ticks.Ticks
    drift: drift.Drift
    stability: stability.Stability
    cost: cost.Cost
    health: health.Health
    good: bool
    sentence: str

    @property
    def exit_status(self) -> int:
        """0 when all is good, 1 when the clock or the guest is at fault."""
        return 0 if self.good else 1


def judge(tables: Tables) -> Verdict:
    """Judge a run by its tables alone.

    A tick that the guest itself lost makes the clock as wrong as any other, so it is a fault too; the
    sentence names who lost it.  A run in which nothing was measured is not good: nobody can vouch for it.
    """
    steps = monotonicity.judge(tables)
    lost = ticks.judge(tables)
    kept = drift.judge(tables)
    ran = health.judge(tables)
    reads = _reads(tables)
    measured = bool(reads or lost.timers or steps.backward.count)
    return Verdict(
        monotonicity=steps,
        ticks=lost,
        drift=kept,
        stability=stability.judge(tables),
        cost=cost.judge(tables),
        health=ran,
        good=measured and steps.good and lost.good and kept.good and ran.good,
        sentence=_sentence(
            _clock(reads, steps, lost, kept, ran) if measured else "Nothing was measured", ran
        ),
    )


def _reads(tables: Tables) -> int:
    """Return how often clocks were read, by the witness that saw most."""
    compared = int(tables.histograms["count"].sum())
    called = int(tables.readings["calls"].sum())
    return max(compared, called, len(tables.readings))


def _sentence(clock: str, ran: health.Health) -> str:
    return f"{clock}." if ran.good else f"{clock}; {ran.sentence[0].lower()}{ran.sentence[1:]}"


def _clock(
    reads: int,
    steps: monotonicity.Monotonicity,
    lost: ticks.Ticks,
    kept: drift.Drift,
    ran: health.Health,
) -> str:
    if faults := _clock_faults(steps, lost, kept):
        return f"The clock {_listed(faults)}{_cause(lost, ran)}"
    return f"The clock never went back and lost nothing: {_figures(reads, lost, kept)}"


def _clock_faults(steps: monotonicity.Monotonicity, lost: ticks.Ticks, kept: drift.Drift) -> list[str]:
    faults = []
    if steps.backward.count:
        worst = duration(steps.backward.worst_ns)
        faults.append(f"went back {times(steps.backward.count)}, worst {worst}")
    if steps.forward.count:
        worst = duration(steps.forward.worst_ns)
        faults.append(f"jumped ahead {times(steps.forward.count)}, worst {worst}")
    if lost.lost:
        faults.append(f"lost {count(lost.lost, 'tick')}")
    elif lost.late_acknowledges:
        faults.append(f"had {count(lost.late_acknowledges, 'tick')} acknowledged late")
    if not kept.good:
        faults.append(f"ended {_against(kept)}")
    return faults


def _cause(lost: ticks.Ticks, ran: health.Health) -> str:
    """Return why ticks were lost, which is also why a tick-driven clock steps."""
    by_guest = sum(timer.lost_by_guest for timer in lost.timers)
    by_host = sum(timer.lost_by_host for timer in lost.timers)
    stalls = f" ({count(ran.stalls, 'stall')}, {duration(ran.stalled_ns)} in all)" if ran.stalls else ""
    guest = "the guest kept its timer interrupt masked"
    host = f"the host kept the guest from running{stalls}"
    if by_guest and by_host:
        return f", because {host} ({count(by_host)} of the ticks) and {guest} ({count(by_guest)})"
    if by_guest or by_host:
        return f", because {guest if by_guest else host}"
    return ""


def _figures(reads: int, lost: ticks.Ticks, kept: drift.Drift) -> str:
    figures = [count(reads, "read")]
    if lost.handled:
        figures.append(count(lost.handled, "tick"))
    if kept.final_offset_ns is not None:
        figures.append(f"{_against(kept)} at the end")
    return ", ".join(figures)


def _against(kept: drift.Drift) -> str:
    offset_ns = kept.final_offset_ns or 0
    name = "the host" if kept.reference == "host" else "true guest time"
    return f"{duration(abs(offset_ns))} {'behind' if offset_ns < 0 else 'ahead of'} {name}"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
