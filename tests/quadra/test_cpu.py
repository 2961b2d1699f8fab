"""The CPU binding: interrupts between blocks, exact accounts of code, exceptions, and nothing left behind.

Programs are machine code with the assembly in a comment.  The binding has one build, the compiled one.
"""

import gc
import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_machine import DEVICE, MMU_ON, PROGRAM, ScriptedBoard, SmallMachine

from guestclock.quadra.cpu import KNOWN_VERSION, Board, Cpu, CpuError

pytestmark = pytest.mark.compiled_only

HANDLER = 0x800
TRAP_HANDLER = 0x900
AUTOVECTOR = 24
ILLEGAL, ACCESS_ERROR, TRAP0, TRAP1 = 4, 2, 32, 33

# move.l d1,$1000; stop #$2700
STORE_D1_AND_STOP = "23c100001000 4e722700"
# move #$2000,sr; l: addq.l #1,d1; bra l
OPEN_AND_COUNT = "46fc2000 5281 60fc"
OPEN_BYTES, LOOP_BYTES, HANDLER_BYTES = 4, 4, 10


def counting(board: Board, level: int = 1) -> SmallMachine:
    return SmallMachine(
        board, {PROGRAM: OPEN_AND_COUNT, HANDLER: STORE_D1_AND_STOP}, {AUTOVECTOR + level: HANDLER}
    )


# Interrupts and accounts.


