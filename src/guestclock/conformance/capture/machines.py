"""The machines of the kit, by name: a new one is a module and a line here."""

from guestclock.conformance.capture.apple2 import APPLE2
from guestclock.conformance.capture.bbc import BBC, BBC_USER_PORT
from guestclock.conformance.capture.mac import MAC
from guestclock.conformance.capture.machine import Machine
from guestclock.conformance.capture.vic20 import VIC20, VIC20_USER_PORT
from guestclock.errors import BadInputError

MACHINES: dict[str, Machine] = {
    machine.name: machine for machine in (VIC20, VIC20_USER_PORT, BBC, BBC_USER_PORT, APPLE2, MAC)
}


def machine_named(name: str) -> Machine:
    """Return the machine of that name; BadInputError says which there are."""
    if name not in MACHINES:
        raise BadInputError(f"no machine {name!r} in the capture kit: there are {', '.join(MACHINES)}")
    return MACHINES[name]
