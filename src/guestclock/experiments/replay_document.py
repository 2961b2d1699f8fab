"""A machine stopped before a backward step, as plain data (``docs/json.md``)."""

from dataclasses import asdict
from typing import Any

from guestclock.experiments.happenings import flags_text
from guestclock.experiments.replay import ChipState, Stopped

SCHEMA = "guestclock.replay"
SCHEMA_VERSION = 1


def as_json(stopped: Stopped) -> dict[str, Any]:
    """Return the step, the machine as it stands before it, and the timeline around."""
    moment = stopped.moment
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "step": asdict(stopped.step) | {"stepped_ns": stopped.step.after_ns - stopped.step.before_ns},
        "stopped": {
            "before_access": stopped.access,
            "guest_ns": moment.guest_ns,
            "host_ns": moment.host_ns,
            "cycle": moment.cycle,
            "code_bytes": moment.code_bytes,
            "interrupt_level": moment.interrupt_level,
            "interrupt_mask": moment.interrupt_mask,
        },
        "chips": {"via1": _chip(moment.via1), "via2": _chip(moment.via2)},
        "past": [asdict(what) for what in moment.past],
        "coming": [asdict(what) for what in stopped.coming],
    }


def _chip(state: ChipState) -> dict[str, Any]:
    read = state.registers
    return {
        "t1_counter": read["T1CH"] << 8 | read["T1CL"],
        "t1_latch": read["T1LH"] << 8 | read["T1LL"],
        "t2_counter": read["T2CH"] << 8 | read["T2CL"],
        "t2_latch": state.t2_latch,
        "flags": flags_text(read["IFR"]),
        "enabled": flags_text(read["IER"]),
        "irq": state.irq,
        "registers": read,
    }
