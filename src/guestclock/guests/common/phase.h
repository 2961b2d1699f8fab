/* What every phase shares: its look at the clock, its stamps, its backward steps. */
#ifndef GUESTCLOCK_PHASE_H
#define GUESTCLOCK_PHASE_H

#include "histogram.h"
#include "syscalls.h"
#include "types.h"

#define BACKS_TOLD 20

enum guest_clock { MONO, REAL, CLOCKS };

struct back {
    enum guest_clock clock;
    s64 before_ns;
    s64 after_ns;
};

struct phase {
    u32 id;
    const char *name;
    u32 stamps;
    u32 calls; /* in the whole phase */
    u32 calls_looked; /* of them, reported through the probe port */
    u32 calls_stamped; /* of them, reported in a stamp */
    s64 begin_ns;
    s64 end_ns; /* when a phase of a given length ends */
    s64 now_ns; /* the last look */
    s64 stamp_due_ns;
    u32 backs; /* of them at most BACKS_TOLD are kept, and `backs_told` have been sent */
    u32 backs_told;
    struct back back[BACKS_TOLD];
    struct histogram steps[CLOCKS];
    struct cpu_ticks used; /* when it began */
};

/* One look at both clocks, committed to the probe port. */
struct look {
    struct time32 at[CLOCKS];
};

/* clock_gettime counts nanoseconds, gettimeofday microseconds. */
static inline s32 unit_ns(enum guest_clock clock)
{
    return clock == MONO ? 1 : NS_PER_US;
}

static inline s64 time_ns(enum guest_clock clock, const struct time32 *time)
{
    return time->seconds * NS_PER_S + time->fraction * unit_ns(clock);
}

void phase_begin(struct phase *phase, const char *name, u32 amount, u32 seconds);
void phase_end(struct phase *phase);

void phase_look(struct phase *phase, struct look *look);
void phase_stamp(struct phase *phase);

/* Keep the lines flowing: send what is due.  Returns whether anything was sent, which takes guest time. */
int phase_report(struct phase *phase, const struct look *look);

/* Enter the step between two readings of a clock. */
void phase_step(
    struct phase *phase, enum guest_clock clock, const struct time32 *before, const struct time32 *after);

#endif
