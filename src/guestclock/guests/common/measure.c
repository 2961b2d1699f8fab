#include "measure.h"
#include "line.h"
#include "orders.h"
#include "phase.h"
#include "probe.h"

#define PROTOCOL_VERSION 1
#define CLOCK_HZ 783360
#define TICK_HZ 100
#define TICK_US 10000

#define BATCH_NS (10 * NS_PER_MS)
#define BATCH_FIRST 64
#define BATCH_LARGEST (1u << 28)

static struct phase phase; /* one at a time; too large for a stack */

static int same(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

/* A batch lasts about BATCH_NS: long enough that the look at its end costs nothing. */
static u32 resized_batch(u32 size, s64 took_ns)
{
    if (took_ns < BATCH_NS / 2 && size < BATCH_LARGEST)
        return size * 2;
    if (took_ns > BATCH_NS * 2 && size > BATCH_FIRST)
        return size / 2;
    return size;
}

/* The timed loop proper.  Only what no sound clock does enters the histogram: the calls, not our arithmetic,
 * are to be timed, so one subtraction and one comparison tell the usual from the rest. */
static void call_batch(struct time32 *last, u32 count)
{
    struct time32 before = *last, now;

    for (; count; count--) {
        sys_gettimeofday(&now);
        if ((u32)(now.fraction - before.fraction) > TICK_US || now.seconds != before.seconds) {
            s64 delta_ns = time_ns(REAL, &now) - time_ns(REAL, &before);

            if (delta_ns < 0 || delta_ns > TICK_US * NS_PER_US)
                phase_step(&phase, REAL, &before, &now);
        }
        before = now;
    }
    *last = before;
}

/* Look at the clocks between batches, where lines may have been sent: of the steps only backward ones are faults. */
static void look_again(struct look *before)
{
    enum guest_clock clock;
    struct look now;

    phase_look(&phase, &now);
    for (clock = MONO; clock < CLOCKS; clock++)
        if (time_ns(clock, &now.at[clock]) < time_ns(clock, &before->at[clock]))
            phase_step(&phase, clock, &before->at[clock], &now.at[clock]);
    *before = now;
}

static void run_calls(u32 calls)
{
    struct look look;
    u32 size = BATCH_FIRST, count;
    s64 batch_began_ns;

    phase_begin(&phase, "calls", calls, 0);
    phase_look(&phase, &look);
    for (; calls; calls -= count) {
        batch_began_ns = phase.now_ns;
        count = size < calls ? size : calls;
        call_batch(&look.at[REAL], count);
        phase.calls += count;
        look_again(&look);
        size = resized_batch(size, phase.now_ns - batch_began_ns);
        if (phase_report(&phase, &look))
            look_again(&look);
    }
    phase_end(&phase);
}

static void hunt_batch(struct look *before, u32 count)
{
    struct look now;

    for (; count; count--) {
        sys_monotonic(&now.at[MONO]);
        sys_gettimeofday(&now.at[REAL]);
        phase_step(&phase, MONO, &before->at[MONO], &now.at[MONO]);
        phase_step(&phase, REAL, &before->at[REAL], &now.at[REAL]);
        *before = now;
    }
}

static void run_hunt(u32 seconds)
{
    struct look look;
    u32 size = BATCH_FIRST;
    s64 batch_began_ns;

    phase_begin(&phase, "hunt", seconds, seconds);
    phase_look(&phase, &look);
    while (phase.now_ns < phase.end_ns) {
        batch_began_ns = phase.now_ns;
        hunt_batch(&look, size);
        phase.calls += 2 * size;
        look_again(&look);
        size = resized_batch(size, phase.now_ns - batch_began_ns);
        if (phase_report(&phase, &look))
            look_again(&look);
    }
    phase_end(&phase);
}

static void sleep_ns(s64 duration_ns)
{
    struct time32 duration;

    if (duration_ns <= 0)
        return;
    if (duration_ns > NS_PER_S)
        duration_ns = NS_PER_S;
    duration.seconds = duration_ns == NS_PER_S;
    duration.fraction = duration_ns % NS_PER_S;
    sys_nanosleep(&duration);
}

static void run_idle(u32 seconds)
{
    struct look look;

    phase_begin(&phase, "idle", seconds, seconds);
    while (phase.now_ns < phase.end_ns) {
        sleep_ns(phase.stamp_due_ns - phase.now_ns);
        phase_look(&phase, &look);
        if (phase.now_ns < phase.end_ns)
            phase_report(&phase, &look);
    }
    phase_end(&phase);
}

/* Xorshift: register arithmetic that no compiler folds away. */
static u32 churn(u32 state, u32 rounds)
{
    while (rounds--) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    return state;
}

static void run_busy(u32 seconds)
{
    static volatile u32 state = 1;
    struct look look;
    u32 rounds = BATCH_FIRST;
    s64 batch_began_ns;

    phase_begin(&phase, "busy", seconds, seconds);
    while (phase.now_ns < phase.end_ns) {
        batch_began_ns = phase.now_ns;
        state = churn(state, rounds);
        phase_look(&phase, &look);
        rounds = resized_batch(rounds, phase.now_ns - batch_began_ns);
        if (phase.now_ns < phase.end_ns)
            phase_report(&phase, &look);
    }
    phase_end(&phase);
}

static void run_masked(const struct guest *guest, u32 duration_ms)
{
    phase_begin(&phase, "masked", duration_ms, 0);
    guest->spin_masked(duration_ms);
    phase_end(&phase);
}

/* What a timing line's clock says: its period is 370 video lines of 704 pixels at 15.6672 MHz, or a second. */
static s64 line_ns(enum timing_line line, u32 count)
{
    return line == SECONDS ? count * NS_PER_S : count * (370 * 704 * NS_PER_S / 64) / (15667200 / 64);
}

static void send_line(enum timing_line line, u32 count)
{
    static const char *const names[TIMING_LINES] = {"via1.ca1", "via1.ca2"};

    line_begin("line");
    line_number("id", phase.id);
    line_word("clock", names[line]);
    line_number("count", count);
    line_number("said_ns", line_ns(line, count));
    line_end();
}

#define POLLS_PER_LOOK 1024

/* A timing line's clock is looked at right after each fall; a console takes one look a second. */
static void run_lines(const struct guest *guest, u32 seconds)
{
    static const u32 falls_sent[TIMING_LINES] = {60, 1};
    u32 seen[TIMING_LINES] = {0}, polls = 0;
    enum timing_line line;
    struct look look;

    phase_begin(&phase, "lines", seconds, seconds);
    guest->listen(1);
    while (phase.now_ns < phase.end_ns) {
        if (++polls % POLLS_PER_LOOK == 0)
            phase_look(&phase, &look); /* a line that never falls must not keep the phase from ending */
        for (line = SIXTIETHS; line < TIMING_LINES; line++) {
            u32 count = guest->line_count(line);

            if (count == seen[line])
                continue;
            probe_commit(phase.id, PROBE_LINE + line, 0, sys_ticks(), line_ns(line, count));
            if (count / falls_sent[line] != seen[line] / falls_sent[line])
                send_line(line, count);
            seen[line] = count;
            phase_look(&phase, &look);
            phase_report(&phase, &look);
        }
    }
    guest->listen(0);
    phase_end(&phase);
}

static void run_user(const struct guest *guest)
{
    phase_begin(&phase, "user", 0, 0);
    guest->exercise_user();
    phase_end(&phase);
}

/* Bytes of one line arrive apart from each other: ask this often before sleeping a tick. */
#define READS_BEFORE_SLEEP 20000

/* Take one line from the console, without its end; 0 when the phase's time is up before one came. */
static int read_line(char *line, u32 size, int timed)
{
    u32 length = 0, idle_reads = 0;
    struct look look;
    char character;

    for (;;) {
        if (sys_read(&character, 1) != 1) {
            if (++idle_reads < READS_BEFORE_SLEEP)
                continue;
            idle_reads = 0;
            sleep_ns(NS_PER_S / TICK_HZ);
            phase_look(&phase, &look);
            if (timed && phase.now_ns >= phase.end_ns)
                return 0;
            continue;
        }
        idle_reads = 0;
        if (character == '\n' || character == '\r')
            break;
        if (length < size - 1)
            line[length++] = character;
    }
    line[length] = 0;
    return 1;
}

static void run_echo(u32 seconds)
{
    static char line[256];
    struct look look;

    phase_begin(&phase, "echo", seconds, seconds);
    while (phase.now_ns < phase.end_ns && read_line(line, sizeof line, 1)) {
        line_begin("echo");
        line_word("text", line);
        line_end();
        phase_look(&phase, &look);
    }
    phase_end(&phase);
}

static void refuse(const char *word)
{
    line_begin("refused");
    line_word("name", word);
    line_end();
}

static void run_serve(const struct guest *guest)
{
    static char line[256];
    static int serving;

    if (serving)
        return refuse("serve"); /* within itself */
    serving = 1;
    phase_begin(&phase, "serve", 0, 0);
    phase_end(&phase);
    while (read_line(line, sizeof line, 0) && !same(line, "bye")) {
        char *text = line;

        while (*text && *text != ' ')
            text++;
        if (*text == ' ') {
            *text = 0;
            if (same(line, "phases")) {
                measure(guest, text + 1);
                continue;
            }
        }
        refuse(line);
    }
    serving = 0;
}

static void run_order(const struct guest *guest, const struct order *order)
{
    if (same(order->name, "calls"))
        run_calls(order->amount);
    else if (same(order->name, "hunt"))
        run_hunt(order->amount);
    else if (same(order->name, "idle"))
        run_idle(order->amount);
    else if (same(order->name, "busy"))
        run_busy(order->amount);
    else if (same(order->name, "echo"))
        run_echo(order->amount);
    else if (same(order->name, "serve"))
        run_serve(guest);
    else if (same(order->name, "masked") && guest->spin_masked)
        run_masked(guest, order->amount);
    else if (same(order->name, "user") && guest->exercise_user)
        run_user(guest);
    else if (same(order->name, "lines") && guest->listen)
        run_lines(guest, order->amount);
    else
        refuse(order->name);
}

void say_hello(const struct guest *guest)
{
    line_begin("hello");
    line_number("version", PROTOCOL_VERSION);
    line_word("guest", guest->name);
    line_word("clock", guest->clock);
    line_number("clock_hz", CLOCK_HZ);
    line_number("tick_hz", TICK_HZ);
    line_number("probe", probe_present());
    line_end();
}

void say_bye(void)
{
    line_begin("bye");
    line_end();
}

void measure(const struct guest *guest, const char *phases)
{
    struct order order;

    while ((phases = next_order(phases, &order)))
        run_order(guest, &order);
}
