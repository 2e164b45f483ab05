#include "source/drm_card.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "source/pci.h"
#include "source/small_file.h"

/* ---- which cards -----------------------------------------------------------------------------------------
 */

/* "card0", not "card0-DP-1"; else -1. */
static int card_number(const char *name)
{
    char *end;
    if (strncmp(name, "card", 4) != 0 || !isdigit((unsigned char)name[4]))
        return -1;
    long number = strtol(name + 4, &end, 10);
    return *end == '\0' && number < 10000 ? (int)number : -1;
}

static void find_hwmon(struct drm_card *card)
{
    char folder[sizeof card->folder + 8];
    snprintf(folder, sizeof folder, "%s/hwmon", card->folder);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strncmp(entry->d_name, "hwmon", 5) == 0 && strlen(entry->d_name) < 16)
            snprintf(card->hwmon, sizeof card->hwmon, "%s/%.16s", folder, entry->d_name);
    if (entries)
        closedir(entries);
}

static enum vendor vendor_of(const char *pci_id)
{
    switch (strtoul(pci_id, NULL, 16)) {
    case PCI_NVIDIA:
        return VENDOR_NVIDIA;
    case PCI_AMD:
        return VENDOR_AMD;
    case PCI_INTEL:
        return VENDOR_INTEL;
    default:
        return VENDOR_UNKNOWN;
    }
}

/* False for what is no card of ours: no PCI device, NVIDIA's driver, a vendor of servers' console chips. */
static bool open_card(struct drm_card *card, const char *sysfs, int number)
{
    char uevent[1024], text[64];
    *card = (struct drm_card){.number = number};
    if (snprintf(card->folder, sizeof card->folder, "%s/class/drm/card%d/device", sysfs, number) >=
            (int)sizeof card->folder ||
        small_file_read(uevent, sizeof uevent, "%s/uevent", card->folder) < 0)
        return false;
    small_line(card->driver, sizeof card->driver, uevent, "DRIVER=");
    small_line(card->bus, sizeof card->bus, uevent, "PCI_SLOT_NAME=");
    small_line(text, sizeof text, uevent, "PCI_ID=");
    card->vendor = vendor_of(text);
    if (!card->bus[0] || card->vendor == VENDOR_UNKNOWN || strcmp(card->driver, "nvidia") == 0)
        return false;
    small_file_read(text, sizeof text, "%s/power/runtime_status", card->folder);
    card->awake = strncmp(text, "suspend", 7) != 0; /* the file is missing where nothing can sleep */
    find_hwmon(card);
    return true;
}

static int by_number(const void *a, const void *b)
{
    return ((const struct drm_card *)a)->number - ((const struct drm_card *)b)->number;
}

size_t drm_cards(const char *sysfs, struct drm_card cards[DRM_MOST_CARDS])
{
    char folder[256];
    size_t count = 0;
    if (snprintf(folder, sizeof folder, "%s/class/drm", sysfs) >= (int)sizeof folder)
        return 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && count < DRM_MOST_CARDS && (entry = readdir(entries));) {
        int number = card_number(entry->d_name);
        if (number >= 0 && open_card(&cards[count], sysfs, number))
            count++;
    }
    if (entries)
        closedir(entries);
    qsort(cards, count, sizeof *cards, by_number);
    return count;
}

/* ---- values that are one number in one file --------------------------------------------------------------
 */

enum { SAMPLE, DETAIL, FACTS };

struct card_file {
    enum { AT_DEVICE, AT_HWMON, AT_CARD } place;
    const char *name;
    int target; /* which struct of a device offset is in */
    size_t offset;
    int64_t multiply, divide;
};

