/* What clockprobe's kernel offers its program beyond Linux's system calls. */
#ifndef CLOCKPROBE_KERNEL_H
#define CLOCKPROBE_KERNEL_H

#include "bootinfo.h"

enum {
    NR_SPIN_MASKED = 1000, /* milliseconds in d1 */
    NR_POWER_OFF = 1001,
    NR_LISTEN = 1002, /* to the lines on CA1 and CA2 from now on: 1 or 0 in d1 */
    NR_LINE_COUNT = 1003, /* how often the line in d1 has fallen since NR_LISTEN */
};

extern struct bootinfo bootinfo; /* read-only once the kernel has started */

#endif
