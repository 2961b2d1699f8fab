"""The three tables that every source fills: readings, events, histograms (``docs/tables.md``)."""

from guestclock.readings.builder import TablesBuilder
from guestclock.readings.schema import EVENTS, HISTOGRAMS, READINGS, SCHEMA_VERSION, UNKNOWN, EventKind
from guestclock.readings.storage import load, save
from guestclock.readings.tables import Tables

__all__ = [
    "EVENTS",
    "HISTOGRAMS",
    "READINGS",
    "SCHEMA_VERSION",
    "UNKNOWN",
    "EventKind",
    "Tables",
    "TablesBuilder",
    "load",
    "save",
]
