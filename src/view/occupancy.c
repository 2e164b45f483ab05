/* Theoretical occupancy, for people and machines. */
#include <inttypes.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/json_write.h"
#include "view/text.h"

enum { INDENT = 2, BAR = 32, NUMBER = 10, LABEL = 16, KERNEL_WIDTH = 64 };

/* ---- text ---------------------------------------------------------------------------------------------- */

static void put_msg(struct screen *s, enum style style, const struct msg *msg, int indent)
{
    struct str text = {0};
    msg_render(&text, msg, true, 0);
    str_pad(&s->text, ' ', (size_t)indent);
    screen_wrap(s, style, str_text(&text), indent, indent + INDENT);
    str_release(&text);
}

static void put_value(struct screen *s, enum style style, struct value value, int width)
{
    struct str text = {0};
    value_render(&text, &value, true, 0);
    screen_cell(s, style, str_text(&text), width, true);
    str_release(&text);
}

static void add_limiters(struct str *out, unsigned limiters, bool translate)
{
    bool any = false;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (limiters >> i & 1) {
            const char *name = occupancy_limit_title((enum occupancy_limit)i);
            str_addf(out, "%s%s", any ? ", " : "", translate ? _(name) : name);
            any = true;
        }
}

static void put_launch(struct screen *s, const struct occupancy_report *report)
{
    const struct occupancy_launch *launch = &report->launch;
    if (report->name) {
        struct str name = {0};
        kernel_shorten(&name, report->name, KERNEL_WIDTH);
        screen_puts(s, STYLE_HEADING, str_text(&name));
        screen_printf(s, STYLE_DIM, "  %s", report->architecture);
        screen_newline(s);
        str_release(&name);
    }
    struct msg msg = msg_make(N_("{0} threads a block, {1} registers a thread, {2} of shared memory a block"),
                              value_count(launch->threads), value_count(launch->registers),
                              value_bytes(launch->shared_bytes));
    if (launch->barriers > 0) {
        msg.format =
            N_("{0} threads a block, {1} registers a thread, {2} of shared memory and {3} named barriers "
               "a block");
        msg.values[3] = value_count(launch->barriers);
    }
    put_msg(s, STYLE_PLAIN, &msg, 0);
}

static void put_answer(struct screen *s, const struct occupancy_report *report)
{
    const struct occupancy *now = &report->now;
    struct str capability = {0};
    str_addf(&capability, "%d.%d", now->cc / 10, now->cc % 10);
    put_msg(s, now->blocks ? STYLE_BOLD : STYLE_BAD,
            &msg_make(N_("{0} occupancy on compute capability {1}: {4} of {5} warps on an SM ({2} × {3})"),
                      value_ratio(now->ratio), value_text(str_text(&capability)), value_count(now->blocks),
                      value_count(now->warps_per_block), value_count(now->blocks * now->warps_per_block),
                      value_count(now->max_warps)),
            0);
    if (now->refusal != REFUSAL_NONE)
        put_msg(s, STYLE_BAD,
                &msg_make(N_("it cannot be launched: {0}"), value_term(occupancy_refusal_text(now->refusal))),
                0);
    str_release(&capability);
}

static void put_limits(struct screen *s, const struct occupancy *now)
{
    text_heading(s, _("Blocks on an SM that each resource allows"));
    screen_newline(s);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        bool limits = now->limiters >> i & 1;
        if (now->blocks_by[i] == INT64_MAX)
            continue;
        str_pad(&s->text, ' ', INDENT);
        screen_cell(s, limits ? STYLE_BOLD : STYLE_PLAIN, _(occupancy_limit_title((enum occupancy_limit)i)),
                    LABEL, false);
        put_value(s, limits ? STYLE_BOLD : STYLE_PLAIN, value_count(now->blocks_by[i]), NUMBER);
        screen_puts(s, STYLE_NOTICE, limits ? _("  ← the limit") : "");
        screen_newline(s);
    }
}

