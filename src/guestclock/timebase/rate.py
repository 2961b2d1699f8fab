# cython: annotation_typing=False, cdivision=True
"""Exact conversion between cycles of a rate and nanoseconds.

Cycle *c* spans the instants from c / rate to (c + 1) / rate.  Both functions are exact for any
rational rate: the rate is kept as *cycles* per *ns*, reduced (783360 Hz is 306 per 390625 ns), and
whole groups are split off before multiplying, so nothing overflows and nothing drifts.
"""

from fractions import Fraction

import cython

NS_PER_S = 1_000_000_000

# The largest instant that the conversions take: 146 years.
NS_MAX = 2**62


class Rate:
    """A frequency of ``hz`` cycles a second, any positive rational.

    >>> phi2 = Rate(783360)
    >>> phi2.start_ns(1), phi2.cycle_at(1276), phi2.cycle_at(1277)
    (1277, 0, 1)
    >>> Rate(Fraction(10**9, 16625800)).start_ns(60)  # the Macintosh's 60.15 Hz
    997548000

    Raises :class:`ValueError` for a rate that is not positive, or finer than 64-bit arithmetic
    carries exactly (numerator or denominator, reduced against ns, over 2^31).
    """

    def __init__(self, hz: int | Fraction) -> None:
        """Take ``hz``, cycles a second."""
        rate = Fraction(hz)
        if rate <= 0:
            raise ValueError(f"{hz} Hz is not a rate: give a positive number of cycles a second")
        per_ns = rate / NS_PER_S
        if max(per_ns.numerator, per_ns.denominator) >= 2**31:
            raise ValueError(f"{hz} Hz is finer than 31-bit ratios of cycles to ns: round it to fewer digits")
        self.hz = rate
        self._cycles_64 = per_ns.numerator
        self._ns_64 = per_ns.denominator

    def cycle_at(self, ns: int) -> int:
        """Return the cycle that contains the instant ``ns`` (0 to 2^62): rounded down."""
        groups = cython.declare(cython.longlong, ns // self._ns_64)
        rest = cython.declare(cython.longlong, ns - groups * self._ns_64)
        return groups * self._cycles_64 + rest * self._cycles_64 // self._ns_64

    def start_ns(self, cycle: int) -> int:
        """Return the first whole ns that lies in ``cycle`` (not before 0): rounded up."""
        groups = cython.declare(cython.longlong, cycle // self._cycles_64)
        rest = cython.declare(cython.longlong, cycle - groups * self._cycles_64)
        return groups * self._ns_64 + (rest * self._ns_64 + self._cycles_64 - 1) // self._cycles_64


class CycleCursor:
    """The current cycle of a clock that only moves forward: no division while it moves by a few cycles.

    ``cycle`` spans ``start_ns`` (its first whole ns) to ``end_ns`` (the first of the next one).

    >>> cursor = CycleCursor(Rate(783360))
    >>> cursor.seek_ns(3000), cursor.start_ns, cursor.end_ns
    (2, 2554, 3830)
    """

    def __init__(self, rate: Rate) -> None:
        """Start in cycle 0."""
        self.rate = rate
        self._whole_ns = self.rate._ns_64 // self.rate._cycles_64
        self._rest = self.rate._ns_64 % self.rate._cycles_64
        self._place(0)

    def _place(self, cycle: int) -> None:
        self.cycle = cycle
        self.start_ns = self.rate.start_ns(cycle)
        self.end_ns = self.rate.start_ns(cycle + 1)
        # end_ns is (cycle + 1) * ns / cycles, rounded up by this much, in units of 1 / cycles ns
        groups = cython.declare(cython.longlong, (cycle + 1) // self.rate._cycles_64)
        left = cython.declare(cython.longlong, cycle + 1 - groups * self.rate._cycles_64)
        self._end_rest = (left * self.rate._ns_64 + self.rate._cycles_64 - 1) % self.rate._cycles_64

    def _step(self) -> None:
        self.cycle += 1
        self.start_ns = self.end_ns
        self.end_ns += self._whole_ns
        self._end_rest += self._rest
        if self._end_rest >= self.rate._cycles_64:
            self._end_rest -= self.rate._cycles_64
            self.end_ns += 1

    def seek_ns(self, ns: int) -> int:
        """Move to the cycle that contains ``ns`` if that is later; return the current cycle."""
        if ns >= self.end_ns:
            if ns - self.end_ns < 8 * self._whole_ns:
                while ns >= self.end_ns:
                    self._step()
            else:
                self._place(self.rate.cycle_at(ns))
        return self.cycle

    def seek_cycle(self, cycle: int) -> int:
        """Move to ``cycle`` if that is later; return the current cycle's ``start_ns``."""
        if cycle > self.cycle:
            if cycle - self.cycle < 8:
                while cycle > self.cycle:
                    self._step()
            else:
                self._place(cycle)
        return self.start_ns
