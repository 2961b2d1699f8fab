/* What clockprobe's kernel offers its program beyond Linux's system calls. */
#ifndef CLOCKPROBE_KERNEL_H
#define CLOCKPROBE_KERNEL_H

#include "bootinfo.h"

enum {
    NR_SPIN_MASKED = 1000, /* milliseconds in d1 */
    NR_POWER_OFF = 1001,
};

extern struct bootinfo bootinfo; /* read-only once the kernel has started */

#endif
