"""``guestclock interleave`` and ``guestclock predict``: output, JSON and exit status."""

import json

import pytest
from typer.testing import CliRunner, Result

from guestclock.cli import app
from guestclock.errors import BadInputError


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_a_reader_that_is_right_is_said_to_be() -> None:
    result = invoke("interleave", "--reader", "pvclock")
    assert result.exit_code == 0
    assert "Right in every schedule (1,133 states)." in result.stdout


def test_a_reader_that_breaks_is_shown_breaking() -> None:
    result = invoke("interleave", "--reader", "hyperv-no-barrier", "--updates", "0")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert any("read the counter" in line and "early: before load finished" in line for line in lines)
    assert lines[-1].startswith("Backward step: a read says ")


def test_the_table_names_every_reader_of_a_machine() -> None:
    result = invoke("interleave", "--updates", "0", "--vcpus", "1")
    assert result.exit_code == 0
    assert "pvclock-two-barriers" in result.stdout
    assert "clamp-race" in result.stdout


def test_an_answer_as_json() -> None:
    result = invoke(
        "interleave", "--reader", "pvclock-no-barrier", "--vcpus", "1", "--updates", "1", "--json"
    )
    document = json.loads(result.stdout)
    assert (document["schema"], document["schema_version"], document["exit_status"]) == (
        "guestclock.interleave",
        1,
        1,
    )
    (answer,) = document["results"]
    assert answer["fault"]["kind"] == "negative delta"
    assert answer["schedule"][0]["early"][0] == "load version"


@pytest.mark.parametrize(
    "arguments", [("interleave", "--reader", "pv"), ("predict",), ("predict", "--migrate", "by-mail")]
)
def test_bad_input_is_one_line(arguments: tuple[str, ...]) -> None:
    assert isinstance(invoke(*arguments).exception, BadInputError)


def test_rates_and_a_migration() -> None:
    result = invoke(
        *(
            "predict",
            "--tsc-hz",
            "2.3e9",
            "--tsc-hz",
            "2500000000",
            "--migrate",
            "set-clock",
            "--downtime-ms",
            "300",
        ),
    )
    assert result.exit_code == 0
    assert "−35.879 ppb" in result.stdout
    assert "+3.10 ms" in result.stdout
    assert "back, where it is negative" in result.stdout
    assert "300 ms behind (method set-clock)" in result.stdout


def test_a_clock_that_starts_again_is_said_to_go_back() -> None:
    assert "before its last one" in invoke("predict", "--migrate", "nothing").stdout


def test_faults() -> None:
    result = invoke("predict", "--faults")
    assert result.exit_code == 0
    assert "584.5 years" in result.stdout
    assert "refused" in result.stdout


def test_a_prediction_as_json() -> None:
    document = json.loads(
        invoke("predict", "--tsc-hz", "2.3e9", "--migrate", "set-clock-realtime", "--json").stdout
    )
    assert document["schema"] == "guestclock.predict"
    assert document["rates"][0]["host_mult"] == 7294442
    assert document["migration"]["kvmclock_step_ns"] == 0
    assert document["faults"] == []
