/* The screen of `warplight top`: drawn from a sample, the history and what the person chose, onto a canvas.
 * Pure: no clock, no terminal, no file. cmd/top*.c changes the choices and shows the canvas.
 *
 *     top_list_build(&list, sample, &settings, filter);   the processes, in order
 *     top_draw(canvas, &view);                            …and view.layout says what lies where
 */
#ifndef WARPLIGHT_VIEW_TOP_H
#define WARPLIGHT_VIEW_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/history.h"
#include "model/machine.h"
#include "view/canvas.h"

/* ---- what is chosen, and kept between sessions -----------------------------------------------------------
 */

enum top_sort {
    TOP_SORT_GPU,
    TOP_SORT_PID,
    TOP_SORT_USER,
    TOP_SORT_SM,
    TOP_SORT_MEMORY,
    TOP_SORT_CPU,
    TOP_SORT_HOST_MEMORY,
    TOP_SORT_COMMAND,
    TOP_SORTS
};
enum top_chart {
    TOP_CHART_LOAD,
    TOP_CHART_MEMORY,
    TOP_CHART_POWER,
    TOP_CHART_TEMPERATURE,
    TOP_CHART_CLOCK,
    TOP_CHART_PCIE,
    TOP_CHART_NVLINK,
    TOP_CHARTS
};
enum top_size { TOP_SIZE_AUTO, TOP_SIZE_FULL, TOP_SIZE_COMPACT, TOP_SIZES };
enum top_colors { TOP_COLORS_DEFAULT, TOP_COLORS_SAFE, TOP_COLORS_NONE, TOP_COLOR_SETS };
enum top_symbols { TOP_SYMBOLS_AUTO, TOP_SYMBOLS_ASCII, TOP_SYMBOL_SETS };

struct top_settings {
    int64_t interval_ns;
    int sort;      /* enum top_sort */
    bool reversed; /* smallest first */
    bool tree;
    int chart;   /* enum top_chart */
    int size;    /* enum top_size, of the GPUs */
    int colors;  /* enum top_colors; safe: for people who do not tell red from green */
    int symbols; /* enum top_symbols */
    bool mouse;
};

/* Their names in the configuration; NULL-terminated. */
extern const char *const top_sort_names[],
    *const top_chart_names[], *const top_size_names[], *const top_color_names[], *const top_symbol_names[];

/* ---- the processes in order ------------------------------------------------------------------------------
 */

struct top_entry {
    uint32_t process; /* row of the sample's */
    int depth;        /* in the tree */
};

struct top_list {
    VEC(struct top_entry) entries;
};

/* What fits the filter, sorted. Words of a filter are separated by blanks, and all must fit; one is looked
 * for in pid, user, command, container, pod and job, or in one of them alone: "user:ann gpu:0 python". */
void top_list_build(struct top_list *list, const struct machine_sample *sample,
                    const struct top_settings *settings, const char *filter);
void top_list_release(struct top_list *list);
bool top_process_fits(const struct machine_sample *sample, const struct machine_process *p,
                      const char *filter);

/* ---- the screen ------------------------------------------------------------------------------------------
 */

enum top_focus { TOP_FOCUS_PROCESSES, TOP_FOCUS_GPUS };

enum top_window {
    TOP_WINDOW_NONE,
    TOP_WINDOW_HELP,
    TOP_WINDOW_VALUES, /* all values of the chosen GPU or process */
    TOP_WINDOW_WHY,    /* of these, the ones that are not known, with the reason */
    TOP_WINDOW_EVENTS,
    TOP_WINDOW_SIGNAL, /* which one to send */
    TOP_WINDOW_CONFIRM,
};

/* A line of the help screen. */
struct top_help {
    const char *keys, *meaning; /* meaning: a msgid; NULL: keys is the msgid of a heading */
    const char *hint;           /* msgid: one word, for the bottom line; or NULL */
};

struct top_signal {
    int number;
    const char *name, *meaning; /* meaning: a msgid */
};

