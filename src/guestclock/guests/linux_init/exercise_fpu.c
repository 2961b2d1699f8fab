/* Floating point: results to the bit, and registers that survive task switches and signals. */
#include "exercise.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERMS 20000

union bits {
    double number;
    s64 integer;
};

static volatile double one = 1.0;

static s64 bits_of(double number)
{
    return (union bits){.number = number}.integer;
}

/* Sum of 1/n^2.  Code for the 68040 rounds each result to double (fddiv, fdadd), so the bits are those of any IEEE machine. */
static double series(u32 terms, u32 first)
{
    volatile double sum = 0, term;
    u32 n;

    for (n = first; n < first + terms; n++) {
        term = (double)n * n;
        term = one / term;
        sum = sum + term;
    }
    return sum;
}

static double square_root(double number)
{
    double root;

    __asm__("fsqrt.d %1, %0" : "=f"(root) : "m"(number));
    return root;
}

static void check_arithmetic(void)
{
    volatile double third = one / 3.0, tiny = third;
    volatile float narrow = (float)third;
    u32 index;

    for (index = 0; index < 1000; index++)
        tiny = tiny / 2.0;
    check("fpu_divide", bits_of(third), 0x3FD5555555555555LL);
    check("fpu_single", bits_of((double)narrow), 0x3FD5555560000000LL);
    check("fpu_sqrt", bits_of(square_root(2.0 * one)), 0x3FF6A09E667F3BCDLL);
    check("fpu_integer", (s64)(third * 3.0e15), 1000000000000000LL);
    check("fpu_compare", (third < 0.5) + 2 * (third > 0.5) + 4 * (third != third), 1);
    check("fpu_tiny", bits_of(tiny), 0x3FD5555555555555LL - (1000LL << 52));
    check("fpu_series", bits_of(series(TERMS, 1)), 0x3FFA5171F4E31786LL);
}

/* Both sides sum with the processor taken from them again and again, and must come to what one comes to alone. */
static void check_switches(void)
{
    double alone[2] = {series(TERMS, 1), series(TERMS, 1000)};
    int status, right;
    pid_t child = fork();

    right = 1;
    for (int round = 0; round < 10; round++) {
        right &= series(TERMS, child ? 1 : 1000) == alone[child == 0];
        sched_yield();
    }
    if (child == 0)
        _exit(right);
    waitpid(child, &status, 0);
    check("fpu_switch", right + WEXITSTATUS(status), 2);
}

static void on_signal(int number)
{
    (void)number;
    series(100, 1);
    __asm__ volatile("fmove.w #99, %%fp2\n\tfmove.w #98, %%fp7\n\tfmove.l #0x10, %%fpcr" : : : "fp2", "fp7");
}

static void check_signal(void)
{
    s32 second, seventh, control;
    register u32 d0 __asm__("d0") = 37; /* kill */
    register u32 d1 __asm__("d1") = getpid();
    register u32 d2 __asm__("d2") = SIGUSR2;

    signal(SIGUSR2, on_signal);
    __asm__ volatile("fmove.w #2, %%fp2\n\tfmove.w #7, %%fp7\n\t"
                     "trap #0\n\t"
                     "fmove.l %%fp2, %1\n\tfmove.l %%fp7, %2\n\tfmove.l %%fpcr, %3"
                     : "+d"(d0), "=&d"(second), "=&d"(seventh), "=&d"(control)
                     : "d"(d1), "d"(d2)
                     : "fp2", "fp7", "memory");
    check("fpu_signal", second * 10 + seventh, 27);
    check("fpu_signal_control", control, 0);
}

void exercise_fpu(void)
{
    check_arithmetic();
    check_switches();
    check_signal();
}
