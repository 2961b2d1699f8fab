#include "phase.h"
#include "line.h"
#include "probe.h"

/* No look is this far from the one before, unless a 32-bit cycle count wrapped (5482 s) or the clock went back. */
#define IMPLAUSIBLE_NS (2 * NS_PER_S)

static const char *const clock_names[CLOCKS] = {"mono", "real"};

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
    sys_monotonic(&look->at[MONO]);
    probe_commit(phase->id, PROBE_LOOK + MONO, calls, ticks, time_ns(MONO, &look->at[MONO]));
    sys_gettimeofday(&look->at[REAL]);
    probe_commit(phase->id, PROBE_LOOK + REAL, 0, ticks, time_ns(REAL, &look->at[REAL]));
    follow(phase, time_ns(MONO, &look->at[MONO]));
}

static void send_stamp(struct phase *phase, const struct look *look)
{
    line_begin("stamp");
    line_number("id", phase->id);
    line_number("seq", phase->stamps++);
    line_number("mono_ns", time_ns(MONO, &look->at[MONO]));
    line_number("real_ns", time_ns(REAL, &look->at[REAL]));
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
        line_word("clock", clock_names[back->clock]);
        line_number("before_ns", back->before_ns);
        line_number("after_ns", back->after_ns);
        line_end();
        sent = 1;
    }
    return sent;
}

static void keep_back(struct phase *phase, enum guest_clock clock, s64 before_ns, s64 after_ns)
{
    u32 ticks = sys_ticks();

    probe_commit(phase->id, PROBE_BEFORE + 2 * clock, 0, ticks, before_ns);
    probe_commit(phase->id, PROBE_AFTER + 2 * clock, 0, ticks, after_ns);
    if (phase->backs < BACKS_TOLD)
        phase->back[phase->backs] = (struct back){clock, before_ns, after_ns};
    phase->backs++;
}

void phase_step(
    struct phase *phase, enum guest_clock clock, const struct time32 *before, const struct time32 *after)
{
    /* Nearly always within one second: no 64-bit multiplication then. */
    s64 delta_ns = after->seconds == before->seconds ? (after->fraction - before->fraction) * unit_ns(clock)
                                                     : time_ns(clock, after) - time_ns(clock, before);

    if (delta_ns < 0)
        keep_back(phase, clock, time_ns(clock, before), time_ns(clock, after));
    histogram_add(&phase->steps[clock], delta_ns);
}

void phase_begin(struct phase *phase, const char *name, u32 amount, u32 seconds)
{
    struct time32 now;

    phase->id = ++last_id;
    phase->name = name;
    phase->stamps = phase->calls = phase->calls_looked = phase->calls_stamped = 0;
    phase->backs = phase->backs_told = 0;
    histogram_clear(&phase->steps[MONO]);
    histogram_clear(&phase->steps[REAL]);
    line_begin("phase");
    line_number("id", phase->id);
    line_word("name", name);
    line_number("amount", amount);
    line_end();
    sys_monotonic(&now);
    phase->begin_ns = phase->now_ns = time_ns(MONO, &now);
    phase->end_ns = phase->begin_ns + seconds * NS_PER_S;
    phase->stamp_due_ns = phase->begin_ns + NS_PER_S;
    phase_stamp(phase);
    sys_cpu_ticks(&phase->used);
}

static void report_cpu(const struct phase *phase, const struct cpu_ticks *used)
{
    line_begin("cpu");
    line_number("id", phase->id);
    line_number("user_ticks", used->user - phase->used.user);
    line_number("system_ticks", used->system - phase->used.system);
    line_end();
}

void phase_end(struct phase *phase)
{
    struct cpu_ticks used;
    struct look look;

    sys_cpu_ticks(&used);
    phase_look(phase, &look);
    phase->stamp_due_ns = phase->now_ns;
    phase_report(phase, &look);
    histogram_report(&phase->steps[MONO], phase->id, clock_names[MONO]);
    histogram_report(&phase->steps[REAL], phase->id, clock_names[REAL]);
    report_cpu(phase, &used);
    line_begin("done");
    line_number("id", phase->id);
    line_word("name", phase->name);
    line_number("calls", phase->calls);
    line_number("mono_ns", time_ns(MONO, &look.at[MONO]) - phase->begin_ns);
    line_number("ticks", sys_ticks());
    line_number("backs", phase->backs);
    line_end();
}
