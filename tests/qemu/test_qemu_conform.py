"""The target ``qemu``: the guest's list of accesses, what it found, and why QEMU fails.

Without a QEMU here the model performs the guest's steps in its place.
"""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner
from via_programs import predict

from guestclock import cli
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.qemu_deviations import MEANINGS, QEMU_7_2, SETS, Deviation
from guestclock.chips.qemu_via import ALONE, VIA1, VIA2, QemuVia
from guestclock.chips.registers import ACR, DDRA, DDRB, IER, IFR, ORA, ORB, PCR, T1CH, T1CL, T1LL, T2CH, T2CL
from guestclock.conformance import library, runner
from guestclock.conformance.generated import generated
from guestclock.conformance.preparing import prepared
from guestclock.conformance.qemu_causes import causes_of, diagnose
from guestclock.conformance.qemu_model import HAS, instant_ns, run_deviating
from guestclock.conformance.runner import Outcome
from guestclock.conformance.targets import OurChip, run_on
from guestclock.conformance.vector import Check, Drive, Read, Vector, Write, cycle_of, needs, observed
from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments import qemu_conform
from guestclock.experiments.conform_targets import open_target
from guestclock.experiments.qemu_conform import (
    GAP_CYCLES,
    SHIFT,
    QemuConform,
    Schedule,
    batches,
    switches_off,
)
from guestclock.qemu.binary import Binary
from guestclock.qemu.steps import PREFIX_INSTRUCTIONS, VIA1_BASE, VIA2_BASE, Step
from guestclock.qemu.steps import Outcome as Found

APPLICABLE = [vector for vector in library.packaged() if needs(vector) <= HAS]


@pytest.fixture
def modelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A QEMU whose guest's steps the model performs; VIA1 with its surroundings."""

    def perform(_binary: Binary, steps: list[Step], shift: int, base: int) -> Found:
        via = QemuVia(QEMU_7_2, VIA1 if base == VIA1_BASE else VIA2)
        return predict(via, steps, shift)

    monkeypatch.setattr(qemu_conform, "open_binary", lambda path, _answer_s: Binary(path, "7.2"))
    monkeypatch.setattr(Binary, "require_machine", lambda _binary, _name: None)
    monkeypatch.setattr(qemu_conform, "run_steps", perform)


def run(target: runner.Target, vectors: list[Vector] = APPLICABLE) -> list[runner.Result]:
    return list(runner.run(vectors, target, "nmos"))


# ---------------------------------------------------------------------- preparing


def test_prepared_vectors_are_the_same_experiment() -> None:
    """But for the two that would see a timer that ran out 65,537 cycles after it was prepared."""
    alone = [vector.name for vector in APPLICABLE if prepared(vector) is None]
    assert alone == ["t2.flags-once", "t2.never-armed-never-flags"]
    for vector in APPLICABLE:
        ready = prepared(vector)
        if ready is not None:
            assert [step[1:] for step in observed(ready.steps)] == [
                step[1:] for step in observed(vector.steps)
            ]
            (result,) = run(open_target("model:stepwise", "nmos"), [ready])
            assert result.outcome in {Outcome.PASSED, Outcome.CONTESTED}


def test_whatever_came_before_prepared_vectors_do_not_see_it() -> None:
    registers = (Read(0, DDRA, (0,)), Read(1, DDRB, (0,)), Read(2, PCR, (0,)), Read(3, ACR, (0,)))
    port = (Write(4, DDRA, 0xFF), Read(5, ORA, (0,)))
    for vector in (*APPLICABLE, Vector("clear", (*registers, *port), "reset")):
        ready = prepared(vector)
        if ready is None:
            assert vector.name != "clear"
            continue
        chip = OurChip(Mos6522Stepwise())
        for cycle, (register, value) in enumerate(DISORDER):
            chip.write(register, value, cycle)
        chip.drive("ca1", 0, 20)
        chip.drive("cb1", 0, 20)
        assert chip.read(IFR, 30) == 0xF2, "flags of both timers, CA1 and CB1"
        answers = run_on(chip, later(ready, 40))
        assert runner.judge(vector, answers).outcome in {Outcome.PASSED, Outcome.CONTESTED}, vector.name


DISORDER = (
    (IER, 0xFF), (ACR, 0xC3), (PCR, 0xEE), (T1CL, 3), (T2CL, 4), (T1CH, 0), (T2CH, 0),
    (DDRA, 0x0F), (ORA, 0xA5), (DDRB, 0xC3), (ORB, 0x5A),
)  # fmt: skip


