#include "timing_lines.h"
#include "hardware.h"
#include "measure.h"

static volatile u32 falls[TIMING_LINES];

void timing_lines_listen(u32 on)
{
    *via1(IER) = VIA_CA1 | VIA_CA2;
    falls[SIXTIETHS] = falls[SECONDS] = 0;
    if (!on)
        return;
    *via1(PCR) = (*via1(PCR) & ~PCR_CA) | PCR_CA2_INDEPENDENT;
    *via1(IFR) = VIA_CA1 | VIA_CA2;
    *via1(IER) = 0x80 | VIA_CA1 | VIA_CA2;
}

void timing_lines_interrupt(void)
{
    u8 fell = *via1(IFR) & *via1(IER) & (VIA_CA1 | VIA_CA2);

    if (!fell)
        return;
    *via1(IFR) = fell;
    falls[SIXTIETHS] += (fell & VIA_CA1) != 0;
    falls[SECONDS] += (fell & VIA_CA2) != 0;
}

u32 timing_line_count(u32 line)
{
    return falls[line];
}
