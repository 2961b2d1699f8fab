/* Boot-info records (Linux/m68k's boot protocol): what the loader says about the machine. */
#ifndef CLOCKPROBE_BOOTINFO_H
#define CLOCKPROBE_BOOTINFO_H

#include "types.h"

struct bootinfo {
    u32 memory_bytes;
    char command_line[256];
};

void bootinfo_read(struct bootinfo *info);

#endif
