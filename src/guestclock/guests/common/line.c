#include "line.h"
#include "syscalls.h"

/* The longest line is an echo of a full console line; what does not fit is cut. */
static char line[320];
static u32 length;

static void put(char character)
{
    if (length < sizeof line - 1) /* room for the LF stays */
        line[length++] = character;
}

static void put_text(const char *text)
{
    while (*text)
        put(*text++);
}

static void put_key(const char *key)
{
    put(' ');
    put_text(key);
    put('=');
}

void line_begin(const char *kind)
{
    length = 0;
    put_text("@gc ");
    put_text(kind);
}

void line_number(const char *key, s64 value)
{
    char digits[20];
    u32 count = 0;
    u64 rest = value < 0 ? -(u64)value : (u64)value;

    put_key(key);
    if (value < 0)
        put('-');
    do {
        digits[count++] = '0' + rest % 10;
        rest /= 10;
    } while (rest);
    while (count)
        put(digits[--count]);
}

void line_hex(const char *key, u32 value)
{
    s32 shift;

    put_key(key);
    put_text("0x");
    for (shift = 28; shift >= 0; shift -= 4)
        put("0123456789abcdef"[value >> shift & 15]);
}

void line_word(const char *key, const char *word)
{
    put_key(key);
    put_text(word);
}

void line_end(void)
{
    line[length++] = '\n';
    sys_write(line, length);
}