/* The first file of a field that has a number counts. */
static const struct card_file files[] = {
    {AT_DEVICE, "gpu_busy_percent", SAMPLE, offsetof(struct gpu_sample, utilization), 1, 1},
    {AT_DEVICE, "mem_busy_percent", SAMPLE, offsetof(struct gpu_sample, memory_utilization), 1, 1},
    {AT_DEVICE, "mem_info_vram_used", SAMPLE, offsetof(struct gpu_sample, memory_used), 1, 1},
    {AT_DEVICE, "mem_info_vram_total", FACTS, offsetof(struct gpu_facts, memory), 1, 1},
    {AT_DEVICE, "current_link_width", SAMPLE, offsetof(struct gpu_sample, pcie_width), 1, 1},
    {AT_DEVICE, "max_link_width", FACTS, offsetof(struct gpu_facts, pcie_width_max), 1, 1},
    {AT_DEVICE, "pcie_replay_count", DETAIL, offsetof(struct machine_detail, pcie_replays), 1, 1},
    {AT_DEVICE, "vcn_busy_percent", DETAIL, offsetof(struct machine_detail, decoder), 1, 1},
    {AT_HWMON, "power1_average", SAMPLE, offsetof(struct gpu_sample, power), 1, 1000},
    {AT_HWMON, "power1_input", SAMPLE, offsetof(struct gpu_sample, power), 1, 1000},
    {AT_HWMON, "power1_cap", SAMPLE, offsetof(struct gpu_sample, power_limit), 1, 1000},
    {AT_HWMON, "power1_max", SAMPLE, offsetof(struct gpu_sample, power_limit), 1, 1000},
    {AT_HWMON, "power1_cap_max", FACTS, offsetof(struct gpu_facts, power_limit_max), 1, 1000},
    {AT_HWMON, "power1_cap_min", FACTS, offsetof(struct gpu_facts, power_limit_min), 1, 1000},
    {AT_HWMON, "power1_cap_default", FACTS, offsetof(struct gpu_facts, power_limit_default), 1, 1000},
    {AT_HWMON, "energy1_input", SAMPLE, offsetof(struct gpu_sample, energy), 1, 1000},
    {AT_HWMON, "freq1_input", SAMPLE, offsetof(struct gpu_sample, sm_clock), 1, 1},
    {AT_HWMON, "freq2_input", SAMPLE, offsetof(struct gpu_sample, memory_clock), 1, 1},
    {AT_CARD, "gt/gt0/rps_act_freq_mhz", SAMPLE, offsetof(struct gpu_sample, sm_clock), 1000000, 1},
    {AT_CARD, "gt/gt0/rps_max_freq_mhz", FACTS, offsetof(struct gpu_facts, sm_clock_max), 1000000, 1},
    {AT_CARD, "gt_act_freq_mhz", SAMPLE, offsetof(struct gpu_sample, sm_clock), 1000000, 1},
    {AT_CARD, "gt_max_freq_mhz", FACTS, offsetof(struct gpu_facts, sm_clock_max), 1000000, 1},
    {AT_DEVICE, "tile0/gt0/freq0/act_freq", SAMPLE, offsetof(struct gpu_sample, sm_clock), 1000000, 1},
    {AT_DEVICE, "tile0/gt0/freq0/max_freq", FACTS, offsetof(struct gpu_facts, sm_clock_max), 1000000, 1},
};

static struct reading *target_of(struct machine_device *d, const struct card_file *file)
{
    char *base = file->target == SAMPLE   ? (char *)&d->sample
                 : file->target == DETAIL ? (char *)&d->detail
                                          : (char *)&d->facts;
    return (struct reading *)(base + file->offset);
}

static struct reading read_number(const struct drm_card *card, int place, const char *name)
{
    if (place == AT_HWMON)
        return card->hwmon[0] ? small_file_number("%s/%s", card->hwmon, name)
                              : reading_missing(READING_UNSUPPORTED);
    /* Not "device/..": device is a link to somewhere else. */
    size_t length = strlen(card->folder) - (place == AT_CARD ? strlen("/device") : 0);
    return small_file_number("%.*s/%s", (int)length, card->folder, name);
}

static struct reading scale(struct reading r, int64_t multiply, int64_t divide)
{
    if (reading_is_known(r) && __builtin_mul_overflow(r.value, multiply, &r.value))
        return reading_missing(READING_IMPLAUSIBLE);
    r.value /= divide;
    return r;
}

