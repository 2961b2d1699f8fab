"""Vectors as lines of text: the form in which recordings have long been kept, and what targets are sent.

::

    T t1.pin-falls-at-n+1.5        a vector begins: power-up, every input pin high
    @ fact 4                       what is known of it (optional): feature, fact, claim, grade, ...
    10 w 4 05                      cycle, write, register, value (hexadecimal)
    12 r 4 05                      cycle, read, register, value; - any; 40&c0 masked; 40|00 contested
    13 p pb bf                     from this cycle on pin or port has this level, driven from outside
    17.0 l irq 1                   in the first half of the cycle the pin has this level
    17.5 l irq 0                   in the second half
    20 x                           RES is pulled in this cycle
    E                              the vector ends; # begins a comment
"""

from collections.abc import Iterable, Iterator

from guestclock.conformance.vector import (
    CHIPS,
    FEATURES,
    GRADES,
    INPUTS,
    OUTPUTS,
    PORTS,
    Check,
    Drive,
    Order,
    Read,
    Reset,
    Step,
    Vector,
    Write,
    guess_feature,
)
from guestclock.errors import BadInputError

HALVES = {"0": 0, "5": 1}


def read_text(text: str, name: str) -> Iterator[Vector]:
    """Yield the vectors of a text; ``name`` is the file's, for errors.

    Raises :class:`BadInputError` naming file and line.
    """
    draft: _Draft | None = None
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if words[0] == "T":
                if draft is not None:
                    raise ValueError(f"vector {draft.name} has not ended: a line E is missing")
                draft = _Draft(words)
            elif draft is None:
                raise ValueError(f"{words[0]!r} stands outside a vector: a line 'T NAME' begins one")
            elif words == ["E"]:
                yield draft.vector()
                draft = None
            else:
                draft.take(words)
        except ValueError as error:
            raise BadInputError(f"{name}:{number}: {error}") from None
    if draft is not None:
        raise BadInputError(f"{name}:{number}: vector {draft.name} has not ended: a line E is missing")


class _Draft:
    """A vector of which not all lines have been read."""

    def __init__(self, words: list[str]) -> None:
        if len(words) != 2:
            raise ValueError("a vector begins with 'T NAME', the name being one word")
        self.name = words[1]
        self.known: dict[str, str] = {}
        self.steps: list[Step] = []
        self.order = Order()

    def take(self, words: list[str]) -> None:
        if words[0] == "@":
            if len(words) < 3 or words[1] not in _KNOWN:
                raise ValueError(f"'@ WORD VALUE' with one of {', '.join(_KNOWN)}")
            self.known[words[1]] = " ".join(words[2:])
            _known(self.known)
            return
        step = _step(words)
        self.order.accept(step)
        self.steps.append(step)

    def vector(self) -> Vector:
        feature = self.known.get("feature") or guess_feature(self.steps)
        fact, chips = _known(self.known)
        return Vector(
            self.name,
            tuple(self.steps),
            feature,
            fact,
            self.known.get("claim", ""),
            self.known.get("grade", "unstated"),
            self.known.get("source", ""),
            chips,
            self.known.get("hardware_run"),
        )


_KNOWN = ("feature", "fact", "claim", "grade", "source", "chips", "hardware_run")


def _known(known: dict[str, str]) -> tuple[int | None, tuple[str, ...]]:
    """Check what is known of a vector; return its fact and chips."""
    if known.get("feature", FEATURES[0]) not in FEATURES:
        raise ValueError(f"feature {known['feature']!r} is none of {', '.join(FEATURES)}")
    if known.get("grade", GRADES[0]) not in GRADES:
        raise ValueError(f"grade {known['grade']!r} is none of {', '.join(GRADES)}")
    chips = tuple(known.get("chips", " ".join(CHIPS)).split())
    if not set(chips) <= set(CHIPS):
        raise ValueError(f"chips {' '.join(chips)!r}: only {' and '.join(CHIPS)} are known")
    fact = known.get("fact")
    return (None if fact is None else _number(fact, 10, 99, "fact")), chips


