/* A small 6522, one φ2 cycle at a time, with something to run the adapter on: timers, PB7, IFR, IER and ports
 * without pins.  What it lacks shows in the vectors that fail. */
#include "via.h"

static long now;
static int orb, ora, ddrb, ddra, sr, acr, pcr, ifr, ier;
static int t1, t1_latch, t1_passed_zero, t1_armed, t1_new, pb7;
static int t2, t2_latch, t2_armed, pb6;

void via_power_up(void)
{
    now = orb = ora = ddrb = ddra = sr = acr = pcr = ifr = ier = 0;
    t1 = t1_latch = t2 = 0xFFFF;
    t2_latch = 0xFF;
    t1_passed_zero = t1_armed = t1_new = t2_armed = 0;
    pb7 = pb6 = 1;
}

static int pb6_level(void)
{
    return ddrb & 0x40 ? orb >> 6 & 1 : 1;
}

/* What the chip does between this cycle and the next; a write takes part with its register and value. */
static void step(int rs, int value)
{
    int next_acr = rs == 0xB ? value : acr;

    if (t1_passed_zero && !(acr & next_acr & 0x40))
        t1_armed = 0;
    t1_new = t1 == 0 && t1_armed && rs != 5;
    if (t1_new) {
        ifr |= 0x40;
        pb7 = !pb7;
    }
    if (t1_passed_zero || rs == 5) {
        t1 = t1_latch;
        t1_passed_zero = 0;
    } else {
        t1_passed_zero = t1 == 0;
        t1 = (t1 - 1) & 0xFFFF;
    }
    if (rs == 5) {
        t1_armed = 1;
        pb7 = 0;
    }
    if (!(acr & next_acr & 0x80))
        pb7 = 1;

    if (rs == 9) {
        t2 = value << 8 | t2_latch;
        t2_armed = 1;
    } else if (acr & 0x20 ? pb6 && !pb6_level() : 1) {
        if (t2 == 0 && t2_armed) {
            ifr |= 0x20;
            t2_armed = 0;
        }
        t2 = (t2 - 1) & 0xFFFF;
    }
    pb6 = pb6_level();
    now++;
}

void via_advance(long cycle)
{
    while (now < cycle)
        step(-1, 0);
}

static int port_b(void)
{
    int levels = (orb & ddrb) | (~ddrb & 0xFF);

    return acr & 0x80 ? (levels & 0x7F) | pb7 << 7 : levels;
}

int via_read(int rs)
{
    int was = ifr;

    switch (rs) {
    case 0x0: return port_b();
    case 0x1: case 0xF: return (ora & ddra) | (~ddra & 0xFF);
    case 0x2: return ddrb;
    case 0x3: return ddra;
    case 0x4:
        if (!t1_new)
            ifr &= ~0x40;
        return t1 & 0xFF;
    case 0x5: return t1 >> 8;
    case 0x6: return t1_latch & 0xFF;
    case 0x7: return t1_latch >> 8;
    case 0x8: ifr &= ~0x20; return t2 & 0xFF;
    case 0x9: return t2 >> 8;
    case 0xA: return sr;
    case 0xB: return acr;
    case 0xC: return pcr;
    case 0xD: return was & ier ? was | 0x80 : was;
    default: return ier | 0x80;
    }
}

void via_write(int rs, int value)
{
    switch (rs) {
    case 0x4: case 0x6: t1_latch = (t1_latch & 0xFF00) | value; break;
    case 0x5: case 0x7:
        t1_latch = (t1_latch & 0xFF) | value << 8;
        if (!t1_new)
            ifr &= ~0x40;
        break;
    case 0x8: t2_latch = value; break;
    case 0x9: ifr &= ~0x20; break;
    case 0xD: ifr &= ~value; break;
    }
    step(rs, value);
    switch (rs) {
    case 0x0: orb = value; break;
    case 0x1: case 0xF: ora = value; break;
    case 0x2: ddrb = value; break;
    case 0x3: ddra = value; break;
    case 0xA: sr = value; break;
    case 0xB: acr = value; break;
    case 0xC: pcr = value; break;
    case 0xE: ier = value & 0x80 ? ier | (value & 0x7F) : ier & ~value; break;
    }
}
