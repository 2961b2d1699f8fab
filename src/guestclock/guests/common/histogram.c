#include "histogram.h"
#include "line.h"

static const s32 bounds_ns[] = {HISTOGRAM_BOUNDS};

_Static_assert(sizeof bounds_ns / sizeof bounds_ns[0] == HISTOGRAM_ROWS - 1, "a row below each bound, one above all");

void histogram_clear(struct histogram *histogram)
{
    u32 index;

    for (index = 0; index < HISTOGRAM_ROWS; index++)
        histogram->rows[index].count = 0;
}

/* The first row whose upper bound lies above the delta: binary search, in 32 bits for its speed. */
static u32 row_of(s64 delta_ns)
{
    s32 near_ns = delta_ns;
    u32 low = 0, high = HISTOGRAM_ROWS - 1;

    if (near_ns != delta_ns)
        return delta_ns < 0 ? low : high;


    while (low < high) {
        u32 middle = (low + high) / 2;

        if (near_ns < bounds_ns[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void histogram_add(struct histogram *histogram, s64 delta_ns)
{
    struct row *row = &histogram->rows[row_of(delta_ns)];

    if (row->count++ == 0) {
        row->sum_ns = row->min_ns = row->max_ns = delta_ns;
        return;
    }
    row->sum_ns += delta_ns;
    if (delta_ns < row->min_ns)
        row->min_ns = delta_ns;
    if (delta_ns > row->max_ns)
        row->max_ns = delta_ns;
}

void histogram_report(const struct histogram *histogram, u32 phase_id, const char *clock)
{
    u32 index;

    for (index = 0; index < HISTOGRAM_ROWS; index++) {
        const struct row *row = &histogram->rows[index];

        if (row->count == 0)
            continue;
        line_begin("hist");
        line_number("id", phase_id);
        line_word("clock", clock);
        line_number("low_ns", index == 0 ? (s64)(1ULL << 63) : bounds_ns[index - 1]);
        line_number("high_ns", index == HISTOGRAM_ROWS - 1 ? (s64)(~0ULL >> 1) : bounds_ns[index]);
        line_number("count", row->count);
        line_number("sum_ns", row->sum_ns);
        line_number("min_ns", row->min_ns);
        line_number("max_ns", row->max_ns);
        line_end();
    }
}
