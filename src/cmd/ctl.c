/* warplight ctl: starts, stops and looks at recordings that run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/suggest.h"
#include "source/control.h"

enum format { FORMAT_TEXT, FORMAT_JSON };
enum { INDENT = 2 };

static const char *const format_names[] = {"text", "json", NULL};

struct ctl_args {
    int format;
};

static const struct ctl_args defaults;

#define AT(field) offsetof(struct ctl_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text or json (default: text)"), AT(format),
     format_names},
    OPTION_END,
};
#undef AT

/* ---- which recording ------------------------------------------------------------------------------------
 */

struct running {
    struct str folder;
    struct control_reply status;
};

struct all_running {
    VEC(struct running) ours;
    VEC(int64_t) others; /* pids of recorders of other users */
};

static void note(void *context, const char *path, int64_t pid, bool ours)
{
    struct all_running *all = context;
    struct running running = {0};
    if (!ours) {
        vec_push(&all->others, pid);
    } else if (control_ask(path, CONTROL_STATUS, &running.status, NULL) == 0) { /* else it has just ended */
        str_puts(&running.folder, path);
        vec_push(&all->ours, running);
    }
}

static void running_release(struct all_running *all)
{
    vec_each (&all->ours, running) {
        str_release(&running->folder);
        control_reply_release(&running->status);
    }
    vec_release(&all->ours);
    vec_release(&all->others);
}

/* A pid, of the recorder or of the program; else the file, with or without its folder. */
static bool is_named(const struct running *running, const char *name)
{
    char *end;
    long pid = strtol(name, &end, 10);
    if (*end == '\0' && (pid == running->status.record_pid || pid == running->status.target_pid))
        return true;
    const char *file = str_text(&running->status.file), *slash = strrchr(file, '/');
    if (strcmp(file, name) == 0 || strcmp(slash ? slash + 1 : file, name) == 0)
        return true;
    char *given = realpath(name, NULL), *real = realpath(file, NULL);
    bool same = given && real && strcmp(given, real) == 0;
    free(given);
    free(real);
    return same;
}

static void list_pids(struct str *out, const struct all_running *all)
{
    vec_each (&all->ours, running)
        str_addf(out, "%s%lld", running == all->ours.at ? "" : ", ", (long long)running->status.record_pid);
}

static int none_runs(const struct all_running *all, struct err *err)
{
    if (all->others.count)
        return err_set(err, ERR_ENV, NULL, -1, _("a recording is controlled by the user who started it"),
                       _("no recording of this user runs, but %zu of other users"), all->others.count);
    return err_set(err, ERR_ENV, NULL, -1, _("'warplight record -- PROGRAM' starts one"),
                   _("no recording runs"));
}

static int not_found(const struct all_running *all, const char *name, struct err *err)
{
    vec_each (&all->others, pid)
        if (*pid == strtol(name, NULL, 10))
            return err_set(err, ERR_ENV, name, -1, _("a recording is controlled by the user who started it"),
                           _("this recording belongs to another user"));
    if (all->ours.count == 0)
        return none_runs(all, err);
    struct str hint = {0}, pids = {0};
    list_pids(&pids, all);
    str_addf(&hint, _("these run: %s"), str_text(&pids));
    int rc = err_set(err, ERR_ENV, name, -1, str_text(&hint), _("no recording that runs is called that"));
    str_release(&hint);
    str_release(&pids);
    return rc;
}

/* name NULL: the only one. */
static int choose(const struct all_running *all, const char *name, const struct running **chosen,
                  struct err *err)
{
    *chosen = NULL;
    vec_each (&all->ours, running)
        if (name && is_named(running, name))
            *chosen = running;
    if (*chosen)
        return 0;
    if (name)
        return not_found(all, name, err);
    if (all->ours.count == 0)
        return none_runs(all, err);
    *chosen = all->ours.at;
    if (all->ours.count == 1)
        return 0;
    struct str pids = {0};
    list_pids(&pids, all);
    int rc = err_set(err, ERR_USAGE, NULL, -1, _("name one; 'warplight ctl status' shows them"),
                     _("several recordings run: %s"), str_text(&pids));
    str_release(&pids);
    return rc;
}

/* ---- what is printed ------------------------------------------------------------------------------------
 */

static const char *const state_titles[CONTROL_STATES] = {N_("recording"), N_("paused"), N_("ending")};

static void print_message(struct screen *s, int indent, struct msg msg)
{
    struct str text = {0}, visible = {0};
    msg_render(&text, &msg, true, 0);
    utf8_visible(&visible, str_text(&text), text.len);
    screen_printf(s, STYLE_PLAIN, "%*s", indent, "");
    screen_wrap(s, STYLE_PLAIN, str_text(&visible), indent, indent + INDENT);
    str_release(&text);
    str_release(&visible);
}

