"""Targets: what they show, and that one which hangs, dies or answers rubbish costs its vector alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from guestclock.chips.mos6522 import Mos6522
from guestclock.conformance import generated, library, runner
from guestclock.conformance.program_target import BROKEN_IN_A_ROW, ProgramTarget
from guestclock.conformance.runner import Outcome
from guestclock.conformance.targets import OurChip, PythonTarget, offered
from guestclock.conformance.text_format import read_text
from guestclock.conformance.vector import OPTIONAL, Vector
from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments.conform_targets import open_target

EXAMPLE = Path(__file__).parents[2] / "examples" / "conform_c"
VECTORS = library.packaged()
SIMPLE = list(read_text("".join(f"T v{n}\n0 w b 00\n1 r b 00\nE\n" for n in range(6)), "simple"))


def outcomes(vectors: list[Vector], target: runner.Target) -> list[Outcome]:
    return [result.outcome for result in runner.run(vectors, target, "nmos")]


# ---------------------------------------------------------------------- Python objects


class Bare:
    """No pins, no reset."""

    misbehave = ""

    def __init__(self, variant: str = "nmos") -> None:
        self.chip = Mos6522(variant)

    def write(self, register: int, value: int, cycle: int) -> None:
        self.chip.write(register, value, cycle)

    def read(self, register: int, cycle: int) -> int:
        return self.chip.read(register, cycle)


class Third(Bare):
    """The third object made does what ``misbehave`` says."""

    made = 0

    def __init__(self, variant: str = "nmos") -> None:
        super().__init__(variant)
        Third.made += 1

    def read(self, register: int, cycle: int) -> int:
        if Third.made == 4:  # one is made to see what it has
            if self.misbehave == "hang":
                while True:
                    pass
            if self.misbehave == "die":
                raise RuntimeError("out of order")
            return 0x100
        return super().read(register, cycle)


@pytest.mark.parametrize(
    ("misbehave", "note"),
    [("hang", "no answer within 0.05 s"), ("die", "out of order"), ("rubbish", "answered 256")],
)
def test_a_python_object_that_misbehaves_costs_one_vector(
    misbehave: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Third, "misbehave", misbehave)
    monkeypatch.setattr(Third, "made", 0)
    results = list(runner.run(SIMPLE, PythonTarget("third", Third, 0.05), "nmos"))
    assert [result.outcome for result in results] == [
        Outcome.PASSED, Outcome.PASSED, Outcome.BROKE, Outcome.PASSED, Outcome.PASSED, Outcome.PASSED,
    ]  # fmt: skip
    assert note in results[2].note
    assert runner.exit_status(results) == 1


def test_what_an_object_lacks_is_not_asked_of_it() -> None:
    assert offered(Bare()) == {"sr"}
    assert offered(OurChip(Mos6522())) == set(OPTIONAL)
    results = list(runner.run(VECTORS, PythonTarget("bare", Bare, 60), "nmos"))
    assert {result.outcome for result in results} == {
        Outcome.PASSED, Outcome.CONTESTED, Outcome.NOT_APPLICABLE
    }  # fmt: skip
    missing = {result.note for result in results if result.outcome is Outcome.NOT_APPLICABLE}
    assert {note.split(": ")[0] for note in missing} == {"target lacks"}
    assert {word for note in missing for word in note.split(": ")[1].split()} == set(OPTIONAL) - {"sr"}
    assert runner.exit_status(results) == 0


def test_vectors_of_another_chip_are_not_asked() -> None:
    (vector,) = read_text("T a\n@ chips cmos\n0 r b ff\nE\n", "x")
    (result,) = runner.run([vector], open_target("model", "nmos"), "nmos")
    assert (result.outcome, result.note) == (Outcome.NOT_APPLICABLE, "holds for cmos only")
    (result,) = runner.run([vector], open_target("model", "cmos"), "cmos")
    assert result.outcome is Outcome.FAILED


def test_objects_by_name() -> None:
    target = open_target("guestclock.chips.mos6522:Mos6522", "cmos")
    assert outcomes(SIMPLE, target) == [Outcome.PASSED] * len(SIMPLE)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nothing", BadInputError, "MODULE:FACTORY"),
        ("exec:", BadInputError, "needs a command"),
        ("exec:'", BadInputError, "exec:'"),
        ("no.such.module:x", UnavailableError, "ModuleNotFoundError"),
        ("json:nothing", UnavailableError, "AttributeError"),
        ("builtins:str", UnavailableError, "str has no read"),
        ("exec:/no/such/program", UnavailableError, "cannot start"),
        ("exec:true", UnavailableError, "ended with status 0"),
        ("exec:echo hello", UnavailableError, "not 'hello'"),
        ("exec:echo 6522-target 1 wings", UnavailableError, "wings"),
    ],
)
def test_targets_that_cannot_start(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        open_target(name, "nmos")


# ---------------------------------------------------------------------- programs

ADAPTER = """
import os, sys, time
print("6522-target 1", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "T":
        registers, name = [0] * 16, words[1]
    elif words[0] == "E":
        print("E", flush=True)
    elif words[1] == "w":
        registers[int(words[2], 16)] = int(words[3], 16)
    else:
        if name in ("v2", "v4"):
            MISBEHAVE
        print(f"{registers[int(words[2], 16)]:02x}")
"""


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ProgramTarget]:
    path = tmp_path / "adapter.py"
    misbehave, timeout_s = request.param
    path.write_text(ADAPTER.replace("MISBEHAVE", misbehave))
    with closing(ProgramTarget(f"{sys.executable} -IS {path}", timeout_s)) as target:
        yield target


@pytest.mark.parametrize(
    ("program", "note"),
    [
        (("os._exit(3)", 30), "ended with status 3"),
        (("os.kill(os.getpid(), 11)", 30), "died of SIGSEGV"),
        (("print('what?', flush=True)", 30), "answered 'what?'"),
        (("print('100', flush=True)", 30), "no byte"),
        (("print('00', flush=True)", 30), "where the vector ends"),
        (("print('E', flush=True)", 30), "no byte|answered 'E'|where the vector ends"),
        (("print('x' * 100_000, flush=True)", 30), "without end|answered"),
        (("time.sleep(60)", 2.5), "no answer within 2.5 s"),
    ],
    indirect=["program"],
)
def test_a_program_that_misbehaves_costs_its_vectors(program: ProgramTarget, note: str) -> None:
    results = list(runner.run(SIMPLE, program, "nmos"))
    assert [result.outcome is Outcome.PASSED for result in results] == [True, True, False, True, False, True]
    for result in (results[2], results[4]):
        assert result.outcome is Outcome.BROKE
        assert any(part in result.note for part in note.split("|"))


def test_a_program_that_always_dies_is_not_started_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "adapter.sh"
    path.write_text("#!/bin/sh\necho started >>starts\necho 6522-target 1\nread line\n")
    path.chmod(0o755)
    many = [vector for number in range(4) for vector in SIMPLE]
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with closing(ProgramTarget("./adapter.sh", 30)) as target:
            results = list(runner.run(many, target, "nmos"))
    finally:
        os.chdir(before)
    assert {result.outcome for result in results} == {Outcome.BROKE}
    assert results[-1].note == f"not run: it broke {BROKEN_IN_A_ROW} times in a row"
    assert (tmp_path / "starts").read_text().count("started") == BROKEN_IN_A_ROW


@pytest.fixture(scope="module")
def c_adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("c") / "via_adapter"
    compiler = shutil.which("cc") or "gcc"
    command = [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(out)]
    subprocess.run([*command, EXAMPLE / "via_adapter.c", EXAMPLE / "small_via.c"], check=True)
    return out


def test_the_example_in_c(c_adapter: Path) -> None:
    with closing(ProgramTarget(str(c_adapter), 30)) as target:
        results = list(runner.run(VECTORS, target, "nmos"))
    failed = {result.vector.name for result in results if result.outcome in runner.BAD}
    # What the small chip leaves out: T2's part of fact 7, and the shift register's hold on T2.
    assert failed == {
        "t2.timeout-beats.read-t2cl.n+2", "t2.timeout-beats.write-t2ch.n+2",
        *(f"t2.low-byte-reloads.mode{mode}" for mode in (1, 4, 5)),
        *(f"t2.flag-at-(lo+2)(hi+1).mode{mode}" for mode in (1, 4, 5)),
    }  # fmt: skip
    assert sum(result.outcome is Outcome.PASSED for result in results) > 150


def test_more_is_sent_than_pipes_hold(c_adapter: Path) -> None:
    vectors = [generated.by_name("generated.1.4")] * 3000
    with closing(ProgramTarget(str(c_adapter), 30)) as target:
        assert set(outcomes(vectors, target)) == {Outcome.PASSED}


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """A program's own child holds a pipe open; that ends when the child does."""
    path, pipe = tmp_path / "adapter.sh", tmp_path / "pipe"
    path.write_text(f"#!/bin/sh\n(echo alive; exec sleep 600) >{pipe} &\necho 6522-target 1\nwait\n")
    path.chmod(0o755)
    os.mkfifo(pipe)
    with closing(ProgramTarget(str(path), 30)), pipe.open("rb", buffering=0) as heard:
        assert heard.read(6) == b"alive\n"
        still_open = os.dup(heard.fileno())
    assert os.read(still_open, 1) == b""
    os.close(still_open)
