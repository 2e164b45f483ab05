/* Rows of values over time: --query-gpu as CSV, dmon, pmon, the sensor logs of GPU-Z and MSI Afterburner. The
 * heading says what the columns are; values go by smi.tsv. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/logs/readers.h"

struct cell {
    const char *at;
    size_t length;
};

static struct cell trim(const char *at, size_t length)
{
    while (length > 0 && strchr(" \t\r\"", *at)) {
        at++;
        length--;
    }
    while (length > 0 && strchr(" \t\r\"", at[length - 1]))
        length--;
    return (struct cell){at, length};
}

static int split_commas(const struct log_line *line, struct cell *cells)
{
    int count = 0;
    const char *at = line->text, *end = line->text + line->length;
    while (at <= end && count < SMI_COLUMNS) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
        cells[count++] = trim(at, (size_t)((comma ? comma : end) - at));
        if (!comma)
            break;
        at = comma + 1;
    }
    return count;
}

static int split_blanks(const struct log_line *line, struct cell *cells)
{
    int count = 0;
    for (size_t i = 0; i < line->length && count < SMI_COLUMNS;) {
        while (i < line->length && strchr(" \t\r#", line->text[i]))
            i++;
        size_t start = i;
        while (i < line->length && !strchr(" \t\r", line->text[i]))
            i++;
        if (i > start)
            cells[count++] = (struct cell){line->text + start, i - start};
    }
    return count;
}

static int column(const struct smi_state *smi, const char *name)
{
    for (int i = 0; i < smi->column_count; i++)
        if (strcmp(smi->columns[i], name) == 0)
            return i;
    return -1;
}

static void text_of(char *out, size_t size, struct cell cell)
{
    size_t length = cell.length < size - 1 ? cell.length : size - 1;
    memcpy(out, cell.at, length);
    out[length] = '\0';
}

static void take_heading(struct logs *logs, const struct cell *cells, int count, int mode, enum log_kind kind)
{
    logs->smi = (struct smi_state){.mode = mode, .column_count = count};
    for (int i = 0; i < count; i++)
        smi_normalise(logs->smi.columns[i], sizeof logs->smi.columns[i], cells[i].at, cells[i].length);
    logs->kinds |= 1u << kind;
}

/* ---- CSV ----------------------------------------------------------------------------------------------- */

/* A heading of --query-gpu names at least two of its fields. */
static bool is_query(const struct log_line *line)
{
    static const char *const fields[] = {"utilization.gpu",
                                         "memory.used",
                                         "temperature.gpu",
                                         "power.draw",
                                         "pstate",
                                         "clocks_event_reasons.",
                                         "clocks_throttle_reasons.",
                                         "ecc.errors.",
                                         "pcie.link.",
                                         "remapped_rows.",
                                         "compute_mode",
                                         "memory.total",
                                         "clocks.sm",
                                         "clocks.current.sm",
                                         "mig.mode.",
                                         "pci.bus_id",
                                         "driver_version"};
    int hits = 0;
    if (!memchr(line->text, ',', line->length))
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        hits += memmem(line->text, line->length, fields[i], strlen(fields[i])) != NULL;
    return hits >= 2 && !memchr(line->text, '=', line->length) && line->length < 4096;
}

static void name_row(struct smi_state *smi, const struct cell *cells)
{
    static const char *const names[] = {"pci/bus_id", "index", "uuid", "name"};
    smi->device[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int at = column(smi, names[i]);
        if (at >= 0 && cells[at].length > 0) {
            char text[56];
            text_of(text, sizeof text, cells[at]);
            snprintf(smi->device, sizeof smi->device, "%s%s", i == 1 ? "GPU " : "", text);
            return;
        }
    }
}

static void csv_row(struct logs *logs, const struct log_line *line)
{
    struct cell cells[SMI_COLUMNS];
    struct smi_state *smi = &logs->smi;
    int count = split_commas(line, cells);
    if (count != smi->column_count) {
        smi->mode = SMI_NONE;
        return;
    }
    name_row(smi, cells);
    smi->recent_count = 0;
    for (int pass = 0; pass < 2; pass++) /* a rule may compare with a column further right */
        for (int i = 0; i < count; i++) {
            char value[64];
            text_of(value, sizeof value, cells[i]);
            if (pass == 1)
                smi_judge(logs, line, smi->columns[i], value);
            else if (smi->recent_count < SMI_RECENT / 2) {
                struct smi_value *known = &smi->recent[smi->recent_count++];
                snprintf(known->path, sizeof known->path, "%s", smi->columns[i]);
                snprintf(known->value, sizeof known->value, "%s", value);
            }
        }
}

