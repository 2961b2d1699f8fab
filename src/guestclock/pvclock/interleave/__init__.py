"""Readers and hypervisors against each other, in every order that a machine may show.

``questions.interleave`` puts the question; ``hypervisor`` says what updates promise, ``models`` what
a machine keeps in order, ``machine`` makes the moves, ``explorer`` tries them all.
"""

from guestclock.pvclock.interleave.hypervisor import HYPERVISORS
from guestclock.pvclock.interleave.models import MODELS
from guestclock.pvclock.interleave.questions import Result, interleave
from guestclock.pvclock.interleave.schedule import Row

__all__ = ["HYPERVISORS", "MODELS", "Result", "Row", "interleave"]
