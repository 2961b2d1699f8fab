/* A guest's orders: words of the kernel command line and the phases they list. */
#ifndef GUESTCLOCK_ORDERS_H
#define GUESTCLOCK_ORDERS_H

#include "types.h"

#define DEFAULT_PHASES "calls:100000,hunt:2,idle:2,busy:2"

struct order {
    char name[16];
    u32 amount;
};

/* Where `key`'s value starts in `words` (separated by blanks), or NULL; it ends at a blank or NUL. */
const char *find_word(const char *words, const char *key);

/* Decimal or 0x-hexadecimal digits up to the first other character. */
u32 parse_number(const char *digits);

/* Take the next `NAME:AMOUNT` off a list separated by commas; NULL when the list has ended.
 * A name that is too long is cut, an amount that is missing is 0: no phase of that kind exists. */
const char *next_order(const char *list, struct order *order);

#endif
