"""A 68040 with one megabyte of memory and a board that a test scripts."""

import mmap
import struct
from collections.abc import Callable, Mapping

from guestclock.quadra.cpu import Board, Cpu

MEMORY_BYTES = 1 << 20
DEVICE = 0x5000_0000
PROGRAM = 0x400
STACK = 0x8000
MASKED, OPEN = 0x2700, 0x2000

# The 68040's tables: root and pointer entries of 128, page entries of 64 (User's Manual, 3.2).
ROOT, POINTERS, PAGES = 0x80000, 0x80200, 0x81000
RESIDENT, WRITE_PROTECTED = 1, 4


class ScriptedBoard(Board):
    """Grants ``quantum`` bytes at each look; remembers looks and accesses."""

    def __init__(self, quantum: int = 64, looks_max: int = 20_000) -> None:
        self.quantum = quantum
        self.looks_max = looks_max
        self.looks: list[int] = []
        self.accesses: list[tuple[str, int, int, int]] = []
        self.on_look: Callable[[int], None] = lambda _number: None
        self.on_access: Callable[[int], None] = lambda _address: None

    def attend(self) -> None:
        self.looks.append(self.executed_bytes)
        self.granted_bytes += self.quantum - self.budget_bytes
        self.budget_bytes = self.quantum
        self.on_look(len(self.looks))
        if len(self.looks) > self.looks_max:
            raise AssertionError("the program does not end")

    def io_read(self, address: int, size: int) -> int:
        self.accesses.append(("read", address, size, 0))
        self.on_access(address)
        return 0x5A

    def io_write(self, address: int, size: int, value: int) -> None:
        self.accesses.append(("write", address, size, value))
        self.on_access(address)


class SmallMachine:
    """Code, vectors and a board; ``run`` goes on where it ended."""

    def __init__(
        self,
        board: Board,
        code: Mapping[int, str],
        vectors: Mapping[int, int] | None = None,
        *,
        stack: int = STACK,
        status: int = MASKED,
    ) -> None:
        self.memory = mmap.mmap(-1, MEMORY_BYTES)
        for address, hexadecimal in code.items():
            self.put(address, bytes.fromhex(hexadecimal))
        for number, handler in (vectors or {}).items():
            self.put_long(4 * number, handler)
        self.cpu = Cpu(board)
        self.cpu.map_memory(0, self.memory)
        self.cpu.map_board(DEVICE, 0x1000)
        self.cpu.start(PROGRAM, stack, status)

    def put(self, address: int, data: bytes) -> None:
        self.memory[address : address + len(data)] = data

    def put_long(self, address: int, value: int) -> None:
        self.put(address, struct.pack(">I", value))

    def long(self, address: int) -> int:
        return int.from_bytes(self.memory[address : address + 4], "big")

    def word(self, address: int) -> int:
        return int.from_bytes(self.memory[address : address + 2], "big")

    def data(self, register: int) -> int:
        return self.cpu.registers[register]

    def address(self, register: int) -> int:
        return self.cpu.registers[8 + register]

    def close(self) -> None:
        self.cpu.close()
        self.memory.close()

    def map_pages(self, *, unmapped: tuple[int, ...] = (), protected: tuple[int, ...] = ()) -> None:
        """Write page tables that map the first 256 KiB to itself, but for some pages (by number)."""
        self.put_long(ROOT, POINTERS | 3)
        self.put_long(POINTERS, PAGES | 3)
        for page in range(64):
            entry = page << 12 | RESIDENT | (WRITE_PROTECTED if page in protected else 0)
            self.put_long(PAGES + 4 * page, 0 if page in unmapped else entry)


# move.l #ROOT,d0; movec d0,srp; movec d0,urp; move.l #$8000,d0; movec d0,tc; pflusha
MMU_ON = f"203c{ROOT:08x} 4e7b0807 4e7b0806 203c00008000 4e7b0003 f518"
