"""What a kernel's messages about its clocks mean: what happened, by how much, and which clock to suspect.

>>> line = "Cycle offset (4294966426) is larger than the 'via1' clock's 50% safety margin (2147483647)"
>>> print(explain([line])[0].what)
via1 read 870 cycles (1.11 ms) less than at the kernel's last update: 4294966426 is −870 modulo 2^32.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from guestclock.linux import clock_messages, tsc_messages
from guestclock.linux.clock_facts import Known
from guestclock.linux.explanation import Explanation, Level
from guestclock.linux.kernel_log import Complaint, complaint
from guestclock.linux.watchdog_message import WatchdogBlock

SCHEMA = "guestclock.explain"
SCHEMA_VERSION = 1
TEXT_CHARS = 400


def explain(lines: Iterable[str]) -> list[Explanation]:
    """Return an explanation of every message about clocks, in their order.

    A message's facts (a clock's frequency, which one is in use) help to explain those after it.
    """
    known = Known()
    found: list[Explanation] = []
    block: WatchdogBlock | None = None
    for number, raw in enumerate(lines, 1):
        line = raw.strip()[:TEXT_CHARS]
        if block is not None:
            if block.takes(line):
                continue
            found.append(block.explanation(known))
            block = None
        block = WatchdogBlock.begun_by(line, number)
        if block is None and (explanation := _of_line(line, known)) is not None:
            found.append(explanation.at(number, line))
    if block is not None:
        found.append(block.explanation(known))
    return found


def _of_line(line: str, known: Known) -> Explanation | None:
    for pattern, rule in (*clock_messages.RULES, *tsc_messages.RULES):
        if match := pattern.search(line):
            return rule(match, known)
    if complaint(line) is Complaint.TIMEKEEPING:
        what = "The kernel complains about its time; this message holds no figures."
        return Explanation("complaint", Level.RISK, None, what)
    return None


def suspects(found: Iterable[Explanation]) -> dict[str, int]:
    """Return the clocks that faults point to, with the number of messages, most first."""
    return dict(
        Counter(each.suspect for each in found if each.level is Level.FAULT and each.suspect).most_common()
    )


def as_json(found: list[Explanation]) -> dict[str, Any]:
    """Return the explanations as plain data.  Good is a log without a fault."""
    good = all(each.level is not Level.FAULT for each in found)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": good,
        "exit_status": int(not good),
        "suspects": suspects(found),
        "explanations": [asdict(each) for each in found],
    }
