"""A workbench for the clocks that guests of emulators and hypervisors see.

It answers, for a clock: does it go backwards, does it drift, does it lose ticks,
what does a read cost, and why.  Start at ``docs/architecture.md``.
"""

__version__ = "0.1.0"
