"""Exact chips.  A chip is told the time in cycles; it knows neither wall time nor machines."""

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.timeout_options import timeout_beats

__all__ = ["Mos6522", "timeout_beats"]
