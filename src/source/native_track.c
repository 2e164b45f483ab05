#include "source/native_track.h"

#include "base/time.h"
#include "model/sampled.h"

/* Periods between samples of one stretch of running, not counting the time that it waited for a CPU. */
enum { LONGEST_GAP = 3 };
/* Then a span is told of although it may go on. */
enum { LONGEST_WAIT = 100 };

static void end_span(struct native_track *t, int64_t after_ns, host_span_list *out)
{
    enum { NS_PER_US = 1000 };
    if (t->function)
        vec_push(out, ((struct host_span){.start = t->since,
                                          .end = t->last,
                                          .id = sampled_native_id(t->before_ns / NS_PER_US,
                                                                  after_ns / NS_PER_US, t->around_driver),
                                          .thread = t->thread,
                                          .name = t->function,
                                          .detail = t->inside,
                                          .kind = SPAN_NATIVE}));
    t->function = 0;
}

void native_track_add(struct native_track *t, int64_t time, int64_t delay_ns,
                      const struct native_frame *frame, host_span_list *out)
{
    int64_t gap = t->sampled ? time - t->last : INT64_MAX;
    if (gap < 0)
        native_track_end(t, out); /* the clock was set */
    bool goes_on = t->function == frame->function && t->inside == frame->inside &&
                   t->around_driver == frame->around_driver && gap >= 0 &&
                   gap - (delay_ns - t->last_delay_ns) <= t->period_ns * LONGEST_GAP;
    if (!goes_on) {
        end_span(t, min_ns(gap, t->period_ns), out);
        t->function = frame->function;
        t->inside = frame->inside;
        t->around_driver = frame->around_driver;
        t->since = time;
        t->before_ns = min_ns(max_ns(gap, 0), t->period_ns);
    }
    t->sampled = true;
    t->last = time;
    t->last_delay_ns = delay_ns;
}

void native_track_rest(struct native_track *t, int64_t now, host_span_list *out)
{
    if (t->function && now - t->last > t->period_ns * LONGEST_WAIT)
        end_span(t, t->period_ns, out);
}

void native_track_end(struct native_track *t, host_span_list *out)
{
    end_span(t, 0, out);
    t->sampled = false;
}