@given(st.integers(0, 300), st.integers(1, 60), st.integers(1, 7))
def test_an_interrupt_arrives_before_the_block_at_which_the_board_raised_it(
    quantum: int, look: int, level: int
) -> None:
    board = ScriptedBoard(quantum)

    def raise_level(number: int) -> None:
        if number == look:
            board.irq_level = level

    board.on_look = raise_level
    machine = counting(board, level)
    machine.cpu.run()
    rounds = machine.long(0x1000)
    # The look counts the block that is about to run; of the loop's blocks it must not run any more.
    before_block = board.looks[look - 1] - LOOP_BYTES
    assert rounds == max(0, (before_block - OPEN_BYTES) // LOOP_BYTES)
    assert board.executed_bytes == OPEN_BYTES + LOOP_BYTES * rounds + HANDLER_BYTES
    machine.close()


def test_stops_from_a_look_lose_no_code_and_count_none_twice() -> None:
    board = ScriptedBoard(quantum=7)

    def stop(_number: int) -> None:
        board.stop_requested = True

    board.on_look = stop
    machine = counting(board)
    for _ in range(200):
        machine.cpu.run()
        assert board.stop_requested
        assert board.executed_bytes == machine.cpu.pc - PROGRAM or machine.cpu.pc == PROGRAM + OPEN_BYTES
        assert board.executed_bytes in (0, OPEN_BYTES + LOOP_BYTES * machine.data(1))
        board.stop_requested = False
    assert machine.data(1) > 100
    machine.close()


@pytest.mark.parametrize("quantum", [1, 40, 10_000])
def test_accesses_are_done_once_whatever_the_board_does_meanwhile(quantum: int) -> None:
    # move #$2000,sr; moveq #100,d2; l: addq.l #1,d1; move.b d1,$50000000; move.b $50000000,d0; subq.l #1,d2;
    # bne l; stop #$2700
    program = "46fc2000 7464 5281 13c150000000 103950000000 5382 66ee 4e722700"
    # addq.l #1,d3; move.b d3,$50000001; rte
    handler = "5283 13c350000001 4e73"
    board = ScriptedBoard(quantum)

    def toggle(address: int) -> None:
        # Each write of the loop raises the interrupt, each write of the handler takes it back.
        if board.accesses[-1][0] == "write":
            board.irq_level = 2 if address == DEVICE else 0

    board.on_access = toggle
    machine = SmallMachine(board, {PROGRAM: program, HANDLER: handler}, {AUTOVECTOR + 2: HANDLER})
    machine.cpu.run()
    loop = [(kind, value) for kind, address, _, value in board.accesses if address == DEVICE]
    assert loop == [pair for n in range(1, 101) for pair in (("write", n), ("read", 0))]
    assert machine.data(3) == 100
    # 46fc2000; moveq is in the loop's first block; the handler is one block of 10 bytes.
    assert board.executed_bytes == 4 + 2 + 100 * 18 + 4 + 100 * 10
    machine.close()


# addq.l #1,d1; cmp.l #50,d1; bne; then the way of unmasking; addq.l #1,d2; stop #$2700
COUNT_50 = "5281 0c8100000032 66f6"
UNMASKINGS = {
    "move to sr": "46fc2000 5282 4e722700",
    # And bra over a nop: in this emulator ANDI does not end its block, and the interrupt waits for the end.
    "andi to sr": "027cf8ff 6002 4e71 5282 4e722700",
    "rte": "3f3c0000 487a0008 3f3c2000 4e73 5282 4e722700",
    "stop": "4e722000 5282 4e722700",
}


@pytest.mark.parametrize("how", UNMASKINGS)
def test_a_masked_interrupt_is_taken_the_moment_it_is_unmasked(how: str) -> None:
    board = ScriptedBoard(quantum=10)

    def raise_early(number: int) -> None:
        board.irq_level = 3
        assert number < 1000

    board.on_look = raise_early
    machine = SmallMachine(
        board,
        {PROGRAM: COUNT_50 + UNMASKINGS[how], HANDLER: STORE_D1_AND_STOP},
        {AUTOVECTOR + 3: HANDLER},
    )
    machine.cpu.run()
    if (
        how == "stop"
    ):  # STOP leaves run(); the machine's loop runs the CPU again when the level is above its mask.
        assert machine.cpu.interrupt_mask == 0
        machine.cpu.run()
    assert machine.long(0x1000) == 50
    assert machine.data(2) == 0, "code ran between unmasking and the interrupt"
    assert machine.cpu.pc == HANDLER + HANDLER_BYTES
    machine.close()


def test_a_level_not_above_the_mask_waits() -> None:
    # move #$2300,sr; l: addq.l #1,d1; cmp.l #50,d1; bne l; stop #$2700
    board = ScriptedBoard(quantum=10)

    def level_3(_number: int) -> None:
        board.irq_level = 3

    board.on_look = level_3
    machine = SmallMachine(
        board, {PROGRAM: "46fc2300" + COUNT_50 + "4e722700", HANDLER: "4afc"}, {AUTOVECTOR + 3: HANDLER}
    )
    machine.cpu.run()
    assert machine.data(1) == 50
    assert machine.cpu.pc == PROGRAM + 18
    machine.close()


def test_levels_that_change_while_the_cpu_is_stopped() -> None:
    # stop #$2200; addq.l #1,d2; stop #$2700
    program = "4e722200 5282 4e722700"
    board = ScriptedBoard()
    machine = SmallMachine(
        board,
        # addq.l #1,d3; rte
        {PROGRAM: program, HANDLER: "5283 4e73", HANDLER + 16: "4afc"},
        {AUTOVECTOR + 5: HANDLER, AUTOVECTOR + 4: HANDLER + 16},
    )
    machine.cpu.run()
    assert (machine.cpu.pc, machine.cpu.interrupt_mask) == (PROGRAM + 4, 2)
    board.irq_level = 4
    board.irq_level = 5  # only the level that stands when it runs again counts
    board.on_look = lambda _number: None

    def acknowledge(_number: int) -> None:
        board.irq_level = 0

    board.on_look = acknowledge
    machine.cpu.run()
    assert (machine.data(3), machine.data(2)) == (1, 1)
    assert machine.cpu.pc == PROGRAM + 10
    machine.close()


# TRAP and RTE: the quick way and QEMU's must not differ.

# Supervisor: lea STACK,sp; lea $1000,a5; move #$1f,ccr; trap #0 three times; move sr,d4; move.l sp,a3;
# stop #$2700.  The handler copies its frame: move.l (sp),(a5)+; move.l 4(sp),(a5)+; rte
FRAME_TO_A5 = "2ad7 2aef0004 4e73"


def trap_frames(stack: int, *, mmu: bool, user: bool) -> tuple[list[int], list[int]]:
    """Return the frames of three TRAPs as words of 16 bits, and what they must be."""
    begin = (MMU_ON if mmu else "") + f"4ff9{stack:08x} 4bf900001000"
    traps = "4e40 4e40 4e40"
    if user:
        # clr.w -(sp); pea (6,pc); move.w #$1f,-(sp); rte; then in user mode the traps, and trap #1 to end
        code = begin + "4267 487a0008 3f3c001f 4e73" + traps + "4e41"
        first_trap = PROGRAM + len(bytes.fromhex(begin)) + 12
    else:
        code = begin + "44fc001f" + traps + "4e41"
        first_trap = PROGRAM + len(bytes.fromhex(begin)) + 4
    machine = SmallMachine(
        ScriptedBoard(),
        # the end: move.w (sp),d4; move.l sp,a3; stop #$2700
        {PROGRAM: code, TRAP_HANDLER: FRAME_TO_A5, HANDLER: "3817 264f 4e722700"},
        {TRAP0: TRAP_HANDLER, TRAP1: HANDLER},
    )
    machine.map_pages()
    machine.cpu.run()
    status = 0x001F if user else 0x271F
    assert machine.data(4) == status
    assert machine.address(3) == stack - 8
    found = [machine.word(0x1000 + 2 * i) for i in range(12)]
    right = []
    for number in range(3):
        after = first_trap + 2 * number + 2
        right += [status, after >> 16, after & 0xFFFF, 4 * TRAP0]
    assert machine.cpu.exceptions == 3 * 2 + 1 + user
    machine.close()
    return found, right


@pytest.mark.parametrize("user", [False, True])
@pytest.mark.parametrize("mmu", [False, True])
def test_trap_and_return_are_the_same_wherever_the_stack_is(mmu: bool, user: bool) -> None:
    # The first TRAP finds the TLB cold and goes QEMU's way; around a page's end every one does.
    for stack in range(0x8FF0, 0x9014, 2):
        found, right = trap_frames(stack, mmu=mmu, user=user)
        assert found == right, f"stack {stack:#x}"


def test_a_trap_whose_vector_is_not_mapped_is_an_access_error() -> None:
    # The vectors straddle two pages: that of the access error is there, that of TRAP #0 is not.
    vbr = 0xCFC0
    # ...; move.l #vbr,d0; movec d0,vbr; trap #0
    code = MMU_ON + f"203c{vbr:08x} 4e7b0801 4e40 4afc"
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: code, HANDLER: "3a2f0006 4e722700"})
    machine.put_long(vbr + 4 * ACCESS_ERROR, HANDLER)
    machine.map_pages(unmapped=(0xD,))
    machine.cpu.run()
    assert machine.cpu.pc == HANDLER + 8
    assert machine.data(5) & 0xFFFF == 0x7000 | 4 * ACCESS_ERROR, "move.w 6(sp),d5: format 7, vector 2"
    machine.close()


