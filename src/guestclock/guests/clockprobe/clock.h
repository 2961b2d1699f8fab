/* The `via1` clocksource and the time kept by it, both after Linux's. */
#ifndef CLOCKPROBE_CLOCK_H
#define CLOCKPROBE_CLOCK_H

#include "syscalls.h"
#include "types.h"

void clock_start(u32 level);
int clock_interrupt(void); /* VIA1 interrupts: counts a tick, and returns 1, if its timer caused it */
u32 clock_ticks(void);
void clock_monotonic(struct time32 *nanoseconds);
void clock_time_of_day(struct time32 *microseconds);
void clock_spin_masked(u32 duration_ms);

#endif