static void print_text(struct screen *s, const struct control_reply *r)
{
    print_message(s, 0,
                  msg_make(N_("{0}: {1}, pid {2}, recorded by pid {3}"), value_term(state_titles[r->state]),
                           value_text(str_text(&r->target)), value_id(r->target_pid),
                           value_id(r->record_pid)));
    print_message(s, INDENT,
                  msg_make(N_("{0}, {1} records of {2} processes, {3} dropped"), value_ns(r->elapsed_ns),
                           value_count(r->records), value_count(r->processes), value_count(r->dropped)));
    if (r->bytes != UNKNOWN)
        print_message(s, INDENT,
                      msg_make(N_("{0} in {1}"), value_bytes(r->bytes), value_text(str_text(&r->file))));
    if (r->keep_ns != UNKNOWN)
        print_message(s, INDENT,
                      msg_make(N_("keeps the last {0}; snapshots of {1}: {2}"), value_ns(r->keep_ns),
                               value_text(str_text(&r->file)), value_count(r->snapshots)));
    if (r->written.len)
        print_message(s, INDENT, msg_make(N_("written: {0}"), value_text(str_text(&r->written))));
}

static void print_json(struct str *out, const struct control_reply *const *replies, size_t count)
{
    str_puts(out, "{\"schema\":\"warplight.ctl/1\",\"recordings\":[");
    for (size_t i = 0; i < count; i++) {
        str_puts(out, i ? ",\n" : "\n");
        control_reply_write(out, replies[i]);
    }
    str_puts(out, "\n]}\n");
}

static int print(const struct cli *cli, int format, const struct control_reply *const *replies, size_t count,
                 struct err *err)
{
    struct screen s;
    cli_screen(cli, &s, stdout);
    if (format == FORMAT_JSON)
        print_json(&s.text, replies, count);
    for (size_t i = 0; i < count && format == FORMAT_TEXT; i++)
        print_text(&s, replies[i]);
    return cli_screen_end(&s, _("standard output"), err);
}

/* ---- the command ----------------------------------------------------------------------------------------
 */

/* status without a name shows all of them. */
static int show_all(const struct cli *cli, int format, const struct all_running *all, struct err *err)
{
    if (all->ours.count == 0 && format == FORMAT_TEXT)
        return none_runs(all, err);
    VEC(const struct control_reply *) replies = {0};
    vec_each (&all->ours, running)
        vec_push(&replies, &running->status);
    int rc = print(cli, format, replies.at, replies.count, err);
    vec_release(&replies);
    return rc;
}

static int find_verb(const char *word, enum control_verb *verb, struct err *err)
{
    struct suggestion best = {0};
    for (int v = CONTROL_NONE + 1; v < CONTROL_VERBS; v++) {
        suggest_offer(&best, word, control_words[v]);
        if (strcmp(word, control_words[v]) == 0) {
            *verb = (enum control_verb)v;
            return 0;
        }
    }
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else
        str_puts(&hint, _("choose from start, stop, snapshot, status"));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("a recording cannot '%s'"), word);
    str_release(&hint);
    return rc;
}

static int run_ctl(struct cli *cli, const void *values, struct err *err)
{
    const struct ctl_args *args = values;
    const char *name = cli->operand_count > 1 ? cli->operands[1] : NULL;
    struct all_running all = {0};
    struct control_reply reply = {0};
    const struct running *chosen;
    enum control_verb verb = CONTROL_NONE;
    int rc = find_verb(cli->operands[0], &verb, err);
    if (rc < 0)
        return rc;
    folder_each(note, &all);
    if (verb == CONTROL_STATUS && !name) {
        rc = show_all(cli, args->format, &all, err);
        running_release(&all);
        return rc;
    }
    rc = choose(&all, name, &chosen, err);
    if (rc == 0)
        rc = control_ask(str_text(&chosen->folder), verb, &reply, err);
    if (rc == 0 && reply.why.len)
        rc = err_set(err, ERR_ENV, str_text(&reply.file), -1, NULL, "%s", str_text(&reply.why));
    if (rc == 0)
        rc = print(cli, args->format, (const struct control_reply *[]){&reply}, 1, err);
    control_reply_release(&reply);
    running_release(&all);
    return rc;
}

static const struct example examples[] = {
    {"warplight ctl status", N_("what is being recorded")},
    {"warplight ctl start", N_("start the only recording that runs")},
    {"warplight ctl stop 4711", N_("pause the one of that pid; it can be started again")},
    {"warplight ctl snapshot", N_("have what was recorded so far in a file now")},
    {NULL, NULL},
};

static const char *const see_also[] = {"record", "report", NULL};

const struct command command_ctl = {
    .name = "ctl",
    .synopsis = N_("start|stop|snapshot|status [RECORDING|PID]"),
    .summary = N_("start, stop or look at recordings that run"),
    .description =
        N_("Controls a 'warplight record' of the same user: the only one that runs, or the one named by its "
           "file or by the pid of its recorder or program. stop pauses: nothing more is recorded, "
           "and the recording can be started again, any number of times; it ends with the program. "
           "snapshot brings what was recorded so far into a file that can be read while the recording goes "
           "on. status without a name shows all."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_VERB,
    .operands_min = 1,
    .operands_max = 2,
    .examples = examples,
    .see_also = see_also,
    .run = run_ctl,
};
