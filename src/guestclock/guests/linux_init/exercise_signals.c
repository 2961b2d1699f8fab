/* Signals: sent, blocked, timed, and from children. */
#include "exercise.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile int caught_code;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    caught++;
    caught_code = info->si_code;
}

static void catch_signal(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    sigaction(number, &action, 0);
    caught = 0;
}

static void check_kill(void)
{
    sigset_t set;

    catch_signal(SIGUSR1);
    kill(getpid(), SIGUSR1);
    check("kill", caught, 1);
    check("kill_code", caught_code, SI_USER);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    check("kill_blocked", caught, 1);
    sigprocmask(SIG_UNBLOCK, &set, 0);
    check("kill_unblocked", caught, 2); /* a pending signal counts once */
}

/* Wait with SIGALRM and SIGCHLD let in until `count` have been caught; blocked at all other times, none is missed. */
static void wait_for(int count)
{
    sigset_t none;

    sigemptyset(&none);
    while (caught < count)
        sigsuspend(&none);
}

static void check_timers(void)
{
    struct itimerval every_20_ms = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};

    catch_signal(SIGALRM);
    setitimer(ITIMER_REAL, &every_20_ms, 0);
    wait_for(5);
    setitimer(ITIMER_REAL, &never, 0);
    check("itimer", caught, 5);

    catch_signal(SIGALRM);
    alarm(1);
    wait_for(1);
    check("alarm", caught, 1);
}

static void check_children(void)
{
    int status = 0;
    pid_t child;

    catch_signal(SIGCHLD);
    child = fork();
    if (child == 0)
        _exit(3);
    wait_for(1);
    waitpid(child, &status, 0);
    check("sigchld", caught, 1);
    check("sigchld_code", caught_code, CLD_EXITED);
    check("exit_status", WEXITSTATUS(status), 3);

    child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    check("sigkill", WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGKILL);
}

void exercise_signals(void)
{
    sigset_t set;

    check_kill();
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, 0);
    check_timers();
    check_children();
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, 0);
}
