"""The fewest and shortest stalls with which a saved run still fails.

One stall alone is tried first, in the place of the last one before a step, or of the longest, and up to a few
reads of the clock later.  Where that does not do: delta debugging (Zeller and Hildebrandt, "Simplifying and
Isolating Failure-Inducing Input", 2002) over the stalls that the run suffered.  Then comes a search for the
shortest length of each.  A stall less moves all that comes after it, so another schedule may fail at another
place: that it fails is all that counts.  Every answer is a run that was made.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from guestclock.errors import BadInputError
from guestclock.experiments.saved_run import SavedRun, command_of
from guestclock.experiments.session import set_up
from guestclock.readings import EventKind, Tables
from guestclock.timebase.stalls import Stall, stalls_text
from guestclock.verdict import monotonicity, ticks
from guestclock.verdict.quantities import count

SCHEMA = "guestclock.shrink"
SCHEMA_VERSION = 1

# What a stall does to a clock that is being read shows within two ticks.  A fault that shows later is taken
# for none, which may leave a stall too many, never one too few.
AFTERMATH_NS = 200_000_000
# A length is found to this share of itself, and then made round.
SHARE = 32
# A guest that does nothing else reads its clock every microsecond or two, and a stall shows when it falls
# between two accesses of one read: about as long as two looks at the host's clock.
SHIFTS_NS = range(0, 3_000, 50)
RUNS_MAX = 200
ROUND_NS = (1_000_000, 100_000, 10_000, 1_000)

BACKWARD, LOST = "the clock goes back", "ticks are lost"


@dataclass(frozen=True)
class Shrunk:
    """A minimal schedule: without any one of its stalls, or with one much shorter, ``fault`` is gone.

    After RUNS_MAX runs it is only the smallest that was found.
    """

    fault: str
    stalls: tuple[Stall, ...]
    stalls_before: int
    runs: int
    command: str

    @property
    def stall(self) -> str | None:
        """The schedule as ``--stall`` takes it, None when none is needed."""
        return stalls_text(self.stalls) if self.stalls else None

    @property
    def sentence(self) -> str:
        """What was found."""
        if not self.stalls:
            return f"No stall is needed: {self.fault} without any."
        return (
            f"{count(len(self.stalls), 'stall')} of {count(self.stalls_before)} will do, after "
            f"{count(self.runs, 'run')}: {self.fault} with --stall {self.stall}"
        )

    def document(self) -> dict[str, Any]:
        """Return it as plain data (``docs/json.md``)."""
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "fault": self.fault,
            "stalls": [{"at_ns": at_ns, "for_ns": for_ns} for at_ns, for_ns in self.stalls],
            "stalls_before": self.stalls_before,
            "runs": self.runs,
            "stall": self.stall,
            "command": self.command,
        }


def shrink(saved: SavedRun, progress: Callable[[str], None] = lambda _line: None) -> Shrunk:
    """Reduce the stalls of a run that failed; ``progress`` gets a line for each step forward.

    Raises:
        BadInputError: the run suffered no stall, or neither went back nor lost a tick.
    """
    trials = _Trials(saved)
    stalls = tuple(saved.stalls)
    if not stalls:
        raise BadInputError("this run suffered no stall: there is nothing to shrink")
    if trials.fails(()):
        return _shrunk(trials, stalls, ())
    fewest = _until_first_fault(saved, trials.fault)
    progress(f"{count(len(fewest), 'stall')} until {trials.fault}")
    # Before a step the last one counts; ticks are lost in any that is long enough.
    at_ns, for_ns = fewest[-1] if trials.fault == BACKWARD else max(fewest, key=lambda stall: stall[1])
    alone = [((at_ns + shift_ns, for_ns),) for shift_ns in SHIFTS_NS]
    one = next(filter(trials.fails, alone), None)
    if one is not None:
        fewest = one
        progress(f"{stalls_text(one)} alone will do ({count(trials.runs, 'run')})")
    else:
        fewest = minimised(
            fewest,
            trials.fails,
            lambda fewer: progress(f"{count(len(fewer), 'stall')} will do ({count(trials.runs, 'run')})"),
        )
    for place in range(len(fewest)):
        fewest = shortened(fewest, place, trials.fails)
        progress(f"{stalls_text(fewest[place : place + 1])} is long enough ({count(trials.runs, 'run')})")
    return _shrunk(trials, stalls, fewest)


def _shrunk(trials: "_Trials", before: Sequence[Stall], stalls: tuple[Stall, ...]) -> Shrunk:
    plan = replace(trials.saved.plan, stall=stalls_text(stalls) if stalls else None)
    return Shrunk(trials.fault, stalls, len(before), trials.runs, command_of(plan, trials.saved.boot))


def _until_first_fault(saved: SavedRun, fault: str) -> tuple[Stall, ...]:
    """Return the stalls before the first step: what comes later had no part in it."""
    stalls = tuple(saved.stalls)
    steps = saved.tables.events_of(EventKind.BACKWARD)
    if fault == BACKWARD and len(steps):
        return tuple(stall for stall in stalls if stall[0] <= steps["host_ns"][0])
    return stalls


class _Trials:
    """Runs with other schedules, each made once."""

    def __init__(self, saved: SavedRun) -> None:
        self.saved = saved
        self.runs = 0
        self.fault = BACKWARD if _goes_back(saved.tables) else LOST
        self._has_fault = _goes_back if self.fault == BACKWARD else _loses_ticks
        if not self._has_fault(saved.tables):
            raise BadInputError("this run was good: its clock did not go back, and no tick was lost")
        self._known: dict[tuple[Stall, ...], bool] = {}

    def fails(self, stalls: tuple[Stall, ...]) -> bool:
        """Tell whether a run with these stalls, and no others, has the fault; no more after RUNS_MAX runs."""
        if stalls not in self._known:
            if self.runs == RUNS_MAX:
                return False
            self.runs += 1
            self._known[stalls] = self._run(stalls)
        return self._known[stalls]

    def _run(self, stalls: tuple[Stall, ...]) -> bool:
        """Run until the fault shows, or can no longer come of these stalls."""
        plan = replace(self.saved.plan, stall=stalls_text(stalls) if stalls else None)
        end_ns = sum(stalls[-1]) + AFTERMATH_NS if stalls else int(self.saved.tables.meta["host_run_ns"])
        with set_up(plan, self.saved.boot) as session:

            def look() -> None:
                seen = self.fault == BACKWARD and session.console.heard.backward_steps
                if seen or session.pacer.host_ns > end_ns:
                    session.machine.bus.stop_requested = True

            session.run(look)
            return self._has_fault(session.tables("shrinking"))


def _goes_back(tables: Tables) -> bool:
    return monotonicity.judge(tables).backward.count > 0


def _loses_ticks(tables: Tables) -> bool:
    return ticks.judge(tables).lost > 0


def minimised(
    stalls: tuple[Stall, ...],
    fails: Callable[[tuple[Stall, ...]], bool],
    progress: Callable[[tuple[Stall, ...]], None] = lambda _fewer: None,
) -> tuple[Stall, ...]:
    """Return stalls that still fail, of which none can be left out: each of n parts alone, then all but each.

    >>> minimised(((1, 1), (2, 1), (3, 1), (4, 1)), lambda some: {(2, 1), (3, 1)} <= set(some))
    ((2, 1), (3, 1))
    """
    parts = 2
    while len(stalls) > 1:
        bounds = list(pairwise(len(stalls) * part // parts for part in range(parts + 1)))
        pieces = [stalls[begin:end] for begin, end in bounds]
        rests = [] if parts == 2 else [stalls[:begin] + stalls[end:] for begin, end in bounds]
        piece = next(filter(fails, pieces), None)
        rest = None if piece is not None else next(filter(fails, rests), None)
        if piece is not None:
            stalls, parts = piece, 2
            progress(stalls)
        elif rest is not None:
            stalls, parts = rest, max(parts - 1, 2)
            progress(stalls)
        elif parts < len(stalls):
            parts = min(2 * parts, len(stalls))
        else:
            break
    return stalls


def shortened(
    stalls: tuple[Stall, ...], place: int, fails: Callable[[tuple[Stall, ...]], bool]
) -> tuple[Stall, ...]:
    """Return stalls that still fail, one of them as short as a bisection makes it, and then as round.

    >>> shortened(((5, 40_000_000),), 0, lambda some: some[0][1] > 3_141_592)
    ((5, 3300000),)
    """

    def with_length(for_ns: int) -> tuple[Stall, ...]:
        return (*stalls[:place], (stalls[place][0], for_ns), *stalls[place + 1 :])

    good_ns, bad_ns = 0, stalls[place][1]
    while bad_ns - good_ns > 1 + bad_ns // SHARE:
        middle_ns = (good_ns + bad_ns) // 2
        if fails(with_length(middle_ns)):
            bad_ns = middle_ns
        else:
            good_ns = middle_ns
    longest_ns = min(stalls[place][1], bad_ns + bad_ns // 8)
    rounded = (-(-bad_ns // unit_ns) * unit_ns for unit_ns in ROUND_NS)
    round_and_bad = (
        with_length(for_ns) for for_ns in rounded if for_ns <= longest_ns and fails(with_length(for_ns))
    )
    return next(round_and_bad, with_length(bad_ns))