static void put_next_block(struct screen *s, const struct occupancy_report *report)
{
    const struct occupancy_next *next = &report->next;
    struct value blocks = value_count(next->then.blocks), ratio = value_ratio(next->then.ratio);
    struct value registers = value_count(report->launch.registers - next->launch.registers);
    struct value shared = value_bytes(report->launch.shared_bytes - next->launch.shared_bytes);
    if (!next->possible)
        return;
    if (next->registers && next->shared)
        put_msg(
            s, STYLE_PLAIN,
            &msg_make(
                N_("{0} fewer registers a thread and {1} less shared memory a block → {2} blocks/SM, {3}"),
                registers, shared, blocks, ratio),
            INDENT);
    else if (next->registers)
        put_msg(s, STYLE_PLAIN,
                &msg_make(N_("{0} fewer registers a thread (at most {1}) → {2} blocks/SM, {3}"), registers,
                          value_count(next->launch.registers), blocks, ratio),
                INDENT);
    else if (next->shared)
        put_msg(s, STYLE_PLAIN,
                &msg_make(N_("{0} less shared memory a block (at most {1}) → {2} blocks/SM, {3}"), shared,
                          value_bytes(next->launch.shared_bytes), blocks, ratio),
                INDENT);
    if (next->barriers)
        put_msg(s, STYLE_PLAIN,
                &msg_make(N_("at most {0} named barriers a block → {1} blocks/SM, {2}"),
                          value_count(next->launch.barriers), blocks, ratio),
                INDENT);
}

static void put_next(struct screen *s, const struct occupancy_report *report)
{
    text_heading(s, _("What would change it"));
    screen_newline(s);
    put_next_block(s, report);
    if (report->better_block)
        put_msg(s, STYLE_PLAIN,
                &msg_make(N_("{0} threads a block → {1} blocks/SM, {2}"), value_count(report->better_block),
                          value_count(report->better.blocks), value_ratio(report->better.ratio)),
                INDENT);
    else if (!report->next.possible)
        put_msg(s, STYLE_PLAIN, &msg_make(N_("nothing: no block size is better")), INDENT);
    if (report->free_registers > report->launch.registers && report->now.blocks > 0)
        put_msg(
            s, STYLE_PLAIN,
            &msg_make(N_("up to {0} registers a thread cost no block"), value_count(report->free_registers)),
            INDENT);
}

static void put_step(struct screen *s, const struct occupancy_step *step, struct value most, bool here)
{
    put_value(s, here ? STYLE_BOLD : STYLE_PLAIN, most, INDENT + NUMBER);
    put_value(s, here ? STYLE_BOLD : STYLE_PLAIN, value_count(step->blocks), NUMBER);
    put_value(s, here ? STYLE_BOLD : STYLE_PLAIN, value_ratio(step->ratio), NUMBER);
    str_pad(&s->text, ' ', INDENT);
    screen_bar(s, here ? STYLE_GOOD : STYLE_PLAIN, step->ratio, BAR);
    screen_puts(s, STYLE_GOOD, here ? "  ←" : "");
    screen_newline(s);
}

static void put_header(struct screen *s, const char *title, const char *first)
{
    text_heading(s, title);
    screen_newline(s);
    screen_cell(s, STYLE_DIM, first, INDENT + NUMBER, true);
    screen_cell(s, STYLE_DIM, _("blocks/SM"), NUMBER, true);
    screen_cell(s, STYLE_DIM, _("occupancy"), NUMBER, true);
    screen_newline(s);
}

/* Every block size up to 256, and then those that people use; and the launch's own. */
static bool is_shown(int64_t threads, int64_t own)
{
    enum { FINE = 256, MIDDLE = 512 };
    int64_t step = threads <= FINE     ? OCCUPANCY_WARP
                   : threads <= MIDDLE ? 2 * OCCUPANCY_WARP
                                       : 4 * OCCUPANCY_WARP;
    return threads == own || threads % step == 0;
}

static void put_curves(struct screen *s, const struct occupancy_report *report)
{
    int64_t own = report->now.warps_per_block * OCCUPANCY_WARP;
    put_header(s, _("Over the block size"), _("threads"));
    vec_each (&report->by_block, step)
        if (is_shown(step->most, own))
            put_step(s, step, value_count(step->most), step->most == own);
    if (report->by_registers.count)
        put_header(s, _("Over the registers of a thread"), _("up to"));
    vec_each (&report->by_registers, step)
        put_step(s, step, value_count(step->most),
                 step->blocks == report->now.blocks && report->launch.registers <= step->most);
    if (report->by_shared.count > 1)
        put_header(s, _("Over the shared memory of a block"), _("up to"));
    for (size_t i = 0; report->by_shared.count > 1 && i < report->by_shared.count; i++) {
        const struct occupancy_step *step = &report->by_shared.at[i];
        put_step(s, step, value_bytes(step->most),
                 step->blocks == report->now.blocks && report->launch.shared_bytes <= step->most);
    }
}

