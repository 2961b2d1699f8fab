"""Mutation testing of the closed-form 6522: is there a change to its source that no test sees?

Usage::

    python tests/chips/mutants.py [--file via_port.py] [--seconds 30] [--list]

Each mutant changes one operator, constant, condition or statement of the chip's modules, uncompiled, and is
put to the package's vectors, to random programs beside the stepwise chip, and to the chip's own tests, up to
the first that fails.  Each runs in a forked process on one core, and is killed when it takes too long, which
counts as noticed.  ``docs/mutants.md`` lists those that change nothing, with the reason; the exit status is 1
if another survives.
"""

import argparse
import ast
import copy
import importlib
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from conftest import PlainFinder  # noqa: E402

sys.meta_path.insert(0, PlainFinder())  # before the chip is imported

from programs import OUTPUTS, Action, Pair, random_program, visible  # noqa: E402
from vector_actions import actions, every_beats  # noqa: E402

from guestclock.chips.mos6522 import TIMEOUT_BEATS, Mos6522  # noqa: E402
from guestclock.conformance import generated, library, runner, targets  # noqa: E402

ROOT = HERE.parents[1]
CHIPS = ROOT / "src" / "guestclock" / "chips"
MODULES = ("via_port", "shift_register", "via_timer1", "via_timer2", "mos6522")
"""In the order of their imports."""

TESTS = ("facts", "interface", "long", "recordings")
LONGEST_CYCLES = 3000
UNTOUCHED_CYCLES = (0, 1, 0xFFFE, 0xFFFF, 0x10000, 0x10001, 0x10002, 0x20010)
PROGRAMS = 60
PROGRAM_STEPS = 160

SWAPPED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.FloorDiv,), ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitAnd,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip


