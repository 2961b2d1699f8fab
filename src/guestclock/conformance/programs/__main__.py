"""Write the package's vectors anew."""

from pathlib import Path

from guestclock.conformance.json_format import write_json
from guestclock.conformance.programs import PROGRAMS

FOLDER = Path(__file__).parent.parent / "vectors" / "6522"


def texts() -> dict[str, str]:
    """Return the text of each file of vectors, by its name."""
    return {
        f"{feature}.json": write_json(program.vector() for program in programs())
        for feature, programs in PROGRAMS.items()
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(name)