static void put_notes(struct screen *s, const struct occupancy_report *report)
{
    screen_newline(s);
    if (report->cluster != UNKNOWN && report->cluster > 1)
        put_msg(
            s, STYLE_DIM,
            &msg_make(
                N_("Blocks of a cluster of {0} must find room at the same time on the SMs of one GPC: fewer "
                   "may run than fit on the SMs one by one."),
                value_count(report->cluster)),
            0);
    put_msg(
        s, STYLE_DIM,
        &msg_make(
            N_("The largest share of the L1 cache is taken for shared memory ({0} on an SM); the driver may "
               "choose a smaller one."),
            value_bytes(report->now.shared_sm_bytes)),
        0);
    put_msg(
        s, STYLE_DIM,
        &msg_make(
            N_("Occupancy is capacity, not efficiency: more warps hide more latency, but a kernel that keeps "
               "a pipe or the memory busy gains nothing from them, and may lose registers or cache.")),
        0);
}

void text_occupancy(struct screen *s, const struct occupancy_report *report)
{
    put_launch(s, report);
    put_answer(s, report);
    put_limits(s, &report->now);
    put_next(s, report);
    put_curves(s, report);
    put_notes(s, report);
}

void text_occupancies(struct screen *s, const struct occupancy_report *reports, size_t count)
{
    struct str text = {0};
    enum { CAPABILITY = 12, BARS = 24 };
    put_launch(s, &reports[0]);
    screen_newline(s);
    screen_cell(s, STYLE_DIM, _("capability"), CAPABILITY, true);
    screen_cell(s, STYLE_DIM, _("blocks/SM"), NUMBER + 1, true);
    screen_cell(s, STYLE_DIM, _("occupancy"), NUMBER + 1, true);
    str_pad(&s->text, ' ', INDENT + BARS + INDENT);
    screen_puts(s, STYLE_DIM, _("limited by"));
    screen_newline(s);
    for (size_t i = 0; i < count; i++) {
        const struct occupancy *now = &reports[i].now;
        str_cut(&text, 0);
        str_addf(&text, "%d.%d", now->cc / 10, now->cc % 10);
        screen_cell(s, STYLE_PLAIN, str_text(&text), CAPABILITY, true);
        put_value(s, STYLE_PLAIN, value_count(now->blocks), NUMBER + 1);
        put_value(s, STYLE_PLAIN, value_ratio(now->ratio), NUMBER + 1);
        str_pad(&s->text, ' ', INDENT);
        screen_bar(s, STYLE_PLAIN, now->ratio, BARS);
        str_pad(&s->text, ' ', INDENT);
        str_cut(&text, 0);
        if (now->refusal != REFUSAL_NONE)
            str_puts(&text, _(occupancy_refusal_text(now->refusal)));
        else
            add_limiters(&text, now->limiters, true);
        screen_wrap(s, now->blocks ? STYLE_PLAIN : STYLE_BAD, str_text(&text),
                    CAPABILITY + 2 * NUMBER + 4 + INDENT + BARS, CAPABILITY + 2 * NUMBER + 4 + INDENT + BARS);
    }
    screen_newline(s);
    put_msg(s, STYLE_DIM, &msg_make(N_("--cc X.Y says what limits one of them, and what would change it.")),
            0);
    put_msg(s, STYLE_DIM, &msg_make(N_("Occupancy is capacity, not efficiency.")), 0);
    str_release(&text);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void write_ratio(struct json_writer *w, const char *key, double ratio)
{
    json_key(w, key);
    json_double(w, ratio);
}

static void write_nothing(struct json_writer *w, const char *key, const char *why)
{
    struct str name = {0};
    json_key(w, key);
    json_null(w);
    str_addf(&name, "%s_why", key);
    json_key(w, str_text(&name));
    json_puts(w, why);
    str_release(&name);
}

static void write_limits(struct json_writer *w, const struct occupancy *now)
{
    json_key(w, "blocks_per_sm_by");
    json_object_begin(w);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const char *name = occupancy_limit_name((enum occupancy_limit)i);
        if (now->blocks_by[i] == INT64_MAX)
            write_nothing(w, name, "this does not limit it");
        else
            json_key_int(w, name, now->blocks_by[i]);
    }
    json_object_end(w);
    json_key(w, "occupancy_limiters");
    json_array_begin(w);
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (now->limiters >> i & 1)
            json_puts(w, occupancy_limit_name((enum occupancy_limit)i));
    json_array_end(w);
}

