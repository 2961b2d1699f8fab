#include "phase.h"
#include "line.h"
#include "probe.h"

/* No look is this far from the one before, unless a 32-bit cycle count wrapped (5482 s) or the clock went back. */
#define IMPLAUSIBLE_NS (2 * NS_PER_S)

static u32 last_id;

/* A clock at fault must not end a phase early or keep it from ending: move its end with the fault. */
static void follow(struct phase *phase, s64 now_ns)
{
    s64 moved_ns = now_ns - phase->now_ns;

    if (moved_ns < 0 || moved_ns > IMPLAUSIBLE_NS) {
        phase->end_ns += moved_ns;
        phase->stamp_due_ns += moved_ns;
    }
    phase->now_ns = now_ns;
}

void phase_look(struct phase *phase, struct look *look)
{
    u32 ticks = sys_ticks(), calls = phase->calls - phase->calls_looked;

    phase->calls_looked = phase->calls;
    sys_monotonic(&look->mono);
    probe_commit(phase->id, PROBE_MONO, calls, ticks, mono_ns(&look->mono));
    sys_gettimeofday(&look->real);
    probe_commit(phase->id, PROBE_REAL, 0, ticks, real_ns(&look->real));
    follow(phase, mono_ns(&look->mono));
}

static void send_stamp(struct phase *phase, const struct look *look)
{
    line_begin("stamp");
    line_number("id", phase->id);
    line_number("seq", phase->stamps++);
    line_number("mono_ns", mono_ns(&look->mono));
    line_number("real_ns", real_ns(&look->real));
    line_number("ticks", sys_ticks());
    line_number("calls", phase->calls - phase->calls_stamped);
    line_end();
    phase->calls_stamped = phase->calls;
}

void phase_stamp(struct phase *phase)
{
    struct look look;

    phase_look(phase, &look);
    send_stamp(phase, &look);
}

int phase_report(struct phase *phase, const struct look *look)
{
    u32 kept = phase->backs < BACKS_TOLD ? phase->backs : BACKS_TOLD;
    int sent = 0;

    if (phase->now_ns >= phase->stamp_due_ns) {
        send_stamp(phase, look);
        while (phase->stamp_due_ns <= phase->now_ns)
            phase->stamp_due_ns += NS_PER_S;
        sent = 1;
    }
    while (phase->backs_told < kept) {
        const struct back *back = &phase->back[phase->backs_told++];

        line_begin("back");
        line_number("id", phase->id);
        line_word("clock", back->clock);
        line_number("before_ns", back->before_ns);
        line_number("after_ns", back->after_ns);
        line_end();
        sent = 1;
    }
    return sent;
}

void phase_stepped_back(struct phase *phase, const char *clock, s64 before_ns, s64 after_ns)
{
    u32 ticks = sys_ticks();
    int mono = clock[0] == 'm';

    probe_commit(phase->id, mono ? PROBE_MONO_BEFORE : PROBE_REAL_BEFORE, 0, ticks, before_ns);
    probe_commit(phase->id, mono ? PROBE_MONO_AFTER : PROBE_REAL_AFTER, 0, ticks, after_ns);
    if (phase->backs < BACKS_TOLD)
        phase->back[phase->backs] = (struct back){clock, before_ns, after_ns};
    phase->backs++;
}

void phase_begin(struct phase *phase, const char *name, u32 amount, u32 seconds)
{
    struct time32 now;

    phase->id = ++last_id;
    phase->name = name;
    phase->stamps = phase->calls = phase->calls_looked = phase->calls_stamped = 0;
    phase->backs = phase->backs_told = 0;
    histogram_clear(&phase->mono);
    histogram_clear(&phase->real);
    line_begin("phase");
    line_number("id", phase->id);
    line_word("name", name);
    line_number("amount", amount);
    line_end();
    sys_monotonic(&now);
    phase->begin_ns = phase->now_ns = mono_ns(&now);
    phase->end_ns = phase->begin_ns + seconds * NS_PER_S;
    phase->stamp_due_ns = phase->begin_ns + NS_PER_S;
    phase_stamp(phase);
}

void phase_end(struct phase *phase)
{
    struct look look;

    phase_look(phase, &look);
    phase->stamp_due_ns = phase->now_ns;
    phase_report(phase, &look);
    histogram_report(&phase->mono, phase->id, "mono");
    histogram_report(&phase->real, phase->id, "real");
    line_begin("done");
    line_number("id", phase->id);
    line_word("name", phase->name);
    line_number("calls", phase->calls);
    line_number("mono_ns", mono_ns(&look.mono) - phase->begin_ns);
    line_number("ticks", sys_ticks());
    line_number("backs", phase->backs);
    line_end();
}
