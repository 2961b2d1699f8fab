"""The package's vectors: made from the programs, true of both models, and able to fail."""

import json
import random
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.conformance import generated, library, runner, targets
from guestclock.conformance.facts import FACTS
from guestclock.conformance.json_format import read_json
from guestclock.conformance.programs import PROGRAMS
from guestclock.conformance.programs.__main__ import FOLDER, texts
from guestclock.conformance.runner import Outcome
from guestclock.conformance.targets import OurChip, PythonTarget, run_on
from guestclock.conformance.vector import Read, Vector, Write

DOCS = Path(__file__).parents[2] / "docs"
VECTORS = library.packaged()


def test_the_files_are_what_the_programs_make() -> None:
    made = texts()
    assert {path.name for path in FOLDER.iterdir()} == set(made) | {"LICENSE"}
    for name, text in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, (
            f"{name}: run python -m guestclock.conformance.programs"
        )


def test_the_text_twins_hold_the_same_vectors() -> None:
    twins = library.collect([FOLDER / f"{feature}.txt" for feature in PROGRAMS])
    assert twins == VECTORS


def test_the_files_follow_the_schema_and_say_their_licence() -> None:
    schema = json.loads((files("guestclock.conformance") / "schema" / "vectors.schema.json").read_text())
    for path in FOLDER.glob("*.json"):
        document = json.loads(path.read_text())
        jsonschema.validate(document, schema)
        assert document["licence"] == "CC0-1.0"
    assert "CC0-1.0" in (FOLDER / "LICENSE").read_text()


def test_names() -> None:
    names = [vector.name for vector in VECTORS]
    assert len(set(names)) == len(names)
    assert all(vector.name.startswith(f"{vector.feature}.") for vector in VECTORS)
    assert {vector.feature for vector in VECTORS} == set(PROGRAMS)


def test_every_vector_says_why() -> None:
    for vector in VECTORS:
        assert vector.claim
        assert vector.source
        assert vector.grade != "unstated"
        assert vector.hardware_run is None
        assert vector.fact in FACTS or (vector.fact is None and vector.grade in {"data-sheet", "model"})


def test_facts_are_those_of_the_documentation() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \| ([^|]*) \|$", (DOCS / "6522.md").read_text(), re.MULTILINE)
    documented = {int(number): (text, evidence) for number, text, evidence in rows}
    for number, fact in FACTS.items():
        assert documented[number] == (fact.text, fact.evidence), f"facts.py, fact {number}"


@pytest.mark.parametrize("variant", ["nmos", "cmos"])
@pytest.mark.parametrize("model", [targets.model, targets.stepwise])
def test_our_models_pass(model: type, variant: str) -> None:
    results = list(runner.run(VECTORS, model(variant), variant))
    bad = [f"{result.vector.name}: {result.note}" for result in results if result.outcome in runner.BAD]
    assert not bad
    outcomes = [result.outcome for result in results]
    assert outcomes.count(Outcome.CONTESTED) == sum(vector.grade == "contested" for vector in VECTORS)
    assert Outcome.NOT_APPLICABLE not in outcomes
    assert {result.note for result in results if result.outcome is Outcome.CONTESTED} == {"as our default"}


def test_contested_vectors_accept_both_values() -> None:
    contested = [vector for vector in VECTORS if vector.grade == "contested"]
    other = PythonTarget("other", lambda: OurChip(Mos6522(timeout_beats=0x3F)), 60)
    results = list(runner.run(contested, other, "nmos"))
    assert [(result.outcome, result.note) for result in results] == [
        (Outcome.CONTESTED, "the other way") for _ in contested
    ]
    assert runner.exit_status(results) == 0
    neither = runner.judge(contested[0], [0x1F])
    assert neither.outcome is Outcome.FAILED


