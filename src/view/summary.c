/* The first screen. It must answer by itself: about 40 lines of 100 columns. */
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "view/table.h"
#include "view/text.h"

enum {
    KERNEL_ROWS = 5,
    CULPRIT_ROWS = 4,
    COPY_ROWS = 3,
    MORE_FINDINGS = 3,
    EVIDENCE = 3,
    DEVICES = 8,
    SAVING_WIDTH = 9,
    DEVICE_COLUMN = 19,
    DEVICE_BAR = 20,
    INDENT = 2,
};

/* Accounts below this share of the wall time are one line together. */
static const double least_share = 0.005;

/* "NVIDIA H200 · cc 9.0 · 132 SMs", as far as it is known. What AMD's tools call compute capability is none.
 */
static void model(struct str *out, const struct report *report, const struct device_report *device)
{
    const struct run *run = report->run;
    const struct device *d = &run->devices.at[device->device];
    text_value(out, value_text(d->name ? run_text(run, d->name) : _("unknown model")), report);
    if (d->cc_major > 0 && d->vendor != VENDOR_AMD)
        str_addf(out, " · cc %d.%d", d->cc_major, d->cc_minor);
    if (d->sm_count > 0)
        str_addf(out, d->vendor == VENDOR_AMD ? " · %d CUs" : " · %d SMs", d->sm_count);
}

static double busy_share(const struct device_report *device)
{
    return device->wall_ns > 0 ? (double)device->busy_ns / (double)device->wall_ns : 0;
}

static void only_device(struct screen *s, const struct report *report)
{
    const struct device_report *device = &report->devices.at[0];
    struct str text = {0};
    device_label(&text, report, device->device);
    screen_puts(s, STYLE_BOLD, str_text(&text));
    int column = screen_columns(str_text(&text)) + 2;
    str_cut(&text, 0);
    model(&text, report, device);
    struct msg msg =
        msg_make(report->narrowed ? N_(" · {0} chosen · {1} busy") : N_(" · {0} recorded · {1} busy"),
                 value_ns(device->wall_ns), value_ratio(busy_share(device)));
    text_msg(&text, &msg, report);
    str_pad(&s->text, ' ', 2);
    screen_wrap(s, STYLE_PLAIN, str_text(&text), column, INDENT);
    str_release(&text);
}

/* Devices in a row are named once if they are of one model. */
static void device_line(struct screen *s, const struct report *report, const struct device_report *device,
                        int label_width)
{
    struct str text = {0};
    device_label(&text, report, device->device);
    str_pad(&s->text, ' ', INDENT);
    screen_cell(s, STYLE_PLAIN, str_text(&text), label_width, false);
    str_cut(&text, 0);
    struct msg msg =
        msg_make(report->narrowed ? N_("{0} chosen") : N_("{0} recorded"), value_ns(device->wall_ns));
    text_msg(&text, &msg, report);
    str_pad(&s->text, ' ', 2);
    screen_cell(s, STYLE_PLAIN, str_text(&text), DEVICE_COLUMN, true);
    str_cut(&text, 0);
    msg = msg_make(N_("{0} busy"), value_ratio(busy_share(device)));
    text_msg(&text, &msg, report);
    screen_cell(s, STYLE_PLAIN, str_text(&text), DEVICE_COLUMN, true);
    str_pad(&s->text, ' ', 2);
    int left = s->width - INDENT - label_width - 2 * DEVICE_COLUMN - 4;
    if (left >= DEVICE_BAR)
        screen_bar(s, STYLE_GOOD, busy_share(device), DEVICE_BAR);
    screen_newline(s);
    str_release(&text);
}