/* ---- dmon ---------------------------------------------------------------------------------------------- */

static bool is_dash(const struct cell *cells, int at, int count)
{
    return at >= 0 && at < count && cells[at].length == 1 && *cells[at].at == '-';
}

/* A GPU that had a power reading and has none any more. A log that breaks off may show it only in its last,
 * incomplete row. */
static void dmon_lost(struct logs *logs, const struct log_line *line, const struct cell *cells, int count,
                      long gpu)
{
    int power = column(&logs->smi, "pwr");
    if (gpu < 0 || gpu >= SMI_GPUS || power < 0 || power >= count)
        return;
    if (!is_dash(cells, power, count))
        logs->smi.had_power[gpu] = true;
    else if (logs->smi.had_power[gpu])
        logs_add_sign(logs, line, "dmon-lost", logs->smi.device, NULL);
}

static void dmon_row(struct logs *logs, const struct log_line *line)
{
    struct cell cells[SMI_COLUMNS];
    struct smi_state *smi = &logs->smi;
    int count = split_blanks(line, cells), gpu = column(smi, "gpu");
    if (count > smi->column_count || gpu < 0 || gpu >= count || *cells[gpu].at < '0' ||
        *cells[gpu].at > '9') {
        smi->mode = SMI_NONE;
        return;
    }
    snprintf(smi->device, sizeof smi->device, "GPU %.*s",
             (int)(cells[gpu].length < 8 ? cells[gpu].length : 8), cells[gpu].at);
    dmon_lost(logs, line, cells, count, strtol(cells[gpu].at, NULL, 10));
    smi->recent_count = 0;
    for (int i = 0; i < count; i++) {
        char path[64], value[64];
        snprintf(path, sizeof path, "dmon/%s", smi->columns[i]);
        text_of(value, sizeof value, cells[i]);
        smi_judge(logs, line, path, value);
    }
}

/* ---- pmon ---------------------------------------------------------------------------------------------- */

/* Rows come by GPU, one a process: two of one GPU that follow each other and both compute share it. A
 * percentage of '-' is a process that did nothing. */
static void pmon_row(struct logs *logs, const struct log_line *line)
{
    enum { AT_WORK = 10 }; /* percent of the SMs' time */
    struct cell cells[SMI_COLUMNS];
    struct smi_state *smi = &logs->smi;
    int count = split_blanks(line, cells), gpu = column(smi, "gpu"), pid = column(smi, "pid");
    int type = column(smi, "type"), sm = column(smi, "sm");
    char worker[sizeof smi->worker] = "", busy[16];
    if (gpu < 0 || pid < 0 || type < 0 || sm < 0 || gpu >= count || pid >= count || type >= count ||
        sm >= count || *cells[gpu].at < '0' || *cells[gpu].at > '9') {
        smi->mode = SMI_NONE;
        return;
    }
    text_of(busy, sizeof busy, cells[sm]);
    if (memchr(cells[type].at, 'C', cells[type].length) && strtol(busy, NULL, 10) >= AT_WORK)
        snprintf(worker, sizeof worker, "%.*s %.*s", (int)(cells[gpu].length < 8 ? cells[gpu].length : 8),
                 cells[gpu].at, (int)(cells[pid].length < 20 ? cells[pid].length : 20), cells[pid].at);
    size_t same = strcspn(worker, " ") + 1; /* the GPU */
    if (*worker && strncmp(worker, smi->worker, same) == 0 && strcmp(worker, smi->worker) != 0) {
        snprintf(smi->device, sizeof smi->device, "GPU %.*s", (int)same - 1, worker);
        logs_add_sign(logs, line, "gpu-shared", smi->device, NULL);
    }
    memcpy(smi->worker, worker, sizeof worker);
}

/* ---- GPU-Z --------------------------------------------------------------------------------------------- */