@pytest.mark.parametrize("seed", range(5))
def test_nothing_hangs_on_what_a_chip_holds_at_power_up(seed: int) -> None:
    rng = random.Random(seed)

    def powered_up() -> OurChip:
        chip = Mos6522()
        state = chip.snapshot()
        state["timer1"] |= {name: rng.randrange(0x10000) for name in ("zero", "latch")}
        state["timer2"] |= {"base": rng.randrange(0x10000), "latch": rng.randrange(0x100)}
        state["shifter"]["value"] = rng.randrange(0x100)
        chip.restore(state)
        return OurChip(chip)

    results = runner.run(VECTORS, PythonTarget("random", powered_up, 60), "nmos")
    assert [result.vector.name for result in results if result.outcome in runner.BAD] == []


class Misplaced:
    """Our chip, its reads placed some cycles off."""

    lacks = frozenset({"reset", "pins", "irq", "half", "sr", "ca", "cb", "latch"})

    def __init__(self, late: int) -> None:
        self.chip, self.late = Mos6522Stepwise(), late

    def write(self, register: int, value: int, cycle: int) -> None:
        self.chip.write(register, value, cycle + 1)

    def read(self, register: int, cycle: int) -> int:
        self.chip.advance(cycle + 1 + self.late)
        return self.chip.read_here(register)


@pytest.mark.parametrize("late", [-1, 0, 1])
def test_calibration_tells_a_placement_error(late: int) -> None:
    target = PythonTarget("misplaced", lambda: Misplaced(late), 60)
    results = list(runner.run(VECTORS, target, "nmos"))
    assert runner.placement_error(results) == late
    failed = {result.vector.feature for result in results if result.outcome is Outcome.FAILED}
    assert ("calibration" in failed) == (late != 0)


def test_calibration_calls_no_other_fault_a_placement_error() -> None:
    calibration = [vector for vector in VECTORS if vector.feature == "calibration"]
    right = [run_on(OurChip(Mos6522()), vector) for vector in calibration]
    right[0][-1] -= 1
    assert runner.placement_error(map(runner.judge, calibration, right)) == 0
    assert runner.placement_error([]) == 0


def test_generated_vectors_hold_for_the_closed_form() -> None:
    vectors = list(generated.generated(300, seed=7))
    assert vectors == list(generated.generated(300, seed=7))
    assert vectors[17] == generated.by_name("generated.7.17")
    assert vectors[17].steps != generated.by_name("generated.8.17").steps
    results = list(runner.run(vectors, targets.model(), "nmos"))
    assert {result.outcome for result in results} == {Outcome.PASSED}
    assert {vector.grade for vector in vectors} == {"model"}
    reads = [step for vector in vectors for step in vector.steps if isinstance(step, Read)]
    assert len({(step.register, step.values) for step in reads}) > 100


def test_generated_vectors_tell_chips_apart() -> None:
    """A chip whose reads of T2CL fail to spare a new flag differs from ours in one rare cycle only."""
    target = PythonTarget("other", lambda: OurChip(Mos6522(timeout_beats=0x17)), 60)
    results = list(runner.run(list(generated.generated(600, seed=1)), target, "nmos"))
    assert Outcome.FAILED in {result.outcome for result in results}


def without(vectors: list[Vector], fact: int) -> list[Vector]:
    return [vector for vector in vectors if vector.fact == fact]


@pytest.mark.parametrize("fact", sorted({vector.fact for vector in VECTORS if vector.fact}))
def test_every_fact_can_be_violated(fact: int) -> None:
    """A target that answers each read with the complement fails every vector that counts."""
    for vector in without(VECTORS, fact):
        right = run_on(OurChip(Mos6522()), vector)
        assert runner.judge(vector, right).outcome in {Outcome.PASSED, Outcome.CONTESTED}
        assert runner.judge(vector, [answer ^ 0xFF for answer in right]).outcome is Outcome.FAILED


def test_a_file_of_one_vector_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text((FOLDER / "ifr.json").read_text())
    assert library.collect([path]) == read_json(path.read_text(), "x")
    assert [type(step) for step in library.named(VECTORS, "calibration.t1").steps][:3] == [Write, Write, Read]
