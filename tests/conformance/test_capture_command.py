"""``guestclock capture``: the kit's machines, their programs and the way back."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from guestclock import cli
from guestclock.conformance.capture.evidence import fingerprint
from guestclock.conformance.capture.machines import MACHINES
from guestclock.errors import BadInputError


def capture(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["capture", *map(str, arguments)])


def test_the_machines_are_listed() -> None:
    done = capture()
    assert done.exit_code == 0
    for name, machine in MACHINES.items():
        assert f"{name}: {machine.title}\n" in done.output
        assert machine.steps in done.output


@pytest.mark.parametrize("name", MACHINES)
def test_a_machines_programs_are_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program"
    for number, batch in enumerate(MACHINES[name].batches(), 1):
        done = capture(name, path, "--batch", str(number))
        assert done.exit_code == 0
        assert path.read_bytes() == batch.program
        assert MACHINES[name].steps in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pet", "x"], "no machine 'pet' in the capture kit: there are vic20"),
        (["vic20"], "give a FILE to write the program to, or --read OUTPUT"),
        (["vic20", "x", "--read", "y"], "give a FILE to write the program to, or --read OUTPUT"),
        (["vic20", "/dev/null/x"], "/dev/null/x: cannot be written: Not a directory"),
        (["vic20", "--read", "no such"], "--who"),
        (["vic20", "--read", "no such", "--who", "me"], "no such: cannot be read: No such file"),
        (["vic20", "--read", "/dev/null", "--who", "me"], "/dev/null: nothing begins the output"),
        (["apple2", "x", "--batch", "99"], "capture apple2: it has"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], message: str) -> None:
    done = capture(*arguments)
    assert isinstance(done.exception, BadInputError)
    assert message in str(done.exception)


def test_an_output_becomes_vectors(tmp_path: Path) -> None:
    """The digits that a machine with only zeros would print."""
    batch = MACHINES["vic20"].batches()[1]
    mark = fingerprint(batch.runs)
    results = sum(run.results for run in batch.runs)
    printed = tmp_path / "printed.txt"
    printed.write_text(mark.hex() + "00" * results + f"{sum(mark) % 256:02x}\n")
    done = capture("vic20", "--read", printed, "--who", "nobody, no chip")
    assert done.exit_code == 0
    assert done.output.count("@ hardware_run nobody, no chip") == len(batch.runs)
