"""``guestclock compare``: machines side by side, with the same guest and the same calls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from guestclock.experiments.compare.rounds import Comparison
    from guestclock.experiments.compare.rows import Row

EXAMPLES = """
Examples:

  guestclock compare                                   our machine: what chip and pacing do to a clock

  guestclock compare --guest linux --qemu qemu-system-m68k --load 3

                                                       Linux on ours and on QEMU, on a busy host

  guestclock compare --qemu old/qemu-system-m68k --qemu new/qemu-system-m68k --calls 20000000

                                                       two builds: what a clock read costs (minutes)

  guestclock compare --chip patches --pacing host --host simulated    what each patch of 2021 takes away

  guestclock compare --qemu qemu-system-m68k --icount 3    QEMU's fault, the same in every run

  guestclock compare --guest linux --variant plain --variant debug-timekeeping --pacing host --load 3

                                                       a kernel that hides the fault

  guestclock compare --level 6 --level 1 --stall none --stall every=50ms,for=35ms

  guestclock compare --qemu qemu-system-m68k --event stop=2s    what stopping does to a clock

  guestclock compare --userland --qemu qemu-system-m68k    boot to a prompt, and shutdown

A round runs every row once; every figure is the median of the rounds, with the least and the most. Each
option that may be repeated is one dimension of the table. Exit status 1: a guest did not come to its end, or
the clock of the first row, by which the others are measured, was at fault.
"""


def compare(
    *,
    guest: Annotated[str, typer.Option(help="The bundled guest: clockprobe or linux.")] = "clockprobe",
    variant: Annotated[
        list[str] | None, typer.Option(help="Kernel of the Linux guest: plain, debug-timekeeping; repeat.")
    ] = None,
    chip: Annotated[
        list[str] | None,
        typer.Option(
            help="VIAs of our machine, as of `run`, or patches: QEMU's before, with each of, and with all "
            "the patches of 2021; repeat."
        ),
    ] = None,
    pacing: Annotated[
        list[str] | None, typer.Option(help="What drives our machine: paced, virtual or host; repeat.")
    ] = None,
    qemu: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="A QEMU to run the same guest; repeat.")
    ] = None,
    icount: Annotated[
        list[int] | None,
        typer.Option(metavar="SHIFT", help="QEMU under icount too, an instruction 2^SHIFT ns; repeat."),
    ] = None,
    level: Annotated[
        list[int] | None, typer.Option(help="Level at which VIA1 interrupts clockprobe: 6 or 1; repeat.")
    ] = None,
    load: Annotated[
        list[int] | None, typer.Option(help="Busy processes that load the host meanwhile; repeat.")
    ] = None,
    stall: Annotated[
        list[str] | None, typer.Option(help="When the host stops the guest, as of `run`, or none; repeat.")
    ] = None,
    event: Annotated[
        str | None, typer.Option(help="What happens in mid-run: stop=2s, sigstop=2s or savevm=2s.")
    ] = None,
    userland: Annotated[
        bool, typer.Option("--userland", help="Boot Linux to a shell's prompt and shut it down, instead.")
    ] = False,
    host: Annotated[str, typer.Option(help="Our machine's host clock: real or simulated.")] = "real",
    bus: Annotated[str | None, typer.Option(help="Our machine's bus: phi2 or fast.")] = None,
    calls: Annotated[int, typer.Option(help="How many gettimeofday calls to time.")] = 500_000,
    seconds: Annotated[
        int | None, typer.Option(help="Guest seconds to hunt for faults.  [default: 2; as --event needs]")
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each row runs.")] = 3,
    ram: Annotated[int, typer.Option(help="The guest's memory in MiB.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of stall schedules.")] = 1,
    watchdog: Annotated[int, typer.Option(help="End a guest silent for so many seconds.")] = 30,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep tables and consoles in this folder.")] = None,
) -> None:
    """Run the same guest on several machines by turns and compare their clocks and the cost of a call."""
    from guestclock.experiments.compare import wanted  # noqa: PLC0415 (imports wait)
    from guestclock.experiments.compare.rows import rows  # noqa: PLC0415
    from guestclock.experiments.run import RunPlan  # noqa: PLC0415

    plan = RunPlan(host=host, bus=bus, seed=seed, ram_mib=ram, silence_s=watchdog)
    asked = wanted.parse(
        plan, guest=guest, variants=variant, chips=chip, pacings=pacing, qemus=qemu, icounts=icount,
        levels=level, loads=load, stalls=stall, event=event, userland=userland,
        calls=calls, seconds=seconds,
    )  # fmt: skip
    found = _compare(rows(asked), rounds, save, quiet=json)
    raise typer.Exit(_tell(found, save, json))


def _compare(rows: "list[Row]", rounds: int, save: Path | None, *, quiet: bool) -> "Comparison":
    from guestclock.cli.stages import stages  # noqa: PLC0415
    from guestclock.experiments.compare.rounds import compare  # noqa: PLC0415

    with stages(quiet=quiet) as progress:
        return compare(rows, rounds, progress=progress, save=save)


def _tell(found: "Comparison", save: Path | None, as_json: bool) -> int:
    from json import dumps  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from guestclock.experiments.compare.document import as_json as document_of  # noqa: PLC0415
    from guestclock.report.compare import show  # noqa: PLC0415

    document = document_of(found)
    text = dumps(document, indent=2, ensure_ascii=False)
    if save is not None:
        from guestclock.experiments.keep import keep_bytes  # noqa: PLC0415

        keep_bytes(text.encode() + b"\n", save / "compare.json")
    if as_json:
        typer.echo(text)
    else:
        show(Console(), document)
    return int(document["exit_status"])
