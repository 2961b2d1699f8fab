/* The Quadra 800's I/O window: two 6522 VIAs, a register every 0x200 bytes, and the Z8530 SCC. */
#ifndef CLOCKPROBE_HARDWARE_H
#define CLOCKPROBE_HARDWARE_H

#include "types.h"

#define IO_BASE 0x50000000

enum via_register {
    ORB = 0,
    DDRB = 2,
    T1CL = 4,
    T1CH = 5,
    T1LL = 6,
    T1LH = 7,
    T2CL = 8,
    T2CH = 9,
    ACR = 11,
    PCR = 12,
    IFR = 13,
    IER = 14,
};

#define VIA_T1 0x40 /* in IFR and IER */
#define VIA_CA1 0x02
#define VIA_CA2 0x01
#define PCR_CA 0x0F
#define PCR_CA2_INDEPENDENT 0x02 /* both lines: the falling edge counts */
#define ACR_T1_FREE_RUN 0x40
#define VIA1_B_LEVEL1 0x40 /* Quadras: VIA1 interrupts at level 1 while high, at 6 while low */
#define VIA2_B_POWER 0x04 /* low switches the machine off */

static inline volatile u8 *via1(enum via_register index)
{
    return (volatile u8 *)(IO_BASE + index * 0x200);
}

static inline volatile u8 *via2(enum via_register index)
{
    return (volatile u8 *)(IO_BASE + 0x2000 + index * 0x200);
}

#define SCC_A_CONTROL ((volatile u8 *)(IO_BASE + 0xC022))
#define SCC_A_DATA ((volatile u8 *)(IO_BASE + 0xC026))

/* Mask all interrupts; returns the status register to restore. */
static inline u16 interrupts_off(void)
{
    u16 status;

    __asm__ volatile("move.w %%sr, %0\n\tori.w #0x700, %%sr" : "=d"(status) : : "memory");
    return status;
}

static inline void interrupts_restore(u16 status)
{
    __asm__ volatile("move.w %0, %%sr" : : "d"(status) : "memory");
}

#endif
