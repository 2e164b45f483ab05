/* How often `top` can look. */
#ifndef WARPLIGHT_CMD_TOP_LIMITS_H
#define WARPLIGHT_CMD_TOP_LIMITS_H

#include <stdint.h>

#define TOP_INTERVAL_LEAST INT64_C(100000000)
#define TOP_INTERVAL_MOST  INT64_C(60000000000)

#endif
