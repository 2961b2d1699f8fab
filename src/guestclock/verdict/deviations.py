"""MTIE, TDEV and Allan deviation of a clock's time error, and the even spacing that two of them need.

Definitions: ITU-T G.810 (MTIE); NIST SP 1065 (overlapping Allan deviation, and time deviation by way of the
modified Allan variance).  Throughout x is the time error, τ₀ the spacing of its points, and τ = m τ₀.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from guestclock.verdict.drift import fitted_ppm

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_RATE_READINGS = 60


def mtie_ns(time_ns: Ints, error_ns: Ints, taus_ns: Sequence[int]) -> list[int]:
    """Return the largest change of the error within any window as long as each τ, in ns.

    Takes readings as they come, evenly spaced or not (``time_ns`` must not fall, and there must be one at
    least), so no excursion falls between the points of a grid.

    >>> mtie_ns(np.array([0, 10, 12, 30]), np.array([0, 5, -2, 1]), [2, 11, 20, 30])
    [7, 7, 7, 7]
    """
    windows = [_windows(time_ns, tau) for tau in taus_ns]
    least, most = [int(each.min()) for each in windows], [int(each.max()) for each in windows]
    worst = [0] * len(taus_ns)
    # The extremes of each run of `length` readings, by doubling: two of these runs cover a window of less
    # than twice the length.  Evenly spaced, all windows of a τ are of one length, and each τ costs O(n).
    high = low = error_ns
    length = 1
    while length <= len(time_ns):
        for index, readings in enumerate(windows):
            if not least[index] // 2 < length <= most[index]:
                continue
            begin = np.flatnonzero((readings >= length) & (readings < 2 * length))
            second = begin + readings[begin] - length
            moved = np.maximum(high[begin], high[second]) - np.minimum(low[begin], low[second])
            worst[index] = max(worst[index], int(moved.max(initial=0)))
        high = np.maximum(high[:-length], high[length:])
        low = np.minimum(low[:-length], low[length:])
        length *= 2
    return worst


def _windows(time_ns: Ints, tau_ns: int) -> Ints:
    """Return how many readings there are within τ from each, up to the first window that holds the last."""
    last = int(np.searchsorted(time_ns, time_ns[-1] - tau_ns))
    ends = np.searchsorted(time_ns, time_ns[: last + 1] + tau_ns, side="right")
    counts: Ints = ends - np.arange(last + 1)
    return counts


def even(time_ns: Ints, error_ns: Ints) -> tuple[int, Floats]:
    """Return evenly spaced points made of readings, without their mean rate: τ₀ in ns, and x in ns.

    τ₀ is the longest gap between two readings: then each point has a reading at most τ₀/2 away, none is
    invented and none is averaged.  The point takes the nearest, moved to it along the fitted rate, which
    neither deviation sees.  Readings that are evenly spaced are taken as they are.

    There must be readings of two different times, and ``time_ns`` must not fall.

    >>> even(np.array([0, 10, 12, 20, 30]), np.array([0, 0, 0, 7, 0]))
    (10, array([0., 0., 7., 0.]))
    """
    since = time_ns - time_ns[0]
    spacing_ns = int(np.diff(since).max())
    points = np.arange(int(since[-1]) // spacing_ns + 1) * spacing_ns
    after = np.searchsorted(since, points)
    before = np.maximum(after - 1, 0)
    nearest = np.where(points - since[before] < since[after] - points, before, after)
    # No reading moves further than τ₀/2, so a rate from few of them does.
    few = slice(None, None, -(-len(since) // _RATE_READINGS))
    rate = (fitted_ppm(error_ns[few], time_ns[few]) or 0.0) / 1e6
    moved = (error_ns - error_ns[0]) - rate * since
    return spacing_ns, moved[nearest]


def adev(phase_ns: Floats, m: int, spacing_ns: int) -> float:
    """Return the overlapping Allan deviation at m τ₀, a fraction; needs 2 m + 1 points.

    >>> adev(np.array([0.0, 0.0, 2.0]), 1, 1)
    1.4142135623730951
    """
    return float(np.sqrt(np.mean(_second_difference(phase_ns, m) ** 2) / 2)) / (m * spacing_ns)


def tdev_ns(phase_ns: Floats, m: int) -> float:
    """Return the time deviation at m τ₀ in ns; needs 3 m points.

    >>> tdev_ns(np.array([0.0, 0.0, 6.0]), 1)
    2.449489742783178
    """
    sums = np.concatenate([[0.0], np.cumsum(phase_ns)])
    means = (sums[m:] - sums[:-m]) / m
    return float(np.sqrt(np.mean(_second_difference(means, m) ** 2) / 6))


def _second_difference(values: Floats, m: int) -> Floats:
    return values[2 * m :] - 2 * values[m:-m] + values[: -2 * m]
