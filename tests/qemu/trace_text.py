"""Traces for tests: lines as QEMU writes them, and an obvious second decoder."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from guestclock.qemu.trace_figures import REGISTERS
from guestclock.qemu.trace_kinds import EVENT_NAMES, Kind
from guestclock.qemu.trace_lines import LineDecoder

IFR, IER, T1CL, T1CH, T1LH = 0xD, 0xE, 0x4, 0x5, 0x7


@dataclass(frozen=True)
class Row:
    """One decoded line."""

    kind: Kind
    reg: int = 0
    value: int = 0
    stamp_us: int = -1


def access(name: str, reg: int, value: int, stamp_us: int | None = None) -> str:
    """Return the line of a ``read`` or ``write``, as since QEMU 7.0."""
    return f"{stamp(stamp_us)}mos6522_{name} reg={reg:#x} [{REGISTERS[reg]}] val={value:#x}"


def recompute(latch: int, stamp_us: int | None = None) -> str:
    return f"{stamp(stamp_us)}mos6522_get_next_irq_time latch={latch} counter=0x1234 delta_next=0x2"


def stamp(stamp_us: int | None) -> str:
    return "" if stamp_us is None else f"5188@{stamp_us // 1_000_000}.{stamp_us % 1_000_000:06}:"


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def decode(chunk: bytes) -> list[Row]:
    """Return the rows of the decoder under test."""
    decoder, at, rows = LineDecoder(), 0, []
    while at < len(chunk):
        at = decoder.decode(chunk, at)
        columns = decoder.columns
        for kind, reg, value, stamp_us, _ in zip(
            *(column[: decoder.rows].tolist() for column in columns), strict=True
        ):
            if kind in {Kind.DAMAGED, Kind.BLANK, Kind.OTHER}:
                rows.append(Row(Kind(kind)))
            else:
                rows.append(Row(Kind(kind), reg, value, stamp_us))
    return rows


_HEX, _NUMBER = r"([0-9a-f]{1,16})", r"(\d{1,18})"
_SYNTAX = {
    Kind.READ: re.compile(rf"mos6522_read reg=0x{_HEX} (?:\[[^\]]*\] )?val=0x{_HEX}"),
    Kind.WRITE: re.compile(rf"mos6522_write reg=0x{_HEX} (?:\[[^\]]*\] )?val=0x{_HEX}"),
    Kind.RECOMPUTE: re.compile(
        rf"mos6522_get_next_irq_time latch={_NUMBER} counter=0x{_HEX} delta_next=0x{_HEX}"
    ),
    Kind.SET_COUNTER: re.compile(rf"mos6522_set_counter T{_NUMBER}\.counter={_NUMBER}"),
}
_UNIX = re.compile(r"\d{1,18}@(\d{1,18})\.(\d{6}):")
_ISO = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{6}))?Z ")
_NAME = re.compile(r"[a-z][a-z0-9_]*(?= |$)", re.ASCII)


def obvious(line: str) -> Row:
    """Decode a line without context before its event, by regular expressions."""
    if not line:
        return Row(Kind.BLANK)
    stamp_us, rest = _stamp(line)
    for kind, syntax in _SYNTAX.items():
        if rest.startswith(f"{EVENT_NAMES[kind]} "):
            match = syntax.fullmatch(rest)
            return _row(kind, match, stamp_us) if match else Row(Kind.DAMAGED)
    name = _NAME.match(rest)
    return Row(Kind.OTHER if name and "_" in name[0] else Kind.DAMAGED)


def _stamp(line: str) -> tuple[int, str]:
    if match := _UNIX.match(line):
        return int(match[1]) * 1_000_000 + int(match[2]), line[match.end() :]
    if match := _ISO.match(line):
        seconds = int(datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp())
        return seconds * 1_000_000 + int(match[2] or 0), line[match.end() :]
    return -1, line


def _row(kind: Kind, match: re.Match[str], stamp_us: int) -> Row:
    if kind in {Kind.READ, Kind.WRITE}:
        reg, value = int(match[1], 16), int(match[2], 16)
        good = reg < 16 and value < 256
    elif kind is Kind.RECOMPUTE:
        reg, value = 0, int(match[1])
        good = value < 65536
    else:
        reg, value = int(match[1]), int(match[2])
        good = reg in {1, 2} and value < 65536
    return Row(kind, reg, value, stamp_us) if good else Row(Kind.DAMAGED)