static void several_devices(struct screen *s, const struct report *report)
{
    struct str text = {0}, previous = {0};
    size_t shown = report->devices.count < DEVICES ? report->devices.count : DEVICES;
    int label_width = 0;
    for (size_t i = 0; i < shown; i++) {
        str_cut(&text, 0);
        device_label(&text, report, report->devices.at[i].device);
        int width = screen_columns(str_text(&text));
        label_width = width > label_width ? width : label_width;
    }
    int room = s->width - INDENT - 2 * DEVICE_COLUMN - 2;
    label_width = label_width < room ? label_width : room;
    for (size_t i = 0; i < shown; i++) {
        const struct device_report *device = &report->devices.at[i];
        str_cut(&text, 0);
        model(&text, report, device);
        if (i == 0 || strcmp(str_text(&text), str_text(&previous)) != 0)
            screen_wrap(s, STYLE_BOLD, str_text(&text), 0, INDENT);
        str_cut(&previous, 0);
        str_add(&previous, str_text(&text), text.len);
        device_line(s, report, device, label_width);
    }
    str_release(&text);
    str_release(&previous);
}

static void identities(struct screen *s, const struct report *report)
{
    if (report->devices.count == 1)
        only_device(s, report);
    else if (report->devices.count > 1)
        several_devices(s, report);
    else
        screen_wrap(s, STYLE_NOTICE, _("The recording holds no GPU work."), 0, 0);
    if (report->devices.count > DEVICES) {
        struct msg msg = msg_make(N_("… and {0} more: --section ledger shows all"),
                                  value_count((int64_t)report->devices.count - DEVICES));
        struct str text = {0};
        text_msg(&text, &msg, report);
        str_pad(&s->text, ' ', INDENT);
        screen_wrap(s, STYLE_DIM, str_text(&text), INDENT, INDENT);
        str_release(&text);
    }
}

/* The mean over the devices that have it, by their busy time; NAN. */
static double mean_use(const struct report *report, size_t ratio)
{
    double sum = 0, weight = 0;
    vec_each (&report->devices, device) {
        double value;
        memcpy(&value, (const char *)&device->use + ratio, sizeof value);
        if (isnan(value))
            continue;
        sum += value * (double)device->busy_ns;
        weight += (double)device->busy_ns;
    }
    return weight > 0 ? sum / weight : NAN;
}

/* What kernels alone do not tell: how much of the GPU the busy time used. */
static void use(struct screen *s, const struct report *report)
{
    static const struct {
        const char *text;
        size_t ratio;
    } parts[] = {{N_("SMs active {0}"), offsetof(struct gpu_use, sm_active_ratio)},
                 {N_("tensor cores {0}"), offsetof(struct gpu_use, tensor_active_ratio)},
                 {N_("memory bandwidth {0}"), offsetof(struct gpu_use, memory_bandwidth_ratio)}};
    struct str text = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double ratio = mean_use(report, parts[i].ratio);
        if (isnan(ratio))
            continue;
        str_puts(&text, text.len ? " · " : _("While busy: "));
        struct msg msg = msg_make(parts[i].text, value_ratio(ratio));
        text_msg(&text, &msg, report);
    }
    if (text.len) {
        str_pad(&s->text, ' ', INDENT);
        screen_wrap(s, STYLE_DIM, str_text(&text), INDENT, INDENT);
    }
    str_release(&text);
}

static void answer(struct screen *s, const struct report *report)
{
    if (report->findings.count == 0)
        return;
    screen_newline(s);
    text_finding(s, report, &report->findings.at[0], EVIDENCE);
}

/* The device that the answer is about, else the one that idled longest. */
static const struct device_report *device_of_interest(const struct report *report)
{
    const struct device_report *chosen = &report->devices.at[0];
    uint32_t named = report->findings.count ? report->findings.at[0].device : NONE;
    vec_each (&report->devices, device) {
        if (device->device == named)
            return device;
        if (device->wall_ns - device->busy_ns > chosen->wall_ns - chosen->busy_ns)
            chosen = device;
    }
    return chosen;
}

static void ledger(struct screen *s, const struct report *report)
{
    if (report->devices.count == 0)
        return;
    const struct device_report *device = device_of_interest(report);
    text_heading(s, _(sections[SECTION_LEDGER].title));
    if (report->devices.count > 1) {
        struct str text = {0};
        device_label(&text, report, device->device);
        screen_printf(s, STYLE_PLAIN, " (%s)", str_text(&text));
        str_release(&text);
    }
    screen_newline(s);
    text_ledger(s, report, device, report->steady, least_share);
}

