"""``guestclock kvm``: the KVM clock, measured inside a guest."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from guestclock.experiments.kvm_clock import KvmPlan
    from guestclock.readings import Tables

Progress = Callable[[str, float], None]

EXAMPLES = """
Examples:

  guestclock kvm                       a micro-guest on /dev/kvm: about 40 s

  guestclock kvm --reads 2000000       quicker

  guestclock kvm --linux               Linux in QEMU: each of its clocksources

  guestclock kvm --linux --accel tcg   the same without KVM
"""


def kvm(
    *,
    rounds: Annotated[
        int, typer.Option(help="Rounds of 20 batches of 1,000 reads for each kind of read.")
    ] = 100,
    reads: Annotated[int, typer.Option(help="Reads compared between two vCPUs, for each kind.")] = 20_000_000,
    seconds: Annotated[float, typer.Option(help="Time limit for each kind's comparison.")] = 6.0,
    seed: Annotated[int, typer.Option(help="Of the random pages.")] = 1,
    device: Annotated[Path, typer.Option(help="The KVM device.")] = Path("/dev/kvm"),
    linux: Annotated[
        bool, typer.Option("--linux", help="Measure in a real Linux guest under QEMU instead.")
    ] = False,
    accel: Annotated[str, typer.Option(help="With --linux: auto, kvm or tcg.")] = "auto",
    cpus: Annotated[int, typer.Option(help="With --linux: the guest's CPUs.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the tables in this folder.")] = None,
) -> None:
    """Measure clocks inside a KVM guest: cost of a read, backward steps, the page against KVM's own clock."""
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)

    with stages(quiet=json) as progress:
        if linux:
            document, tables = _linux(accel, cpus, device, progress)
        else:
            from guestclock.experiments.kvm_clock import KvmPlan  # noqa: PLC0415

            plan = KvmPlan(rounds=rounds, reads=reads, step_budget_s=seconds, seed=seed, device=device)
            document, tables = _micro(plan, progress)
    _tell(document, json)
    if save is not None:
        from guestclock.experiments.keep import keep_tables  # noqa: PLC0415

        keep_tables(tables, save)
    raise typer.Exit(document["exit_status"])


def _micro(plan: "KvmPlan", progress: Progress) -> "tuple[dict[str, Any], Tables]":
    from guestclock.experiments import kvm_clock, kvm_document  # noqa: PLC0415

    found = kvm_clock.run(plan, progress)
    return kvm_document.as_json(found), found.tables


def _linux(accel: str, cpus: int, device: Path, progress: Progress) -> "tuple[dict[str, Any], Tables]":
    from guestclock.experiments import kvm_linux, kvm_linux_document  # noqa: PLC0415
    from guestclock.linux.cache import default_cache_dir  # noqa: PLC0415

    plan = kvm_linux.LinuxPlan(default_cache_dir(), accelerator=accel, cpus=cpus, device=device)
    found = kvm_linux.run(plan, progress)
    return kvm_linux_document.as_json(found), found.tables


def _tell(document: "dict[str, Any]", as_json: bool) -> None:
    if as_json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
        return
    from rich.console import Console  # noqa: PLC0415

    from guestclock.report.clock_table import show_kvm, show_linux  # noqa: PLC0415

    (show_linux if "accelerator" in document else show_kvm)(Console(), document)
