"""The command, its reports and the waveform."""

import json
import re
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from guestclock import cli
from guestclock.conformance import library
from guestclock.conformance.timeline import moments
from guestclock.conformance.vcd import SIGNALS, UNITS_PER_HALF_CYCLE, write_vcd
from guestclock.errors import BadInputError, UnavailableError

RECORDINGS = Path(__file__).parents[3] / "shared" / "vectors"
WRONG = "T good\n0 w 4 05\n1 r 6 05\nE\nT bad\n@ fact 1\n10 w 4 05\n11 w 5 00\n12 r 4 05\n14 r 4 04\nE\n"


def conform(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, ["conform", *map(str, arguments)])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.txt"
    path.write_text(WRONG)
    return path


def test_our_chip_passes() -> None:
    done = conform()
    assert done.exit_code == 0, done.output
    assert "none failed" in done.output
    assert re.search(r"^all +\d+ +\d+ +3$", done.output, re.MULTILINE)


def test_the_first_difference_and_its_neighbours(wrong: Path) -> None:
    done = conform(wrong)
    assert done.exit_code == 1
    assert re.search(r"12 +read T1CL +expected 05 +got 05", done.output)
    assert re.search(r"14 +read T1CL +expected 04 +got 03 +← first difference", done.output)
    assert "fact 1 (unstated): a read at k ≥ 1 gives" in done.output
    assert "1 of 2 vectors failed." in done.output


def test_explain(wrong: Path) -> None:
    done = conform(wrong, "--explain", "bad")
    assert done.exit_code == 1
    assert re.search(r"^ +14 +0003 ", done.output, re.MULTILINE)
    assert conform("--explain", "generated.1.5").exit_code == 0
    shown = json.loads(conform("--explain", "calibration.t1", "--format", "json").stdout)
    assert shown["outcome"] == "passed"
    assert [moment["cycle"] for moment in shown["our_chip"]] == list(range(71, 78))


def test_json(wrong: Path) -> None:
    document = json.loads(conform(wrong, "--format", "json").stdout)
    assert (document["schema"], document["schema_version"]) == ("guestclock.conformance", 1)
    assert document["exit_status"] == 1
    assert document["total"] == {
        "vectors": 2, "passed": 1, "failed": 1, "broke": 0, "not_applicable": 0, "contested": 0
    }  # fmt: skip
    (bad,) = [vector for vector in document["vectors"] if vector["name"] == "bad"]
    assert bad["difference"] == {
        "cycle": 14, "what": "read T1CL", "expected": "04", "got": "03", "right": False
    }  # fmt: skip


def test_tap(wrong: Path) -> None:
    lines = conform(wrong, "--format", "tap").stdout.splitlines()
    assert lines[:4] == ["TAP version 14", "1..2", "ok 1 - good", "not ok 2 - bad"]
    assert lines[5] == "  message: 'cycle 14: read T1CL: expected 04, got 03'"
    contested = conform("--format", "tap", "--feature", "t2").stdout
    assert re.search(r"ok \d+ - t2.ifr-write-in-timeout # SKIP contested: as our default", contested)


def test_junit(wrong: Path) -> None:
    root = ElementTree.fromstring(conform(wrong, "--format", "junit").stdout)
    assert {suite.get("name"): suite.get("failures") for suite in root} == {"t1": "1", "port": "0"}
    (failure,) = root.iter("failure")
    assert failure.get("message") == "cycle 14: read T1CL: expected 04, got 03"
    root = ElementTree.fromstring(conform("--format", "junit").stdout)
    assert len(list(root.iter("testcase"))) == len(library.packaged())
    assert len(list(root.iter("skipped"))) == 3


def test_features() -> None:
    done = conform("--feature", "pb7", "--feature", "pb6", "--format", "json")
    assert {row["feature"] for row in json.loads(done.stdout)["features"]} == {"pb6", "pb7"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--feature", "t3"], BadInputError, "there are calibration, t1"),
        (["--explain", "flags-once"], BadInputError, "there are t1.flags-once"),
        (["--explain", "generated.x"], BadInputError, "generated.SEED.INDEX"),
        (["/no/such/file.txt"], BadInputError, "cannot be read: No such file"),
        (["--vcd", "/no/such/folder/x.vcd", "calibration.t1"], BadInputError, "cannot be written"),
        (["--target", "exec:/no/such/program"], UnavailableError, "cannot start"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], error: type[Exception], message: str) -> None:
    done = conform(*arguments)
    assert isinstance(done.exception, error)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)


def test_files_that_hold_nothing_or_the_same_twice(wrong: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.txt"
    again.write_text(WRONG)
    assert "a second vector is called good" in str(conform(wrong, again).exception)
    again.write_text("# nothing\n")
    assert "holds no vectors" in str(conform(again).exception)
    again.write_bytes(b"\xff\xfe")
    assert "not UTF-8 text" in str(conform(again).exception)


if RECORDINGS.is_dir():

    @pytest.mark.parametrize("name", ["vic20-timers", "vic20-sr-pb7", "bbc", "mockingboard"])
    def test_recordings_kept_beside_the_checkout(name: str) -> None:
        done = conform(RECORDINGS / f"{name}.txt", "--format", "json")
        document = json.loads(done.stdout)
        assert document["exit_status"] == 0
        skipped = {v["feature"] for v in document["vectors"] if v["outcome"] == "not-applicable"}
        assert skipped <= {"sr"}
        assert document["total"]["passed"] >= 12


# ---------------------------------------------------------------------- waveform


def parsed(text: str) -> dict[str, list[tuple[int, str]]]:
    """Return each signal's changes, by ``group.name``: time and value."""
    head, _, body = text.partition("$enddefinitions $end")
    names: dict[str, str] = {}
    scope: list[str] = []
    for words in (line.split() for line in head.splitlines()):
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            names[words[3]] = f"{scope[-1]}.{words[4]}"
    assert not scope
    changes: dict[str, list[tuple[int, str]]] = defaultdict(list)
    time = -1
    for line in body.split("\n")[1:-1]:
        if line.startswith("#"):
            assert int(line[1:]) > time
            time = int(line[1:])
        elif line[0] in "bs":
            value, code = line[1:].rsplit(" ", 1)
            changes[names[code]].append((time, value))
        else:
            changes[names[line[1:]]].append((time, line[0]))
    assert len(names) == len(SIGNALS)
    return changes


def test_a_waveform_shows_half_cycles() -> None:
    vector = library.named(library.packaged(), "t1.pin-at-n+1.5.n5.one-shot")
    changes = parsed(write_vcd(vector.name, moments(vector)))
    half = UNITS_PER_HALF_CYCLE
    assert changes["pins.irq_n"] == [(0, "1"), (33 * half, "0")]
    assert changes["flags.ifr6_t1"] == [(0, "0"), (34 * half, "1")]
    assert (22 * half, "101") in changes["t1.t1_counter"]
    assert (34 * half, "1" * 16) in changes["t1.t1_counter"]
    assert (20 * half, "w_T1CH") in changes["bus.access"]
    assert changes["bus.phi2"][:3] == [(0, "0"), (half, "1"), (2 * half, "0")]


def test_a_waveform_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x.vcd"
    assert conform("--vcd", path, "pb7.square-wave.n5").exit_code == 0
    changes = parsed(path.read_text())
    assert [value for _, value in changes["pins.pb7"][:5]] == ["1", "0", "1", "0", "1"]
