/* Control of a running recording from another process of the same user: one packet with a request, one with
 * the reply, over the socket in the recording's private folder (doc/internals/recording.md).
 *
 * The recorder's side never waits: what a peer does not send or take at once is dropped, and a peer has one
 * second. Peers are the same user or root; what they send is not trusted further than that. */
#ifndef WARPLIGHT_SOURCE_CONTROL_H
#define WARPLIGHT_SOURCE_CONTROL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/folder.h"

enum {
    CONTROL_PEERS = 8, /* at a time; more wait in the queue */
    CONTROL_REQUEST_BYTES = 64,
    CONTROL_REPLY_BYTES = 64 << 10,
    CONTROL_PATIENCE_MS = 1000, /* with a peer that says nothing */
    CONTROL_REPLY_S = 120,      /* a snapshot of a large recording takes its time */
};

enum control_verb {
    CONTROL_NONE,
    CONTROL_STATUS,
    CONTROL_START,
    CONTROL_STOP,
    CONTROL_SNAPSHOT,
    CONTROL_VERBS
};
/* The word of each verb in a request; NULL for CONTROL_NONE. */
extern const char *const control_words[CONTROL_VERBS];

/* ---- what is said ---------------------------------------------------------------------------------------
 */

enum control_state { CONTROL_RECORDING, CONTROL_PAUSED, CONTROL_ENDING, CONTROL_STATES };
extern const char *const control_state_names[CONTROL_STATES + 1]; /* for machines */

struct control_reply {
    int64_t record_pid, target_pid;
    enum control_state state;
    int64_t elapsed_ns; /* since the start of the program */
    int64_t records, dropped, processes, bytes, keep_ns, snapshots;
    struct str target;  /* command line */
    struct str file;    /* of the recording; with --keep what the names of its snapshots begin with */
    struct str written; /* the file that a snapshot is in */
    struct str why;     /* not done: a sentence; empty: done */
};

void control_reply_release(struct control_reply *reply);
/* As JSON, and back. False if it is none. */
void control_reply_write(struct str *out, const struct control_reply *reply);
bool control_reply_read(struct control_reply *reply, const char *text, size_t length);

/* ---- the recorder's side --------------------------------------------------------------------------------
 */

struct control_peer {
    int fd; /* -1: none */
    int64_t since_ns;
    enum control_verb verb; /* what it asks for and has not been answered yet */
    bool begun;             /* the session's own note */
};

struct control {
    int fd; /* -1: nobody can control this recording */
    struct control_peer peers[CONTROL_PEERS];
};

/* Without a socket (a file system that cannot have one) the recording goes on. */
void control_open(struct control *c, const struct folder *folder);
/* Takes new peers and what they ask: peers[].verb. */
void control_poll(struct control *c);
/* Answers a peer and lets it go. */
void control_answer(struct control_peer *peer, const struct control_reply *reply);
void control_close(struct control *c);

/* ---- the other side -------------------------------------------------------------------------------------
 */

/* Asks the recording with that folder. ERR_ENV if it does not answer: it has ended, say. */
int control_ask(const char *folder, enum control_verb verb, struct control_reply *reply, struct err *err);

#endif
