"""Numbers as people read them: three digits and a fitting unit.  The one place that formats any."""

_UNITS = ((1, "ns"), (1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s"))
_MINUS = "−"


def _three_digits(value: float) -> str:
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def duration(ns: float) -> str:
    """Return a duration in the unit that leaves one to three digits before the point.

    >>> duration(63), duration(63.42), duration(-9_812_345), duration(999_600), duration(5_482_751_000_000)
    ('63 ns', '63.4 ns', '−9.81 ms', '1.00 ms', '5,483 s')
    """
    size = abs(ns)
    sign = _MINUS if ns < 0 else ""
    if isinstance(ns, int) and size < 1_000:
        return f"{sign}{size} ns"
    for scale, unit in _UNITS:
        if size < 999.5 * scale or unit == "s":
            return f"{sign}{_three_digits(size / scale)} {unit}"
    raise AssertionError("the last unit takes everything")


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a whole number with separators, and the noun it counts.

    >>> count(12_345_678), count(1, "tick"), count(2, "tick"), count(0, "loss", "losses")
    ('12,345,678', '1 tick', '2 ticks', '0 losses')
    """
    figure = f"{number:,}".replace("-", _MINUS)
    if not noun:
        return figure
    return f"{figure} {noun if number == 1 else plural or noun + 's'}"


def times(number: int) -> str:
    """Return how often something happened.

    >>> times(1), times(12)
    ('once', '12 times')
    """
    return "once" if number == 1 else f"{count(number)} times"


def rate(ppm: float) -> str:
    """Return a rate error with its sign.

    >>> rate(0.0004), rate(-35.879), rate(123_456.0)
    ('+0.000 ppm', '−35.879 ppm', '+123,456 ppm')
    """
    digits = 3 if abs(ppm) < 1_000 else 0
    return f"{ppm:+,.{digits}f} ppm".replace("-", _MINUS)
