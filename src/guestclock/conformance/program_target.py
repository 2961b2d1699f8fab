"""The target ``exec:COMMAND``: any program that speaks the line protocol of ``docs/conformance.md``.

The program is sent vectors in text form, without what they are to find out, and answers a line for each
read and check, and ``E`` when a vector ends.  Vectors are sent ahead of the answers, so that neither side
waits for the other: a program in C takes hundreds of thousands of reads a second.
"""

import os
import select
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from guestclock.chips.qemu_via import Wiring
from guestclock.conformance.targets import Answers, TargetBrokeError
from guestclock.conformance.text_format import questions
from guestclock.conformance.vector import OPTIONAL, Vector, observed
from guestclock.errors import BadInputError, UnavailableError

GREETING = "6522-target 1"
SENT_AHEAD_BYTES = 1 << 16
LONGEST_LINE_BYTES = 256
BROKEN_IN_A_ROW = 10
"""After so many vectors in a row that broke the target it is not started again."""


class ProgramTarget:
    """A program on the other end of two pipes; it is started again when it breaks."""

    qemu_wiring: Wiring | None = None

    def __init__(self, command: str, timeout_s: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise BadInputError(f"target exec:{command}: {error}") from None
        if not self._words:
            raise BadInputError("target exec: needs a command after the colon")
        self.name = f"exec:{command}"
        self._timeout_s = timeout_s
        try:
            self._program = _Program(self._words, timeout_s)
        except (OSError, TargetBrokeError) as error:
            raise UnavailableError(f"target {self.name} cannot start: {error}") from None
        self.has = self._program.has

    def run(self, vectors: Iterable[Vector]) -> Iterator[Answers | TargetBrokeError]:
        """Yield what each vector shows; one that breaks the program costs only itself."""
        coming = iter(vectors)
        sent: deque[Vector] = deque()  # and not yet answered
        broken_in_a_row = 0
        while True:
            self._send_ahead(coming, sent)
            if not sent:
                return
            if broken_in_a_row >= BROKEN_IN_A_ROW:
                yield TargetBrokeError(f"not run: it broke {BROKEN_IN_A_ROW} times in a row")
                sent.popleft()
                continue
            try:
                answers = self._program.answers(len(observed(sent[0].steps)))
            except TargetBrokeError as error:
                broken_in_a_row += 1
                sent.popleft()
                yield error
                if broken_in_a_row < BROKEN_IN_A_ROW:
                    self._start_again(sent)
            else:
                broken_in_a_row = 0
                sent.popleft()
                yield answers

    def _send_ahead(self, coming: Iterator[Vector], sent: deque[Vector]) -> None:
        while len(self._program.outbox) < SENT_AHEAD_BYTES:
            vector = next(coming, None)
            if vector is None:
                return
            sent.append(vector)
            self._program.outbox += questions(vector).encode()

    def _start_again(self, sent: Iterable[Vector]) -> None:
        self._program.end()
        try:
            self._program = _Program(self._words, self._timeout_s)
        except (OSError, TargetBrokeError) as error:
            raise UnavailableError(f"target {self.name} cannot start again: {error}") from None
        for vector in sent:
            self._program.outbox += questions(vector).encode()

    def close(self) -> None:
        """End the program and whatever it started."""
        self._program.end()


class _Program:
    """The running program, its greeting read."""

    def __init__(self, words: list[str], timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self.outbox = bytearray()
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        try:
            self.has = self._greeting()
        except TargetBrokeError:
            self.end()
            raise

    def _greeting(self) -> frozenset[str]:
        line = self._line().decode(errors="replace")
        words = line.removeprefix(GREETING).split()
        if not line.startswith(GREETING) or not set(words) <= set(OPTIONAL):
            raise TargetBrokeError(
                f"its first line must be '{GREETING}' and what it has of {' '.join(OPTIONAL)}, not {line!r}"
            )
        return frozenset(words)

    def answers(self, count: int) -> Answers:
        """Return the answers to one vector."""
        answers = []
        for _ in range(count):
            line = self._line()
            try:
                answer = int(line, 16)
            except ValueError:
                raise TargetBrokeError(f"answered {line.decode(errors='replace')!r}") from None
            if not 0 <= answer <= 0xFF:
                raise TargetBrokeError(f"answered {line.decode()!r}, which is no byte")
            answers.append(answer)
        if (line := self._line()) != b"E":
            raise TargetBrokeError(f"answered {line.decode(errors='replace')!r} where the vector ends")
        return answers

    def _line(self) -> bytes:
        while not self._lines:
            if len(self._rest) > LONGEST_LINE_BYTES:
                raise TargetBrokeError("answered a line without end")
            self._exchange()
        return self._lines.popleft()

    def _exchange(self) -> None:
        """Send what there is to send and take what has come, waiting for either."""
        wants_to_send = [self._in] if self.outbox else []
        readable, writable, _ = select.select([self._out], wants_to_send, [], self._timeout_s)
        if not readable and not writable:
            raise TargetBrokeError(f"no answer within {self._timeout_s:g} s")
        if readable:
            came = os.read(self._out, 1 << 16)
            if not came:
                raise TargetBrokeError(self._obituary())
            *lines, self._rest = (self._rest + came).split(b"\n")
            self._lines.extend(line.strip() for line in lines)
        if writable:
            try:
                del self.outbox[: os.write(self._in, self.outbox[:SENT_AHEAD_BYTES])]
            except BrokenPipeError:  # what it still had to say comes first
                self.outbox.clear()

    def _obituary(self) -> str:
        try:
            status = self._process.wait(self._timeout_s)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if status < 0:
            return f"died of {signal.Signals(-status).name}"
        return f"ended with status {status}"

    def end(self) -> None:
        """Kill the program and whatever it started; take back its pipes."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
