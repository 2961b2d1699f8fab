/* The probe port: machines that have one log each value with exact guest and host time (docs/guest-protocol.md). */
#ifndef GUESTCLOCK_PROBE_H
#define GUESTCLOCK_PROBE_H

#include "types.h"

/* What a value is: tags for the clock MONO; those for REAL are one, or one pair, further on. */
enum probe_tag {
    PROBE_LOOK = 1,
    PROBE_BEFORE = 3, /* the two sides of a backward step */
    PROBE_AFTER = 4,
    PROBE_LINE = 7, /* a timing line's clock; 8: that of the other */
};

/* Use the port whose page is mapped at `registers`, if its magic reads right; NULL: there is none. */
void probe_attach(volatile u32 *registers);
int probe_present(void);
void probe_commit(u32 phase_id, u32 tag, u32 calls, u32 ticks, s64 value_ns);

#endif
