/* clockprobe's kernel: the few system calls that the measuring program needs. */
#include "bootinfo.h"
#include "clock.h"
#include "console.h"
#include "hardware.h"
#include "kernel.h"
#include "line.h"
#include "orders.h"
#include "syscalls.h"
#include "timing_lines.h"

#define ENOSYS 38
#define SUPERVISOR 0x2000 /* status register */

struct bootinfo bootinfo;

/* Each tick is charged to what it found, as account_process_tick does. */
static struct cpu_ticks used;
static int sleeping;

void wait_for_interrupt(void);

static void power_off(void)
{
    *via2(DDRB) |= VIA2_B_POWER;
    *via2(ORB) &= ~VIA2_B_POWER;
    for (;;)
        wait_for_interrupt();
}

static int before(const struct time32 *one, const struct time32 *other)
{
    return one->seconds != other->seconds ? one->seconds < other->seconds : one->fraction < other->fraction;
}

static void nanosleep(const struct time32 *duration)
{
    struct time32 now, end;
    u16 status;

    clock_monotonic(&end);
    end.seconds += duration->seconds;
    end.fraction += duration->fraction;
    if (end.fraction >= NS_PER_S) {
        end.fraction -= NS_PER_S;
        end.seconds++;
    }
    for (;;) {
        status = interrupts_off();
        clock_monotonic(&now);
        if (!before(&now, &end))
            break;
        sleeping = 1;
        wait_for_interrupt();
        sleeping = 0;
    }
    interrupts_restore(status);
}

s32 system_call(u32 number, u32 first, u32 second, u32 third)
{
    switch (number) {
    case NR_GETTIMEOFDAY:
        clock_time_of_day((struct time32 *)first);
        return 0;
    case NR_CLOCK_GETTIME:
        clock_monotonic((struct time32 *)second);
        return 0;
    case NR_TIMES:
        if (first)
            *(struct cpu_ticks *)first = used;
        return clock_ticks() + TIMES_AT_START;
    case NR_NANOSLEEP:
        nanosleep((const struct time32 *)first);
        return 0;
    case NR_WRITE:
        console_write((const char *)second, third);
        return third;
    case NR_READ:
        return console_read((char *)second, third);
    case NR_SPIN_MASKED:
        clock_spin_masked(first);
        return 0;
    case NR_LISTEN:
        timing_lines_listen(first);
        return 0;
    case NR_LINE_COUNT:
        return timing_line_count(first);
    case NR_POWER_OFF:
        power_off();
    }
    return -ENOSYS;
}

void handle_interrupt(u32 status)
{
    timing_lines_interrupt();
    if (!clock_interrupt() || sleeping)
        return;
    if (status & SUPERVISOR)
        used.system++;
    else
        used.user++;
}

/* Sent past the line module and system calls: a fault may have struck in the middle of either. */
void handle_fault(u32 frame_word, u32 pc)
{
    static const char hex[] = "0123456789abcdef";
    static char text[] = "\n@gc fault vector=000 pc=0x00000000\n";
    u32 vector = (frame_word & 0xFFF) / 4, index;

    text[18] += vector / 100;
    text[19] += vector / 10 % 10;
    text[20] += vector % 10;
    for (index = 0; index < 8; index++)
        text[34 - index] = hex[pc >> 4 * index & 15];
    console_write(text, sizeof text - 1);
    power_off();
}

void kernel_start(void)
{
    const char *level;

    bootinfo_read(&bootinfo);
    console_start();
    level = find_word(bootinfo.command_line, "level");
    clock_start(level ? parse_number(level) : 6);
}
