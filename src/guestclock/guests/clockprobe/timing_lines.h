/* The two lines that tell VIA1 the time besides its own timer: 60.15 Hz on CA1, 1 Hz on CA2. */
#ifndef CLOCKPROBE_TIMING_LINES_H
#define CLOCKPROBE_TIMING_LINES_H

#include "types.h"

void timing_lines_listen(u32 on);
void timing_lines_interrupt(void); /* VIA1 interrupts: counts the lines that caused it */
u32 timing_line_count(u32 line);

#endif
