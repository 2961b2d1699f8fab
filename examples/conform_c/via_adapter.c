/* Any 6522 in C as a target of `guestclock conform --target exec:./via_adapter`. */
#include <stdio.h>
#include "via.h"

int main(void)
{
    char line[128];
    long cycle;
    unsigned rs, value;

    puts("6522-target 1 "); /* then what it has of: reset pins irq half sr ca cb latch */
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == 'T') {
            via_power_up();
        } else if (line[0] == 'E') {
            puts("E");
            fflush(stdout);
        } else if (sscanf(line, "%ld w %x %x", &cycle, &rs, &value) == 3) {
            via_advance(cycle);
            via_write(rs, value);
        } else if (sscanf(line, "%ld r %x", &cycle, &rs) == 2) {
            via_advance(cycle);
            printf("%02x\n", via_read(rs));
        }
    }
    return 0;
}
