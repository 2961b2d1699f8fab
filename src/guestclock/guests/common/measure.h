/* The measuring program: does the phases of an order list and reports in the line protocol. */
#ifndef GUESTCLOCK_MEASURE_H
#define GUESTCLOCK_MEASURE_H

#include "types.h"

/* What one guest can do that the other cannot: NULL where it cannot. */
struct guest {
    const char *name;
    const char *clock; /* the clocksource in use */
    void (*spin_masked)(u32 duration_ms);
    void (*exercise_user)(void);
};

void say_hello(const struct guest *guest);
void say_bye(void);
void measure(const struct guest *guest, const char *phases);

#endif
