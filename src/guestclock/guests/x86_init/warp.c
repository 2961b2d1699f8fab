/* Backward steps: each CPU against the latest value that any CPU has read. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "bench.h"
#include "line.h"

#define READERS_MAX 8
#define READS_A_LOOK 256 /* between looks at the time */

static struct {
    _Atomic s64 last_ns;
    atomic_uint arrived;
    u32 parties;
    s64 duration_ns;
    clockid_t number;
} shared;

struct reader {
    u32 cpu;
    u64 reads, steps, ahead_sum_ns, sum_ns;
    s64 worst_ns, least_ns, ahead_least_ns, ahead_most_ns;
};

static void judge(struct reader *reader, s64 before_ns, s64 now_ns)
{
    s64 delta_ns = now_ns - before_ns;

    reader->reads++;
    if (delta_ns < 0) {
        reader->steps++;
        reader->sum_ns -= delta_ns;
        if (-delta_ns > reader->worst_ns)
            reader->worst_ns = -delta_ns;
        if (-delta_ns < reader->least_ns)
            reader->least_ns = -delta_ns;
        return;
    }
    reader->ahead_sum_ns += delta_ns;
    if (delta_ns < reader->ahead_least_ns)
        reader->ahead_least_ns = delta_ns;
    if (delta_ns > reader->ahead_most_ns)
        reader->ahead_most_ns = delta_ns;
    atomic_compare_exchange_strong(&shared.last_ns, &before_ns, now_ns);
}

static void *run(void *argument)
{
    struct reader *reader = argument;
    cpu_set_t only;
    s64 end_ns;
    u32 left;

    CPU_ZERO(&only);
    CPU_SET(reader->cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
    atomic_fetch_add(&shared.arrived, 1);
    while (atomic_load(&shared.arrived) < shared.parties)
        sched_yield();
    end_ns = read_ns(CLOCK_MONOTONIC) + shared.duration_ns;
    while (read_ns(CLOCK_MONOTONIC) < end_ns)
        for (left = READS_A_LOOK; left; left--) {
            s64 before_ns = atomic_load(&shared.last_ns);

            judge(reader, before_ns, read_ns(shared.number));
        }
    return 0;
}

static void report(const char *clocksource, const struct clock *clock, const struct reader *reader)
{
    line_begin("warp");
    line_word("clocksource", clocksource);
    line_word("clock", clock->name);
    line_number("cpu", reader->cpu);
    line_number("reads", reader->reads);
    line_number("steps", reader->steps);
    line_number("least_ns", reader->steps ? reader->least_ns : 0);
    line_number("worst_ns", reader->worst_ns);
    line_number("sum_ns", reader->sum_ns);
    line_number("ahead_sum_ns", reader->ahead_sum_ns);
    line_number("ahead_least_ns", reader->reads > reader->steps ? reader->ahead_least_ns : 0);
    line_number("ahead_most_ns", reader->ahead_most_ns);
    line_end();
}

void bench_warp(const char *clocksource, const struct extent *extent, u32 cpus)
{
    u32 index, cpu, parties = cpus < READERS_MAX ? cpus : READERS_MAX;

    for (index = 0; index < CLOCKS; index++) {
        struct reader readers[READERS_MAX] = {0};
        pthread_t threads[READERS_MAX];

        if (!clocks[index].time_of_machine)
            continue;
        shared.number = clocks[index].number;
        shared.parties = parties;
        shared.duration_ns = extent->warp_ms * NS_PER_MS;
        atomic_store(&shared.arrived, 0);
        atomic_store(&shared.last_ns, read_ns(shared.number));
        for (cpu = 0; cpu < parties; cpu++) {
            readers[cpu].cpu = cpu;
            readers[cpu].least_ns = readers[cpu].ahead_least_ns = LLONG_MAX;
            pthread_create(&threads[cpu], 0, run, &readers[cpu]);
        }
        for (cpu = 0; cpu < parties; cpu++)
            pthread_join(threads[cpu], 0);
        for (cpu = 0; cpu < parties; cpu++)
            report(clocksource, &clocks[index], &readers[cpu]);
    }
}
