#include "orders.h"

static int ends_list(char character)
{
    return character == 0 || character == ' ' || character == '\n' || character == '\r';
}

const char *find_word(const char *words, const char *key)
{
    while (*words) {
        const char *wanted = key;

        while (*words == ' ')
            words++;
        while (*wanted && *words == *wanted)
            words++, wanted++;
        if (*wanted == 0 && *words == '=')
            return words + 1;
        while (*words && *words != ' ')
            words++;
    }
    return 0;
}

static u32 digit_of(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    character |= 0x20;
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return ~0u;
}

u32 parse_number(const char *digits)
{
    u32 base = 10, value = 0;

    if (digits[0] == '0' && (digits[1] | 0x20) == 'x') {
        base = 16;
        digits += 2;
    }
    while (digit_of(*digits) < base)
        value = value * base + digit_of(*digits++);
    return value;
}

const char *next_order(const char *list, struct order *order)
{
    u32 length = 0;

    while (*list == ',')
        list++;
    if (ends_list(*list))
        return 0;
    while (!ends_list(*list) && *list != ',' && *list != ':') {
        if (length < sizeof order->name - 1)
            order->name[length++] = *list;
        list++;
    }
    order->name[length] = 0;
    order->amount = *list == ':' ? parse_number(list + 1) : 0;
    while (!ends_list(*list) && *list != ',')
        list++;
    return list;
}
