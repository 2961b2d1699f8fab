"""``guestclock run``: a guest on our Quadra 800, and the verdict on its clock."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

EXAMPLES = """
Examples:

  guestclock run                                         the bundled guest, 10 s, paced by this host

  guestclock run --guest linux --seconds 60              real Linux (after `guestclock build-guest`)

  guestclock run --stall every=200ms,for=150ms           the same on a host that keeps stalling

  guestclock run --pacing virtual --calls 20000000       reproducible to the byte

  guestclock run --pacing host --host simulated --stall every=50ms,for=35ms

                                                         what emulators do by default: steps and lost ticks

  guestclock run --chip qemu-7.2 --pacing virtual        QEMU's VIA: the clock steps without any help

  guestclock run --guest linux --phases user:0           check the guest's userland

  guestclock run --chip qemu-7.2 --pacing virtual --save DIR; guestclock run --replay DIR --to-step 3

                                                         the chips and the accesses before a backward step

  guestclock run --replay DIR --shrink                   the fewest and shortest stalls that do it

  guestclock run --pacing virtual --snapshot-at 5s --snapshot FILE; guestclock run --restore FILE

                                                         keep the whole machine in a file; go on from there

  guestclock run --kernel vmlinux --initrd initrd --append console=ttyS0 --console
"""


def _chips() -> list[str]:
    from guestclock.chips.qemu_deviations import SETS  # noqa: PLC0415

    return list(SETS)


def run(
    context: typer.Context,
    *,
    guest: Annotated[str, typer.Option(help="The bundled guest: clockprobe or linux.")] = "clockprobe",
    kernel: Annotated[Path | None, typer.Option(help="A kernel of your own (ELF, m68k).")] = None,
    initrd: Annotated[Path | None, typer.Option(help="Its initrd.")] = None,
    append: Annotated[str, typer.Option(help="More words for the kernel's command line.")] = "",
    debug_timekeeping: Annotated[
        bool, typer.Option("--debug-timekeeping", help="The Linux guest with CONFIG_DEBUG_TIMEKEEPING.")
    ] = False,
    adb: Annotated[
        bool, typer.Option("--adb", help="The Linux guest that looks for keyboard and mouse.")
    ] = False,
    chip: Annotated[
        str,
        typer.Option(
            help="The VIAs: chip (the 6522), or QEMU's: qemu-6.1, qemu-7.2, qemu-8.2, patch-1 to patch-9, "
            "series-2021.",
            autocompletion=_chips,
        ),
    ] = "chip",
    pacing: Annotated[str, typer.Option(help="What drives guest time: paced, virtual or host.")] = "paced",
    host: Annotated[str, typer.Option(help="The host clock: real or simulated.")] = "real",
    bus: Annotated[
        str | None,
        typer.Option(help="phi2: a cycle an access, as on the real bus; fast.  [default: by pacing]"),
    ] = None,
    seconds: Annotated[int, typer.Option(help="How long to hunt, idle and compute, in guest seconds.")] = 10,
    calls: Annotated[int, typer.Option(help="How many gettimeofday calls to time.")] = 100_000,
    phases: Annotated[
        str | None, typer.Option(help="What the guest does, as in hunt:5,idle:2, instead of both.")
    ] = None,
    stall: Annotated[
        str | None, typer.Option(help="When the host keeps the guest from running: every=50ms,for=35ms …")
    ] = None,
    ram: Annotated[int, typer.Option(help="The guest's memory in MiB.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of a random stall schedule.")] = 1,
    watchdog: Annotated[int, typer.Option(help="End a guest silent for so many seconds; 0: never.")] = 30,
    console: Annotated[bool, typer.Option("--console", help="Connect this terminal to the guest.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the tables and the console in this folder.")] = None,
    snapshot: Annotated[
        Path | None, typer.Option(help="Keep the whole machine in this file, and go on.")
    ] = None,
    snapshot_at: Annotated[
        str | None, typer.Option(help="With --snapshot: at which guest time, as in 5s or 800ms.")
    ] = None,
    restore: Annotated[
        Path | None, typer.Option(help="Go on from what --snapshot has kept; the file says how it is run.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Run again what this folder holds, up to where its clock went back."),
    ] = None,
    to_step: Annotated[
        int | None, typer.Option(help="With --replay: which of its backward steps.  [default: 1]")
    ] = None,
    shrink: Annotated[
        bool,
        typer.Option("--shrink", help="With --replay: the fewest and shortest stalls that do it."),
    ] = False,
) -> None:
    """Run a guest on our own Quadra 800 and judge the clock that it sees."""
    if replay is not None or to_step is not None or shrink:
        from guestclock.cli.replay import look_again  # noqa: PLC0415 (imports wait)

        look_again(context, replay, to_step, shrink=shrink, as_json=json)
        return
    from guestclock.cli.snapshot import ordered, read_machine  # noqa: PLC0415 (imports wait)

    order = ordered(snapshot, snapshot_at)
    if restore is not None:
        machine = read_machine(context, restore)
        _finish(_resume(machine, order, console=console, quiet=json), order, save, as_json=json)
    from guestclock.cli.kernel_variant import kernel_variant  # noqa: PLC0415 (imports wait)
    from guestclock.experiments import boot  # noqa: PLC0415
    from guestclock.experiments import run as experiment  # noqa: PLC0415
    from guestclock.guests.orders import default_phases, parse_phases  # noqa: PLC0415
    from guestclock.quadra.machine import CHIP  # noqa: PLC0415

    plan = experiment.RunPlan(
        chip=chip,
        pacing=pacing,
        host=host,
        bus=bus,
        stall=stall,
        seed=seed,
        ram_mib=ram,
        silence_s=watchdog,
    )
    if kernel is not None:
        what = boot.own(kernel, initrd, append)
        length_s = 0
    elif initrd is not None:
        raise typer.BadParameter("an initrd needs --kernel FILE", param_hint="--initrd")
    else:
        orders = parse_phases(phases, guest) if phases else default_phases(seconds, calls)
        variant = kernel_variant(debug_timekeeping=debug_timekeeping, adb=adb)
        if adb and chip != CHIP:
            raise typer.BadParameter("the ADB needs the shift register of --chip chip", param_hint="--adb")
        what = boot.bundled(guest, orders, append, variant)
        length_s = sum(phase.amount for phase in orders if phase.name in boot.TIMED_PHASES)
    start = partial(experiment.run, plan, what, order=order)
    _finish(_watched(start, length_s=length_s, console=console, quiet=json), order, save, as_json=json)


def _resume(machine: Any, order: Any, *, console: bool, quiet: bool) -> Any:
    from guestclock.experiments.run import resume  # noqa: PLC0415

    return _watched(partial(resume, machine, order=order), length_s=0, console=console, quiet=quiet)


def _watched(start: Callable[..., Any], *, length_s: int, console: bool, quiet: bool) -> Any:
    """Run a machine with a terminal connected or with its progress shown."""
    if console:
        from guestclock.cli.terminal import connected  # noqa: PLC0415

        with connected() as terminal:
            return start(echo=terminal.show, typed=terminal.typed)
    from guestclock.cli.run_progress import shown  # noqa: PLC0415

    with shown(length_s, quiet=quiet) as progress:
        return start(progress=progress)


def _finish(ran: Any, order: Any, save: Path | None, *, as_json: bool) -> NoReturn:
    """Keep and show what a run left, and end with its exit status."""
    from guestclock.cli.snapshot import check_kept  # noqa: PLC0415
    from guestclock.verdict import judge  # noqa: PLC0415

    if save is not None:
        ran.save(save)
    verdict = judge(ran.tables)
    _tell(ran, verdict, as_json)
    check_kept(ran, order)
    raise typer.Exit(verdict.exit_status)


def _tell(ran: Any, verdict: Any, as_json: bool) -> None:
    from rich.console import Console  # noqa: PLC0415

    from guestclock.report.json import to_json  # noqa: PLC0415
    from guestclock.report.terminal import show  # noqa: PLC0415

    if as_json:
        typer.echo(to_json(ran.tables, verdict))
        return
    if ran.tables.meta["ended"] not in {"done", "interrupted"} and ran.last_lines:
        typer.echo("The guest's last lines:", err=True)
        for line in ran.last_lines:
            typer.echo(f"  {line}", err=True)
    show(Console(), ran.tables, verdict)
