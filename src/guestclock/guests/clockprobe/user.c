/* clockprobe's program, in user mode: the measuring program and what is special to this guest. */
#include "kernel.h"
#include "measure.h"
#include "orders.h"
#include "probe.h"
#include "syscalls.h"

static void spin_masked(u32 duration_ms)
{
    trap3(NR_SPIN_MASKED, duration_ms, 0, 0);
}

static void listen(u32 on)
{
    trap3(NR_LISTEN, on, 0, 0);
}

static u32 line_count(enum timing_line line)
{
    return trap3(NR_LINE_COUNT, line, 0, 0);
}

void user_start(void)
{
    static const struct guest guest = {
        .name = "clockprobe",
        .clock = "via1",
        .spin_masked = spin_masked,
        .listen = listen,
        .line_count = line_count,
    };
    const char *probe = find_word(bootinfo.command_line, "probe");
    const char *phases = find_word(bootinfo.command_line, "phases");

    if (probe)
        probe_attach((volatile u32 *)parse_number(probe));
    say_hello(&guest);
    measure(&guest, phases ? phases : DEFAULT_PHASES);
    say_bye();
    trap3(NR_POWER_OFF, 0, 0, 0);
}
