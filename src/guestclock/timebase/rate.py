# cython: language_level=3, cdivision=True
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

    def cycle_at(self, ns: cython.longlong) -> cython.longlong:
        """Return the cycle that contains the instant ``ns`` (0 to 2^62): rounded down."""
        groups: cython.longlong = ns // self._ns_64
        rest: cython.longlong = ns - groups * self._ns_64
        return groups * self._cycles_64 + rest * self._cycles_64 // self._ns_64

    def start_ns(self, cycle: cython.longlong) -> cython.longlong:
        """Return the first whole ns that lies in ``cycle`` (not before 0): rounded up."""
        groups: cython.longlong = cycle // self._cycles_64
        rest: cython.longlong = cycle - groups * self._cycles_64
        return groups * self._ns_64 + (rest * self._ns_64 + self._cycles_64 - 1) // self._cycles_64
