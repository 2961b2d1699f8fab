#include "exercise.h"

#include <sys/wait.h>
#include <unistd.h>

#include "line.h"

void check(const char *name, s64 value, s64 expected)
{
    line_begin("check");
    line_word("name", name);
    line_number("ok", value == expected);
    line_number("value", value);
    line_end();
}

int in_child(int (*work)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(work());
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

u32 checksum(const void *data, u32 size)
{
    const u8 *byte = data;
    u32 sum = 2166136261u;

    while (size--)
        sum = (sum ^ *byte++) * 16777619u;
    return sum;
}

void exercise_all(void)
{
    exercise_processes();
    exercise_memory();
    exercise_signals();
    exercise_fpu();
}