@pytest.fixture
def still_alive() -> Iterator[None]:
    """After what should have halted one CPU, another one works."""
    yield
    found, right = trap_frames(0x9000, mmu=True, user=True)
    assert found == right


DOUBLE_FAULTS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    # lea $a100,sp; trap #0
    "stack not mapped": ("4ff90000a100 4e40 4afc", {"unmapped": (0xA,)}),
    "stack read only": ("4ff90000a100 4e40 4afc", {"protected": (0xA,)}),
    # move.l #$a000,d0; movec d0,vbr; trap #0
    "vectors not mapped": ("203c0000a000 4e7b0801 4e40 4afc", {"unmapped": (0xA,)}),
    # lea $a100,sp; move.l $b000,d0
    "access error without a stack": ("4ff90000a100 20390000b000 4afc", {"unmapped": (0xA, 0xB)}),
    # lea $a100,sp; dc.w $4afc (illegal)
    "illegal instruction without a stack": ("4ff90000a100 4afc", {"unmapped": (0xA,)}),
}


@pytest.mark.usefixtures("still_alive")
@pytest.mark.parametrize("case", DOUBLE_FAULTS)
def test_a_double_fault_halts_this_cpu_and_nothing_else(case: str) -> None:
    code, pages = DOUBLE_FAULTS[case]
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: MMU_ON + code})
    machine.map_pages(**pages)
    with pytest.raises(CpuError, match=r"the CPU halted: .*pc 0x0000.*stack"):
        machine.cpu.run()
    machine.close()