static void write_next(struct json_writer *w, const struct occupancy_report *report)
{
    const struct occupancy_next *next = &report->next;
    if (!next->possible) {
        write_nothing(w, "next", "registers, shared memory and barriers are not what limits it");
    } else {
        json_key(w, "next");
        json_object_begin(w);
        json_key_int(w, "registers_per_thread", next->launch.registers);
        json_key_int(w, "shared_bytes", next->launch.shared_bytes);
        json_key_int(w, "barriers", next->launch.barriers);
        json_key_int(w, "blocks_per_sm", next->then.blocks);
        write_ratio(w, "theoretical_occupancy_ratio", next->then.ratio);
        json_object_end(w);
    }
    if (!report->better_block) {
        write_nothing(w, "better_block", "no block size is better");
        return;
    }
    json_key(w, "better_block");
    json_object_begin(w);
    json_key_int(w, "block_threads", report->better_block);
    json_key_int(w, "blocks_per_sm", report->better.blocks);
    write_ratio(w, "theoretical_occupancy_ratio", report->better.ratio);
    json_object_end(w);
}

static void write_steps(struct json_writer *w, const char *key, const char *most,
                        const struct occupancy_step *steps, size_t count)
{
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(w);
        json_key_int(w, most, steps[i].most);
        json_key_int(w, "blocks_per_sm", steps[i].blocks);
        write_ratio(w, "theoretical_occupancy_ratio", steps[i].ratio);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_report(struct json_writer *w, const struct occupancy_report *report)
{
    const struct occupancy *now = &report->now;
    struct str capability = {0};
    str_addf(&capability, "%d.%d", now->cc / 10, now->cc % 10);
    json_object_begin(w);
    if (report->name) {
        json_key(w, "name");
        json_puts(w, report->name);
        json_key(w, "architecture");
        json_puts(w, report->architecture);
    } else {
        write_nothing(w, "name", "no kernel was named");
    }
    json_key(w, "compute_capability");
    json_puts(w, str_text(&capability));
    json_key_int(w, "block_threads", report->launch.threads);
    json_key_int(w, "registers_per_thread", report->launch.registers);
    json_key_int(w, "shared_bytes", report->launch.shared_bytes);
    json_key_int(w, "barriers", report->launch.barriers);
    json_key_int(w, "shared_taken_bytes", now->shared_taken_bytes);
    json_key_int(w, "warps_per_block", now->warps_per_block);
    json_key_int(w, "max_warps_per_sm", now->max_warps);
    json_key_int(w, "blocks_per_sm", now->blocks);
    write_ratio(w, "theoretical_occupancy_ratio", now->ratio);
    if (now->refusal != REFUSAL_NONE) {
        json_key(w, "refusal");
        json_puts(w, occupancy_refusal_text(now->refusal));
    } else {
        write_nothing(w, "refusal", "it can be launched");
    }
    write_limits(w, now);
    write_next(w, report);
    json_key_int(w, "free_registers_per_thread", report->free_registers);
    write_steps(w, "by_block", "block_threads", report->by_block.at, report->by_block.count);
    write_steps(w, "by_registers", "registers_per_thread", report->by_registers.at,
                report->by_registers.count);
    write_steps(w, "by_shared", "shared_bytes", report->by_shared.at, report->by_shared.count);
    json_object_end(w);
    str_release(&capability);
}

void json_occupancies(FILE *out, const struct occupancy_report *reports, size_t count)
{
    struct str text = {0};
    struct json_writer w = {.out = &text, .indent = 1};
    json_object_begin(&w);
    json_key(&w, "schema");
    json_puts(&w, "warplight.occupancy/1");
    json_key(&w, "warplight_version");
    json_puts(&w, WARPLIGHT_VERSION);
    json_key(&w, "launches");
    json_array_begin(&w);
    for (size_t i = 0; i < count; i++)
        write_report(&w, &reports[i]);
    json_array_end(&w);
    json_object_end(&w);
    str_putc(&text, '\n');
    fwrite(text.ptr, 1, text.len, out);
    str_release(&text);
}
