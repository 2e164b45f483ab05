/* What a hardware counter counts, by its name: for sources that give values in base units and no unit. */
#ifndef WARPLIGHT_MODEL_COUNTER_UNIT_H
#define WARPLIGHT_MODEL_COUNTER_UNIT_H

/* The unit of a PerfWorks name (unit__quantity.rollup.submetric), as counter_table has units: "%", "ns",
 * "byte", "byte/s", "cycle", "hz", "sector", … "" a plain number, or not told by the name: averages
 * (".ratio") are of whatever they average. tests/golden/counter_units.tsv has what Nsight Compute prints
 * beside it. */
const char *counter_unit(const char *name);

#endif
