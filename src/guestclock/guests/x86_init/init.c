/*
 * The init of the x86 Linux guest: makes each clocksource that the kernel offers current in turn and measures
 * under each.  Statically linked, the only program of its initramfs.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include "bench.h"
#include "line.h"

#define FOLDER "/sys/devices/system/clocksource/clocksource0/"
#define SETTLE_US 100000 /* the switch happens in the next ticks */
#define REFINE_US 10000000 /* tsc_refine_calibration_work: a second, again after each disturbed look */

const struct clock clocks[CLOCKS] = {
    {"CLOCK_REALTIME", CLOCK_REALTIME, 1},
    {"CLOCK_MONOTONIC", CLOCK_MONOTONIC, 1},
    {"CLOCK_PROCESS_CPUTIME_ID", CLOCK_PROCESS_CPUTIME_ID, 0},
    {"CLOCK_THREAD_CPUTIME_ID", CLOCK_THREAD_CPUTIME_ID, 0},
    {"CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW, 1},
    {"CLOCK_REALTIME_COARSE", CLOCK_REALTIME_COARSE, 1},
    {"CLOCK_MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE, 1},
    {"CLOCK_BOOTTIME", CLOCK_BOOTTIME, 1},
    {"CLOCK_TAI", CLOCK_TAI, 1},
};

static void read_file(const char *path, char *text, u32 size)
{
    int file = open(path, O_RDONLY);
    ssize_t length = read(file, text, size - 1);

    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length > 0 ? length : 0] = 0;
    close(file);
}

/* Read which clocksources there are, once the kernel has made up its mind about the TSC: until it has compared
 * it with another clock for a second it offers only tsc-early. */
static void read_available(char *available, u32 size)
{
    u32 waited_us = 0;

    read_file(FOLDER "available_clocksource", available, size);
    while (strstr(available, "tsc-early") && waited_us < REFINE_US) {
        usleep(SETTLE_US);
        waited_us += SETTLE_US;
        read_file(FOLDER "available_clocksource", available, size);
    }
}

/* Make a clocksource current; the kernel keeps the old one when it does not take it. */
static int use(const char *clocksource)
{
    int file = open(FOLDER "current_clocksource", O_WRONLY);
    char now[64];

    if (write(file, clocksource, strlen(clocksource)) < 0) {
        close(file);
        return 0;
    }
    close(file);
    usleep(SETTLE_US);
    read_file(FOLDER "current_clocksource", now, sizeof now);
    return strcmp(now, clocksource) == 0;
}

static u32 order(const char *name, u32 otherwise)
{
    const char *word = getenv(name);

    return word ? (u32)strtoul(word, 0, 10) : otherwise;
}

static void say_hello(const char *current, u32 cpus)
{
    struct utsname kernel;

    uname(&kernel);
    line_begin("hello");
    line_number("version", 1);
    line_word("guest", "linux-x86");
    line_word("kernel", kernel.release);
    line_word("clock", current);
    line_number("cpus", cpus);
    line_end();
}

static void measure(const char *clocksource, const struct extent *extent, u32 cpus)
{
    int taken = use(clocksource);

    line_begin("using");
    line_word("clocksource", clocksource);
    line_number("ok", taken);
    line_end();
    if (!taken)
        return;
    bench_cost(clocksource, extent);
    bench_warp(clocksource, extent, cpus);
    bench_drift(clocksource, extent);
}

/* The line discipline adds a CR to each LF and nothing else. */
static void console_raw(void)
{
    struct termios console;

    tcgetattr(1, &console);
    console.c_lflag &= ~(ICANON | ECHO);
    tcsetattr(1, TCSANOW, &console);
}

int main(void)
{
    const struct extent extent = {
        .batches = order("batches", 15),
        .batch_us = order("batch_us", 2000),
        .warp_ms = order("warp_ms", 200),
        .drift_ms = order("drift_ms", 2000),
    };
    char available[256], current[64], *name, *rest;
    u32 cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);

    mount("sysfs", "/sys", "sysfs", 0, 0);
    console_raw();
    read_available(available, sizeof available);
    read_file(FOLDER "current_clocksource", current, sizeof current);
    say_hello(current, cpus);
    for (name = strtok_r(available, " ", &rest); name; name = strtok_r(0, " ", &rest))
        measure(name, &extent, cpus);
    line_begin("bye");
    line_end();
    tcdrain(1);
    reboot(RB_POWER_OFF);
    return 1; /* process 1 that ends is a kernel panic, which says what went wrong */
}
