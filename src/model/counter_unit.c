#include "model/counter_unit.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

/* What is counted, and of that the unit of a rate; the first whose part is in the name. */
static const struct {
    const char *part, *plain, *per_second, *per_cycle;
} quantities[] = {
    {"launch__shared_mem_per_block", "byte/block", "", ""},
    {"_bytes", "byte", "byte/s", "byte/cycle"},
    {"launch__shared_mem_", "byte", "", ""},
    {"launch__persisting_l2_cache_size", "byte", "", ""},
    {"_cycles", "cycle", "hz", ""},
    {"_writeback_active", "cycle", "hz", ""},
    {"_sectors", "sector", "sector/s", "sector/cycle"},
    {"_requests", "request", "request/s", "request/cycle"},
    {"inst_executed", "inst", "inst/s", "inst/cycle"},
    {"inst_issued", "inst", "inst/s", "inst/cycle"},
    {"__warps_", "warp", "warp/s", "warp"}, /* per cycle: how many there are at a time */
};

static bool ends(const char *name, const char *with)
{
    return text_ends_with(name, strlen(name), with);
}

const char *counter_unit(const char *name)
{
    if (strstr(name, ".pct_of_peak") || ends(name, ".pct") || ends(name, "_pct"))
        return "%";
    if (strstr(name, "__time_duration") || ends(name, "_interval_time"))
        return "ns";
    if (strstr(name, "_bytes_per_sector"))
        return "byte/sector";
    if (ends(name, ".ratio") || ends(name, "_rate"))
        return "";
    bool per_second = strstr(name, ".per_second");
    bool per_cycle = strstr(name, ".per_cycle_") || strstr(name, ".peak_sustained");
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (strstr(name, quantities[i].part))
            return per_second  ? quantities[i].per_second
                   : per_cycle ? quantities[i].per_cycle
                               : quantities[i].plain;
    return "";
}
