"""``guestclock conform``: what a 6522 has to show, put to any emulator."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guestclock.conformance.runner import Result
    from guestclock.conformance.targets import Target
    from guestclock.conformance.vector import Vector

EXAMPLES = """
Examples:

  guestclock conform                                    our own chip, all vectors

  guestclock conform --target 'exec:./via_adapter'      a program (docs/conformance.md)

  guestclock conform --target qemu                      the Quadra of an installed QEMU (qemu:PATH another)

  guestclock conform --target mychip:Via --feature t1   a Python object, one feature

  guestclock conform --target 'exec:./via_adapter' --explain t1.flags-once.one-shot

  guestclock conform --vcd pulse.vcd pb7.square-wave.n5   a waveform for GTKWave or Surfer

  guestclock conform recordings.txt --format tap        vectors of a file
"""

PROGRESS_STEPS = 500


class Variant(StrEnum):
    """Which chip the target is."""

    NMOS = "nmos"
    CMOS = "cmos"


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    TAP = "tap"
    JUNIT = "junit"
    JSON = "json"


def conform(
    vectors: Annotated[
        list[Path] | None, typer.Argument(help="Files of vectors, .json or text. Default: the package's own.")
    ] = None,
    *,
    target: Annotated[
        str, typer.Option(help="model[:NAME], qemu[:PATH][,via=2], exec:COMMAND or MODULE:FACTORY.")
    ] = "model",
    variant: Annotated[Variant, typer.Option(help="The chip that the target is.")] = Variant.NMOS,
    feature: Annotated[
        list[str] | None, typer.Option(help="Only vectors about this; may be given again.")
    ] = None,
    generated: Annotated[int, typer.Option(min=0, help="So many random vectors instead.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="With --generated.")] = 1,
    output: Annotated[Format, typer.Option("--format", help="How results are printed.")] = Format.TABLE,
    explain: Annotated[str | None, typer.Option(help="Run one vector and show all of it.")] = None,
    vcd: Annotated[
        tuple[Path, str] | None,
        typer.Option(metavar="FILE NAME", help="Write a vector's waveform, run nothing."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a target may be silent.")] = 5.0,
) -> None:
    """Put a 6522, ours or any emulator's, to what real ones do."""
    from guestclock.experiments.conform_targets import open_target  # noqa: PLC0415 (imports wait for the command)

    chosen = _choose(vectors or [], feature or [], generated, seed, explain or (vcd[1] if vcd else None))
    if vcd:
        _write_waveform(vcd[0], chosen[0], variant)
        return
    opened = open_target(target, variant.value, timeout)
    try:
        results = _run(chosen, opened, variant)
    finally:
        opened.close()
    raise typer.Exit(_tell(results, opened, variant, output, explained=explain is not None))


def _choose(
    paths: "list[Path]", features: list[str], generate: int, seed: int, name: str | None
) -> "Sequence[Vector]":
    from guestclock.conformance import generated, library  # noqa: PLC0415
    from guestclock.conformance.vector import FEATURES  # noqa: PLC0415
    from guestclock.errors import BadInputError  # noqa: PLC0415

    if unknown := set(features) - set(FEATURES):
        raise BadInputError(f"--feature {' '.join(sorted(unknown))}: there are {', '.join(FEATURES)}")
    if name is not None:
        if name.startswith(f"{generated.PREFIX}."):
            return [generated.by_name(name)]
        return [library.named(library.collect(paths), name)]
    found = list(generated.generated(generate, seed)) if generate else library.collect(paths)
    chosen = [vector for vector in found if not features or vector.feature in features]
    if not chosen:
        raise BadInputError(f"no vector is about {', '.join(features)}")
    return chosen


def _run(chosen: "Sequence[Vector]", target: "Target", variant: Variant) -> "list[Result]":
    from guestclock.cli.stages import stages  # noqa: PLC0415
    from guestclock.conformance import runner  # noqa: PLC0415

    results = []
    every = max(len(chosen) // PROGRESS_STEPS, 1)
    with stages(quiet=False) as progress:
        for number, result in enumerate(runner.run(chosen, target, variant.value), 1):
            results.append(result)
            if number % every == 0:
                progress(result.vector.name, number / len(chosen))
    return results


def _tell(
    results: "list[Result]", target: "Target", variant: Variant, output: Format, explained: bool
) -> int:
    """Print the results; return the exit status."""
    from json import dumps  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from guestclock.conformance.document import as_document, explanation  # noqa: PLC0415
    from guestclock.conformance.qemu_causes import diagnose  # noqa: PLC0415
    from guestclock.report import conformance as report  # noqa: PLC0415

    diagnosis = diagnose(results, target.qemu_wiring) if target.qemu_wiring else None
    document = as_document(results, target.name, variant.value, diagnosis)
    shown: dict[str, Any] = explanation(results[0], variant.value, diagnosis) if explained else document
    if output is Format.JSON:
        typer.echo(dumps(shown, indent=2, ensure_ascii=False))
    elif output is Format.TAP:
        typer.echo(report.tap(document), nl=False)
    elif output is Format.JUNIT:
        typer.echo(report.junit(document), nl=False)
    elif explained:
        report.show_explanation(Console(), shown)
    else:
        report.show(Console(), document)
    return int(document["exit_status"])


def _write_waveform(path: Path, vector: "Vector", variant: Variant) -> None:
    from guestclock.conformance.timeline import moments  # noqa: PLC0415
    from guestclock.conformance.vcd import write_vcd  # noqa: PLC0415
    from guestclock.errors import BadInputError  # noqa: PLC0415

    try:
        path.write_text(write_vcd(vector.name, moments(vector, variant.value)), encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror}") from None
