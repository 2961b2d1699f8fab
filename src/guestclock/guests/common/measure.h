/* The measuring program: does the phases of an order list and reports in the line protocol. */
#ifndef GUESTCLOCK_MEASURE_H
#define GUESTCLOCK_MEASURE_H

#include "types.h"

/* The lines on VIA1's CA1 and CA2.  Both come from the clock that phi2 comes from: 15.6672 MHz. */
enum timing_line { SIXTIETHS, SECONDS, TIMING_LINES };

/* What one guest can do that the other cannot: NULL where it cannot. */
struct guest {
    const char *name;
    const char *clock; /* the clocksource in use */
    void (*spin_masked)(u32 duration_ms);
    void (*exercise_user)(void);
    void (*listen)(u32 on); /* to the timing lines */
    u32 (*line_count)(enum timing_line line); /* how often it has fallen since */
};

void say_hello(const struct guest *guest);
void say_bye(void);
void measure(const struct guest *guest, const char *phases);

#endif
