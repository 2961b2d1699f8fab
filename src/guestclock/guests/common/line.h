/* Lines of the protocol (docs/guest-protocol.md): `@gc KIND key=value ...`. */
#ifndef GUESTCLOCK_LINE_H
#define GUESTCLOCK_LINE_H

#include "types.h"

void line_begin(const char *kind);
void line_number(const char *key, s64 value);
void line_hex(const char *key, u32 value);
void line_word(const char *key, const char *word);
void line_end(void); /* sends the whole line at once */

#endif