def _step(words: list[str]) -> Step:
    match words:
        case [cycle, "w", register, value]:
            return Write(_cycle(cycle), _register(register), _byte(value))
        case [cycle, "r", register, value]:
            return Read(_cycle(cycle), _register(register), *_expected(value, 0xFF))
        case [cycle, "p", pin, level]:
            _pin(pin, INPUTS)
            return Drive(_cycle(cycle), pin, _level(pin, level))
        case [when, "l", pin, level]:
            _pin(pin, OUTPUTS)
            cycle, dot, half = when.partition(".")
            if not dot or half not in HALVES:
                raise ValueError(f"{when!r} is no half-cycle: a cycle and .0 (first half) or .5 (second)")
            return Check(2 * _cycle(cycle) + HALVES[half], pin, *_expected(level, _full(pin)))
        case [cycle, "x"]:
            return Reset(_cycle(cycle))
        case _:
            raise ValueError(f"{' '.join(words)!r} is not a line of a vector")


def _number(word: str, base: int, most: int, what: str) -> int:
    digits = "0123456789abcdef"[:base]
    if not word or set(word.lower()) - set(digits) or int(word, base) > most:
        limit = f"{most:x}" if base == 16 else str(most)
        raise ValueError(
            f"{what} {word!r} is no {'hexadecimal' if base == 16 else 'decimal'} number up to {limit}"
        )
    return int(word, base)


def _cycle(word: str) -> int:
    return _number(word, 10, 2**62, "cycle")


def _register(word: str) -> int:
    return _number(word, 16, 15, "register")


def _byte(word: str) -> int:
    return _number(word, 16, 0xFF, "value")


def _full(pin: str) -> int:
    return 0xFF if pin in PORTS else 1


def _level(pin: str, word: str) -> int:
    return _number(word, 16, _full(pin), f"level of {pin}")


def _pin(pin: str, pins: tuple[str, ...]) -> None:
    if pin not in pins:
        raise ValueError(f"pin {pin!r} is none of {', '.join(pins)}")


def _expected(word: str, full: int) -> tuple[tuple[int, ...], int]:
    if word == "-":
        return (), 0xFF
    alternatives, ampersand, mask = word.partition("&")
    values = tuple(_number(each, 16, full, "value") for each in alternatives.split("|"))
    return values, (_number(mask, 16, 0xFF, "mask") if ampersand else 0xFF)


def write_text(vectors: Iterable[Vector]) -> str:
    """Return vectors as text that :func:`read_text` takes back, nothing lost."""
    return "".join(f"{line}\n" for vector in vectors for line in _lines(vector))


def _lines(vector: Vector) -> Iterator[str]:
    yield f"T {vector.name}"
    yield f"@ feature {vector.feature}"
    for word in ("fact", "claim", "grade", "source", "hardware_run"):
        if getattr(vector, word) not in (None, ""):
            yield f"@ {word} {getattr(vector, word)}"
    yield f"@ chips {' '.join(vector.chips)}"
    yield from (step_line(step, expected_text(step)) for step in vector.steps)
    yield "E"


def questions(vector: Vector) -> str:
    """Return what an ``exec`` target is sent: the vector without what it is to find out."""
    lines = "".join(f"{step_line(step, '-')}\n" for step in vector.steps)
    return f"T {vector.name}\n{lines}E\n"


def step_line(step: Step, expected: str) -> str:
    """Return the line of a step; ``expected`` is what stands for the value of a read or a check."""
    match step:
        case Write(cycle, register, value):
            return f"{cycle} w {register:x} {value:02x}"
        case Read(cycle, register):
            return f"{cycle} r {register:x} {expected}"
        case Drive(cycle, pin, level):
            return f"{cycle} p {pin} {level:x}"
        case Check(half, pin):
            return f"{half // 2}.{5 * (half % 2)} l {pin} {expected}"
        case Reset(cycle):
            return f"{cycle} x"


def expected_text(step: Step) -> str:
    """Return the values that a step accepts, as text: ``-`` any, ``40|00`` contested, ``40&c0`` masked."""
    if not isinstance(step, Read | Check) or not step.values:
        return "-"
    width = 1 if isinstance(step, Check) and step.pin not in PORTS else 2
    values = "|".join(f"{value:0{width}x}" for value in step.values)
    return values if step.mask == 0xFF else f"{values}&{step.mask:02x}"
