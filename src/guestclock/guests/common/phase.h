/* What every phase shares: its look at the clock, its stamps, its backward steps. */
#ifndef GUESTCLOCK_PHASE_H
#define GUESTCLOCK_PHASE_H

#include "histogram.h"
#include "syscalls.h"
#include "types.h"

#define BACKS_TOLD 20

struct back {
    const char *clock;
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
    struct histogram mono;
    struct histogram real;
};

/* One look at both clocks, committed to the probe port. */
struct look {
    struct time32 mono; /* nanoseconds */
    struct time32 real; /* microseconds */
};

static inline s64 mono_ns(const struct time32 *time)
{
    return time->seconds * NS_PER_S + time->fraction;
}

static inline s64 real_ns(const struct time32 *time)
{
    return time->seconds * NS_PER_S + time->fraction * NS_PER_US;
}

void phase_begin(struct phase *phase, const char *name, u32 amount, u32 seconds);
void phase_end(struct phase *phase);

void phase_look(struct phase *phase, struct look *look);
void phase_stamp(struct phase *phase);

/* Keep the lines flowing: send what is due.  Returns whether anything was sent, which takes guest time. */
int phase_report(struct phase *phase, const struct look *look);

void phase_stepped_back(struct phase *phase, const char *clock, s64 before_ns, s64 after_ns);

#endif
