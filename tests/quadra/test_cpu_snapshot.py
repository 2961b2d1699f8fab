"""The CPU as data: a new one in its state goes on with every register, and with interrupts that wait."""

import json
from typing import Any

import pytest
from small_machine import MMU_ON, PAGES, PROGRAM, ROOT, ScriptedBoard, SmallMachine

from guestclock.quadra.cpu import KNOWN_VERSION

pytestmark = pytest.mark.compiled_only

HANDLER, RESULTS, RESULT_BYTES = 0x800, 0x1000, 0x100
STOP = "4e722700"
AUTOVECTOR_1 = 25

# Control registers by their numbers of MOVEC, each with a value that reads back as it is.
CONTROLS = {
    0x000: 5,  # SFC
    0x001: 6,  # DFC
    0x002: 0x8000_8000,  # CACR
    0x004: 0x00FF_A040,  # ITT0
    0x005: 0x01FE_A040,  # ITT1
    0x006: 0x02FD_A040,  # DTT0: supervisor only, far from this program's addresses
    0x007: 0x03FC_A040,  # DTT1
    0x800: 0x7654_3210,  # USP
    0x801: 0x0000_0000,  # VBR
    0x805: 0x0000_0010,  # MMUSR
    0x806: ROOT,  # URP
    0x807: ROOT,  # SRP
}
DATA = {number: 0x1111_1111 * number + 5 for number in range(2, 8)}
ADDRESS = {number: 0x0101_0101 * number + 3 for number in range(1, 7)}


def loads() -> str:
    """Return code that loads all of these, pi into FP3 and a rounding mode into FPCR."""
    code = ""
    for number, value in CONTROLS.items():
        code += f"203c{value:08x} 4e7b{number:04x}"  # move.l #value,d0; movec d0,register
    for number, value in DATA.items():
        code += f"{0x203C | number << 9:04x}{value:08x}"  # move.l #value,dn
    for number, value in ADDRESS.items():
        code += f"{0x207C | number << 9:04x}{value:08x}"  # movea.l #value,an
    # moveq #$30,d0; fmove.l d0,fpcr; fmove.d #pi,fp3; move #$11,ccr; l: bra l
    return code + "7030 f2009000" + "f23c5580400921fb54442d18" + "44fc0011" + "60fe"


def stores() -> str:
    """Return code that stores all of them at RESULTS, and sr and ccr before anything changes them."""
    code = f"40f9{RESULTS + 0xF0:08x}"  # move sr,RESULTS+$f0
    at = RESULTS
    for number in range(16):
        code += f"{0x23C0 | number:04x}{at:08x}"  # move.l rn,at
        at += 4
    for number in CONTROLS:
        code += f"4e7a{number:04x} 23c0{at:08x}"  # movec register,d0; move.l d0,at
        at += 4
    # fmove.d fp3,RESULTS+$e0; fmove.l fpcr,RESULTS+$f8
    return code + f"f2397580{RESULTS + 0xE0:08x} f239b000{RESULTS + 0xF8:08x}" + STOP


def stopping(looks: int) -> ScriptedBoard:
    board = ScriptedBoard()

    def look(number: int) -> None:
        board.stop_requested = number == looks

    board.on_look = look
    return board


def twin(machine: SmallMachine, board: ScriptedBoard) -> SmallMachine:
    """Return another machine, its memory and CPU in the same state."""
    other = SmallMachine(board, {})
    other.memory[:] = machine.memory[:]
    other.cpu.restore(machine.cpu.snapshot())
    return other


def test_every_register_goes_over() -> None:
    machine = SmallMachine(stopping(20), {PROGRAM: loads()})
    machine.cpu.run()
    loop = machine.cpu.pc
    results = []
    for one in (machine, twin(machine, ScriptedBoard())):
        board = ScriptedBoard()
        board.quantum = 1 << 20
        other = twin(one, board)
        assert other.cpu.pc == loop
        other.put(loop, bytes.fromhex(stores()))
        other.cpu.run()
        results.append(other.memory[RESULTS : RESULTS + RESULT_BYTES])
        data = [other.long(RESULTS + 4 * number) for number in range(16)]
        assert data[2:8] == list(DATA.values())
        assert data[9:15] == list(ADDRESS.values())
        controls = [other.long(RESULTS + 64 + 4 * place) for place in range(len(CONTROLS))]
        assert dict(zip(CONTROLS, controls, strict=True)) == CONTROLS
        assert other.memory[RESULTS + 0xE0 : RESULTS + 0xE8] == bytes.fromhex("400921fb54442d18")
        assert other.long(RESULTS + 0xF8) == 0x30
        assert other.word(RESULTS + 0xF0) == 0x2711
    assert results[0] == results[1]


def test_the_mmu_stays_on() -> None:
    """The page at $20000 is mapped to $30000: a CPU that lost its MMU would store elsewhere."""
    store = "23fc1234567800020000" + STOP  # move.l #$12345678,$20000
    machine = SmallMachine(stopping(2), {PROGRAM: MMU_ON + "60fe"})
    machine.map_pages()
    machine.put_long(PAGES + 4 * 0x20, 0x30001)
    machine.cpu.run()
    other = twin(machine, ScriptedBoard())
    other.put(other.cpu.pc, bytes.fromhex(store))
    other.cpu.run()
    assert (other.long(0x20000), other.long(0x30000)) == (0, 0x12345678)


@pytest.mark.parametrize("stop_at", range(1, 12))
def test_an_interrupt_that_waits_is_taken_when_it_would_have_been(stop_at: int) -> None:
    """Raised at the third look, masked until D1 has counted to 50, which ANDI to SR then lets in."""
    # l: addq.l #1,d1; cmpi.l #50,d1; bne l; andi #$f8ff,sr; m: addq.l #1,d2; bra m
    code = {
        PROGRAM: "5281 0c8100000032 66f6 027cf8ff 5282 60fc",
        HANDLER: f"23c200001000 23c100001004 {STOP}",
    }

    def board(stop_at: int) -> ScriptedBoard:
        made = ScriptedBoard(24)

        def look(number: int) -> None:
            made.irq_level = int(number >= 3)
            made.stop_requested = number == stop_at

        made.on_look = look
        return made

    def ended(machine: SmallMachine) -> dict[str, Any]:
        state = machine.cpu.snapshot()
        return {"counts": (machine.long(0x1000), machine.long(0x1004)), "registers": state["registers"]}

    whole = SmallMachine(board(0), code, {AUTOVECTOR_1: HANDLER})
    whole.cpu.run()
    assert whole.long(0x1004) == 50

    first = board(stop_at)
    machine = SmallMachine(first, code, {AUTOVECTOR_1: HANDLER})
    machine.cpu.run()
    second = board(0)
    for name in ("budget_bytes", "granted_bytes", "irq_level", "interrupt_mask"):
        setattr(second, name, getattr(first, name))
    second.looks = list(first.looks)
    other = twin(machine, second)
    other.cpu.run()
    assert ended(other) == ended(whole)
    assert other.cpu.exceptions == whole.cpu.exceptions


def test_the_state_of_another_library_is_refused() -> None:
    machine = SmallMachine(ScriptedBoard(), {PROGRAM: STOP})
    state = machine.cpu.snapshot()
    assert json.loads(json.dumps(state["library"])) == KNOWN_VERSION
    for wrong in ({"library": "2.0.0"}, {"registers": b"short"}):
        with pytest.raises(ValueError, match="this is that of"):
            machine.cpu.restore(state | wrong)
