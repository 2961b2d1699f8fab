/* The 6522's two timers in closed form, in plain C and nothing else: what the chip's speed is measured against.
 *
 * T1 shows t1_zero - now up to one cycle after zero, and then its latch; T2 counts on.  An access before the next
 * timeout is one subtraction.  No ports, no PB7, no pulse counting, none of the exceptions in a timeout's own cycle.
 */
#include <stdint.h>

struct timers {
    int64_t t1_zero, t2_zero, attention;
    int t1_latch, acr, ifr, ier, t1_armed, t2_armed;
};

static void catch_up(struct timers *t, int64_t now)
{
    if (now > t->t1_zero) {
        int64_t period = t->t1_latch + 2;
        int64_t behind = now - t->t1_zero - 2;
        if (t->t1_armed)
            t->ifr |= 0x40;
        if (!(t->acr & 0x40))
            t->t1_armed = 0;
        if (behind >= 0) {
            t->t1_zero += period;
            if (behind >= period)
                t->t1_zero += behind / period * period;
            if (t->t1_armed && now > t->t1_zero)
                t->ifr |= 0x40;
        }
    }
    if (t->t2_armed && now > t->t2_zero) {
        t->ifr |= 0x20;
        t->t2_armed = 0;
    }
    t->attention = t->t1_zero + 1;
    if (t->t2_armed && t->t2_zero + 1 < t->attention)
        t->attention = t->t2_zero + 1;
}

LINKAGE int timers_read(struct timers *t, int reg, int64_t now)
{
    if (now >= t->attention)
        catch_up(t, now);
    switch (reg) {
    case 0x4:
        t->ifr &= ~0x40;
        return (t->t1_zero - now) & 0xff;
    case 0x5:
        return (t->t1_zero - now) >> 8 & 0xff;
    case 0x6:
        return t->t1_latch & 0xff;
    case 0x7:
        return t->t1_latch >> 8;
    case 0x8:
        t->ifr &= ~0x20;
        return (t->t2_zero - now) & 0xff;
    case 0x9:
        return (t->t2_zero - now) >> 8 & 0xff;
    case 0xB:
        return t->acr;
    case 0xD:
        return t->ifr | (t->ifr & t->ier ? 0x80 : 0);
    case 0xE:
        return t->ier | 0x80;
    }
    return 0;
}

/* One group of reads every `gap` cycles, as the chip's loop does it; the sum of all values read. */
unsigned timers_run(struct timers *t, long groups, int64_t gap, int r0, int r1, int r2, int64_t now)
{
    unsigned total = 0;
    for (long i = 0; i < groups; i++) {
        total += timers_read(t, r0, now);
        total += timers_read(t, r1, now + 1);
        total += timers_read(t, r2, now + 2);
        now += gap;
    }
    return total;
}
