"""From the name of a target to the target."""

from guestclock.conformance.program_target import ProgramTarget
from guestclock.conformance.targets import Target, model, python_object, stepwise

TIMEOUT_S = 5.0


def open_target(name: str, variant: str, timeout_s: float = TIMEOUT_S) -> Target:
    """Start ``model``, ``model:stepwise``, ``exec:COMMAND`` or ``MODULE:FACTORY``.

    Raises :class:`BadInputError` for a name that is none of these and :class:`UnavailableError` if the
    target cannot start.
    """
    if name == "model":
        return model(variant)
    if name == "model:stepwise":
        return stepwise(variant)
    if name.startswith("exec:"):
        return ProgramTarget(name.removeprefix("exec:"), timeout_s)
    return python_object(name, variant, timeout_s)
