"""The guest's console: bytes in, lines with their time of arrival out."""

from collections.abc import Callable
from dataclasses import dataclass, field

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.experiments.transcript import Transcript
from guestclock.guests.stream import ConsoleStream, Text
from guestclock.timebase.pacing import Pacer

LAST_LINES = 12


@dataclass(frozen=True)
class ConsoleState:
    """A console as data: all complete lines, length and times (guest, host) of each, and the begun one."""

    output: bytes
    arrivals: list[tuple[int, int, int]]
    line: bytes
    last_sign_ns: int


@dataclass
class Console:
    """The guest's console: bytes in, lines with their time of arrival out."""

    pacer: Pacer
    heard: Transcript
    echo: Callable[[bytes], None] | None
    output: bytearray = field(default_factory=bytearray)
    last_lines: list[str] = field(default_factory=list)
    last_sign_ns: int = 0
    arrivals: list[tuple[int, int, int]] = field(default_factory=list)
    _line: bytearray = field(default_factory=bytearray)
    _stream: ConsoleStream = field(default_factory=ConsoleStream)

    def take(self, channel: int, byte: int) -> None:
        """Take a byte that the guest sent; channel A is the console."""
        if channel != CHANNEL_A:
            return
        self.last_sign_ns = self.pacer.guest_ns
        self._line.append(byte)
        if self.echo is not None:
            self.echo(bytes([byte]))
        if byte == ord("\n"):
            self.end_line()

    def end_line(self) -> None:
        """Hand a complete line on."""
        line = bytes(self._line)
        self._line.clear()
        self._hand_on(line, self.pacer.guest_ns, self.pacer.host_ns)

    def snapshot(self) -> ConsoleState:
        """Return all that was heard."""
        return ConsoleState(bytes(self.output), list(self.arrivals), bytes(self._line), self.last_sign_ns)

    def restore(self, state: ConsoleState) -> None:
        """Let a new console hear it all again, each line at its time; nothing is echoed."""
        begin = 0
        for length, guest_ns, host_ns in state.arrivals:
            self._hand_on(state.output[begin : begin + length], guest_ns, host_ns)
            begin += length
        self._line[:] = state.line
        self.last_sign_ns = state.last_sign_ns

    def _hand_on(self, line: bytes, guest_ns: int, host_ns: int) -> None:
        self.arrivals.append((len(line), guest_ns, host_ns))
        self.output += line
        for heard in self._stream.feed(line):
            self.heard.take(heard, guest_ns=guest_ns, host_ns=host_ns)
            text = heard.text if isinstance(heard, Text) else line.decode("ascii", "replace").rstrip()
            if text.strip():
                self.last_lines = [*self.last_lines[1 - LAST_LINES :], text]
