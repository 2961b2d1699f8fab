/* fork, exec, wait, pipes. */
#include "exercise.h"

#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (64 * 1024) /* more than a pipe holds: both sides block and wake each other */
#define ROUNDS 500

static int exit_42(void)
{
    return 42;
}

static int execute_self(void)
{
    char *const arguments[] = {"/init", EXECUTED, "37", 0};

    execv("/init", arguments);
    return 255;
}

static int fork_chain(void)
{
    static int depth;

    return ++depth == 5 ? depth : in_child(fork_chain);
}

static void check_pipe(void)
{
    static u8 sent[PIPE_BYTES], received[PIPE_BYTES];
    u32 index, length = 0;
    int ends[2], status;
    ssize_t count;
    pid_t child;

    for (index = 0; index < PIPE_BYTES; index++)
        sent[index] = index * 7 + (index >> 8);
    if (pipe(ends) < 0)
        return check("pipe", -1, 0);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(write(ends[1], sent, PIPE_BYTES) != PIPE_BYTES);
    }
    close(ends[1]);
    while (length < PIPE_BYTES && (count = read(ends[0], received + length, PIPE_BYTES - length)) > 0)
        length += count;
    close(ends[0]);
    waitpid(child, &status, 0);
    check("pipe", checksum(received, length), checksum(sent, PIPE_BYTES));
    check("pipe_status", status, 0);
}

static void check_ping_pong(void)
{
    int there[2], back[2], status;
    u32 number = 0, round;
    pid_t child;

    if (pipe(there) < 0 || pipe(back) < 0)
        return check("ping_pong", -1, 0);
    child = fork();
    if (child == 0) {
        close(there[1]);
        while (read(there[0], &number, sizeof number) == sizeof number) {
            number++;
            if (write(back[1], &number, sizeof number) != sizeof number)
                _exit(1);
        }
        _exit(0);
    }
    close(there[0]);
    for (round = 0; round < ROUNDS; round++)
        if (write(there[1], &number, sizeof number) != sizeof number ||
            read(back[0], &number, sizeof number) != sizeof number)
            break;
    close(there[1]);
    close(back[0]);
    close(back[1]);
    waitpid(child, &status, 0);
    check("ping_pong", number, ROUNDS);
}

void exercise_processes(void)
{
    check("fork", in_child(exit_42), 42);
    check("fork_chain", in_child(fork_chain), 5);
    check("exec", in_child(execute_self), 37);
    check_pipe();
    check_ping_pong();
}