/* PerfCap Reason is a sum of 1 power, 2 heat, 4 and 8 voltage, 16 utilisation. */
static void gpuz_row(struct logs *logs, const struct log_line *line)
{
    struct cell cells[SMI_COLUMNS];
    int count = split_commas(line, cells), at = column(&logs->smi, "perfcap_reason");
    if (at < 0 || at >= count) {
        logs->smi.mode = SMI_NONE;
        return;
    }
    char value[64];
    text_of(value, sizeof value, cells[at]);
    long bits = strtol(value, NULL, 10);
    if (bits > 0 && bits & 1)
        logs_add_sign(logs, line, "throttle-power-cap", NULL, NULL);
    if (bits > 0 && bits & 2)
        logs_add_sign(logs, line, "throttle-thermal", NULL, NULL);
}

/* ---- MSI Afterburner ------------------------------------------------------------------------------------
 */

/* "02, 06-05-2025 00:38:27, GPU temperature ,Temp limit ,…" names the columns, "80, …" is a row. Limits are 0
 * or 1; with several GPUs the names begin with "GPU1 ". */
static bool is_afterburner(const struct log_line *line)
{
    return line->length > 4 && memcmp(line->text, "02, ", 4) == 0 &&
           memmem(line->text, line->length, " limit", 6);
}

static void afterburner_row(struct logs *logs, const struct log_line *line)
{
    static const struct {
        const char *column, *sign;
    } limits[] = {{"temp_limit", "throttle-thermal"}, {"power_limit", "throttle-power-cap"}};
    struct cell cells[SMI_COLUMNS];
    int count = split_commas(line, cells);
    if (line->length < 4 || memcmp(line->text, "80, ", 4) != 0)
        return;
    for (int i = 0; i < count && i < logs->smi.column_count; i++)
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            if (strstr(logs->smi.columns[i], limits[l].column) && cells[i].length > 0 && *cells[i].at == '1')
                logs_add_sign(logs, line, limits[l].sign, NULL, NULL);
}

void logs_smi_rows(struct logs *logs, const struct log_line *line)
{
    struct cell cells[SMI_COLUMNS];
    struct smi_state *smi = &logs->smi;
    if (line->length == 0)
        return;
    if (line->text[0] == '#') {
        int count = split_blanks(line, cells);
        bool heads = false, is_pmon = false;
        for (int i = 0; i < count; i++) {
            heads |= cells[i].length == 3 && memcmp(cells[i].at, "gpu", 3) == 0;
            is_pmon |= cells[i].length == 3 && memcmp(cells[i].at, "pid", 3) == 0;
        }
        if (heads && is_pmon) {
            take_heading(logs, cells, count, SMI_PMON, KIND_SMI_PMON);
        } else if (heads) {
            bool had[SMI_GPUS]; /* the heading repeats every screen */
            memcpy(had, smi->had_power, sizeof had);
            bool goes_on = smi->mode == SMI_DMON;
            take_heading(logs, cells, count, SMI_DMON, KIND_SMI_DMON);
            if (goes_on)
                memcpy(smi->had_power, had, sizeof had);
        }
        return;
    }
    if (is_query(line)) {
        int count = split_commas(line, cells);
        take_heading(logs, cells, count, SMI_CSV, KIND_SMI_CSV);
        return;
    }
    if (memmem(line->text, line->length, "PerfCap Reason", 14) && memchr(line->text, ',', line->length)) {
        int count = split_commas(line, cells);
        take_heading(logs, cells, count, SMI_GPUZ, KIND_GPUZ);
        return;
    }
    if (is_afterburner(line)) {
        int count = split_commas(line, cells);
        take_heading(logs, cells, count, SMI_AFTERBURNER, KIND_AFTERBURNER);
        return;
    }
    switch (smi->mode) {
    case SMI_AFTERBURNER:
        afterburner_row(logs, line);
        break;
    case SMI_CSV:
        csv_row(logs, line);
        break;
    case SMI_DMON:
        dmon_row(logs, line);
        break;
    case SMI_PMON:
        pmon_row(logs, line);
        break;
    case SMI_GPUZ:
        gpuz_row(logs, line);
        break;
    default:
        break;
    }
}
