# Timed read loops for x86-64: one source, run in a KVM guest at CPL 3 and in this process.
#
#   as --64 -o x86_64.o x86_64.S && objcopy -O binary -j .text x86_64.o x86_64.bin
#
# Position-independent, System V calling convention, no data of its own.  The image starts with a
# directory of its functions (magic, count, then offset and name of each), so that no symbol table is
# needed to find them.  Loop heads are aligned by a jump over 0xcc: assemblers choose nops differently.
#
# Registers inside a loop: rbp reads left, r12 batches left or the result block, r13 output or the
# value read before, r14 the page, r15 the shared block.  A read leaves its value in rax and may use
# rbx, rcx, rdx, rsi, rdi and r8 to r11.

        .intel_syntax noprefix

# ---- pages ----------------------------------------------------------------------------------------
# pvclock_vcpu_time_info (Linux, arch/x86/include/asm/pvclock-abi.h)
        .set VERSION, 0
        .set TSC_TIMESTAMP, 8
        .set SYSTEM_TIME, 16
        .set MUL, 24
        .set SHIFT, 28
        .set FLAGS, 29
        .set TSC_STABLE, 1
        .set PAGE_BITS, 6               # one entry per vCPU, a cache line each
# what the tsc clocksource's reader needs, laid out as readloops.tsc_page() does
        .set SEQ, 0
        .set TSC_SHIFT, 4
        .set CYCLE_LAST, 8
        .set BASE_NS, 16
        .set MULT, 24

# ---- shared block: where several CPUs meet ----------------------------------------------------------
        .set LAST, 0                    # the latest value that anybody read
        .set ARRIVED, 64
        .set PARTIES, 72
        .set PATIENCE, 80               # how many looks to wait for the others
        .set CLAMP, 128                 # the clamping reader's global last value

# ---- result block of a warp loop ----------------------------------------------------------------------
        .set READS, 0
        .set STEPS, 8
        .set WORST, 16
        .set SUM, 24
        .set LOGGED, 32
        .set LOG_ROOM, 40
        .set AHEAD_SUM, 48
        .set AHEAD_LEAST, 56
        .set AHEAD_MOST, 64
        .set LEAST, 72
        .set LOG, 128                   # pairs: the value before, the value after

        .set GETCPU_SELECTOR, 0x7b      # GDT entry 15: Linux keeps the CPU number in its limit
        .set EXIT_PORT, 0x10

        .text 0
image:
        .ascii "GCLOOPS1"
        .quad (directory_end - directory) / 32
directory:

        .macro FUNCTION name
        .text 0
1:      .long \name - image
        .ascii "\name"
        .org 1b + 32, 0
        .text 1
        .p2align 6, 0xcc
\name:
        .endm

        .macro SAVE
        push rbx
        push rbp
        push r12
        push r13
        push r14
        push r15
        .endm

        .macro RESTORE
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbp
        pop rbx
        ret
        .endm

# ---- reads: each leaves its value in rax ---------------------------------------------------------------
        .macro NOTHING
        .endm

        .macro RDTSC64
        rdtsc
        shl rdx, 32
        or rax, rdx
        .endm

        .macro RDTSCP64
        rdtscp
        shl rdx, 32
        or rax, rdx
        .endm

        .macro READ_empty
        .endm

        .macro READ_rdtsc
        RDTSC64
        .endm

        .macro READ_lfence_rdtsc
        lfence
        RDTSC64
        .endm

        .macro READ_mfence_rdtsc
        mfence
        RDTSC64
        .endm

        .macro READ_rdtscp
        RDTSCP64
        .endm

# rax: TSC in, nanoseconds out.  The product has 96 bits.
        .macro SCALE page
        sub rax, [\page + TSC_TIMESTAMP]
        movsx ecx, byte ptr [\page + SHIFT]
        test ecx, ecx
        js 3f
        shl rax, cl
        jmp 4f
3:      neg ecx
        shr rax, cl
4:      mov edx, [\page + MUL]
        mul rdx
        shrd rax, rdx, 32
        add rax, [\page + SYSTEM_TIME]
        .endm

# The vDSO's reader of page 0; it gives up (here: skips the version check) unless TSC_STABLE.
        .macro PVCLOCK before, read, after
