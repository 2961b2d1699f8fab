/* The `user` phase: what a Linux program may expect of its machine.  Each exercise reports `check` lines whose values
 * are the same on every machine that works: they are computed, but depend on no time, address or process number. */
#ifndef LINUX_INIT_EXERCISE_H
#define LINUX_INIT_EXERCISE_H

#include "types.h"

#define EXECUTED "executed" /* argv[1] of an init that was started by an exercise: exit with status argv[2] */

void exercise_all(void);

void exercise_processes(void);
void exercise_memory(void);
void exercise_signals(void);
void exercise_fpu(void);

/* Report `value`, which is right if it equals `expected`. */
void check(const char *name, s64 value, s64 expected);

/* Run `work` in a child; returns its exit status (0-255), or -1 if it was killed. */
int in_child(int (*work)(void));

/* A checksum that tells any changed, lost or doubled byte (FNV-1a). */
u32 checksum(const void *data, u32 size);

#endif
