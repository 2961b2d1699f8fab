/* The guest's clock for the host to compare with its own: the host stamps each line when it comes. */
#include <time.h>

#include "bench.h"
#include "line.h"

#define LOOK_EVERY_MS 50

void bench_drift(const char *clocksource, const struct extent *extent)
{
    s64 end_ns = read_ns(CLOCK_MONOTONIC) + extent->drift_ms * NS_PER_MS, now_ns;
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * NS_PER_MS};

    do {
        nanosleep(&pause, 0);
        now_ns = read_ns(CLOCK_MONOTONIC);
        line_begin("look");
        line_word("clocksource", clocksource);
        line_number("mono_ns", now_ns);
        line_end();
    } while (now_ns < end_ns);
}
