# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""A 68040 with MMU and FPU: Unicorn's, driven below its public surface.

The public API can neither raise an interrupt nor execute RTE, so this module calls QEMU's own
functions inside the library.  Nothing is linked: symbols are looked up in the library that
``import unicorn`` has loaded, and :func:`_check_layout` runs a small program at import that
fails in one clear line when the library is not laid out as this module expects.

What the CPU sees of the machine is a :class:`Board`: bus accesses, the interrupt level and a
budget of code.  The only place where emulation may be interrupted is the block hook, *before*
a block runs; a kick from an access callback would execute the current instruction twice.
"""

import mmap

import cython
import unicorn
import unicorn.unicorn_const as const

from guestclock.errors import GuestclockError, UnavailableError

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "dlfcn.h" nogil:
    void *dlsym(void *handle, const char *name)

# The prototypes of the functions used, as published in unicorn.h and QEMU's target/m68k/cpu.h.
ctypedef int (*uc_open_t)(int, int, void **) noexcept nogil
ctypedef int (*uc_close_t)(void *) noexcept nogil
ctypedef int (*uc_emu_start_t)(void *, uint64_t, uint64_t, uint64_t, size_t) noexcept nogil
ctypedef int (*uc_emu_stop_t)(void *) noexcept nogil
ctypedef int (*uc_mem_map_ptr_t)(void *, uint64_t, size_t, uint32_t, void *) noexcept nogil
ctypedef int (*uc_mmio_map_t)(void *, uint64_t, size_t, void *, void *, void *, void *) noexcept nogil
ctypedef void (*set_irq_level_t)(void *, int, uint8_t) noexcept nogil
ctypedef void (*do_interrupt_t)(void *) noexcept nogil
ctypedef uint32_t (*get_sr_t)(void *) noexcept nogil
ctypedef void (*set_sr_t)(void *, uint32_t) noexcept nogil
ctypedef uint32_t (*movec_from_t)(void *, uint32_t) noexcept nogil
ctypedef bint (*tlb_fill_t)(void *, uint64_t, int, int, int, bint, size_t) noexcept nogil

cdef extern from *:
    """
    /* Two variadic functions of unicorn.h. */
    typedef int (*gc_hook_add_t)(void *, size_t *, int, void *, void *, uint64_t, uint64_t, ...);
    typedef int (*gc_ctl_t)(void *, int, ...);
    static inline int gc_hook_add(void *f, void *uc, size_t *hook, int kind, void *callback, void *data) {
        return ((gc_hook_add_t)f)(uc, hook, kind, callback, data, 1, 0);
    }
    #define bswap16 __builtin_bswap16
    #define bswap32 __builtin_bswap32
    static inline int gc_ctl_cpu_model(void *f, void *uc, int control, int model) {
        return ((gc_ctl_t)f)(uc, control, model);
    }
    """
    int gc_hook_add(void *f, void *uc, size_t *hook, int kind, void *callback, void *data) nogil
    int gc_ctl_cpu_model(void *f, void *uc, int control, int model) nogil
    uint16_t bswap16(uint16_t) nogil
    uint32_t bswap32(uint32_t) nogil

KNOWN_VERSION = "2.1.4"

# Offsets in the x86-64 Linux library of KNOWN_VERSION; _check_layout proves them at import.
cdef enum:
    # struct uc_struct
    UC_STOP_INTERRUPT = 0xe0      # stop_interrupt, called before the hooks of an exception
    UC_CPU = 0x1b8                # cpu
    UC_NO_EXIT_REQUEST = 0x7f2    # no_exit_request
    # CPUState, and M68kCPU around it
    CPU_INTERRUPT_REQUEST = 0x1c  # interrupt_request
    CPU_ENV = 0x128               # env_ptr
    CPU_ICOUNT_DECR = 0x130       # icount_decr_ptr
    CPU_EXCEPTION_INDEX = 0x81a0  # exception_index
    CPU_CLASS = 0x81b0            # cc
    CPU_PENDING_LEVEL = 0x88f8    # env.pending_level
    CLASS_TLB_FILL = 0x48         # CPUClass: tlb_fill
    # CPUM68KState in bytes; its first 32-bit words are D0-D7, A0-A7, PC and SR
    ENV_MMU_FAULT = 0x154         # mmu.fault
    ENV_VBR = 0x16c               # vbr
    ENV_BYTES = 0x18c             # up to pending_level: registers of CPU, FPU and MMU, all plain numbers
    ENV_A7 = 15
    ENV_PC = 16
    ENV_SR = 17
    # CPUTLBDescFast of mode 0 (supervisor), before the state; one of mode 1 follows
    TLB_MASK = -0x30
    TLB_TABLE = -0x28
    TLB_MODE_BYTES = 16
    TLB_ENTRY_BITS = 6            # CPUTLBEntry: addr_read, addr_write, addr_code, and addend at 0x18
    TLB_ADDEND = 0x18
    PAGE_BITS = 12
    PAGE_MASK = 0xfff

    INTERRUPT_HARD = 2
    EXCEPTION_ACCESS = 2
    EXCEPTION_ILLEGAL = 4
    EXCEPTION_TRAP0 = 32
    EXCEPTION_TRAP15 = 47
    EXCEPTION_RTE = 0x100
    EXCEPTION_DEBUG = 0x10002
    SR_SUPERVISOR = 0x2000
    SR_TRACE = 0xc000
    FETCH = 2                     # MMUAccessType
    MODEL_68040 = 3               # the library's enumeration is one off its header's
    MOVEC_VBR = 0x801
    ADDRESS_NEVER = 0xfffffffe    # odd page end: no program counter gets there

cdef uc_open_t uc_open = NULL
cdef uc_close_t uc_close = NULL
cdef uc_emu_start_t uc_emu_start = NULL
cdef uc_emu_stop_t uc_emu_stop = NULL
cdef uc_mem_map_ptr_t uc_mem_map_ptr = NULL
cdef uc_mmio_map_t uc_mmio_map = NULL
cdef void *uc_hook_add = NULL
cdef void *uc_ctl = NULL
cdef set_irq_level_t set_irq_level = NULL
cdef do_interrupt_t do_interrupt = NULL
cdef get_sr_t get_sr = NULL
cdef set_sr_t set_sr = NULL
cdef movec_from_t movec_from = NULL
cdef tlb_fill_t tlb_fill = NULL


class CpuError(GuestclockError):
    """The CPU cannot go on: what it ran into, with its program counter."""


cdef void *_symbol(bytes name) except NULL:
    cdef void *handle = <void *><size_t>unicorn.unicorn_py3.unicorn.uclib._handle
    cdef void *found = dlsym(handle, name)
    if found == NULL:
        raise UnavailableError(
            f"unicorn {unicorn.__version__} does not export {name.decode()}: "
            f"install unicorn=={KNOWN_VERSION}"
        )
    return found


cdef int _resolve() except -1:
    global uc_open, uc_close, uc_emu_start, uc_emu_stop, uc_mem_map_ptr, uc_mmio_map
    global uc_hook_add, uc_ctl, set_irq_level, do_interrupt, get_sr, set_sr, movec_from, tlb_fill
    if unicorn.__version__ != KNOWN_VERSION:
        raise UnavailableError(
            f"unicorn {unicorn.__version__} has a private layout that guestclock does not know: "
            f"install unicorn=={KNOWN_VERSION}"
        )
    uc_open = <uc_open_t>_symbol(b"uc_open")
    uc_close = <uc_close_t>_symbol(b"uc_close")
    uc_emu_start = <uc_emu_start_t>_symbol(b"uc_emu_start")
    uc_emu_stop = <uc_emu_stop_t>_symbol(b"uc_emu_stop")
    uc_mem_map_ptr = <uc_mem_map_ptr_t>_symbol(b"uc_mem_map_ptr")
    uc_mmio_map = <uc_mmio_map_t>_symbol(b"uc_mmio_map")
    uc_hook_add = _symbol(b"uc_hook_add")
    uc_ctl = _symbol(b"uc_ctl")
    set_irq_level = <set_irq_level_t>_symbol(b"m68k_set_irq_level_m68k")
    do_interrupt = <do_interrupt_t>_symbol(b"m68k_cpu_do_interrupt_m68k")
    get_sr = <get_sr_t>_symbol(b"cpu_m68k_get_sr_m68k")
    set_sr = <set_sr_t>_symbol(b"cpu_m68k_set_sr_m68k")
    tlb_fill = <tlb_fill_t>_symbol(b"m68k_cpu_tlb_fill_m68k")
    movec_from = <movec_from_t>_symbol(b"helper_m68k_movec_from_m68k")
    return 0


cdef class Board:
    """What a CPU sees of the machine around it.

    A subclass overrides :meth:`io_read`, :meth:`io_write` and :meth:`attend`; a compiled one is called
    without the interpreter, a plain Python one through it.  The attributes are the CPU's:

    ``budget_bytes``
        code that may still run until :meth:`attend` is called; the block hook counts it down.
    ``granted_bytes``
        code granted since the start; executed code is granted minus budget.
    ``irq_level``
        the interrupt level (0 to 7) on the CPU's pins; autovectored.
    ``interrupt_mask``
        the CPU's mask, as it was when the board last attended.
    ``stop_requested``
        end :meth:`Cpu.run` before the next block.
    ``failure``
        an exception that a callback could not raise; :meth:`Cpu.run` raises it.
    """

    cdef uint64_t io_read(self, uint64_t address, unsigned size) noexcept nogil:
        with gil:
            try:
                return getattr(self, "io_read")(address, size)
            except BaseException as error:
                self._fail(error)
                return 0

    cdef void io_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil:
        with gil:
            try:
                getattr(self, "io_write")(address, size, value)
            except BaseException as error:
                self._fail(error)

    cdef void attend(self) noexcept nogil:
        with gil:
            try:
                getattr(self, "attend")()
            except BaseException as error:
                self._fail(error)

    def _fail(self, error):
        if self.failure is None:
            self.failure = error
        self.stop_requested = True
        self.granted_bytes -= self.budget_bytes + 1
        self.budget_bytes = -1

    @property
    def executed_bytes(self) -> int:
        """Bytes of guest code executed since the machine started."""
        return self.granted_bytes - self.budget_bytes



# The library hands user data back as an untyped pointer.  A function that takes the object itself is
# called with it through a pointer: a borrowed reference, and the object outlives its engine.


cdef uint64_t _read(Cpu cpu, uint64_t address, unsigned size) noexcept nogil:
    cdef uint64_t value = cpu._board.io_read(address, size)
    if cpu._board.irq_level != cpu._applied_level:
        cpu._apply_level()
    return value


cdef void _write(Cpu cpu, uint64_t address, unsigned size, uint64_t value) noexcept nogil:
    cpu._board.io_write(address, size, value)
    if cpu._board.irq_level != cpu._applied_level:
        cpu._apply_level()


cdef uint64_t _on_read(void *uc, uint64_t offset, unsigned size, Window *window) noexcept nogil:
    return window.read(window.cpu, window.base + offset, size)


cdef void _on_write(void *uc, uint64_t offset, unsigned size, uint64_t value, Window *window) noexcept nogil:
    window.write(window.cpu, window.base + offset, size, value)


cdef bint _on_any_exception(void *uc, int number) noexcept nogil:
    """Let BKPT be the illegal instruction it is where no debugger answers; QEMU would wait for one for ever."""
    if number == EXCEPTION_DEBUG:
        (<int *>((<char **>(<char *>uc + UC_CPU))[0] + CPU_EXCEPTION_INDEX))[0] = EXCEPTION_ILLEGAL
    return False


cdef void _on_exception(void *uc, uint32_t number, Cpu cpu) noexcept nogil:
    cpu.exceptions += 1
    if EXCEPTION_TRAP0 <= number <= EXCEPTION_TRAP15:
        if _trap(cpu._env, number):
            return
    elif number == EXCEPTION_RTE:
        if _rte(cpu._env):
            return
    elif number == EXCEPTION_ACCESS:
        # An access error while the frame of one is being written (mmu.fault), or its vector is being fetched.
        if cpu._entering_access_error or (<uint8_t *>cpu._env)[ENV_MMU_FAULT]:
            cpu._double_fault = True
            uc_emu_stop(uc)
            return
        cpu._entering_access_error = True
        do_interrupt(cpu._core)  # a further fault in it does not return here
        cpu._entering_access_error = False
        return
    do_interrupt(cpu._core)


# TRAP and RTE in the plain case, three times as fast as QEMU's way: the frame lies in one page of plain memory
# that the supervisor's TLB knows (MC68040 User's Manual, 8.4: the four-word frame, format 0).

cdef inline char *_host_address(uint32_t *env, uint32_t address, int kind) noexcept nogil:
    """Return where a supervisor address lies in our memory, or NULL; kind 0 to read, 1 to write."""
    cdef char *state = <char *>env
    cdef uint64_t mask = (<uint64_t *>(state + TLB_MASK))[0] >> TLB_ENTRY_BITS
    cdef char *entry = (<char **>(state + TLB_TABLE))[0] + ((address >> PAGE_BITS & mask) << TLB_ENTRY_BITS)
    if (<uint32_t *>entry)[kind] != address & ~<uint32_t>PAGE_MASK:
        return NULL
    return <char *>(<uint64_t>address + (<uint64_t *>(entry + TLB_ADDEND))[0])


cdef bint _trap(uint32_t *env, uint32_t number) noexcept nogil:
    cdef uint32_t status = get_sr(env)
    cdef uint32_t pc = env[ENV_PC] + 2
    cdef uint32_t vector_at = env[ENV_VBR // 4] + 4 * number
    cdef char *vector = _host_address(env, vector_at, 0)
    cdef uint32_t stack
    cdef char *frame
    if vector == NULL or vector_at & 3:
        return False
    set_sr(env, (status | SR_SUPERVISOR) & ~SR_TRACE)
    stack = (env[ENV_A7] & ~<uint32_t>1) - 8
    frame = _host_address(env, stack, 1)
    if frame == NULL or stack & PAGE_MASK > PAGE_MASK - 7:
        set_sr(env, status)
        return False
    (<uint16_t *>frame)[0] = bswap16(status)
    (<uint32_t *>(frame + 2))[0] = bswap32(pc)
    (<uint16_t *>(frame + 6))[0] = bswap16(number << 2)
    env[ENV_A7] = stack
    env[ENV_PC] = bswap32((<uint32_t *>vector)[0])
    return True


cdef bint _rte(uint32_t *env) noexcept nogil:
    cdef uint32_t stack = env[ENV_A7]
    cdef char *frame = _host_address(env, stack, 0)
    if frame == NULL or stack & PAGE_MASK > PAGE_MASK - 7 or frame[6] & 0xf0:
        return False
    env[ENV_PC] = bswap32((<uint32_t *>(frame + 2))[0])
    env[ENV_A7] = stack + 8
    set_sr(env, bswap16((<uint16_t *>frame)[0]))
    return True


cdef bint _fill_tlb(
    void *core, uint64_t address, int size, int access, int mode, bint probe, size_t return_address
) noexcept nogil:
    """Fill a TLB entry as QEMU does, but leave it without code unless code is what was asked for.

    With the MMU off QEMU marks every page as executable, and then each store to it looks for code to throw
    away.  A page that is also executed gets its mark from the fetch, and with it the careful stores.
    """
    cdef char *state
    cdef uint64_t mask
    cdef char *entry
    if not tlb_fill(core, address, size, access, mode, probe, return_address):
        return False
    if access != FETCH:
        state = (<char **>(<char *>core + CPU_ENV))[0] + TLB_MODE_BYTES * mode
        mask = (<uint64_t *>(state + TLB_MASK))[0] >> TLB_ENTRY_BITS
        entry = (<char **>(state + TLB_TABLE))[0] + ((address >> PAGE_BITS & mask) << TLB_ENTRY_BITS)
        (<int32_t *>entry)[FETCH] = -1
    return True


cdef void _on_block(void *uc, uint64_t address, uint32_t size, Cpu cpu) noexcept nogil:
    cpu._board.budget_bytes -= size
    if cpu._board.budget_bytes < 0:
        cpu._budget_used(size)


@cython.no_gc_clear
cdef class Cpu:
    """One 68040 on a :class:`Board`.

    Registers are 32-bit words; ``pc`` is where :meth:`run` starts and where it ended.
    The engine is freed with the object, or earlier by :meth:`close`.
    """

    def __cinit__(self, Board board not None):
        self._board = board
        self._memory = []
        self._check(uc_open(const.UC_ARCH_M68K, const.UC_MODE_BIG_ENDIAN, &self._uc), "open")
        control = const.UC_CTL_CPU_MODEL | 1 << 26 | const.UC_CTL_IO_WRITE << 30
        self._check(gc_ctl_cpu_model(uc_ctl, self._uc, <int>control, MODEL_68040), "choose the 68040")
        self._core = NULL
        self._env = NULL

    def __dealloc__(self):
        self.close()

    def close(self):
        """Free the engine; the object cannot run again."""
        cdef int i
        if self._uc != NULL:
            uc_close(self._uc)
            self._uc = NULL
            self._core = NULL
            self._env = NULL
        self._memory = []

    def map_memory(self, uint64_t address, memory) -> None:
        """Map a writable buffer (an ``mmap``; whole pages) at a physical address as RAM."""
        cdef uint8_t[::1] view = memory
        cdef int status
        status = uc_mem_map_ptr(self._uc, address, view.shape[0], const.UC_PROT_ALL, &view[0])
        self._check(status, f"map memory at {address:#x}")
        self._memory.append(view)

    def map_board(self, uint64_t address, uint64_t size) -> None:
        """Let the board answer for a range of physical addresses (whole pages)."""
        if self._window_count == WINDOWS_MAX:
            raise ValueError(f"no more than {WINDOWS_MAX} windows")
        cdef Window *window = &self._windows[self._window_count]
        window.cpu = <void *>self
        window.base = address
        window.read = <window_read_t><void *>_read
        window.write = <window_write_t><void *>_write
        self._window_count += 1
        status = uc_mmio_map(self._uc, address, size, <void *>_on_read, window, <void *>_on_write, window)
        self._check(status, f"map the board at {address:#x}")

    def start(self, uint32_t pc, uint32_t stack, uint32_t status) -> None:
        """Set up the registers of a CPU that has not run yet, and attach the hooks."""
        cdef size_t hook
        # Without this every load and store is followed by a look whether to stop, in the middle of an
        # instruction; the look before each block stays.
        (<char *>self._uc)[UC_NO_EXIT_REQUEST] = 1
        (<void **>(<char *>self._uc + UC_STOP_INTERRUPT))[0] = <void *>_on_any_exception
        self._core = (<void **>(<char *>self._uc + UC_CPU))[0]
        self._env = (<uint32_t **>(<char *>self._core + CPU_ENV))[0]
        (<void **>((<char **>(<char *>self._core + CPU_CLASS))[0] + CLASS_TLB_FILL))[0] = <void *>_fill_tlb
        self._check(gc_hook_add(uc_hook_add, self._uc, &hook, const.UC_HOOK_INTR, <void *>_on_exception, <void *>self), "hook")
        self._check(gc_hook_add(uc_hook_add, self._uc, &hook, const.UC_HOOK_BLOCK, <void *>_on_block, <void *>self), "hook")
        set_sr(self._env, status)  # also selects the stack pointer that A7 then is
        self._env[ENV_A7] = stack
        self._env[ENV_PC] = pc

    def run(self) -> None:
        """Run until the guest executes STOP or the board asks to stop.

        Raises what a callback raised, and :class:`CpuError` when emulation cannot go on.
        """
        cdef int status
        cdef uint64_t pc = self._env[ENV_PC]
        if self._board.irq_level != self._applied_level:
            self._apply_level()
        elif self._poll and self._interrupt_is_due():
            self._poll = False  # QEMU takes it before the first block
        with nogil:
            status = uc_emu_start(self._uc, pc, ADDRESS_NEVER, 0, 0)
        failure, self._board.failure = self._board.failure, None
        if failure is not None:
            raise failure
        if self._double_fault:
            raise CpuError(
                f"the CPU halted: an access error at pc {self._env[ENV_PC]:#010x} while one was being taken "
                f"(the supervisor stack, {self._env[ENV_A7]:#010x}, or the vectors, {self.vbr:#010x}, cannot be reached)"
            )
        self._check(status, "go on")

    @property
    def pc(self) -> int:
        """Program counter."""
        return self._env[ENV_PC]

    @property
    def sr(self) -> int:
        """Status register with its condition codes."""
        return get_sr(self._env)

    @property
    def vbr(self) -> int:
        """Vector base register."""
        return movec_from(self._env, MOVEC_VBR)

    @property
    def interrupt_mask(self) -> int:
        """The interrupt mask of the status register: levels up to it wait."""
        return self._env[ENV_SR] >> 8 & 7

    @property
    def registers(self) -> list[int]:
        """D0 to D7, then A0 to A7."""
        return [self._env[i] for i in range(16)]

    def snapshot(self) -> dict[str, object]:
        """Return the state of a CPU that is not in :meth:`run`: its registers as the library lays them out.

        Translated code and TLB entries are caches and no part of it.
        """
        return {
            "library": KNOWN_VERSION,
            "registers": (<char *>self._env)[:ENV_BYTES],
            "applied_level": self._applied_level,
            "poll": bool(self._poll),
            "exceptions": self.exceptions,
        }

    def restore(self, state) -> None:
        """Let a CPU that has been started and has not run become what :meth:`snapshot` saw.

        Raises :class:`ValueError` when another version of the library, or another layout, was seen.
        """
        cdef bytes registers = state["registers"]
        if state["library"] != KNOWN_VERSION or len(registers) != ENV_BYTES:
            raise ValueError(f"the CPU of unicorn {state['library']}, this is that of {KNOWN_VERSION}")
        memcpy(self._env, <char *>registers, ENV_BYTES)
        self._applied_level = state["applied_level"]
        # The pending level is among the registers; raising it anew would ask for a look that nobody had asked for.
        if self._applied_level:
            (<uint32_t *>(<char *>self._core + CPU_INTERRUPT_REQUEST))[0] |= INTERRUPT_HARD
        self._poll = state["poll"]
        self.exceptions = state["exceptions"]

    cdef void _apply_level(self) noexcept nogil:
        self._applied_level = self._board.irq_level
        set_irq_level(self._core, self._applied_level, 24 + self._applied_level)
        self._poll = self._applied_level != 0
        if self._poll:
            self._force_attend()

    cdef void _force_attend(self) noexcept nogil:
        """Make the next block hook look up, leaving the count of executed code as it is."""
        self._board.granted_bytes -= self._board.budget_bytes + 1
        self._board.budget_bytes = -1

    cdef void _budget_used(self, uint32_t size) noexcept nogil:
        """Let the board attend; then, before the block runs, stop or take an interrupt."""
        cdef bint kick = False
        if not self._board.stop_requested:
            self._board.interrupt_mask = self._env[ENV_SR] >> 8 & 7
            self._board.attend()
        if self._board.irq_level != self._applied_level:
            self._apply_level()
        if self._board.stop_requested:
            if self._poll and not self._interrupt_is_due():
                # Whoever goes on has looked before this block: the next look is before the block after it.
                self._board.granted_bytes -= self._board.budget_bytes
                self._board.budget_bytes = 0
            uc_emu_stop(self._uc)
            kick = True
        elif self._poll:
            kick = self._interrupt_is_due()
            if kick:
                self._poll = False
                (<uint16_t *>((<char **>(<char *>self._core + CPU_ICOUNT_DECR))[0]))[1] = 0xffff
            else:
                # Masked.  QEMU itself looks after MOVE to SR, RTE and STOP, but not after ANDI to SR, which
                # is how Linux unmasks: look before every block.
                self._force_attend()
        if kick:
            # The block does not run now; its hook will be called again.
            self._board.budget_bytes += size

    cdef bint _interrupt_is_due(self) noexcept nogil:
        cdef char *core = <char *>self._core
        return (
            (<uint32_t *>(core + CPU_INTERRUPT_REQUEST))[0] & INTERRUPT_HARD != 0
            and (<int32_t *>(core + CPU_PENDING_LEVEL))[0] > <int32_t>(self._env[ENV_SR] >> 8 & 7)
        )

    cdef int _check(self, int status, what) except -1:
        if status != const.UC_ERR_OK:
            where = "" if self._env == NULL else f" at pc {self._env[ENV_PC]:#010x}, sr {self._env[ENV_SR]:#06x}"
            raise CpuError(f"the CPU cannot {what}{where}: {_reason(status)}")
        return 0


def _reason(status: int) -> str:
    return str(unicorn.UcError(status))


class _Trial(Board):
    """The board of the layout check: raises level 1 at its second look, and gives up at its thousandth."""

    def __init__(self):
        self.looks = 0

    def attend(self):
        self.looks += 1
        self.granted_bytes += 63 - self.budget_bytes
        self.budget_bytes = 63
        if self.looks == 2:
            self.irq_level = 1
        self.stop_requested = self.looks == 1000


def _check_layout() -> None:
    """Run a small program that cannot end as it should unless the private layout is the known one.

    It loads D0, counts three traps in D2 and spins in one chained block; the handler of the level-1 interrupt
    stores D0 and stops.
    """
    trial = _Trial()
    cpu = Cpu(trial)
    memory = mmap.mmap(-1, 0x2000)
    memory[0x64:0x68] = (0x800).to_bytes(4, "big")  # autovector 1
    memory[0x80:0x84] = (0x900).to_bytes(4, "big")  # trap 0
    # moveq #$55,d0; three times trap #0; move #$2000,sr; l: addq.l #1,d1; bra l
    program = bytes.fromhex("7055 4e40 4e40 4e40 46fc2000 5281 60fc")
    trap = bytes.fromhex("5282 4e73")  # addq.l #1,d2; rte
    handler = bytes.fromhex("23c000001000 4e722700")  # move.l d0,$1000; stop #$2700
    memory[0x400 : 0x400 + len(program)] = program
    memory[0x800 : 0x800 + len(handler)] = handler
    memory[0x900 : 0x900 + len(trap)] = trap
    cpu.map_memory(0, memory)
    cpu.start(0x400, 0x1f00, 0x2700)
    cpu.run()
    right = (
        memory[0x1000:0x1004] == b"\0\0\0\x55"
        and cpu.registers[0] == 0x55
        and cpu.registers[2] == 3
        and cpu.registers[15] == 0x1F00 - 8
        and cpu.pc == 0x80a
        and cpu.sr == 0x2700
        and 2 < trial.looks < 1000
    )
    if not right:
        raise UnavailableError(
            f"this build of unicorn {unicorn.__version__} has a private layout that guestclock does not know: "
            f"install unicorn=={KNOWN_VERSION} from its x86-64 Linux wheel"
        )


_resolve()
_check_layout()
