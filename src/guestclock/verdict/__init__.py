"""Judgements on a clock, computed from the tables and from nothing else.

One module a judgement, each with a ``judge(tables)`` that returns figures, ``good`` and one plain sentence;
:func:`judge` gives all of them together (``docs/tables.md``).
"""

from guestclock.verdict.overall import Verdict, judge

__all__ = ["Verdict", "judge"]