def later(vector: Vector, cycles: int) -> Vector:
    steps = (
        step._replace(half=step.half + 2 * cycles)
        if isinstance(step, Check)
        else step._replace(cycle=step.cycle + cycles)
        for step in vector.steps
    )
    return replace(vector, steps=tuple(steps))


def test_a_vector_that_hangs_on_power_up_stays_as_it_is() -> None:
    for register, value in ((ORB, 0x00), (T1CL, 0x00)):
        writes = (Write(0, DDRB, 0xFF),) if register == ORB else ()
        assert prepared(Vector("x", (*writes, Read(5, register, (value,))), "t1")) is None


# ---------------------------------------------------------------------- the guest's steps


RANDOM = [vector for vector in generated(1000, 3) if needs(vector) <= HAS]


@pytest.mark.parametrize("vectors", [APPLICABLE, RANDOM], ids=["named", "random"])
def test_every_access_comes_at_its_place_in_its_cycle(vectors: list[Vector]) -> None:
    """To the two instructions that the guest's wait takes a turn."""
    schedule = Schedule()
    instructions = PREFIX_INSTRUCTIONS
    start_cycle = 1
    for vector in vectors:
        ready = prepared(vector)
        if ready is None:
            continue
        first = len(schedule.steps)
        schedule.add(ready)
        for step, access in zip(schedule.steps[first:], ready.steps, strict=True):
            instructions += step.before + 1
            late_ns = instant_ns(access, start_cycle) - (instructions << SHIFT)
            assert 0 <= late_ns < 3 << SHIFT
            instructions += step.after
        start_cycle += cycle_of(ready.steps[-1]) + GAP_CYCLES


def test_what_a_guest_cannot_do() -> None:
    with pytest.raises(ValueError, match="no guest can do this"):
        Schedule().add(Vector("x", (Drive(0, "pb", 0),), "pb6"))
    steps = (Check(2, "irq"), Read(1, IFR), Check(3, "irq"), Write(1, IFR, 0))
    Schedule().add(Vector("x", steps, "t1"))  # the densest cycle that a vector can have
    with pytest.raises(ValueError, match="no time"):
        Schedule().add(Vector("x", (Write(1, IFR, 0), Write(1, IFR, 0)), "t1"))


def test_a_vector_that_means_power_up_has_a_machine_of_its_own() -> None:
    found = list(batches(APPLICABLE, VIA2_BASE))
    alone = [batch[0] for batch in found if len(batch) == 1]
    assert alone == [vector for vector in APPLICABLE if prepared(vector) is None]
    assert list(itertools.chain(*found)) == [prepared(vector) or vector for vector in APPLICABLE]


def test_long_lists_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu_conform, "LONGEST_BATCH_CYCLES", 100)
    assert len(list(batches(RANDOM, VIA1_BASE))) > 3


# ---------------------------------------------------------------------- the target


@pytest.mark.usefixtures("modelled")
@pytest.mark.parametrize("name", ["qemu", "qemu:/bin/some-qemu,via=2"])
def test_the_guest_shows_what_the_model_shows(name: str) -> None:
    target = open_target(name, "nmos")
    for found, by_model in zip(run(target), run(open_target("model:qemu-7.2", "nmos")), strict=True):
        if found.outcome is not Outcome.NOT_APPLICABLE:
            assert found.outcome == by_model.outcome, found.vector.name
    assert target.name.endswith(f"7.2, VIA{2 if 'via=2' in name else 1}")


@pytest.mark.usefixtures("modelled")
def test_no_answer_hangs_on_the_instant_of_an_instruction() -> None:
    """The guest is up to two of them early; random vectors have writes in any cycle after a load."""
    found = run(QemuConform("qemu,via=2"), RANDOM)
    for result in found:
        if result.answers:
            assert list(result.answers) == run_deviating(result.vector, QEMU_7_2, VIA2), result.vector.name
    assert sum(bool(result.answers) for result in found) > len(RANDOM) // 2


@pytest.mark.usefixtures("modelled")
def test_via2_does_not_switch_the_machine_off() -> None:
    off = [result for result in run(QemuConform("qemu,via=2")) if result.outcome is Outcome.NOT_APPLICABLE]
    assert [result.vector for result in off] == [each for each in APPLICABLE if switches_off(each)] != []
    assert "switch the machine off" in off[0].note
    assert not switches_off(Vector("x", (Write(0, DDRB, 0xFF), Write(1, ORB, 0x04)), "port"))


