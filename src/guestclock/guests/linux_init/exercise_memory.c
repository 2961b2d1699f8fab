/* Mappings, protection, copy-on-write, and instructions that fault half-way and start again. */
#define _GNU_SOURCE
#include "exercise.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 64

static sigjmp_buf escape;
static volatile u32 fault_address;
static volatile int fault_code;
static volatile u32 faults;
static u8 *repair; /* when set, the handler makes this page writable and the instruction starts again */

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    fault_address = (u32)info->si_addr;
    fault_code = info->si_code;
    faults++;
    if (!repair)
        siglongjmp(escape, 1);
    mprotect(repair, PAGE, PROT_READ | PROT_WRITE);
}

static void catch_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, 0);
    repair = 0;
    faults = 0;
}

static u8 *map(u32 pages, int protection)
{
    return mmap(0, pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void fill(u8 *memory, u32 size, u32 seed)
{
    while (size--) {
        seed = seed * 1103515245u + 12345;
        *memory++ = seed >> 16;
    }
}

static u32 sum_of_fill(u32 size, u32 seed)
{
    u32 sum = 2166136261u;

    while (size--) {
        seed = seed * 1103515245u + 12345;
        sum = (sum ^ (u8)(seed >> 16)) * 16777619u;
    }
    return sum;
}

static void check_faults(void)
{
    u8 *memory = map(2, PROT_READ | PROT_WRITE);

    catch_faults();
    memory[PAGE + 0x123] = 1;
    munmap(memory + PAGE, PAGE);
    if (sigsetjmp(escape, 1) == 0)
        (void)*(volatile u8 *)(memory + PAGE + 0x123);
    check("fault_unmapped", fault_address - (u32)memory, PAGE + 0x123);
    check("fault_unmapped_code", fault_code, SEGV_MAPERR);

    mprotect(memory, PAGE, PROT_READ);
    if (sigsetjmp(escape, 1) == 0)
        *(volatile u32 *)(memory + 0x456) = 1;
    check("fault_read_only", fault_address - (u32)memory, 0x456);
    check("fault_read_only_code", fault_code, SEGV_ACCERR);

    mprotect(memory, PAGE, PROT_NONE);
    if (sigsetjmp(escape, 1) == 0)
        (void)*(volatile u8 *)(memory + 0x789);
    check("fault_no_access", fault_address - (u32)memory, 0x789);
    check("faults", faults, 3);
    munmap(memory, PAGE);
}

/* Instructions that cross from a writable page into one that the handler opens; each must take effect exactly once. */
static void check_restarts(void)
{
    u8 *memory = map(2, PROT_READ | PROT_WRITE);
    volatile u32 *across = (u32 *)(memory + PAGE - 2);
    u32 *pointer;

    catch_faults();
    repair = memory + PAGE;
    *across = 0x00FFFFFF;
    mprotect(repair, PAGE, PROT_READ);
    __asm__ volatile("addq.l #1, (%0)" : : "a"(across) : "memory", "cc");
    check("restart_add", *across, 0x01000000);

    mprotect(repair, PAGE, PROT_READ);
    __asm__ volatile("move.l #1, %%d0\n\tmove.l #2, %%d1\n\tmove.l #3, %%d2\n\tmove.l #4, %%d3\n\t"
                     "movem.l %%d0-%%d3, (%0)"
                     :
                     : "a"(memory + PAGE - 8)
                     : "d0", "d1", "d2", "d3", "memory");
    check("restart_movem", checksum(memory + PAGE - 8, 16), checksum((u32[]){1, 2, 3, 4}, 16));

    mprotect(repair, PAGE, PROT_READ);
    pointer = (u32 *)(memory + PAGE + 4);
    __asm__ volatile("move.l #0x12345678, -(%0)" : "+a"(pointer) : : "memory", "cc");
    check("restart_predecrement", *pointer == 0x12345678 ? (u32)pointer - (u32)memory : 0, PAGE);
    check("restarts", faults, 3);
    munmap(memory, 2 * PAGE);
}

static void check_mappings(void)
{
    u8 *memory = map(PAGES, PROT_READ | PROT_WRITE), *moved;
    u32 index, zeros = 0;

    for (index = 0; index < PAGES * PAGE; index++)
        zeros += memory[index] == 0;
    check("mmap_zeros", zeros, PAGES * PAGE);
    fill(memory, PAGES * PAGE, 1);
    moved = mremap(memory, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE);
    check("mremap", checksum(moved, PAGES * PAGE), sum_of_fill(PAGES * PAGE, 1));
    check("munmap", munmap(moved, 2 * PAGES * PAGE), 0);
}

static u8 *shared_page, *private_page;

static int write_pages(void)
{
    int right = checksum(private_page, PAGE) == sum_of_fill(PAGE, 2);

    fill(private_page, PAGE, 3);
    fill(shared_page, PAGE, 4);
    return right && checksum(private_page, PAGE) == sum_of_fill(PAGE, 3) ? 7 : 1;
}

static void check_copy_on_write(void)
{
    private_page = map(1, PROT_READ | PROT_WRITE);
    shared_page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fill(private_page, PAGE, 2);
    check("cow_child", in_child(write_pages), 7);
    check("cow_private", checksum(private_page, PAGE), sum_of_fill(PAGE, 2));
    check("cow_shared", checksum(shared_page, PAGE), sum_of_fill(PAGE, 4));
    munmap(private_page, PAGE);
    munmap(shared_page, PAGE);
}

static u32 __attribute__((noinline)) dig(u32 depth)
{
    volatile u8 hole[PAGE];

    hole[0] = depth;
    hole[PAGE - 1] = depth >> 1;
    return depth == 0 ? 0 : dig(depth - 1) + hole[0] + hole[PAGE - 1];
}

static int grow_stack(void)
{
    return dig(200) == 200 * 201 / 2 + 100 * 100 ? 9 : 1;
}

void exercise_memory(void)
{
    check_faults();
    check_restarts();
    check_mappings();
    check_copy_on_write();
    check("stack_growth", in_child(grow_stack), 9);
    signal(SIGSEGV, SIG_DFL);
}