@pytest.mark.usefixtures("still_alive")
def test_an_interrupt_without_a_stack_is_a_double_fault() -> None:
    board = ScriptedBoard()

    def interrupt(number: int) -> None:
        board.irq_level = 1 if number == 5 else board.irq_level

    board.on_look = interrupt
    # lea $a100,sp; move #$2000,sr; l: addq.l #1,d1; bra l
    machine = SmallMachine(board, {PROGRAM: MMU_ON + "4ff90000a100" + OPEN_AND_COUNT})
    machine.map_pages(unmapped=(0xA,))
    with pytest.raises(CpuError, match="the CPU halted"):
        machine.cpu.run()
    machine.close()


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("user", [False, True])
def test_a_breakpoint_without_a_debugger_is_an_illegal_instruction(number: int, user: bool) -> None:
    enter_user = "4267 487a0008 3f3c0000 4e73" if user else ""
    machine = SmallMachine(
        ScriptedBoard(),
        # bkpt #number; handler: move.w 6(sp),d5; move.l 2(sp),d6; stop #$2700
        {PROGRAM: enter_user + f"{0x4848 + number:04x} 4e71", HANDLER: "3a2f0006 2c2f0002 4e722700"},
        {ILLEGAL: HANDLER},
    )
    machine.cpu.run()
    assert machine.data(5) & 0xFFF == 4 * ILLEGAL
    assert machine.data(6) == PROGRAM + len(bytes.fromhex(enter_user))
    machine.close()


# Boards.


class _OwnError(Exception):
    pass


@pytest.mark.parametrize("error", [_OwnError("mine"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["look", "read", "write"])
def test_what_a_callback_raises_comes_out_of_run_once(where: str, error: BaseException) -> None:
    # bra l; nop; l: addq.l #1,d1; move.b $50000000,d0; move.b d0,$50000001; bra l
    program = "6002 4e71 5281 103950000000 13c050000001 60f0"
    board = ScriptedBoard(quantum=100)

    def fail_on_look(_number: int) -> None:
        raise error

    def fail_on_access(_address: int) -> None:
        if board.accesses[-1][0] == where:
            raise error

    if where == "look":
        board.on_look = fail_on_look
    else:
        board.on_access = fail_on_access
    machine = SmallMachine(board, {PROGRAM: program})
    with pytest.raises(type(error)) as caught:
        machine.cpu.run()
    assert caught.value is error
    assert board.failure is None
    if where != "look":
        assert len(board.accesses) == 2, "the block in which it failed is the last to run"
    executed = board.executed_bytes
    assert executed == (0 if where == "look" else 2 + 16 * machine.data(1))
    board.on_look, board.on_access = lambda number: None, lambda address: None

    def stop(_number: int) -> None:
        board.stop_requested = True

    board.on_look = stop
    board.stop_requested = False
    machine.cpu.run()
    assert board.executed_bytes == executed == (2 + 16 * machine.data(1) if executed else 0)
    machine.close()


def test_the_first_of_several_failures_is_the_one_that_is_told() -> None:
    board = ScriptedBoard(quantum=100)

    def fail(address: int) -> None:
        raise _OwnError(f"{address:#x}")

    board.on_access = fail
    # move.b $50000000,d0; move.b d0,$50000001; l: bra l
    machine = SmallMachine(board, {PROGRAM: "103950000000 13c050000001 60fe"})
    with pytest.raises(_OwnError, match="0x50000000"):
        machine.cpu.run()
    machine.close()


def test_a_board_that_lacks_a_method_says_so() -> None:
    class Bare(Board):
        pass

    machine = SmallMachine(Bare(), {PROGRAM: OPEN_AND_COUNT})
    with pytest.raises(AttributeError, match="attend"):
        machine.cpu.run()
    machine.close()


def test_accesses_of_all_sizes_reach_a_board() -> None:
    # move.b $50000001,d0; move.w $50000002,d0; move.l $50000004,d0; and back; stop #$2700
    program = (
        "103950000001 303950000002 203950000004 203c11223344 13c050000001 33c050000002 23c050000004 4e722700"
    )
    board = ScriptedBoard()
    machine = SmallMachine(board, {PROGRAM: program})
    machine.cpu.run()
    assert board.accesses == [
        ("read", DEVICE + 1, 1, 0),
        ("read", DEVICE + 2, 2, 0),
        ("read", DEVICE + 4, 4, 0),
        ("write", DEVICE + 1, 1, 0x44),
        ("write", DEVICE + 2, 2, 0x3344),
        ("write", DEVICE + 4, 4, 0x11223344),
    ]
    machine.close()


def test_an_address_where_nothing_is_mapped_ends_the_run() -> None:
    # move.l $40000000,d0
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: "203940000000 60fe"})
    with pytest.raises(CpuError, match=r"the CPU cannot go on at pc 0x00000400, sr 0x27"):
        machine.cpu.run()
    machine.close()