class Mutant(NamedTuple):
    """A changed module: where, what stands there now, and its tree."""

    module: str
    function: str
    line: str
    changed: str
    number: int
    tree: ast.Module

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies it in ``docs/mutants.md``."""
        return f"{self.module}.{self.function}", self.line, self.changed


# ---------------------------------------------------------------------- changes


def mutants(module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    source = (CHIPS / f"{module}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    for function in _functions(tree):
        for node in _code(function):
            for change in _changes(node):
                before, kind = copy.copy(node.__dict__), type(node)
                change(node)
                mutated = copy.deepcopy(tree)
                changed = _text_at(mutated, node.lineno)
                node.__class__ = kind
                node.__dict__.clear()
                node.__dict__.update(before)
                yield Mutant(
                    module, function.name, _text_at(tree, node.lineno), changed, node.lineno, mutated
                )


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def _code(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function that do something: no docstring, no annotation, no message."""
    waiting: list[ast.AST] = [*reversed(function.body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.JoinedStr) or _is_docstring(node):
            continue
        if hasattr(node, "lineno"):
            yield node
        waiting += reversed([*ast.iter_child_nodes(node)])


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    """Yield functions that change a node in place, its fields being restored afterwards."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in SWAPPED.get(type(operator), ()):
                yield _with("ops", [*node.ops[:index], other(), *node.ops[index + 1 :]])
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        for other in SWAPPED.get(type(node.op), ()):
            yield _with("op", other())
    if isinstance(node, ast.UnaryOp):
        yield _with("op", ast.UAdd() if not isinstance(node.op, ast.Not) else _Keep())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _with("value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield _with("value", node.value + 1)
        if node.value:
            yield _with("value", node.value - 1)
    if isinstance(node, ast.If | ast.IfExp):
        for value in (True, False):
            yield _with("test", ast.Constant(value, lineno=node.lineno, col_offset=0))
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        yield _removed


def _with(field: str, value: object) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        if isinstance(value, _Keep):  # "not x" becomes "x": as the only operand of "and"
            operand = node.operand  # type: ignore[attr-defined]
            node.__class__ = ast.BoolOp
            node.op, node.values = ast.And(), [operand]  # type: ignore[attr-defined]
        else:
            setattr(node, field, value)

    return change


class _Keep:
    """Marks a ``not`` to be taken away."""


def _removed(node: ast.AST) -> None:
    node.__class__ = ast.Pass


def _text_at(tree: ast.Module, number: int) -> str:
    """Return the source of the smallest statement that begins in or before a line, its head only."""
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= number <= (node.end_lineno or node.lineno):
            continue
        if best is None or node.lineno >= best.lineno:
            best = node
    assert best is not None
    return ast.unparse(best).splitlines()[0]


# ---------------------------------------------------------------------- judgement


def judge(mutant: Mutant, seconds: float) -> bool:
    """Tell whether something notices the mutant; it lives and dies in a process of its own."""
    child = os.fork()
    if not child:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)  # which kills
                _install(mutant)
                noticed = _vectors_fail() or _programs_differ() or _tests_fail()
            except BaseException:  # whatever a mutant does
                noticed = True
            os._exit(noticed)
    _, status = os.waitpid(child, 0)
    return status != 0


def _install(mutant: Mutant) -> None:
    """Give the classes of the loaded module the changed methods, and the module the changed functions."""
    module = importlib.import_module(f"guestclock.chips.{mutant.module}")
    classes = {name: found for name, found in vars(module).items() if isinstance(found, type)}
    exec(compile(ast.fix_missing_locations(mutant.tree), str(module.__file__), "exec"), vars(module))
    for name, known in classes.items():
        changed = vars(module)[name]
        if changed is not known:
            for attribute, value in vars(changed).items():
                if callable(value) or isinstance(value, property | staticmethod):
                    setattr(known, attribute, value)
            vars(module)[name] = known


def _vectors_fail() -> bool:
    return any(result.outcome in runner.BAD for result in runner.run(VECTORS, targets.model(), "nmos"))


class Moment(NamedTuple):
    """A step of a random program and what both forms of the chip have to show after it."""

    action: Action
    cycle: int
    promised: list[int]
    result: int | None
    visible: dict[str, object]


class Recorder(Pair):
    """Both forms of the chip, the true ones; what they do is written down for the mutants."""

    def __init__(self, timeout_beats: int) -> None:
        super().__init__(timeout_beats=timeout_beats)
        self.moments: list[Moment] = []

    def do_at(self, action: Action, cycle: int) -> None:
        """Do it, and remember."""
        promised = [self.closed.next_event(watch) for watch in WATCHES]
        self._pass_time(cycle)
        results = [self._apply(chip, action, cycle) for chip in (self.closed, self.stepwise)]
        assert results[0] == results[1]
        self.moments.append(Moment(action, cycle, promised, results[0], visible(self.stepwise)))


WATCHES = (*OUTPUTS, sum(OUTPUTS), 0)
VECTORS = [*library.packaged(), *generated.generated(800, seed=1)]
RECORDED: list[tuple[int, list[Moment]]] = []
"""Of each program the ``timeout_beats`` of its chips and its moments."""


def record_programs() -> None:
    """Run the vectors and the random programs on the true chips."""
    for vector in library.packaged():
        steps = actions(vector)
        for beats in every_beats(vector) if steps[-1][0] < LONGEST_CYCLES else ():
            recorder = Recorder(beats)
            for cycle, action in steps:
                recorder.do_at(action, cycle)
            RECORDED.append((beats, recorder.moments))
    untouched = Recorder(TIMEOUT_BEATS)
    for cycle in UNTOUCHED_CYCLES:
        untouched.do_at(Action("", 0, "wait", 0, 0), cycle)
    RECORDED.append((TIMEOUT_BEATS, untouched.moments))
    for seed in range(PROGRAMS):
        rng = random.Random(seed)
        beats = rng.randrange(0x40)
        recorder = Recorder(beats)
        for action in random_program(rng, PROGRAM_STEPS, longest_gap=100):
            recorder.do(action)
        RECORDED.append((beats, recorder.moments))


def _programs_differ() -> bool:
    for beats, moments in RECORDED:
        chip = Mos6522(timeout_beats=beats)
        for moment in moments:
            if [chip.next_event(watch) for watch in WATCHES] != moment.promised:
                return True
            chip.advance(moment.cycle)
            result = Pair._apply(chip, moment.action, moment.cycle)
            if result != moment.result or visible(chip) != moment.visible:
                return True
    return False


def _tests_fail() -> bool:
    files = [str(HERE / f"test_mos6522_{name}.py") for name in TESTS]
    return (
        pytest.main(
            [
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-o",
                "filterwarnings=ignore",
                "-m",
                "not compiled_only",
                "--build=plain",
                *files,
            ]
        )
        != 0
    )


# ---------------------------------------------------------------------- the survivors


ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def listed() -> set[tuple[str, str, str]]:
    """Return the mutants that ``docs/mutants.md`` says change nothing."""
    text = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
    return {(where, line, changed) for where, line, changed, _ in ROW.findall(text)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", help="only this module")
    parser.add_argument("--seconds", type=float, default=40, help="that a mutant may take")
    parser.add_argument("--list", action="store_true", help="say what would be changed, run nothing")
    options = parser.parse_args()
    chosen = [options.file.removesuffix(".py")] if options.file else MODULES
    every = [mutant for module in chosen for mutant in mutants(module)]
    if options.list:
        for mutant in every:
            print(f"{mutant.module}.py:{mutant.number}: {mutant.line}  ->  {mutant.changed}")
        return 0
    known = listed()
    alive = new = 0
    begun = time.monotonic()
    for mutant in every:
        if judge(mutant, options.seconds):
            continue
        alive += 1
        if mutant.key not in known:
            new += 1
            where, line, changed = mutant.key
            print(f"{mutant.module}.py:{mutant.number} | `{where}` | `{line}` | `{changed}` | |", flush=True)
    seconds = time.monotonic() - begun
    print(f"{len(every)} mutants in {seconds:.0f} s; {alive} survive, {new} of them not in docs/mutants.md")
    return int(new > 0)


if __name__ == "__main__":
    record_programs()
    raise SystemExit(main())
