/* How far a clock moved from one look to the next, for millions of looks. */
#ifndef GUESTCLOCK_HISTOGRAM_H
#define GUESTCLOCK_HISTOGRAM_H

#include "types.h"

/* Upper bounds, exclusive.  Finer where faults and the via1 algorithm leave their marks: around 0, 256 cycles of
 * 783360 Hz (326.8 us, the algorithm's resolution), 7680 cycles (9.80 ms, the step of a misread reload) and a
 * tick of 10 ms. */
#define HISTOGRAM_BOUNDS                                                                                       \
    -1000000000, -100000000, -20000000, -10100000, -9900000, -9700000, -5000000, -1000000, -335000, -320000,   \
        -100000, -10000, 0, 1, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 320000, 335000, 500000,        \
        645000, 660000, 1000000, 2000000, 5000000, 9700000, 9900000, 10100000, 20000000, 30000000, 100000000,  \
        1000000000

#define HISTOGRAM_ROWS 37

struct histogram {
    struct row {
        u32 count;
        s64 sum_ns;
        s64 min_ns;
        s64 max_ns;
    } rows[HISTOGRAM_ROWS];
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, s64 delta_ns);
void histogram_report(const struct histogram *histogram, u32 phase_id, const char *clock);

#endif
