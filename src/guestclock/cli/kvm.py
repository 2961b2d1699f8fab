"""``guestclock kvm``: the KVM clock, measured inside a guest."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
Examples:

  guestclock kvm                         a micro-guest on /dev/kvm, about 40 s

  guestclock kvm --reads 2000000 --json  quicker, for a program

  guestclock kvm --linux                 a real Linux kernel in QEMU: every clocksource that it offers

  guestclock kvm --linux --accel tcg     the same without KVM
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
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    save: Annotated[Path | None, typer.Option(help="Save the tables to this file.")] = None,
) -> None:
    """Measure clocks inside a KVM guest: cost of a read, backward steps, the page against KVM's own clock."""
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.experiments import kvm_clock, kvm_document  # noqa: PLC0415

    plan = kvm_clock.KvmPlan(rounds=rounds, reads=reads, step_budget_s=seconds, seed=seed, device=device)
    with stages(quiet=json) as progress:
        found = kvm_clock.run(plan, progress)
    _tell(kvm_document.as_json(found), json)
    if save is not None:
        from guestclock.readings import save as save_tables  # noqa: PLC0415

        save_tables(found.tables, save)
    raise typer.Exit(kvm_document.exit_status(found))


def _tell(document: dict[str, object], as_json: bool) -> None:
    if as_json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
        return
    from rich.console import Console  # noqa: PLC0415

    from guestclock.report.clock_table import show_kvm  # noqa: PLC0415

    show_kvm(Console(), document)
