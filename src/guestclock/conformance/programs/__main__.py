"""Write the package's vectors anew, each file as JSON and as text."""

from pathlib import Path

from guestclock.conformance.json_format import write_json
from guestclock.conformance.programs import PROGRAMS
from guestclock.conformance.text_format import write_text

FOLDER = Path(__file__).parent.parent / "vectors" / "6522"


def texts() -> dict[str, str]:
    """Return the text of each file of vectors, by its name."""
    made = {}
    for feature, programs in PROGRAMS.items():
        vectors = [program.vector() for program in programs()]
        made[f"{feature}.json"] = write_json(vectors)
        made[f"{feature}.txt"] = write_text(vectors)
    return made


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(name)