7:      mov r8d, [r14 + VERSION]
        and r8d, -2
        \before
        \read
        SCALE r14
        \after
        test byte ptr [r14 + FLAGS], TSC_STABLE
        jz 9f
        cmp r8d, [r14 + VERSION]
        jne 7b
9:
        .endm

        .macro READ_pvclock_none
        PVCLOCK NOTHING, RDTSC64, NOTHING
        .endm

        .macro READ_pvclock_one
        PVCLOCK lfence, RDTSC64, NOTHING
        .endm

        .macro READ_pvclock_rdtscp
        PVCLOCK NOTHING, RDTSCP64, NOTHING
        .endm

        .macro READ_pvclock_two
        PVCLOCK lfence, RDTSC64, lfence
        .endm

        .macro GETCPU to
        mov \to, GETCPU_SELECTOR
        lsl \to, \to
        and \to, 0xfff
        .endm

# The vDSO's reader of 2014: this CPU's page, two barriers, and getcpu again to see a migration.
        .macro READ_pvclock_2014
7:      GETCPU r9d
        mov edi, r9d
        shl rdi, PAGE_BITS
        add rdi, r14
        mov r8d, [rdi + VERSION]
        lfence
        RDTSC64
        SCALE rdi
        movzx ebx, byte ptr [rdi + FLAGS]
        lfence
        GETCPU r10d
        cmp r9d, r10d
        jne 7b
        test r8d, 1
        jnz 7b
        cmp r8d, [rdi + VERSION]
        jne 7b
        test bl, TSC_STABLE
        jz 9f
9:
        .endm

# The page as it is, whatever its flags: what a reader that ignores TSC_STABLE gets.
        .macro READ_pvclock_own
7:      mov r8d, [r14 + VERSION]
        and r8d, -2
        lfence
        RDTSC64
        SCALE r14
        movzx ebx, byte ptr [r14 + FLAGS]
        cmp r8d, [r14 + VERSION]
        jne 7b
        .endm

# The kernel's reader: without TSC_STABLE never below the global last value.
        .macro READ_pvclock_clamp
        READ_pvclock_own
        test bl, TSC_STABLE
        jnz 9f
        mov rbx, rax
        mov rax, [r15 + CLAMP]
8:      cmp rbx, rax
        jb 9f
        lock cmpxchg [r15 + CLAMP], rbx
        jnz 8b
        mov rax, rbx
9:
        .endm

# The vDSO's reader of the tsc clocksource: sequence count, one barrier, a 64-bit product.
        .macro READ_tsc_clocksource
7:      mov r8d, [r14 + SEQ]
        test r8d, 1
        jnz 7b
        lfence
        RDTSC64
        sub rax, [r14 + CYCLE_LAST]
        mov edx, [r14 + MULT]
        imul rax, rdx
        mov ecx, [r14 + TSC_SHIFT]
        shr rax, cl
        add rax, [r14 + BASE_NS]
        cmp r8d, [r14 + SEQ]
        jne 7b
        .endm

# ---- loops around a read ---------------------------------------------------------------------------------
# void cost_X(page, reads, {u64 tsc_start, cycles, value} *out, batches, shared): batches of reads, each
# with its TSC cycles and the last value read.
        .macro COST name
        FUNCTION cost_\name
        SAVE
        push rsi
        mov r14, rdi
        mov r13, rdx
        mov r12, rcx
        mov r15, r8
1:      mov rbp, [rsp]
        lfence
        RDTSC64
        mov [r13], rax
        jmp 2f
        .p2align 6, 0xcc
2:
        READ_\name
        dec rbp
        jnz 2b
        mov [r13 + 16], rax
        lfence
        RDTSC64
        sub rax, [r13]
        mov [r13 + 8], rax
        add r13, 24
        dec r12
        jnz 1b
        pop rsi
        RESTORE
        .endm

# Wait until all have arrived.  Gives up (READS stays 0) when patience ends, so that no CPU waits for
# one that never comes.
        .macro RENDEZVOUS gave_up
        mov rcx, [r15 + PATIENCE]
        lock inc qword ptr [r15 + ARRIVED]
1:      mov rax, [r15 + ARRIVED]
        cmp rax, [r15 + PARTIES]
        jae 2f
        pause
        dec rcx
        jnz 1b
        jmp \gave_up
