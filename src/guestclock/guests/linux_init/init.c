/*
 * The init of the Linux guest: the measuring program as process 1.  Statically linked, one file in an
 * initramfs that also holds the device nodes it needs.  Boot time counts: nothing happens before `hello` that
 * the first phase does not need.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

#include "exercise.h"
#include "measure.h"
#include "orders.h"
#include "probe.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* The clocksource that the kernel chose. */
static const char *clocksource(void)
{
    static char name[32] = "unknown";
    int file;
    ssize_t length;

    mount("sysfs", "/sys", "sysfs", 0, 0);
    file = open(CLOCKSOURCE, O_RDONLY);
    length = read(file, name, sizeof name - 1);
    if (length > 0)
        name[length - 1] = 0; /* its LF */
    close(file);
    return name;
}

static void attach_probe(void)
{
    const char *word = getenv("probe");
    void *page;
    int memory;

    if (!word)
        return;
    memory = open("/dev/mem", O_RDWR | O_SYNC); /* O_SYNC: not cached */
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, parse_number(word));
    probe_attach(page == MAP_FAILED ? 0 : page);
    close(memory);
}

/* Reads take what is there, maybe nothing; nothing is echoed. */
static void console_raw(void)
{
    struct termios console;

    tcgetattr(0, &console);
    console.c_lflag &= ~(ICANON | ECHO);
    console.c_cc[VMIN] = 0;
    console.c_cc[VTIME] = 0;
    tcsetattr(0, TCSANOW, &console);
}

int main(int argc, char **argv)
{
    struct guest guest = {.name = "linux", .exercise_user = exercise_all};
    const char *phases = getenv("phases");

    if (argc == 3 && strcmp(argv[1], EXECUTED) == 0)
        return parse_number(argv[2]);
    console_raw();
    attach_probe();
    guest.clock = clocksource();
    say_hello(&guest);
    measure(&guest, phases ? phases : DEFAULT_PHASES);
    say_bye();
    tcdrain(1);
    reboot(RB_POWER_OFF);
    return 1; /* process 1 that ends is a kernel panic, which says what went wrong */
}
