"""Vectors as JSON: the published form (``schema/vectors.schema.json``)."""

import bisect
import json
import json.scanner
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
)
from guestclock.errors import BadInputError

FORMAT = "6522-vectors"
VERSION = 1
LICENCE = "CC0-1.0"


class _WrongError(ValueError):
    """Something wrong, and where in the document: indices and keys."""

    def __init__(self, message: str, *where: int | str) -> None:
        super().__init__(message)
        self.where = where


def read_json(text: str, name: str) -> list[Vector]:
    """Return the vectors of a JSON text; ``name`` is the file's, for errors.

    Raises :class:`BadInputError` naming file and line.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{name}:{error.lineno}: not JSON: {error.msg}") from None
    try:
        return list(_vectors(document))
    except _WrongError as error:
        raise BadInputError(f"{name}:{_line_of(text, error.where)}: {error}") from None


def _vectors(document: Any) -> Iterator[Vector]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _WrongError(f'not a file of vectors: "format" is not "{FORMAT}"')
    if document.get("version") != VERSION:
        raise _WrongError(f"version {document.get('version')!r}: only version {VERSION} is known")
    vectors = document.get("vectors")
    if not isinstance(vectors, list):
        raise _WrongError('"vectors" must be a list')
    for index, found in enumerate(vectors):
        if not isinstance(found, dict):
            raise _WrongError("a vector must be an object", "vectors", index)
        try:
            head = _head(found)
        except ValueError as error:
            raise _WrongError(str(error), "vectors", index) from None
        yield Vector(steps=tuple(_steps(found.get("steps"), index)), **head)


def _steps(found: Any, index: int) -> Iterator[Step]:
    if not isinstance(found, list):
        raise _WrongError('"steps" must be a list', "vectors", index)
    order = Order()
    for number, each in enumerate(found):
        try:
            step = _step(each)
            order.accept(step)
        except ValueError as error:
            raise _WrongError(str(error), "vectors", index, "steps", number) from None
        yield step


def _head(found: Mapping[str, Any]) -> dict[str, Any]:
    unknown = found.keys() - {*_TEXTS, "steps", "chips", "fact", "hardware_run"}
    if unknown:
        raise ValueError(f"a vector has no {', '.join(sorted(unknown))}")
    for key in _TEXTS:
        if not isinstance(found.get(key), str):
            raise ValueError(f'"{key}" must be text')
    if not found["name"] or set(found["name"]) & set(" \t\n#"):
        raise ValueError(f"name {found['name']!r} must be one word")
    _one_of(found, "feature", FEATURES)
    _one_of(found, "grade", GRADES)
    chips = found.get("chips")
    if not isinstance(chips, list) or not chips or not set(chips) <= set(CHIPS):
        raise ValueError(f'"chips" must be a list of {" and ".join(CHIPS)}')
    run = found.get("hardware_run")
    if run is not None and not isinstance(run, str):
        raise ValueError('"hardware_run" must be text or null')
    fact = None if found.get("fact") is None else _integer(found, "fact", 99)
    return {key: found[key] for key in _TEXTS} | {"chips": tuple(chips), "fact": fact, "hardware_run": run}


_TEXTS = ("name", "feature", "claim", "grade", "source")


def _step(found: Any) -> Step:
    if not isinstance(found, dict):
        raise ValueError("a step must be an object")
    kinds = {"write", "read", "drive", "check", "reset"} & found.keys()
    allowed = {
        "write": {"cycle", "value"},
        "read": {"cycle", "value", "any_of", "mask"},
        "drive": {"cycle", "level"},
        "check": {"half", "value", "any_of", "mask"},
        "reset": {"cycle"},
    }
    if len(kinds) != 1:
        raise ValueError(f"a step has exactly one of {', '.join(allowed)}")
    (kind,) = kinds
    if unknown := found.keys() - allowed[kind] - {kind}:
        raise ValueError(f"a {kind} has no {', '.join(sorted(unknown))}")
    if kind == "check":
        pin = _one_of(found, "check", OUTPUTS)
        return Check(_integer(found, "half", 2**63), pin, *_expected(found, 0xFF if pin in PORTS else 1))
    cycle = _integer(found, "cycle", 2**62)
    if kind == "write":
        return Write(cycle, _integer(found, "write", 15), _integer(found, "value", 0xFF))
    if kind == "read":
        return Read(cycle, _integer(found, "read", 15), *_expected(found, 0xFF))
    if kind == "drive":
        pin = _one_of(found, "drive", INPUTS)
        return Drive(cycle, pin, _integer(found, "level", 0xFF if pin in PORTS else 1))
    return Reset(cycle)


def _expected(found: Mapping[str, Any], full: int) -> tuple[tuple[int, ...], int]:
    mask = _integer(found, "mask", 0xFF) if "mask" in found else 0xFF
    if "any_of" in found:
        values = found["any_of"]
        if "value" in found or not isinstance(values, list) or len(values) < 2:
            raise ValueError('"any_of" is a list of two values or more, in the place of "value"')
        return tuple(_integer({"any_of": value}, "any_of", full) for value in values), mask
    return ((_integer(found, "value", full),) if "value" in found else ()), mask


def _integer(found: Mapping[str, Any], key: str, most: int) -> int:
    value = found.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f'"{key}" must be a whole number from 0 to {most}, not {json.dumps(value)}')
    return value


def _one_of(found: Mapping[str, Any], key: str, words: tuple[str, ...]) -> str:
    if found.get(key) not in words:
        raise ValueError(f'"{key}" must be one of {", ".join(words)}, not {json.dumps(found.get(key))}')
    return str(found[key])


class _Located(dict[str, Any]):
    """An object of a document, and the line on which it begins."""

    line = 1


def _line_of(text: str, where: tuple[int | str, ...]) -> int:
    """Return the line of the innermost object on the way to a place in a JSON text."""
    ends = [index for index, character in enumerate(text) if character == "\n"]
    decoder = json.JSONDecoder()

    def parse_object(position: tuple[str, int], *context: Any) -> tuple[_Located, int]:
        found, end = json.decoder.JSONObject(position, *context)  # type: ignore[attr-defined]
        located = _Located(found)
        located.line = bisect.bisect_left(ends, position[1] - 1) + 1
        return located, end

    decoder.parse_object = parse_object  # type: ignore[attr-defined]
    decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    node = decoder.decode(text)
    line = 1
    for key in where:
        node = node[key]
        line = getattr(node, "line", line)
    return line


def write_json(vectors: Iterable[Vector]) -> str:
    """Return vectors as JSON text that :func:`read_json` takes back, nothing lost: one step a line."""
    return (
        f'{{\n"format": "{FORMAT}",\n"version": {VERSION},\n"licence": "{LICENCE}",\n"vectors": [\n'
        + ",\n".join(_vector_text(vector) for vector in vectors)
        + "\n]\n}\n"
    )


def _vector_text(vector: Vector) -> str:
    head = {
        "name": vector.name,
        "feature": vector.feature,
        "chips": list(vector.chips),
        "fact": vector.fact,
        "claim": vector.claim,
        "grade": vector.grade,
        "source": vector.source,
        "hardware_run": vector.hardware_run,
    }
    lines = [f" {json.dumps(key)}: {_dump(value)}" for key, value in head.items()]
    steps = ",\n".join(f"  {_dump(step_object(step))}" for step in vector.steps)
    return "{\n" + ",\n".join(lines) + f',\n "steps": [\n{steps}\n ]\n}}'


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def step_object(step: Step) -> dict[str, Any]:
    """Return a step as JSON has it."""
    match step:
        case Write(cycle, register, value):
            return {"cycle": cycle, "write": register, "value": value}
        case Read(cycle, register):
            return {"cycle": cycle, "read": register} | _expected_object(step)
        case Drive(cycle, pin, level):
            return {"cycle": cycle, "drive": pin, "level": level}
        case Check(half, pin):
            return {"half": half, "check": pin} | _expected_object(step)
        case Reset(cycle):
            return {"cycle": cycle, "reset": True}


def _expected_object(step: Read | Check) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if len(step.values) == 1:
        values["value"] = step.values[0]
    elif step.values:
        values["any_of"] = list(step.values)
    return values if step.mask == 0xFF else values | {"mask": step.mask}