static void read_files(const struct drm_card *card, struct machine_device *d)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct card_file *file = &files[i];
        struct reading *to = target_of(d, file);
        if (reading_is_known(*to))
            continue;
        struct reading r = scale(read_number(card, file->place, file->name), file->multiply, file->divide);
        if (r.state != READING_UNSUPPORTED || to->state == READING_UNREAD)
            *to = r;
    }
}

/* ---- the rest --------------------------------------------------------------------------------------------
 */

/* The line with the asterisk of "0: 500Mhz\n1: 2400Mhz *", in Hz; of a table without one, nothing. */
static struct reading marked_clock(const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *colon = memchr(line, ':', length);
        int64_t mhz;
        if (memchr(line, '*', length) && colon && small_number(colon + 1, &mhz))
            return scale(reading_of(mhz), 1000000, 1);
        line += length + (line[length] == '\n');
    }
    return reading_missing(READING_UNSUPPORTED);
}

static void read_clock_table(const struct drm_card *card, const char *name, struct reading *to)
{
    char text[4096];
    if (reading_is_known(*to) || small_file_read(text, sizeof text, "%s/%s", card->folder, name) < 0)
        return;
    *to = marked_clock(text);
}

/* Sensors by their labels; one without a label is the GPU's. */
static void read_temperatures(const struct drm_card *card, struct machine_device *d)
{
    enum { MOST_SENSORS = 8, MILLI = 1000 };
    d->sample.temperature = d->sample.memory_temperature = reading_missing(READING_UNSUPPORTED);
    d->detail.hotspot = reading_missing(READING_UNSUPPORTED);
    for (int i = 1; card->hwmon[0] && i <= MOST_SENSORS; i++) {
        char label[32];
        struct reading value = scale(small_file_number("%s/temp%d_input", card->hwmon, i), 1, MILLI);
        if (value.state == READING_UNSUPPORTED)
            continue;
        small_file_read(label, sizeof label, "%s/temp%d_label", card->hwmon, i);
        label[strcspn(label, "\n")] = '\0';
        struct reading *to = strcmp(label, "junction") == 0 ? &d->detail.hotspot
                             : strcmp(label, "mem") == 0 || strcmp(label, "vram") == 0
                                 ? &d->sample.memory_temperature
                                 : &d->sample.temperature;
        if (to->state == READING_UNSUPPORTED)
            *to = value;
    }
}

static void read_fan(const struct drm_card *card, struct machine_device *d)
{
    enum { PWM_FULL = 255, HUNDRED = 100 };
    struct reading rpm = read_number(card, AT_HWMON, "fan1_input"),
                   most = read_number(card, AT_HWMON, "fan1_max");
    struct reading pwm = read_number(card, AT_HWMON, "pwm1");
    if (reading_is_known(rpm) && reading_is_known(most) && most.value > 0)
        d->detail.fan = scale(rpm, HUNDRED, most.value);
    else
        d->detail.fan = scale(pwm, HUNDRED, PWM_FULL);
}

/* "16.0 GT/s PCIe" */
static struct reading link_generation(const struct drm_card *card, const char *name)
{
    static const struct {
        const char *speed;
        int generation;
    } speeds[] = {{"2.5 ", 1}, {"5.0 ", 2},  {"5 ", 2},  {"8.0 ", 3},  {"8 ", 3}, {"16.0 ", 4},
                  {"16 ", 4},  {"32.0 ", 5}, {"32 ", 5}, {"64.0 ", 6}, {"64 ", 6}};
    char text[64];
    if (small_file_read(text, sizeof text, "%s/%s", card->folder, name) < 0)
        return reading_missing(small_file_why(errno));
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (strncmp(text, speeds[i].speed, strlen(speeds[i].speed)) == 0)
            return reading_of(speeds[i].generation);
    return reading_missing(READING_UNSUPPORTED);
}

