"""What the Macintosh's program says: lines ``@gc found id=ID pass=P at=OFFSET data=DIGITS sum=SUM``.

All numbers are hexadecimal.  The sum is that of the bytes of id, pass, offset and data; other lines are the
machine's own.
"""

import re

from guestclock.errors import BadInputError

_LINE = re.compile(r"@gc found (?P<fields>.*)")
_FIELDS = re.compile(
    r"id=(?P<id>[0-9a-f]{4}) pass=(?P<number>[0-9a-f]{4}) at=(?P<at>[0-9a-f]{4})"
    r" data=(?P<data>([0-9a-f]{2})*) sum=(?P<sum>[0-9a-f]{2})\s*"
)
END = "@gc bye"


def passes_said(said: str, name: str) -> tuple[bytes, list[bytes]]:
    """Return the program's id and what each pass found.

    Raises :class:`BadInputError` naming file and line: a line is damaged, missing or out of turn.
    """
    mark = b""
    passes: list[bytearray] = []
    for number, line in enumerate(said.splitlines(), 1):
        found = _LINE.search(line)
        if found is None:
            continue
        fields = _FIELDS.fullmatch(found["fields"])
        if fields is None:
            raise BadInputError(f"{name}:{number}: damaged: {found[0][:80]!r}")
        head, data = bytes.fromhex(fields["id"] + fields["number"] + fields["at"]), fields["data"]
        total = sum(head + bytes.fromhex(data)) & 0xFF
        if total != int(fields["sum"], 16):
            raise BadInputError(f"{name}:{number}: the sum of its bytes is {total:02x}, not {fields['sum']}")
        mark = mark or head[:2]
        if int(fields["at"], 16) == 0:
            passes.append(bytearray())
        wanted = (len(passes) - 1, len(passes[-1]) if passes else 0)
        if head[:2] != mark or (int(fields["number"], 16), int(fields["at"], 16)) != wanted:
            raise BadInputError(f"{name}:{number}: a line before it is missing")
        passes[-1] += bytes.fromhex(data)
    if not passes:
        raise BadInputError(f"{name}: has no line that begins '@gc found'")
    if END not in said:
        raise BadInputError(f"{name}: ends before the line '{END}'")
    return mark, [bytes(each) for each in passes]
