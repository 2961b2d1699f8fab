"""Vectors as JSON and as text: nothing is lost, and what is wrong is named with its line."""

import json
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guestclock.conformance.json_format import read_json, write_json
from guestclock.conformance.text_format import questions, read_text, write_text
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
    cycle_of,
    guess_feature,
    needs,
)
from guestclock.errors import BadInputError

SCHEMA = json.loads((files("guestclock.conformance") / "schema" / "vectors.schema.json").read_text())
BYTES = st.integers(0, 0xFF)
WORDS = st.from_regex(r"[a-zα0-9.+-]{1,9}( [a-z,]{1,5}){0,2}", fullmatch=True)


def expected(full: int) -> st.SearchStrategy[tuple[tuple[int, ...], int]]:
    values = st.lists(st.integers(0, full), max_size=3, unique=True).map(tuple)
    return values.flatmap(lambda v: st.tuples(st.just(v), BYTES if v else st.just(0xFF)))


def full(pin: str) -> int:
    return 0xFF if pin in PORTS else 1


@st.composite
def step_of(draw: st.DrawFn, cycle: int) -> list[Step]:
    """Draw what happens in one cycle, in order."""
    steps: list[Step] = []
    if draw(st.booleans()):
        pin = draw(st.sampled_from(INPUTS))
        steps.append(Drive(cycle, pin, draw(st.integers(0, full(pin)))))
    if draw(st.integers(0, 9)) == 0:
        steps.append(Reset(cycle))
    pin = draw(st.sampled_from(OUTPUTS))
    check = [Check(2 * cycle + half, pin, *draw(expected(full(pin)))) for half in (0, 1)]
    if draw(st.booleans()):
        steps.append(check[0])
    access = draw(st.sampled_from(["read", "write", "none"]))
    register = draw(st.integers(0, 15))
    if access == "read":
        steps.append(Read(cycle, register, *draw(expected(0xFF))))
    if draw(st.booleans()):
        steps.append(check[1])
    if access == "write":
        steps.append(Write(cycle, register, draw(BYTES)))
    return steps


@st.composite
def vectors(draw: st.DrawFn) -> Vector:
    cycles = sorted(draw(st.sets(st.integers(0, 2**40), max_size=5)))
    return Vector(
        draw(st.from_regex(r"[!-~]{1,20}", fullmatch=True).filter(lambda name: "#" not in name)),
        tuple(step for cycle in cycles for step in draw(step_of(cycle))),
        draw(st.sampled_from(FEATURES)),
        draw(st.none() | st.integers(0, 99)),
        draw(st.just("") | WORDS),
        draw(st.sampled_from(GRADES)),
        draw(st.just("") | WORDS),
        draw(st.sampled_from([CHIPS, CHIPS[:1], CHIPS[1:]])),
        draw(st.none() | WORDS),
    )


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(vectors(), max_size=2))
def test_both_forms_keep_everything(found: list[Vector]) -> None:
    assert read_json(write_json(found), "x.json") == found
    assert list(read_text(write_text(found), "x.txt")) == found
    jsonschema.validate(json.loads(write_json(found)), SCHEMA)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(vectors())
def test_questions_do_not_give_the_answers_away(vector: Vector) -> None:
    (asked,) = read_text(questions(vector), "x.txt")
    assert [type(step) for step in asked.steps] == [type(step) for step in vector.steps]
    assert [cycle_of(step) for step in asked.steps] == [cycle_of(step) for step in vector.steps]
    assert not any(step.values for step in asked.steps if isinstance(step, Read | Check))


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(vectors())
def test_steps_come_in_the_order_of_time(vector: Vector) -> None:
    order = Order()
    for step in vector.steps:
        order.accept(step)
    later = vector.steps[1:]
    for before, step in zip(vector.steps, later, strict=False):
        if cycle_of(step) > cycle_of(before):
            order = Order()
            order.accept(step)
            with pytest.raises(ValueError, match="cycle"):
                order.accept(before)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    properties = SCHEMA["$defs"]["vector"]["properties"]
    assert tuple(properties["feature"]["enum"]) == FEATURES
    assert tuple(properties["grade"]["enum"]) == GRADES
    steps = {step["title"].split()[-1]: step["properties"] for step in SCHEMA["$defs"]["step"]["oneOf"]}
    pins = [step[key]["enum"] for step in steps.values() for key in ("drive", "check") if key in step]
    assert pins == [list(INPUTS), list(OUTPUTS)]