@pytest.mark.usefixtures("modelled")
@pytest.mark.parametrize("enabled", [0x80, 0x84])
def test_flags_of_via1s_surroundings_do_not_count(enabled: int) -> None:
    """The ADB sets the shift register's flag in these 21,000 cycles."""
    steps = (Write(0, IER, enabled), Read(21_000, IFR, (0,)))
    vector = Vector("x", steps, "ifr")
    (result,) = run(QemuConform("qemu"), [vector])
    assert result.outcome is Outcome.PASSED


@pytest.mark.usefixtures("modelled")
def test_vectors_that_read_port_b_come_before_the_adb_changes_it() -> None:
    """It has pulled bit 3 low 20 ms after the start of the machine."""
    long = Vector("long", (Write(0, T1CL, 1), Read(20_000, T1LL, (1,))), "t1")
    port = Vector("port", (Write(0, DDRB, 0xFF), Write(1, ORB, 0x3C), Read(2, ORB, (0x3C,))), "port")
    assert {result.outcome for result in run(QemuConform("qemu"), [port, long, port])} == {Outcome.PASSED}
    assert [len(batch) for batch in batches([port, long, port], VIA1_BASE)] == [2, 1]
    assert [len(batch) for batch in batches([port, long, port], VIA2_BASE)] == [3]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("qemu,via=3", BadInputError, r"'qemu,via=3': qemu\[:PATH\]\[,via=1|2\]"),
        ("qemu,x", BadInputError, "docs/conformance.md"),
        ("qemu:/no/such", UnavailableError, "target qemu:/no/such cannot start: /no/such does not exist"),
        ("qemu:/dev/null", UnavailableError, "/dev/null cannot be executed"),
        ("qemu:/bin/true", UnavailableError, "is not QEMU: asked for its version it says"),
        ("model:pet", BadInputError, "model: with qemu-6.1"),
    ],
)
def test_targets_that_cannot_start(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        open_target(name, "nmos")


DIES = 'echo "qemu: no memory" >&2; exit 7'
HANGS = "sleep 60"


@pytest.mark.parametrize(
    ("does", "message"), [(DIES, "ended with status 7: qemu: no memory"), (HANGS, "does not answer: 'read")]
)
def test_a_qemu_that_dies_or_hangs_ends_the_run(tmp_path: Path, does: str, message: str) -> None:
    path = tmp_path / "qemu"
    path.write_text(
        "#!/bin/sh\ncase $1 in\n--version) echo QEMU emulator version 1.0;;\n"
        f"-machine) echo q800 x;;\n*) echo $$ >{tmp_path}/pid; {does};;\nesac\n"
    )
    path.chmod(0o755)
    with pytest.raises(UnavailableError, match=message):
        run(QemuConform(f"qemu:{path}", answer_s=1.0))
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


# ---------------------------------------------------------------------- why


@pytest.mark.parametrize("name", sorted({deviations: name for name, deviations in SETS.items()}.values()))
def test_each_set_is_recognised(name: str) -> None:
    target = open_target("model" if name == "chip" else f"model:{name}", "nmos")
    results = run(target)
    diagnosis = diagnose(results, target.qemu_wiring or ALONE)
    if name != "chip":
        assert name in diagnosis.sets
    assert diagnosis.agreeing == diagnosis.asked == len(APPLICABLE)
    failed = {result.vector.name for result in results if result.outcome is Outcome.FAILED}
    assert set(diagnosis.causes) == failed
    assert all(diagnosis.causes.values())


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("t1.flag-at-n+2.n5.one-shot", Deviation.FLAG_AT_ZERO),
        ("t1.period-n+2.n3.free-run", Deviation.SHORT_RELOAD),
        ("t1.pin-at-n+1.5.n5.one-shot", Deviation.MODES_WITHOUT_ALARM),
        ("t2.flags-once", Deviation.T2_FIRES_AGAIN),
        ("pb6.acr5-set", Deviation.PULSES_IGNORED),
        ("pb7.square-wave.n5", Deviation.PINS_IGNORED),
        ("t2.low-byte-reloads.mode4", Deviation.PINS_IGNORED),
        ("t2.never-armed-never-flags", Deviation.FLAG_AFTER_RESET),
        ("t1.flag-at-n+2.n0.free-run", Deviation.ACCESS_TAKES_NO_TIME),
    ],
)
def test_causes(name: str, deviation: Deviation) -> None:
    vector = library.named(APPLICABLE, name)
    assert causes_of(vector, run_deviating(vector, QEMU_7_2, ALONE), QEMU_7_2, ALONE) == (deviation,)


