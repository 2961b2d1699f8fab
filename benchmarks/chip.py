"""The compiled 6522 against a plain C closed form of its timers: groups of three register reads.

Two ways to call each.  *inlined*: loop and chip are one compilation unit.  *called*: the loop is
another unit and calls the chip for each read, as the machine's bus does.  Both contenders must
have read the same values.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from benchmarks.rounds import interleave, ratios, spread
from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import ACR, ACR_T1_FREE_RUN, IER, IFR, T1CH, T1CL, T2CH, T2CL

BAR = 1.5
ROUNDS = 41
GROUPS = 1_000_000
GAP_CYCLES = 1000
READS = (T1CL, T2CL, IFR)
T1_COUNT = 7998
T2_COUNT = 0xFFFF
# Groups fall in the middle of the thousands, T1's timeouts at their beginning: in no group is a
# read in the very cycle of a timeout, which the C form does not tell from others.
FIRST_GROUP_CYCLE = 500

HERE = Path(__file__).parent
CHIPS = HERE.parent / "src" / "guestclock" / "chips"
BUILD = HERE.parent / "build" / "benchmarks"

# Our loop, compiled once at the end of the chip's own source and once as a unit of its own.
LOOP = """

def run(via, groups, gap, r0, r1, r2, now):
    total = 0
    with cython.nogil:
        for _ in range(groups):
            via.advance(now)
            total += via.read_here(r0)
            via.advance(now + 1)
            total += via.read_here(r1)
            via.advance(now + 2)
            total += via.read_here(r2)
            now += gap
    return total
"""
LOOP_TYPES = """

@cython.locals(total=cython.uint, _=cython.long)
cpdef unsigned run(Mos6522 via, long groups, int64_t gap, int r0, int r1, int r2, int64_t now)
"""
CALLER_TYPES = """
cimport cython
from libc.stdint cimport int64_t
from guestclock.chips.mos6522 cimport Mos6522
"""
# Lets Python start the C form's loop, which is C as well.
C_BINDING = """
from libc.stdint cimport int64_t

cdef extern from "timers.c":
    struct timers:
        int64_t t1_zero, t2_zero, attention
        int t1_latch, acr, ifr, ier, t1_armed, t2_armed
    unsigned timers_run(timers *, long, int64_t, int, int, int, int64_t) nogil

cdef class Timers:
    cdef timers state

    def __init__(self, **state):
        self.state = state

def run(Timers via, long groups, int64_t gap, int r0, int r1, int r2, int64_t now):
    return timers_run(&via.state, groups, gap, r0, r1, r2, now)
"""
SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup

flags = ["-O3", "-fno-plt", "-fvisibility=hidden"]
linkage = {"c_inlined": "static inline", "c_called": "__attribute__((noinline)) static"}
names = ["chip_inlined.py", "chip_called.py", "c_inlined.pyx", "c_called.pyx"]
setup(
    ext_modules=cythonize(
        [
            Extension(
                stem,
                [name],
                include_dirs=[HERE],
                define_macros=[("LINKAGE", linkage.get(stem))],
                extra_compile_args=flags,
            )
            for name in names
            for stem in [name.partition(".")[0]]
        ],
        include_path=[SOURCE],
        quiet=True,
        language_level=3,
    )
)
"""


def build() -> None:
    """Compile the loops into build/benchmarks, unless what is there is newer than its sources."""
    sources = [CHIPS / "mos6522.py", CHIPS / "mos6522.pxd", HERE / "timers.c", Path(__file__)]
    stamp = BUILD / "built"
    if stamp.exists() and stamp.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    chip, types = (CHIPS / "mos6522.py").read_text(), (CHIPS / "mos6522.pxd").read_text()
    texts = {
        "chip_inlined.py": chip + LOOP,
        "chip_inlined.pxd": types + LOOP_TYPES,
        "chip_called.py": "import cython\n" + LOOP,
        "chip_called.pxd": CALLER_TYPES + LOOP_TYPES,
        "c_inlined.pyx": C_BINDING,
        "c_called.pyx": C_BINDING,
        "setup.py": f"HERE = {str(HERE)!r}\nSOURCE = {str(CHIPS.parent.parent)!r}\n{SETUP}",
    }
    for name, text in texts.items():
        (BUILD / name).write_text(text)
    subprocess.run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], cwd=BUILD, check=True)
    stamp.touch()


def load(name: str) -> ModuleType:
    path = next(BUILD.glob(f"{name}.*.so"))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Contender:
    """A chip or its C form with T1 in free run and T2 going, and where in time it is."""

    def __init__(self, run: Callable[..., int], chip: object) -> None:
        self.run, self.chip = run, chip
        self.cycle = FIRST_GROUP_CYCLE
        self.total = 0

    def __call__(self, groups: int = GROUPS) -> None:
        self.total += self.run(self.chip, groups, GAP_CYCLES, *READS, self.cycle)
        self.cycle += groups * GAP_CYCLES


def our_chip(how: str) -> Contender:
    module = load(f"chip_{how}")
    chip = module.Mos6522() if how == "inlined" else Mos6522()
    writes = [(IER, 0xE0), (ACR, ACR_T1_FREE_RUN), (T1CL, T1_COUNT & 0xFF), (T1CH, T1_COUNT >> 8)]
    for cycle, (register, value) in enumerate([*writes, (T2CL, T2_COUNT & 0xFF), (T2CH, T2_COUNT >> 8)]):
        chip.write(register, value, cycle)
    return Contender(module.run, chip)


def plain_c(how: str) -> Contender:
    module = load(f"c_{how}")
    timers = module.Timers(
        t1_zero=4 + T1_COUNT, t2_zero=6 + T2_COUNT, attention=0, t1_latch=T1_COUNT,
        acr=ACR_T1_FREE_RUN, ifr=0, ier=0x60, t1_armed=1, t2_armed=1,
    )  # fmt: skip
    return Contender(module.run, timers)


MAKERS = {"chip": our_chip, "C": plain_c}


def instructions_per_group(who: str, how: str) -> float | None:
    """Count the loop's instructions under callgrind, or None where valgrind is not installed."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    groups = 100_000
    done = subprocess.run(
        [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--toggle-collect=__pyx_pw_*run",
         sys.executable, "-c", f"from benchmarks.chip import MAKERS; MAKERS[{who!r}]({how!r})({groups})"],
        cwd=HERE.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1]) / groups


def main() -> bool:
    """Print times, ratios and instruction counts; return whether the inlined ratio is within the bar."""
    build()
    names = [f"{who}, {how}" for how in ("inlined", "called") for who in MAKERS]
    contenders = {name: MAKERS[name.split(", ")[0]](name.split(", ")[1]) for name in names}
    taken_ns = interleave(contenders, ROUNDS)
    totals = {contender.total % 2**32 for contender in contenders.values()}
    assert len(totals) == 1, "the contenders have not read the same values"
    print(f"chip: {len(READS)} register reads per {GAP_CYCLES} cycles; {ROUNDS} interleaved rounds")
    print("  ns a group: median (quartiles); instructions a group")
    for name in names:
        count = instructions_per_group(*name.split(", "))
        shown = "valgrind is not installed" if count is None else f"{count:.1f}"
        print(f"  {name:14} {spread([ns / GROUPS for ns in taken_ns[name]])}; {shown}")
    inlined = ratios(taken_ns, "chip, inlined", "C, inlined")
    print(f"  ratio, inlined: {inlined}; bar {BAR}")
    print(f"  ratio, called:  {ratios(taken_ns, 'chip, called', 'C, called')}")
    return inlined.median <= BAR
