/* Integers by width; both guests are ILP32, big-endian m68k. */
#ifndef GUESTCLOCK_TYPES_H
#define GUESTCLOCK_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

#endif
