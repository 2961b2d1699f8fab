/* What a read costs: through the C library, which takes the vDSO where there is one, and as a system call. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "line.h"

#define PILOT_READS 64
#define BATCHES_MAX 20

typedef void read_clock(clockid_t number);

static void by_library(clockid_t number)
{
    struct timespec at;

    clock_gettime(number, &at);
}

static void by_system_call(clockid_t number)
{
    struct timespec at;

    syscall(SYS_clock_gettime, number, &at);
}

static s64 batch_ns(read_clock *read, clockid_t number, u32 reads)
{
    s64 start = read_ns(CLOCK_MONOTONIC_RAW);
    u32 left;

    for (left = reads; left; left--)
        read(number);
    return read_ns(CLOCK_MONOTONIC_RAW) - start;
}

/* As many reads as fill a batch, by a first look at what one costs. */
static u32 batch_reads(read_clock *read, clockid_t number, const struct extent *extent)
{
    s64 pilot_ns = batch_ns(read, number, PILOT_READS);
    s64 reads = extent->batch_us * NS_PER_US * PILOT_READS / (pilot_ns > 0 ? pilot_ns : 1);

    if (reads < PILOT_READS)
        return PILOT_READS;
    return reads > 1000000 ? 1000000 : (u32)reads;
}

static void report(
    const char *clocksource, const struct clock *clock, const char *way, read_clock *read,
    const struct extent *extent)
{
    u32 reads = batch_reads(read, clock->number, extent), batch;
    char list[BATCHES_MAX * 12 + 1];
    u32 used = 0;

    for (batch = 0; batch < extent->batches && batch < BATCHES_MAX; batch++)
        used += snprintf(
            list + used, sizeof list - used, "%s%lld", batch ? "," : "", batch_ns(read, clock->number, reads));
    line_begin("cost");
    line_word("clocksource", clocksource);
    line_word("clock", clock->name);
    line_word("way", way);
    line_number("reads", reads);
    line_word("batches_ns", list);
    line_end();
}

void bench_cost(const char *clocksource, const struct extent *extent)
{
    u32 index;

    for (index = 0; index < CLOCKS; index++) {
        report(clocksource, &clocks[index], "library", by_library, extent);
        report(clocksource, &clocks[index], "syscall", by_system_call, extent);
    }
}
