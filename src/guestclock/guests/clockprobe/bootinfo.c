#include "bootinfo.h"

enum {
    BI_LAST = 0,
    BI_MEMCHUNK = 5, /* address, size */
    BI_COMMAND_LINE = 7, /* text with its NUL */
};

struct record {
    u16 tag;
    u16 size; /* with this header */
    u32 data[];
};

extern const u32 _end[]; /* where the image ends; it is aligned */

void bootinfo_read(struct bootinfo *info)
{
    const struct record *record = (const struct record *)_end;
    u32 index;

    for (; record->tag != BI_LAST; record = (const struct record *)((u32)record + record->size)) {
        if (record->size < sizeof *record)
            break; /* no boot-info at all */
        if (record->tag == BI_MEMCHUNK)
            info->memory_bytes += record->data[1];
        if (record->tag == BI_COMMAND_LINE) {
            const char *text = (const char *)record->data;

            for (index = 0; index < sizeof info->command_line - 1 && text[index]; index++)
                info->command_line[index] = text[index];
        }
    }
}
