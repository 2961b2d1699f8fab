"""``guestclock trace`` and ``guestclock explain``, as typed."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guestclock.cli import app
from guestclock.cli import trace as trace_command
from guestclock.errors import BadInputError

READ = "5188@1796037355.{:06}:mos6522_read reg=0x5 [T1CH] val={:#x}\n"
BACK = READ.format(1, 0x10) + READ.format(2, 0x11)
OFFSET = "Cycle offset (4294966426) is larger than the 'via1' clock's 50% safety margin (2147483647)\n"
LOCKUP = "watchdog: BUG: soft lockup - CPU#0 stuck for 5107s! [swapper:0]\n"


def run(*arguments: str, stdin: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)
    return done.exit_code, done.output


def test_a_trace_with_a_step(tmp_path: Path) -> None:
    path = tmp_path / "via.log.gz"
    path.write_bytes(gzip.compress(BACK.encode()))
    status, said = run("trace", str(path))
    assert status == 1
    assert "2 clock reads" in said
    assert "1 went back, the worst by 256 cycles (327 µs) in line 2" in said


def test_a_good_trace_as_json(tmp_path: Path) -> None:
    path = tmp_path / "via.log"
    path.write_text(READ.format(1, 0x10) + "broken\n" + READ.format(5, 0x10))
    status, said = run("trace", "--json", str(path))
    document = json.loads(said)
    assert status == document["exit_status"] == 0
    assert document["span_us"] == 4
    assert document["damage"]["first_text"] == "broken"
    status, said = run("trace", str(path))
    assert "1 line could not be read; the first, line 2: broken" in said
    assert "Nothing here shows the guest's clock at fault." in said


def test_a_trace_of_another_device(tmp_path: Path) -> None:
    path = tmp_path / "esp.log"
    path.write_text("esp_mem_writeb reg[4]: 0x00 -> 0x01\n")
    with pytest.raises(BadInputError, match=r"esp_mem_writeb \(1\)") as caught:
        run("trace", str(path))
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_watch_ends_with_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: list[str]) -> None:
    path = tmp_path / "via.log"
    path.write_text(READ.format(1, 0x10))
    waits = iter([READ.format(2, 0x11), READ.format(3, 0x11), None])

    def wait() -> bool:
        more = next(waits)
        if more is None:
            raise KeyboardInterrupt
        with path.open("a") as file:
            file.write(more)
        return True

    monkeypatch.setattr(trace_command, "_wait", wait)
    status, said = run("trace", "--watch", *as_json, str(path))
    assert status == 1
    if as_json:
        assert [json.loads(line)["clock"]["backward_steps"] for line in said.splitlines()] == [0, 0, 1]
    else:
        assert said.count("1 went back") == 1


def test_the_two_messages(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_text(OFFSET + LOCKUP)
    status, said = run("explain", str(path))
    assert status == 1
    assert "870 cycles (1.11 ms) less" in said
    assert "32-bit wrap of via1" in said
    assert "Suspect: via1 (2 messages)." in said


def test_explain_standard_input_as_json() -> None:
    status, said = run("explain", "--json", "-", stdin=OFFSET)
    (found,) = json.loads(said)["explanations"]
    assert (status, found["cycles"], found["suspect"]) == (1, -870, "via1")


def test_explain_repeats_once_and_finds_nothing(tmp_path: Path) -> None:
    status, said = run("explain", "-", stdin=OFFSET * 3)
    assert said.count("870 cycles") == 1
    assert "(and 2 more like it)" in said
    status, said = run("explain", "-", stdin="Linux version 6.1\n")
    assert (status, said) == (0, "No message about clocks.\n")
    with pytest.raises(BadInputError, match="nothing"):
        run("explain", str(tmp_path / "nothing"))
