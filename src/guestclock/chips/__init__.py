"""Exact chips.  A chip is told the time in cycles; it knows neither wall time nor machines."""

from guestclock.chips.mos6522 import Mos6522

__all__ = ["Mos6522"]
