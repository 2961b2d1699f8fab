/*
 * The system calls that the measuring program makes: Linux/m68k numbers (arch/m68k/kernel/syscalls/syscall.tbl)
 * and its calling convention: number in d0, arguments in d1 and up, TRAP #0, result or -errno in d0.
 * clockprobe's own kernel answers the same ones, so that one program measures both guests.
 * Raw traps on purpose: a C library's wrapper would be timed too.
 */
#ifndef GUESTCLOCK_SYSCALLS_H
#define GUESTCLOCK_SYSCALLS_H

#include "types.h"

enum {
    NR_READ = 3,
    NR_WRITE = 4,
    NR_TIMES = 43,
    NR_GETTIMEOFDAY = 78,
    NR_NANOSLEEP = 162,
    NR_CLOCK_GETTIME = 260,
};

#define GUEST_CLOCK_MONOTONIC 1

/* The 32-bit timeval and timespec: `fraction` counts microseconds or nanoseconds. */
struct time32 {
    s32 seconds;
    s32 fraction;
};

static inline s32 trap3(u32 number, u32 first, u32 second, u32 third)
{
    register s32 d0 __asm__("d0") = number;
    register u32 d1 __asm__("d1") = first;
    register u32 d2 __asm__("d2") = second;
    register u32 d3 __asm__("d3") = third;
    __asm__ volatile("trap #0" : "+d"(d0) : "d"(d1), "d"(d2), "d"(d3) : "memory");
    return d0;
}

static inline s32 sys_gettimeofday(struct time32 *microseconds)
{
    return trap3(NR_GETTIMEOFDAY, (u32)microseconds, 0, 0);
}

static inline s32 sys_monotonic(struct time32 *nanoseconds)
{
    return trap3(NR_CLOCK_GETTIME, GUEST_CLOCK_MONOTONIC, (u32)nanoseconds, 0);
}

static inline s32 sys_nanosleep(const struct time32 *duration)
{
    return trap3(NR_NANOSLEEP, (u32)duration, 0, 0);
}

static inline s32 sys_read(char *buffer, u32 size)
{
    return trap3(NR_READ, 0, (u32)buffer, size);
}

static inline s32 sys_write(const char *text, u32 length)
{
    return trap3(NR_WRITE, 1, (u32)text, length);
}

/* times(2) gives jiffies, which start five minutes before they wrap (INITIAL_JIFFIES). */
#define TIMES_AT_START (-300 * 100)

/* struct tms: ticks that found this process at work, and its children. */
struct cpu_ticks {
    s32 user;
    s32 system;
    s32 children_user;
    s32 children_system;
};

static inline void sys_cpu_ticks(struct cpu_ticks *used)
{
    trap3(NR_TIMES, (u32)used, 0, 0);
}

static inline u32 sys_ticks(void)
{
    return (u32)trap3(NR_TIMES, 0, 0, 0) - (u32)TIMES_AT_START;
}

#endif
