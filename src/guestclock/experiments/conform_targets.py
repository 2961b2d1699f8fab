"""From the name of a target to the target."""

from guestclock.chips.qemu_deviations import SETS
from guestclock.conformance.program_target import ProgramTarget
from guestclock.conformance.qemu_model import QemuModel
from guestclock.conformance.targets import Target, model, python_object, stepwise
from guestclock.errors import BadInputError
from guestclock.experiments.qemu_conform import QemuConform

TIMEOUT_S = 5.0


def open_target(name: str, variant: str, timeout_s: float = TIMEOUT_S) -> Target:
    """Start ``model[:NAME]``, ``qemu[:PATH][,via=2]``, ``exec:COMMAND`` or ``MODULE:FACTORY``.

    NAME is ``stepwise`` or a set of QEMU's deviations, ``qemu-7.2`` for example.

    Raises :class:`BadInputError` for a name that is none of these and :class:`UnavailableError` if the
    target cannot start.
    """
    kind, _, rest = name.partition(":")
    if kind == "exec":
        return ProgramTarget(rest, timeout_s)
    if kind.partition(",")[0] == "qemu":
        return QemuConform(name)
    if kind != "model":
        return python_object(name, variant, timeout_s)
    if name == "model":
        return model(variant)
    if rest == "stepwise":
        return stepwise(variant)
    if not SETS.get(rest):
        names = ", ".join(known for known, deviations in SETS.items() if deviations)
        raise BadInputError(f"target {name!r}: there are model, model:stepwise, and model: with {names}")
    return QemuModel(rest, timeout_s)
