/*
 * What the common files call, by the C library.  Included ahead of everything (gcc -include), so that its guard
 * keeps the m68k header of the same name out.
 */
#ifndef GUESTCLOCK_SYSCALLS_H
#define GUESTCLOCK_SYSCALLS_H

#include <unistd.h>

static inline int sys_write(const char *text, unsigned int length)
{
    return (int)write(1, text, length);
}

#endif
