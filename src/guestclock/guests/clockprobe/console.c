#include "console.h"
#include "hardware.h"

enum { /* Z8530 */
    RR0_RECEIVED = 0x01,
    RR0_TRANSMIT_EMPTY = 0x04,
    WR3_RECEIVE_8_BITS = 0xC1,
    WR5_TRANSMIT_8_BITS = 0x6A,
};

static void set(u8 index, u8 value)
{
    *SCC_A_CONTROL = index;
    *SCC_A_CONTROL = value;
}

void console_start(void)
{
    (void)*SCC_A_CONTROL; /* a read makes the next write choose a register */
    set(3, WR3_RECEIVE_8_BITS);
    set(5, WR5_TRANSMIT_8_BITS);
}

static void send(char character)
{
    while (!(*SCC_A_CONTROL & RR0_TRANSMIT_EMPTY))
        ;
    *SCC_A_DATA = character;
}

void console_write(const char *text, u32 length)
{
    for (; length; length--, text++) {
        if (*text == '\n')
            send('\r');
        send(*text);
    }
}

u32 console_read(char *buffer, u32 size)
{
    u32 count = 0;

    while (count < size && (*SCC_A_CONTROL & RR0_RECEIVED))
        buffer[count++] = *SCC_A_DATA;
    return count;
}
