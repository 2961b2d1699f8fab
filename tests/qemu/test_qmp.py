"""QMP with a partner that is a script of answers."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from guestclock.errors import UnavailableError
from guestclock.qemu import snapshots
from guestclock.qemu.qmp import Qmp, arguments

GREETING = {"QMP": {"version": {}}}
DONE: dict[str, Any] = {"return": {}}


@contextmanager
def partner(path: Path, *answers: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Greet, then give each command its messages; yield what was asked."""
    asked: list[dict[str, Any]] = []

    def serve() -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rw") as stream:
            for messages in ([GREETING], [DONE], *answers):
                if messages != [GREETING]:
                    asked.append(json.loads(stream.readline()))
                stream.write("".join(json.dumps(message) + "\n" for message in messages))
                stream.flush()

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        yield asked
        thread.join()


def test_commands_and_events_between_answers(tmp_path: Path) -> None:
    path = tmp_path / "qmp"
    answers = [[{"event": "STOP"}, DONE], [{"return": [{"one": 1}]}]]
    with partner(path, *answers) as asked, Qmp(path) as qmp:
        assert qmp.command("stop") == {}
        assert qmp.command("query-x", some_thing=1) == [{"one": 1}]
    assert asked == [
        {"execute": "qmp_capabilities"},
        {"execute": "stop"},
        {"execute": "query-x", "arguments": {"some-thing": 1}},
    ]


def test_a_refusal_and_an_end_are_told(tmp_path: Path) -> None:
    path = tmp_path / "qmp"
    refusal = {"error": {"class": "GenericError", "desc": "No snapshots here"}}
    with (
        partner(path, [refusal]),
        Qmp(path) as qmp,
        pytest.raises(UnavailableError, match="refuses snapshot-save: No snapshots here"),
    ):
        qmp.command("snapshot-save")
    path = tmp_path / "other"
    with partner(path), Qmp(path) as qmp, pytest.raises(UnavailableError, match="ended while"):
        qmp.command("stop")


def test_a_job_is_waited_for_and_its_error_told(tmp_path: Path) -> None:
    path = tmp_path / "qmp"
    running = {"return": [{"id": "snapshot-save", "status": "running"}]}
    failed = {"return": [{"id": "snapshot-save", "status": "concluded", "error": "disk full"}]}
    with (
        partner(path, [DONE], [running], [failed], [DONE]) as asked,
        Qmp(path) as qmp,
        pytest.raises(UnavailableError, match="cannot do snapshot-save: disk full"),
    ):
        snapshots.save(qmp)
    assert [message["execute"] for message in asked[1:]] == [
        "snapshot-save",
        "query-jobs",
        "query-jobs",
        "job-dismiss",
    ]


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="does not answer over QMP"), Qmp(tmp_path / "none", 0.05):
        pass
    assert arguments(tmp_path / "x") == ["-qmp", f"unix:{tmp_path / 'x'},server=on,wait=off"]
