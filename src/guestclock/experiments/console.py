"""The guest's console: bytes in, lines with their time of arrival out."""

from collections.abc import Callable
from dataclasses import dataclass, field

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.experiments.transcript import Transcript
from guestclock.guests.stream import ConsoleStream, Text
from guestclock.timebase.pacing import Pacer

LAST_LINES = 12


@dataclass
class Console:
    """The guest's console: bytes in, lines with their time of arrival out."""

    pacer: Pacer
    heard: Transcript
    echo: Callable[[bytes], None] | None
    output: bytearray = field(default_factory=bytearray)
    last_lines: list[str] = field(default_factory=list)
    last_sign_ns: int = 0
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
        self.output += self._line
        for heard in self._stream.feed(bytes(self._line)):
            self.heard.take(heard, guest_ns=self.pacer.guest_ns, host_ns=self.pacer.host_ns)
            text = heard.text if isinstance(heard, Text) else self._line.decode("ascii", "replace").rstrip()
            if text.strip():
                self.last_lines = [*self.last_lines[1 - LAST_LINES :], text]
        self._line.clear()
