#include "clock.h"
#include "hardware.h"

#define CLOCK_HZ 783360
#define TICK_HZ 100
#define TICK_CYCLES (CLOCK_HZ / TICK_HZ)
#define LATCH (TICK_CYCLES - 2) /* a 6522 period is latch + 2 */

/* clocks_calc_mult_shift(783360 Hz, 1 GHz, 0xffffffff / 783360 s) */
#define SHIFT 21
#define MULT ((u32)(((1000000000ULL << SHIFT) + CLOCK_HZ / 2) / CLOCK_HZ))

/* timekeeping's cycle_interval: cycles of one tick's nominal length, rounded */
#define INTERVAL_CYCLES ((u32)((((NS_PER_S / TICK_HZ) << SHIFT) + MULT / 2) / MULT))

#define SECOND_SHIFTED ((u64)NS_PER_S << SHIFT)

/* There is no calendar here: 2020-01-01T00:00:00Z plus the time since start. */
#define BOOT_SECONDS 1577836800

static volatile u32 cycles_total; /* cycles of all ticks handled */
static volatile u32 cycles_pending; /* a period that has ended, but its tick was not handled yet */
static volatile u32 ticks;

static struct {
    volatile u32 sequence; /* changes with every update, so that readers start again */
    u32 cycles_last;
    s32 seconds;
    u64 fraction_shifted; /* nanoseconds << SHIFT, under a second */
} timekeeper;

/* mac_read_clk: never reads T1CL, which would clear the flag that tells of a reload; accurate to 256 cycles. */
static u32 clock_cycles(void)
{
    u16 status = interrupts_off();
    u32 high = *via1(T1CH), cycles;

    if (high == 0xFF)
        high = 0;
    if (high > 0 && (*via1(IFR) & VIA_T1))
        cycles_pending = TICK_CYCLES;
    cycles = TICK_CYCLES - (high << 8) + cycles_pending + cycles_total;
    interrupts_restore(status);
    return cycles;
}

/* timekeeping_advance: accumulate whole intervals.  The difference is taken modulo 2^32 and never clamped: a clock
 * that went back shows as 5482 s too many, as on kernels without CONFIG_DEBUG_TIMEKEEPING. */
static void timekeeper_advance(void)
{
    u32 intervals = (clock_cycles() - timekeeper.cycles_last) / INTERVAL_CYCLES;

    if (intervals == 0)
        return;
    timekeeper.sequence++;
    timekeeper.cycles_last += intervals * INTERVAL_CYCLES;
    timekeeper.fraction_shifted += (u64)(intervals * INTERVAL_CYCLES) * MULT;
    while (timekeeper.fraction_shifted >= SECOND_SHIFTED) {
        timekeeper.fraction_shifted -= SECOND_SHIFTED;
        timekeeper.seconds++;
    }
}

/* timekeeping_get_ns, in timespec form */
void clock_monotonic(struct time32 *nanoseconds)
{
    u32 sequence;

    do {
        u64 shifted;

        sequence = timekeeper.sequence;
        nanoseconds->seconds = timekeeper.seconds;
        shifted = (u64)(u32)(clock_cycles() - timekeeper.cycles_last) * MULT + timekeeper.fraction_shifted;
        while (shifted >= SECOND_SHIFTED) {
            shifted -= SECOND_SHIFTED;
            nanoseconds->seconds++;
        }
        nanoseconds->fraction = shifted >> SHIFT;
    } while (sequence != timekeeper.sequence);
}

void clock_time_of_day(struct time32 *microseconds)
{
    clock_monotonic(microseconds);
    microseconds->seconds += BOOT_SECONDS;
    microseconds->fraction = (u32)microseconds->fraction / 1000;
}

u32 clock_ticks(void)
{
    return ticks;
}

/* via1_irq, then mac_timer_handler: the flag is cleared before the tick is counted. */
int clock_interrupt(void)
{
    if (!(*via1(IFR) & *via1(IER) & VIA_T1))
        return 0;
    *via1(IFR) = VIA_T1;
    cycles_total += TICK_CYCLES;
    cycles_pending = 0;
    ticks++;
    timekeeper_advance();
    return 1;
}

/* The counter's high byte alone tells the time that passes here: it rises only where the counter reloads. */
void clock_spin_masked(u32 duration_ms)
{
    u16 status = interrupts_off();
    u32 passed = 0, before = *via1(T1CH) << 8, now;

    while (passed < duration_ms * (CLOCK_HZ / 1000)) {
        now = *via1(T1CH) << 8;
        if (now == 0xFF00)
            now = 0;
        passed += now > before ? before + TICK_CYCLES - now : before - now;
        before = now;
    }
    interrupts_restore(status);
}

/* The order of via_init and via_init_clock, timer 2's zero latch included: what the chip is left with matters. */
void clock_start(u32 level)
{
    *via1(IER) = 0x7F;
    *via1(IFR) = 0x7F;
    *via1(T1LL) = 0;
    *via1(T1LH) = 0;
    *via1(T1CL) = 0;
    *via1(T1CH) = 0;
    *via1(T2CL) = 0;
    *via1(T2CH) = 0;
    *via1(ACR) &= ~0xC3;
    *via1(DDRB) |= VIA1_B_LEVEL1;
    if (level == 1)
        *via1(ORB) |= VIA1_B_LEVEL1;
    else
        *via1(ORB) &= ~VIA1_B_LEVEL1;

    *via1(T1CL) = LATCH & 0xFF;
    *via1(T1CH) = LATCH >> 8;
    *via1(ACR) |= ACR_T1_FREE_RUN;
    *via1(IFR) = VIA_T1;
    timekeeper.cycles_last = clock_cycles();
    *via1(IER) = 0x80 | VIA_T1;
}
