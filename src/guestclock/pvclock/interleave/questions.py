"""Is this reader right on this machine, with this hypervisor?"""

from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.pvclock.interleave.explorer import explore
from guestclock.pvclock.interleave.hypervisor import (
    FAMILIES,
    JUMP_TICKS,
    Hypervisor,
    Updates,
    find_hypervisor,
    first_pages,
    formulas,
)
from guestclock.pvclock.interleave.machine import Fault, Machine, System
from guestclock.pvclock.interleave.models import Model, find_model
from guestclock.pvclock.interleave.schedule import Row, rows
from guestclock.pvclock.readers import LAST, Reader, find_reader
from guestclock.pvclock.steps import At, Branch, Load, Order, Program, Store, renamed

VCPUS_MAX = 4
UPDATES_MAX = 4


@dataclass(frozen=True)
class Result:
    """The answer: ``fault`` is None when no schedule of any length breaks the reader."""

    reader: str
    model: str
    hypervisor: str
    vcpus: int
    updates: int
    states: int
    fault: Fault | None
    schedule: tuple[Row, ...]

    @property
    def proved(self) -> bool:
        """Does the reader hold, for these many vCPUs and updates?"""
        return self.fault is None


def interleave(
    reader: str, model: str = "x86-tso", vcpus: int = 2, updates: int = 2, hypervisor: str = "continuous"
) -> Result:
    """Try a reader, by name, against a hypervisor in every order that a machine may show.

    Each of the ``vcpus`` reads the clock once, the next one after the one before has finished, while
    the hypervisor makes ``updates``.  A reader that clamps to a common last value also reads before.
    Raises BadInputError for unknown names, for numbers out of range and for too many states.

    >>> interleave("pvclock").proved
    True
    >>> interleave("pvclock-no-barrier", vcpus=1, updates=1).fault.kind
    'negative delta'
    """
    if not 1 <= vcpus <= VCPUS_MAX:
        raise BadInputError(f"{vcpus} vCPUs: 1 to {VCPUS_MAX} can be tried")
    if not 0 <= updates <= UPDATES_MAX:
        raise BadInputError(f"{updates} updates: 0 to {UPDATES_MAX} can be tried")
    asked = find_reader(reader), find_model(model), find_hypervisor(hypervisor)
    senseless = why_not(*asked)
    if senseless:
        raise BadInputError(senseless)
    return ask(asked[0], asked[1], vcpus, updates, asked[2])


def why_not(reader: Reader, model: Model, hypervisor: Hypervisor) -> str:
    """Return why a question has no sense, or "" when it has."""
    if reader.own_page and model.name == "arm64":
        return f"reader {reader.name}, model {model.name}: only x86 has a page for each vCPU (KVM, Xen)"
    if reader.clamps and hypervisor.moves_threads:
        return f"reader {reader.name}, hypervisor {hypervisor.name}: the kernel reads with preemption off"
    if (hypervisor.apart_ticks or hypervisor.skew_ticks) and not reader.own_page:
        return f"reader {reader.name}, hypervisor {hypervisor.name}: one page is read, and the vCPUs' differ"
    return ""


def ask(reader: Reader, model: Model, vcpus: int, updates: int, hypervisor: Hypervisor) -> Result:
    """Try any reader: also one that has no name here."""
    machine = Machine(build_system(reader, hypervisor, vcpus, updates), model)
    found = explore(machine)
    if found.fault is None and found.complete == 0:
        raise BadInputError(f"reader {reader.name}, hypervisor {hypervisor.name}: no attempt ever succeeds")
    return Result(
        reader.name,
        model.name,
        hypervisor.name,
        vcpus,
        updates,
        found.states,
        found.fault,
        tuple(rows(machine, found.moves)),
    )


def build_system(reader: Reader, hypervisor: Hypervisor, vcpus: int, updates: int) -> System:
    """Return a hypervisor's thread and a reader's thread for each vCPU, each waiting for the one before."""
    family = FAMILIES[reader.page]
    pages = max(vcpus, 2 if hypervisor.moves_threads else 1) if reader.own_page else 1
    hosts = Updates(family, hypervisor, pages, updates)
    memory = first_pages(family, hypervisor, pages)
    if reader.clamps:
        memory[LAST] = -JUMP_TICKS * JUMP_TICKS
    programs = [("hypervisor", hosts.program)]
    causal: list[tuple[int, int]] = []
    before: list[int] = []
    reads = 0
    for vcpu in range(vcpus):
        program: Program = ()
        if reader.clamps and vcpu > 0:
            program += renamed(reader.program, "_0")
            before.append(reads)
            reads += 1
        if vcpu > 0:
            program += (
                Load("go", At("finished", vcpu - 1), Order.ACQUIRE),
                Branch("set", ("go",)),
            )
        program += renamed(reader.program, "_1" if reader.clamps else "")
        program += (Store(At("finished", vcpu), 1, Order.RELEASE),) if vcpu < vcpus - 1 else ()
        causal += [(earlier, reads) for earlier in before]
        before.append(reads)
        reads += 1
        programs.append((f"vCPU {vcpu}", program))
    return System(
        programs=tuple(programs),
        memory=memory,
        formulas=formulas(hypervisor) | hosts.formulas,
        vcpus=(0, *range(vcpus)),
        skew=tuple(vcpu * hypervisor.skew_ticks for vcpu in range(max(vcpus, 2))),
        causal=tuple(causal),
    )
