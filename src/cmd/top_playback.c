/* Samples from a recording: where it stands, and how fast it plays. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "cmd/top_state.h"
#include "import/import.h"
#include "source/machine_replay.h"

struct top_playback {
    struct run run;
    struct machine_replay *replay;
    struct top_replay state;
};

int top_playback_open(struct top_playback **out, const char *path, struct err *err)
{
    static const struct import_options options;
    struct top_playback *p = mem_zalloc(1, sizeof *p);
    const char *slash = strrchr(path, '/');
    run_init(&p->run);
    int rc = import_file(&p->run, path, NULL, &options, err);
    if (rc == 0) {
        run_seal(&p->run);
        p->replay = machine_replay_open(&p->run);
        if (!p->replay)
            rc = err_set(err, ERR_INPUT, path, -1, _("record with 'warplight sample -o FILE.wlt'"),
                         _("it holds no samples of GPUs"));
    }
    if (rc < 0) {
        top_playback_close(p);
        return rc;
    }
    size_t frames = machine_replay_count(p->replay);
    p->state = (struct top_replay){.frames = frames,
                                   .first_ns = machine_replay_time(p->replay, 0),
                                   .last_ns = machine_replay_time(p->replay, frames - 1),
                                   .speed_hundredths = TOP_SPEED_ONE,
                                   .name = slash ? slash + 1 : path};
    *out = p;
    return 0;
}

void top_playback_close(struct top_playback *p)
{
    if (!p)
        return;
    machine_replay_close(p->replay);
    run_release(&p->run);
    free(p);
}

const struct top_replay *top_playback_state(const struct top_playback *p)
{
    return &p->state;
}

const struct machine_sample *top_playback_sample(struct top_playback *p)
{
    return machine_replay_take(p->replay, p->state.frame);
}

void top_playback_step(struct top_playback *p, int64_t samples)
{
    int64_t last = (int64_t)p->state.frames - 1, at = (int64_t)p->state.frame + samples;
    p->state.frame = (size_t)(at < 0 ? 0 : at > last ? last : at);
}

void top_playback_seek(struct top_playback *p, int64_t ns)
{
    int64_t now = machine_replay_time(p->replay, p->state.frame);
    p->state.frame = machine_replay_at(p->replay, now + ns);
}

void top_playback_speed(struct top_playback *p, bool faster)
{
    static const int64_t speeds[] = {10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
    enum { SPEEDS = sizeof speeds / sizeof *speeds };
    int at = 0;
    while (at < SPEEDS - 1 && speeds[at] < p->state.speed_hundredths)
        at++;
    at += faster ? 1 : -1;
    p->state.speed_hundredths = speeds[at < 0 ? 0 : at >= SPEEDS ? SPEEDS - 1 : at];
}

int64_t top_playback_wait(const struct top_playback *p)
{
    size_t at = p->state.frame;
    if (at + 1 >= p->state.frames)
        return UNKNOWN;
    int64_t gap = machine_replay_time(p->replay, at + 1) - machine_replay_time(p->replay, at);
    return (int64_t)((__int128)gap * TOP_SPEED_ONE / p->state.speed_hundredths);
}

/* No chart shows more samples than a wide screen has dots. */
void top_playback_history(struct top *t)
{
    enum { MOST = 400 };
    struct top_playback *p = t->playback;
    size_t first = p->state.frame > MOST ? p->state.frame - MOST : 0;
    history_clear(&t->history);
    t->view.event_count = 0;
    for (size_t at = first; at <= p->state.frame; at++)
        top_remember(t, machine_replay_take(p->replay, at));
}