/* Intel's drivers say with a file for each why the clocks are held; amdgpu does not in sysfs. */
static void read_reasons(const struct drm_card *card, struct gpu_sample *s)
{
    static const struct {
        const char *i915, *xe;
        enum gpu_clock_reason reason;
    } reasons[] = {
        {"gt/gt0/throttle_reason_pl1", "reason_pl1", GPU_CLOCK_POWER_CAP},
        {"gt/gt0/throttle_reason_pl2", "reason_pl2", GPU_CLOCK_POWER_CAP},
        {"gt/gt0/throttle_reason_pl4", "reason_pl4", GPU_CLOCK_POWER_CAP},
        {"gt/gt0/throttle_reason_thermal", "reason_thermal", GPU_CLOCK_HARDWARE_THERMAL},
        {"gt/gt0/throttle_reason_prochot", "reason_prochot", GPU_CLOCK_POWER_BRAKE},
        {"gt/gt0/throttle_reason_vr_thermalert", "reason_vr_thermalert", GPU_CLOCK_HARDWARE_THERMAL},
    };
    s->clock_reasons = reading_missing(READING_UNSUPPORTED);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct reading is = read_number(card, AT_CARD, reasons[i].i915);
        if (!reading_is_known(is))
            is = small_file_number("%s/tile0/gt0/freq0/throttle/%s", card->folder, reasons[i].xe);
        if (!reading_is_known(is))
            continue;
        int64_t mask = reading_is_known(s->clock_reasons) ? s->clock_reasons.value : 0;
        s->clock_reasons = reading_of(is.value ? mask | reasons[i].reason : mask);
    }
}

static void read_word(char *out, size_t size, const struct drm_card *card, const char *name)
{
    char text[128];
    struct str visible = {0};
    small_file_read(text, sizeof text, "%s/%s", card->folder, name);
    text[strcspn(text, "\n")] = '\0';
    utf8_visible(&visible, text, strlen(text));
    snprintf(out, size, "%s", str_text(&visible));
    str_release(&visible);
}

static void read_names(const struct drm_card *card, struct machine_device *d)
{
    char unique[32];
    read_word(d->facts.name, sizeof d->facts.name, card, "product_name");
    read_word(d->facts.vbios, sizeof d->facts.vbios, card, "vbios_version");
    read_word(unique, sizeof unique, card, "unique_id");
    if (unique[0])
        snprintf(d->facts.uuid, sizeof d->facts.uuid, "%s", unique);
}

void drm_card_read(const struct drm_card *card, struct machine_device *d)
{
    *d = (struct machine_device){.id = card->number, .vendor = card->vendor, .parent = NONE};
    snprintf(d->driver, sizeof d->driver, "%s", card->driver);
    snprintf(d->facts.bus, sizeof d->facts.bus, "%s", card->bus);
    snprintf(d->key, sizeof d->key, "%s", card->bus);
    d->state = card->awake ? READING_KNOWN : READING_ASLEEP;
    if (card->awake) {
        read_names(card, d);
        read_files(card, d);
        read_clock_table(card, "pp_dpm_sclk", &d->sample.sm_clock);
        read_clock_table(card, "pp_dpm_mclk", &d->sample.memory_clock);
        read_temperatures(card, d);
        read_fan(card, d);
        read_reasons(card, &d->sample);
        d->sample.pcie_generation = link_generation(card, "current_link_speed");
        d->facts.pcie_generation_max = link_generation(card, "max_link_speed");
    }
    enum reading_state why = card->awake ? READING_UNSUPPORTED : READING_ASLEEP;
    gpu_missing(&d->sample, gpu_sample_fields, why);
    gpu_missing(&d->detail, machine_detail_fields, why);
    gpu_missing(&d->facts, gpu_fact_fields, why);
    gpu_check(&d->sample, gpu_sample_fields);
    gpu_check(&d->detail, machine_detail_fields);
    gpu_check(&d->facts, gpu_fact_fields);
}
