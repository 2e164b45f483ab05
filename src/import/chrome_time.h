/* The times of Chrome traces: decimal microseconds, as exact integer nanoseconds. */
#ifndef WARPLIGHT_IMPORT_CHROME_TIME_H
#define WARPLIGHT_IMPORT_CHROME_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

/* Decimal microseconds ("12", "2413668742269.099", "1.5e3") → ns. What is finer than a nanosecond is cut off
 * (towards zero). False if the text is no number or the time does not fit 64 bits. */
bool chrome_time_ns(struct json_text text, int64_t *ns);

#endif