/* Where things lie, for the mouse and for scrolling. Columns end before the next one's start. */
enum { TOP_HEADS = 16, TOP_GPUS_SHOWN = 256 };
struct top_layout {
    int gpu_row[TOP_GPUS_SHOWN + 1]; /* where each GPU on the screen begins, and where the last one ends */
    int process_row, process_rows;   /* of the list, without its heading */
    int head_column[TOP_HEADS], head_sort[TOP_HEADS], heads;
    int first_gpu, shown_gpus; /* devices on the screen */
};

/* What happened to a GPU: an Xid. text: in the reader's language. */
enum { TOP_EVENTS = 64, TOP_EVENT_BYTES = 512 };
struct top_event {
    int64_t time_unix_ns;
    char text[TOP_EVENT_BYTES];
};

struct top_replay {
    size_t frame, frames;
    int64_t first_ns, last_ns; /* of the recording */
    int64_t speed_hundredths;  /* 100: as it was */
    const char *name;          /* of the file */
};

struct top_view {
    const struct machine_sample *sample;
    const struct history *history;
    const struct top_list *list;
    struct top_settings settings;
    const struct top_event *events; /* the newest last */
    int event_count;
    const struct top_replay *replay; /* NULL: live */
    bool waiting;                    /* a driver has not answered yet, for the first time */
    bool paused, read_only;

    enum top_focus focus;
    int gpu;          /* chosen row of devices */
    int entry, first; /* chosen row of the list, and the first one on the screen */
    char filter[128], search[64];
    const char *asking; /* the line that is being typed: its title, translated; NULL: none */
    const char *typed;
    const char *message; /* translated; NULL: the keys are shown */
    bool is_bad;         /* the message */

    enum top_window window;
    int window_first; /* its first line on the screen */
    const struct top_help *help;
    const struct top_signal *signals; /* ends with number 0 */
    int signal;                       /* chosen row of them */
    int64_t confirm_pid;              /* to whom: not what is chosen by then */
    int64_t confirm_start_unix_ns;
    const char *confirm_command, *confirm_user;

    struct reading own_cpu; /* of this program with its workers, in per mille of one CPU */
    struct reading own_bytes;

    struct top_layout layout; /* set by top_draw() */
};

/* Draws all of it; the canvas has its size. Moves view->first, window_first and layout so that what is chosen
 * can be seen. */
void top_draw(struct canvas *c, struct top_view *view);

/* ---- its parts (view/top_*.c) ----------------------------------------------------------------------------
 */

/* Rows that the GPUs take, and how each is drawn. */
struct top_gpu_plan {
    bool compact;
    int block, chart_rows; /* rows of a GPU with its chart; those of the chart below its gauges */
    int chart_column;      /* where it stands beside them, or 0 */
};
struct top_gpu_plan top_gpu_plan(const struct top_view *view, int columns, int rows);
/* Returns the rows used, at most rows. */
int top_draw_gpus(struct canvas *c, struct top_view *view, int row, int rows);
/* "14:02:11", in the time zone of who reads. */
void top_add_clock(struct str *out, int64_t unix_ns);
/* A chart of a GPU with its scale at the left: the value at the top, what it is, and how long ago it begins.
 */
void top_put_chart(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                   int column, int rows, int columns);
/* The same in one row, without a scale. */
void top_put_spark(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                   int column, int columns);
/* A chart for each GPU, or where there is no room for all, of the chosen one: for screens on which GPUs are
 * lines. Returns the rows used, at most rows. */
int top_draw_charts(struct canvas *c, const struct top_view *view, int row, int rows);
void top_draw_processes(struct canvas *c, struct top_view *view, int row, int rows);
void top_draw_window(struct canvas *c, struct top_view *view);
/* "3.00 / 16.0 GiB": a unit that both have stands once. */
void top_add_pair(struct str *out, enum gpu_unit unit, struct reading part, struct reading whole);
/* Rows of the heading of GPUs, which the compact view has. */
enum { TOP_COMPACT_HEAD = 1 };

#endif
