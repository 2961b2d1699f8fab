/* The serial console: SCC channel A, polled. */
#ifndef CLOCKPROBE_CONSOLE_H
#define CLOCKPROBE_CONSOLE_H

#include "types.h"

void console_start(void);
void console_write(const char *text, u32 length);
u32 console_read(char *buffer, u32 size); /* what has arrived, maybe nothing */

#endif