/* One line each: what it saves at most, and what it is. */
static void other_findings(struct screen *s, const struct report *report)
{
    if (report->findings.count < 2)
        return;
    const char *also = _("Also found"), *what = _("(and what fixing it would save at most)");
    bool blank = *what == '('; /* Chinese brackets bring their own */
    text_heading(s, also);
    str_puts(&s->text, blank ? " " : "");
    screen_wrap(s, STYLE_DIM, what, screen_columns(also) + blank, 0);
    struct str text = {0};
    for (size_t i = 1; i < report->findings.count && i <= MORE_FINDINGS; i++) {
        const struct finding *finding = &report->findings.at[i];
        str_cut(&text, 0);
        if (finding->saving_ns[1] != UNKNOWN && finding->saving_ns[1] > 0)
            text_value(&text, value_ns(finding->saving_ns[1]), report);
        screen_cell(s, STYLE_PLAIN, str_text(&text), SAVING_WIDTH, true);
        str_pad(&s->text, ' ', INDENT);
        str_cut(&text, 0);
        text_title(&text, finding, report);
        screen_wrap(s, text_severity_style(finding), str_text(&text), SAVING_WIDTH + INDENT,
                    SAVING_WIDTH + INDENT);
    }
    str_release(&text);
}

static void top(struct screen *s, const struct report *report, enum section_id id, size_t rows,
                const struct view_options *options)
{
    size_t all = section_count(&sections[id], report);
    if (all == 0)
        return;
    rows = options->limit == UNKNOWN ? rows : (size_t)options->limit;
    struct str heading = {0};
    str_puts(&heading, _(sections[id].title));
    if (all > rows)
        str_addf(&heading, _(" (%zu of %zu)"), rows, all);
    screen_newline(s);
    table_print(s, &sections[id], report,
                &(struct table_options){.limit = rows,
                                        .max_rank = RANK_OVERVIEW,
                                        .full_names = options->full_names,
                                        .indent = INDENT,
                                        .heading = str_text(&heading)});
    str_release(&heading);
}

/* Where to go on: the page of the answer, and the sections that hold something and are not on this screen. */
static void hint(struct screen *s, const struct report *report)
{
    static const enum section_id more[] = {
        SECTION_GAPS,    SECTION_CALLS,  SECTION_LAUNCHES, SECTION_OPERATORS, SECTION_STEPS,
        SECTION_STREAMS, SECTION_MEMORY, SECTION_COMMS,    SECTION_RANKS,     SECTION_AMDAHL,
    };
    struct str text = {0};
    str_puts(&text, _("More: "));
    if (report->findings.count)
        str_addf(&text, "warplight explain %s · ", report->findings.at[0].id);
    str_puts(&text, "--section ");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (section_count(&sections[more[i]], report) > 0)
            str_addf(&text, "%s, ", sections[more[i]].name);
    str_puts(&text, "all");
    screen_newline(s);
    screen_wrap(s, STYLE_DIM, str_text(&text), 0, 0);
    str_release(&text);
}

void summary_print(struct screen *s, const struct report *report, const struct view_options *options)
{
    const struct report *steady = report->steady ? report->steady : report;
    identities(s, report);
    use(s, report);
    text_steady(s, report);
    answer(s, report);
    ledger(s, report);
    other_findings(s, report);
    top(s, report, SECTION_KERNELS, KERNEL_ROWS, options);
    top(s, steady, SECTION_CULPRITS, CULPRIT_ROWS, options);
    top(s, report, SECTION_COPIES, COPY_ROWS, options);
    if (report->steps.count > 0) {
        screen_newline(s);
        text_steps(s, report);
    }
    struct screen losses = {.width = s->width, .color = s->color, .utf8 = s->utf8};
    text_losses(&losses, report);
    if (losses.text.len) {
        text_heading(s, _(sections[SECTION_LOSSES].title));
        screen_newline(s);
        str_add(&s->text, str_text(&losses.text), losses.text.len);
    }
    screen_release(&losses);
    hint(s, report);
}