def test_stores_into_code_that_has_run_take_effect() -> None:
    # move.l #loops,d7; l: addq.l #1,d1; patch: addq.l #1,d2; subq.l #1,d7; bne l; then the patch is
    # rewritten as addq.l #1,d3 (move.w #$5283,patch), once; tst.l d3; bne end; moveq #7,d7; bra l; end: stop
    program = "7e07 5281 5282 5387 66f8 33fc528300000404 4a83 6604 7e07 60e8 4e722700"
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: program})
    machine.cpu.run()
    assert [machine.data(n) for n in (1, 2, 3)] == [14, 7, 7]
    machine.close()


# The library.


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_another_version_of_the_library_is_refused_in_one_line() -> None:
    program = (
        "import sys, unicorn; unicorn.__version__ = '2.0.1'; sys.argv = ['guestclock', 'run']\n"
        "from guestclock.cli import main; main()"
    )
    done = run_python(program)
    assert done.returncode == 4
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "unicorn 2.0.1" in line
    assert f"install unicorn=={KNOWN_VERSION}" in line


# Nothing is left behind.

MACHINES = 1000
LEAK_BYTES = 10 << 10


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def _mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


def _run_and_close() -> None:
    board = ScriptedBoard(quantum=20)

    def interrupt(number: int) -> None:
        board.irq_level = number == 3

    board.on_look = interrupt
    machine = counting(board)
    machine.cpu.run()
    machine.close()


def _run_and_drop() -> None:
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: "4e722700"})
    machine.cpu.run()


def _drop_unused() -> None:
    Cpu(ScriptedBoard())


def _fail_and_drop() -> None:
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: "203940000000"})
    with pytest.raises(CpuError):
        machine.cpu.run()


@pytest.mark.parametrize("use", [_run_and_close, _run_and_drop, _drop_unused, _fail_and_drop])
def test_a_thousand_cpus_leave_nothing(use: Callable[[], None]) -> None:
    for _ in range(100):  # until allocators and caches have grown
        use()
    gc.collect()
    resident, mappings, files = _resident_bytes(), _mappings(), len(os.listdir("/proc/self/fd"))
    for _ in range(MACHINES):
        use()
    gc.collect()
    assert _resident_bytes() - resident < MACHINES * LEAK_BYTES / 2
    assert _mappings() - mappings < 20
    assert len(os.listdir("/proc/self/fd")) == files
