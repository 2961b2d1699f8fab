/* The probe port: machines that have one log each value with exact guest and host time (docs/guest-protocol.md). */
#ifndef GUESTCLOCK_PROBE_H
#define GUESTCLOCK_PROBE_H

#include "types.h"

enum probe_clock {
    PROBE_MONO = 1,
    PROBE_REAL = 2,
    PROBE_MONO_BEFORE = 3, /* the two sides of a backward step */
    PROBE_MONO_AFTER = 4,
    PROBE_REAL_BEFORE = 5,
    PROBE_REAL_AFTER = 6,
};

/* Use the port whose page is mapped at `registers`, if its magic reads right; NULL: there is none. */
void probe_attach(volatile u32 *registers);
int probe_present(void);
void probe_commit(u32 phase_id, enum probe_clock clock, u32 calls, u32 ticks, s64 value_ns);

#endif