2:
        .endm

# Publish a first value, so that the first comparison has something to compare with.
        .macro PUBLISH_FIRST
        mov rdx, rax
        xor eax, eax
        lock cmpxchg [r15 + LAST], rdx
        .endm

# Compare rax with r13, the shared last value taken before the read: count a step, or publish rax.
        .macro JUDGE step, next
        mov rdx, rax
        sub rdx, r13
        jb \step
        add [r12 + AHEAD_SUM], rdx
        cmp rdx, [r12 + AHEAD_LEAST]
        jae 5f
        mov [r12 + AHEAD_LEAST], rdx
5:      cmp rdx, [r12 + AHEAD_MOST]
        jbe 5f
        mov [r12 + AHEAD_MOST], rdx
5:      mov rdx, rax
        mov rax, r13
        lock cmpxchg [r15 + LAST], rdx
        jmp \next
\step:
        neg rdx
        inc qword ptr [r12 + STEPS]
        add [r12 + SUM], rdx
        cmp rdx, [r12 + LEAST]
        jae 5f
        mov [r12 + LEAST], rdx
5:      cmp rdx, [r12 + WORST]
        jbe 5f
        mov [r12 + WORST], rdx
5:      mov rcx, [r12 + LOGGED]
        cmp rcx, [r12 + LOG_ROOM]
        jae \next
        inc qword ptr [r12 + LOGGED]
        shl rcx, 4
        mov [r12 + rcx + LOG], r13
        mov [r12 + rcx + LOG + 8], rax
        .endm

# void warp_X(page, reads, shared, result): backward steps against what any party has read before.
        .macro WARP name
        FUNCTION warp_\name
        SAVE
        push rsi
        mov r14, rdi
        mov rbp, rsi
        mov r15, rdx
        mov r12, rcx
        READ_\name
        PUBLISH_FIRST
        RENDEZVOUS .Lwarp_end_\name
        jmp .Lwarp_read_\name
        .p2align 6, 0xcc
.Lwarp_read_\name:
        mov r13, [r15 + LAST]
        READ_\name
        JUDGE .Lwarp_step_\name, .Lwarp_next_\name
.Lwarp_next_\name:
        dec rbp
        jnz .Lwarp_read_\name
        mov rsi, [rsp]
        mov [r12 + READS], rsi
.Lwarp_end_\name:
        pop rsi
        RESTORE
        .endm

        .macro BOTH name
        COST \name
        WARP \name
        .endm

        COST empty
        BOTH rdtsc
        BOTH lfence_rdtsc
        BOTH mfence_rdtsc
        BOTH rdtscp
        BOTH pvclock_none
        BOTH pvclock_one
        BOTH pvclock_rdtscp
        BOTH pvclock_two
        BOTH pvclock_2014
        BOTH pvclock_own
        BOTH pvclock_clamp
        BOTH tsc_clocksource

# ---- pages against exact arithmetic ------------------------------------------------------------------------
# void live(page, count, {u64 tsc, ns, version, system_time} *out): reads of a page that may change.
FUNCTION live
        SAVE
        mov r14, rdi
        mov rbp, rsi
        mov r13, rdx
1:      mov r8d, [r14 + VERSION]
        and r8d, -2
        lfence
        RDTSC64
        mov r9, rax
        SCALE r14
        mov r10, [r14 + SYSTEM_TIME]
        cmp r8d, [r14 + VERSION]
        jne 1b
        mov [r13], r9
        mov [r13 + 8], rax
        mov [r13 + 16], r8
        mov [r13 + 24], r10
        add r13, 32
        dec rbp
        jnz 1b
        RESTORE

# void scale(const {page, u64 tsc, pad to 64} *cases, count, u64 *ns): the arithmetic alone.
FUNCTION scale
        SAVE
        mov r14, rdi
        mov rbp, rsi
        mov r13, rdx
1:      mov rax, [r14 + 32]
        SCALE r14
        mov [r13], rax
        add r14, 64
        add r13, 8
        dec rbp
        jnz 1b
        RESTORE

# ---- loops around a clock of this process ----------------------------------------------------------------------
        .set CLOCK_GETTIME, 228         # system call, arch/x86/entry/syscalls/syscall_64.tbl

