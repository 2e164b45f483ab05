/* What the files of `top` share. Only cmd/top*.c includes this.
 *
 *   top.c           options, and the loop: samples, signals, keys, drawing
 *   top_keys.c      the table of keys, and what each does
 *   top_signal.c    sending a signal to a process that is still the one that was chosen
 *   top_playback.c  samples from a recording
 *   top_own.c       what this program itself costs
 *   top_config.c    what it remembers       top_terminal.c, top_terminfo.c  the terminal */
#ifndef WARPLIGHT_CMD_TOP_STATE_H
#define WARPLIGHT_CMD_TOP_STATE_H

#include "cmd/top_config.h"
#include "cmd/top_terminal.h"
#include "model/history.h"
#include "source/machine.h"
#include "view/top.h"

struct top_playback;

/* The one process that a signal is for, from the question on. */
struct top_target {
    int pidfd; /* -1: none, or a kernel before 5.3 */
    int64_t pid, start_unix_ns;
    char command[MACHINE_COMMAND_BYTES], user[32];
};

/* Whose CPU time it is, and how much of it there was when it was last looked at. */
struct top_own {
    int64_t cpu_ns, time_ns;
};

/* Which process is chosen, across samples. */
struct top_choice {
    int64_t pid, start_unix_ns;
    char key[GPU_UUID_BYTES]; /* of its device */
};

struct top {
    struct top_view view;
    struct top_config config;
    struct machine *machine;       /* NULL: a replay */
    struct top_playback *playback; /* NULL: live */
    const char *root;
    struct machine_sample sample;
    struct history history;
    struct top_event events[TOP_EVENTS];
    struct top_list list;
    struct canvas canvas;
    struct top_choice choice;
    struct top_target target;
    struct top_own own;
    struct str typed, message;
    bool typing_filter; /* else what is looked for */
    char filter_before[sizeof((struct top_view *)0)->filter];
    bool is_utf8, no_color, quit, suspend, dirty;
    int64_t beat_ns; /* CLOCK_MONOTONIC, of the next sample */
};

/* ---- top_keys.c ------------------------------------------------------------------------------------------
 */

/* The lines of the help screen, from the table of keys; ends with keys NULL. Good until the next call. */
const struct top_help *top_keys_help(bool replay);
void top_key_press(struct top *t, struct top_key key);

/* ---- top.c -----------------------------------------------------------------------------------------------
 */

/* Takes what charts and the list of events need of a sample. */
void top_remember(struct top *t, const struct machine_sample *sample);
/* Sorts and filters anew, and finds what was chosen again. */
void top_relist(struct top *t);
/* Notes which process is chosen now. */
void top_note_choice(struct top *t);
/* Says something at the bottom; is_bad: an error. text is translated. */
void top_say(struct top *t, bool is_bad, const char *text);
/* Takes the settings over: colours, symbols, mouse. */
void top_apply(struct top *t);

/* ---- top_signal.c ----------------------------------------------------------------------------------------
 */

extern const struct top_signal top_signals[];
/* Asks which signal, for the chosen process; says why not where none may be sent. */
void top_signal_begin(struct top *t);
/* Asks whether to send it. */
void top_signal_confirm(struct top *t);
/* Sends it, if the process is still the same one. */
void top_signal_send(struct top *t);
void top_signal_cancel(struct top *t);

/* ---- top_playback.c --------------------------------------------------------------------------------------
 */

enum { TOP_SPEED_ONE = 100 };

/* Reads a recording. */
int top_playback_open(struct top_playback **out, const char *path, struct err *err);
void top_playback_close(struct top_playback *p);
const struct top_replay *top_playback_state(const struct top_playback *p);
/* The sample that it stands at. */
const struct machine_sample *top_playback_sample(struct top_playback *p);
/* Moves by samples, or by time; stays within the recording. */
void top_playback_step(struct top_playback *p, int64_t samples);
void top_playback_seek(struct top_playback *p, int64_t ns);
void top_playback_speed(struct top_playback *p, bool faster);
/* How long until the next sample is due, at this speed; UNKNOWN at the end. */
int64_t top_playback_wait(const struct top_playback *p);
/* Charts and events of the samples up to where it stands. */
void top_playback_history(struct top *t);

/* ---- top_own.c -------------------------------------------------------------------------------------------
 */

/* Looks, if it is a second since it last did. */
void top_own_read(struct top_own *own, struct top_view *view);

#endif