def test_deviations_that_are_at_work_together() -> None:
    """T1's flag comes again (B2), T2's at all (B9): one of them is enough for a wrong answer."""
    load = [Write(1, T1CL, 2), Write(2, T2CL, 2), Write(3, T1CH, 0), Write(4, T2CH, 0)]
    steps = (Write(0, ACR, 0x20), *load, Write(40, IFR, 0x40), Read(500, IFR, (0,)))
    vector = Vector("two", steps, "ifr")
    answers = run_deviating(vector, QEMU_7_2, ALONE)
    together = Deviation.FLAG_AT_ZERO | Deviation.PULSES_IGNORED
    assert causes_of(vector, answers, QEMU_7_2, ALONE) == (together,)


def test_t2_of_a_6522_in_a_vias_place_counts_for_ifr7() -> None:
    """PB6 falls by the VIA's own ORB; at the second fall T2's flag is set, and enabled."""
    falls = [Write(10 + 4 * number, ORB, 0x00 if number % 2 else 0x40) for number in range(4)]
    steps = [Write(0, ACR, 0x20), Write(1, IER, 0xA0), Write(2, DDRB, 0x40), Write(3, ORB, 0x40)]
    steps += [Write(5, T2CL, 1), Write(6, T2CH, 0), *falls]
    vector = Vector("pulses", (*steps, Read(40, IFR, (0xA0,))), "pb6")
    assert run_deviating(vector, Deviation(0), ALONE) == [0xA0]
    assert run_deviating(vector, QEMU_7_2 & ~Deviation.PULSES_IGNORED, ALONE) == [0xA0]


def test_what_the_model_does_not_show_has_no_cause() -> None:
    vector = library.named(APPLICABLE, "t1.flag-at-n+2.n5.one-shot")
    answers = run_deviating(vector, QEMU_7_2, ALONE)
    assert causes_of(vector, [answer ^ 1 for answer in answers], QEMU_7_2, ALONE) == ()


def test_the_report() -> None:
    done = CliRunner().invoke(cli.app, ["conform", "--target", "model:qemu-7.2"])
    assert done.exit_code == 1
    assert "Its answers are those of our model qemu-6.1, qemu-7.2, qemu-8.2" in done.output
    assert "  deviation: B1 B3\n" in done.output
    done = CliRunner().invoke(cli.app, ["conform", "--target", "model:qemu-7.2", "--format", "json"])
    document = json.loads(done.output)
    assert document["unexplained"] == []
    rows = {row["name"]: row for row in document["deviations"]}
    assert rows["FLAG_AT_ZERO"]["number"] == MEANINGS[Deviation.FLAG_AT_ZERO][0]
    failed = [vector for vector in document["vectors"] if vector["outcome"] == "failed"]
    for name, row in rows.items():
        named = [v for v in failed if any(each["name"] == name for some in v["deviations"] for each in some)]
        assert row["vectors"] == len(named) == sum(row["features"].values())
    done = CliRunner().invoke(
        cli.app, ["conform", "--target", "model:qemu-7.2", "--explain", "pb7.square-wave.n5"]
    )
    assert "  deviation: B11\n" in done.output
    done = CliRunner().invoke(
        cli.app, ["conform", "--target", "model:qemu-7.2", "--feature", "pb7", "--format", "tap"]
    )
    assert "  deviation: 'B11'" in done.output


# ---------------------------------------------------------------------- Debian's


@pytest.mark.real
@pytest.mark.parametrize("name", ["qemu", "qemu,via=2"])
def test_debians_qemu(name: str) -> None:
    """Every answer that counts is the model's; its counts are where fact 1 has them."""
    target = open_target(name, "nmos")
    results = run(target)
    diagnosis = diagnose(results, target.qemu_wiring or ALONE)
    assert diagnosis.agreeing == diagnosis.asked > 170
    assert {"qemu-7.2"} <= set(diagnosis.sets)
    assert runner.placement_error(results) == 0
    assert {result.outcome for result in results if result.vector.feature == "calibration"} == {
        Outcome.PASSED
    }
    failed = [result.vector.name for result in results if result.outcome is Outcome.FAILED]
    assert len(failed) > 100
    assert all(diagnosis.causes[each] for each in failed)