BAD_TEXT = [
    ("T a\n10 w 4 05\n10 r 4 -\nE\n", 3, "cycle 10 is not after cycle 10: one bus access per φ2 cycle"),
    ("T a\n10 w 4 05\n9 p pb ff\nE\n", 3, "comes too late"),
    ("T a\n10 w 4 05\n10.5 l irq 1\nE\n", 3, "comes too late"),
    ("10 w 4 05\n", 1, "outside a vector"),
    ("T a\nT b\n", 2, "vector a has not ended"),
    ("T a\n10 w 4 05\n\n", 3, "vector a has not ended"),
    ("T a b\n", 1, "one word"),
    ("T a\n10 w 10 05\n", 2, "register '10'"),
    ("T a\n10 w 4 100\n", 2, "value '100'"),
    ("T a\n10 w 4 -\n", 2, "value '-'"),
    ("T a\nx w 4 00\n", 2, "cycle 'x'"),
    ("T a\n-1 w 4 00\n", 2, "cycle '-1'"),
    ("T a\n10 r 4 40&\n", 2, "mask ''"),
    ("T a\n10 r 4 40|\n", 2, "value ''"),
    ("T a\n10 p irq 0\n", 2, "pin 'irq'"),
    ("T a\n10 p ca1 2\n", 2, "level of ca1 '2'"),
    ("T a\n10 l irq 0\n", 2, "no half-cycle"),
    ("T a\n10.3 l irq 0\n", 2, "no half-cycle"),
    ("T a\n10 q 4 00\n", 2, "not a line of a vector"),
    ("T a\n@ colour red\n", 2, "'@ WORD VALUE'"),
    ("T a\n@ feature t3\n", 2, "feature 't3'"),
    ("T a\n@ grade good\n", 2, "grade 'good'"),
    ("T a\n@ chips z80\n", 2, "chips 'z80'"),
    ("T a\n@ fact x\n", 2, "fact 'x'"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_TEXT)
def test_bad_text(text: str, line: int, message: str) -> None:
    with pytest.raises(BadInputError) as caught:
        list(read_text(text, "x.txt"))
    assert str(caught.value).startswith(f"x.txt:{line}: ")
    assert message in str(caught.value)


GOOD = write_json(
    [
        Vector("first", (Write(1, 4, 5), Read(2, 4, (5,))), "t1"),
        Vector("second", (Drive(1, "pb", 0), Check(3, "irq", (1,)), Reset(4)), "t2", fact=3),
    ]
)


def changed(text: str, old: str, new: str) -> tuple[str, int]:
    """Return the text with one place changed, and the line of it."""
    assert text.count(old) == 1, old
    return text.replace(old, new), text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"cycle": 2, "read": 4, "value": 5}', '{"cycle": 1, "read": 4}', "cycle 1 is not after cycle 1"),
        ('{"cycle": 2, "read": 4, "value": 5}', '{"cycle": 2, "read": 16}', '"read" must be a whole number'),
        (
            '{"cycle": 2, "read": 4, "value": 5}',
            '{"cycle": 2, "read": 4, "any_of": [1]}',
            '"any_of" is a list',
        ),
        ('{"cycle": 2, "read": 4, "value": 5}', '{"cycle": true, "read": 4}', '"cycle" must be'),
        ('{"cycle": 2, "read": 4, "value": 5}', '{"cycle": 2, "peek": 4}', "exactly one of"),
        ('{"cycle": 2, "read": 4, "value": 5}', '{"cycle": 2, "read": 4, "colour": 1}', "has no colour"),
        ('{"cycle": 2, "read": 4, "value": 5}', "[]", "must be an object"),
        ('{"half": 3, "check": "irq", "value": 1}', '{"half": 3, "check": "irk"}', '"check" must be one of'),
        ('{"half": 3, "check": "irq", "value": 1}', '{"half": 3, "check": "irq", "value": 2}', "from 0 to 1"),
        ('"drive": "pb"', '"drive": "irq"', '"drive" must be one of'),
    ],
)
def test_bad_json_step(old: str, new: str, message: str) -> None:
    text, line = changed(GOOD, old, new)
    with pytest.raises(BadInputError) as caught:
        read_json(text, "x.json")
    if new != "[]":
        assert str(caught.value).startswith(f"x.json:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"name": "second"', '"name": "a b"', "one word"),
        ('"feature": "t2"', '"feature": "t3"', '"feature" must be one of'),
        ('"fact": 3', '"fact": "3"', '"fact" must be'),
        ('"fact": 3', '"fact": 3, "colour": 1', "has no colour"),
    ],
)
def test_bad_json_vector(old: str, new: str, message: str) -> None:
    text, _ = changed(GOOD, old, new)
    line = text[: text.index('"name": ', text.index("first") + 1)].count("\n")
    with pytest.raises(BadInputError) as caught:
        read_json(text, "x.json")
    assert str(caught.value).startswith(f"x.json:{line}: ")
    assert message in str(caught.value)
    if "one word" not in message:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n]", "x.json:2: not JSON"),
        ("[]", "x.json:1: not a file of vectors"),
        ('{"format": "6522-vectors", "version": 2}', "version 2"),
        ('{"format": "6522-vectors", "version": 1}', '"vectors" must be a list'),
    ],
)
def test_bad_json_document(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message.replace("[", r"\[")):
        read_json(text, "x.json")


@pytest.mark.parametrize(
    ("lines", "feature"),
    [
        ("0 w b 10\n1 r a 00", "sr"),
        ("0 w b 20\n1 r 8 00", "pb6"),
        ("0 w b 80\n1 r 0 00", "pb7"),
        ("0 w 9 00\n1 r 8 00", "t2"),
        ("0 w 9 00\n1 r d 00", "t2"),
        ("0 w 5 00\n1 r d 00", "t1"),
        ("0 r 4 00", "t1"),
        ("0 r d 00", "ifr"),
        ("0 r 0 00", "port"),
    ],
)
def test_features_are_guessed_from_accesses(lines: str, feature: str) -> None:
    (vector,) = read_text(f"T a\n{lines}\nE\n", "x.txt")
    assert vector.feature == guess_feature(vector.steps) == feature


def test_needs() -> None:
    (vector,) = read_text(
        "T a\n@ feature latch\n1 p ca1 0\n1 p pb 00\n2 x\n3.0 l irq 1\n3.5 l cb2 1\nE\n", "x.txt"
    )
    assert needs(vector) == {"latch", "ca", "cb", "pins", "reset", "irq", "half"}
    (plain,) = read_text("T a\n1 r 4 -\nE\n", "x.txt")
    assert not needs(plain)
