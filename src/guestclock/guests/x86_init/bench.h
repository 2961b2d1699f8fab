/* What is measured under each clocksource. */
#ifndef GUESTCLOCK_BENCH_H
#define GUESTCLOCK_BENCH_H

#include <time.h>

#include "types.h"

struct clock {
    const char *name;
    clockid_t number;
    int time_of_machine; /* not a CPU time: may be compared between CPUs */
};

#define CLOCKS 9
extern const struct clock clocks[CLOCKS];

/* How much to measure; from the kernel's command line. */
struct extent {
    u32 batches;
    u32 batch_us; /* how long a batch should take */
    u32 warp_ms; /* for each clock */
    u32 drift_ms;
};

static inline s64 read_ns(clockid_t number)
{
    struct timespec at;

    clock_gettime(number, &at);
    return at.tv_sec * NS_PER_S + at.tv_nsec;
}

void bench_cost(const char *clocksource, const struct extent *extent);
void bench_warp(const char *clocksource, const struct extent *extent, u32 cpus);
void bench_drift(const char *clocksource, const struct extent *extent);

#endif
