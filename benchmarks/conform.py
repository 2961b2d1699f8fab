"""How fast vectors run: on the compiled model, and on a program in C at the other end of two pipes."""

import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.rounds import spread
from guestclock.conformance import runner, targets
from guestclock.conformance.generated import generated
from guestclock.conformance.program_target import ProgramTarget
from guestclock.conformance.vector import Vector, observed

EXAMPLE = Path(__file__).parent.parent / "examples" / "conform_c"
VECTORS = 20_000
ROUNDS = 5
VECTORS_PER_MINUTE_BAR = 100_000
READS_PER_SECOND_BAR = 20_000


def seconds(vectors: list[Vector], target: targets.Target) -> float:
    """Return how long the vectors take, the program's time included."""
    start = time.perf_counter()
    for _ in runner.run(vectors, target, "nmos"):
        pass
    return time.perf_counter() - start


def main() -> bool:
    vectors = list(generated(VECTORS, seed=1))
    reads = sum(len(observed(vector.steps)) for vector in vectors)
    with tempfile.TemporaryDirectory() as folder:
        adapter = Path(folder) / "via_adapter"
        sources = [EXAMPLE / "via_adapter.c", EXAMPLE / "small_via.c"]
        subprocess.run(["cc", "-O2", "-o", adapter, *sources], check=True)
        model = targets.model()
        with closing(ProgramTarget(str(adapter), 30)) as program:
            taken = [(seconds(vectors, model), seconds(vectors, program)) for _ in range(ROUNDS)]
    per_minute = spread([60 * VECTORS / model_s for model_s, _ in taken])
    per_second = spread([reads / program_s for _, program_s in taken])
    print(f"conform: {per_minute.median:,.0f} vectors a minute on the model (bar {VECTORS_PER_MINUTE_BAR:,})")
    print(f"conform: {per_second.median:,.0f} reads a second on a program (bar {READS_PER_SECOND_BAR:,})")
    return per_minute.median >= VECTORS_PER_MINUTE_BAR and per_second.median >= READS_PER_SECOND_BAR