# Read clock r14 by the function in rbx; nanoseconds in rax.  The timespec is at [rsp].
        .macro CALL_CLOCK
        mov rdi, r14
        mov rsi, rsp
        call rbx
        imul rax, [rsp], 1000000000
        add rax, [rsp + 8]
        .endm

        .macro SYSCALL_CLOCK
        mov rdi, r14
        mov rsi, rsp
        mov eax, CLOCK_GETTIME
        syscall
        imul rax, [rsp], 1000000000
        add rax, [rsp + 8]
        .endm

# void X(clock_gettime, clock, reads, {u64 tsc_start, cycles, value} *out, batches)
        .macro CLOCK_COST name, read
        FUNCTION \name
        SAVE
        push rdx
        sub rsp, 32
        mov rbx, rdi
        mov r14, rsi
        mov r13, rcx
        mov r12, r8
1:      mov rbp, [rsp + 32]
        lfence
        RDTSC64
        mov [r13], rax
2:      \read
        dec rbp
        jnz 2b
        mov [r13 + 16], rax
        lfence
        RDTSC64
        sub rax, [r13]
        mov [r13 + 8], rax
        add r13, 24
        dec r12
        jnz 1b
        add rsp, 32
        pop rdx
        RESTORE
        .endm

        CLOCK_COST call_cost, CALL_CLOCK
        CLOCK_COST syscall_cost, SYSCALL_CLOCK

# void call_warp(clock_gettime, clock, reads, shared, result): as warp_X, of a clock of this process.
FUNCTION call_warp
        SAVE
        push rdx
        sub rsp, 32
        mov rbx, rdi
        mov r14, rsi
        mov rbp, rdx
        mov r15, rcx
        mov r12, r8
        CALL_CLOCK
        PUBLISH_FIRST
        RENDEZVOUS .Lcall_warp_end
.Lcall_warp_read:
        mov r13, [r15 + LAST]
        CALL_CLOCK
        JUDGE .Lcall_warp_step, .Lcall_warp_next
.Lcall_warp_next:
        dec rbp
        jnz .Lcall_warp_read
        mov rdx, [rsp + 32]
        mov [r12 + READS], rdx
.Lcall_warp_end:
        add rsp, 32
        pop rdx
        RESTORE

# void call_samples(clock_gettime, clock, count, {u64 tsc_before, ns, tsc_after} *out)
FUNCTION call_samples
        SAVE
        sub rsp, 40
        mov rbx, rdi
        mov r14, rsi
        mov rbp, rdx
        mov r13, rcx
1:      lfence
        RDTSC64
        mov [r13], rax
        CALL_CLOCK
        mov [r13 + 8], rax
        lfence
        RDTSC64
        mov [r13 + 16], rax
        add r13, 24
        dec rbp
        jnz 1b
        add rsp, 40
        RESTORE

# ---- small looks at the machine ----------------------------------------------------------------------------
# u64 tsc(void)
FUNCTION tsc
        lfence
        RDTSC64
        ret

# u64 spin(count): the TSC cycles of that many turns of an empty loop; tells native from interpreted.
FUNCTION spin
        lfence
        RDTSC64
        mov rsi, rax
1:      dec rdi
        jnz 1b
        lfence
        RDTSC64
        sub rax, rsi
        ret

# void cpuid(leaf, subleaf, u32 *out)
FUNCTION cpuid_leaf
        push rbx
        mov r8, rdx
        mov eax, edi
        mov ecx, esi
        cpuid
        mov [r8], eax
        mov [r8 + 4], ebx
        mov [r8 + 8], ecx
        mov [r8 + 12], edx
        pop rbx
        ret

# u64 getcpu_lsl(void), u64 getcpu_rdpid(void), u64 getcpu_rdtscp(void): the CPU's number in three ways
FUNCTION getcpu_lsl
        GETCPU eax
        ret

FUNCTION getcpu_rdpid
        rdpid rax
        and eax, 0xfff
        ret

FUNCTION getcpu_rdtscp
        rdtscp
        mov eax, ecx
        and eax, 0xfff
        ret

# Where a guest starts: calls rax, then leaves the guest with rax as the function left it.
FUNCTION guest_start
        call rax
        mov edx, EXIT_PORT
        out dx, al
        hlt

        .text 0
directory_end:
