#include "source/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/time.h"

#define SCHEMA "warplight.control/1"

const char *const control_words[CONTROL_VERBS] = {NULL, "status", "start", "stop", "snapshot"};
const char *const control_state_names[CONTROL_STATES + 1] = {"recording", "paused", "ending", NULL};

/* ---- what is said ----------------------------------------------------------------------------------------
 */

static const struct {
    const char *key;
    size_t at;
} numbers[] = {
    {"record_pid", offsetof(struct control_reply, record_pid)},
    {"target_pid", offsetof(struct control_reply, target_pid)},
    {"elapsed_ns", offsetof(struct control_reply, elapsed_ns)},
    {"records", offsetof(struct control_reply, records)},
    {"dropped", offsetof(struct control_reply, dropped)},
    {"processes", offsetof(struct control_reply, processes)},
    {"bytes", offsetof(struct control_reply, bytes)},
    {"keep_ns", offsetof(struct control_reply, keep_ns)},
    {"snapshots", offsetof(struct control_reply, snapshots)},
};

static const struct {
    const char *key;
    size_t at;
} texts[] = {
    {"target", offsetof(struct control_reply, target)},
    {"file", offsetof(struct control_reply, file)},
    {"written", offsetof(struct control_reply, written)},
    {"why", offsetof(struct control_reply, why)},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers, TEXTS = sizeof texts / sizeof *texts };

void control_reply_release(struct control_reply *reply)
{
    for (size_t i = 0; i < TEXTS; i++)
        str_release((struct str *)((char *)reply + texts[i].at));
    *reply = (struct control_reply){0};
}

void control_reply_write(struct str *out, const struct control_reply *reply)
{
    struct json_writer w = {.out = out};
    json_object_begin(&w);
    json_key(&w, "schema");
    json_puts(&w, SCHEMA);
    json_key(&w, "state");
    json_puts(&w, control_state_names[reply->state]);
    for (size_t i = 0; i < NUMBERS; i++) {
        json_key(&w, numbers[i].key);
        json_int(&w, *(const int64_t *)((const char *)reply + numbers[i].at));
    }
    for (size_t i = 0; i < TEXTS; i++) {
        const struct str *text = (const struct str *)((const char *)reply + texts[i].at);
        json_key(&w, texts[i].key);
        if (text->len)
            json_string(&w, text->ptr, text->len);
        else
            json_null(&w);
    }
    json_object_end(&w);
}

static void read_member(struct control_reply *reply, struct json_text key, struct json_reader *r, bool *known)
{
    struct json_text value;
    for (size_t i = 0; i < NUMBERS; i++)
        if (json_text_is(key, numbers[i].key)) {
            if (json_read_scalar(r, &value))
                json_to_int(value, (int64_t *)((char *)reply + numbers[i].at));
            return;
        }
    bool is_text = json_peek(r) == JSON_STRING;
    for (size_t i = 0; i < TEXTS && is_text; i++)
        if (json_text_is(key, texts[i].key)) {
            if (json_read_scalar(r, &value))
                str_add((struct str *)((char *)reply + texts[i].at), value.at, value.length);
            return;
        }
    if (json_text_is(key, "schema")) {
        *known = json_read_scalar(r, &value) && json_text_is(value, SCHEMA);
    } else if (json_text_is(key, "state") && json_read_scalar(r, &value)) {
        for (int state = 0; state < CONTROL_STATES; state++)
            if (json_text_is(value, control_state_names[state]))
                reply->state = (enum control_state)state;
    } else {
        json_skip(r);
    }
}

bool control_reply_read(struct control_reply *reply, const char *text, size_t length)
{
    struct json_reader r;
    struct json_text key;
    bool known = false;
    *reply = (struct control_reply){0};
    for (size_t i = 0; i < NUMBERS; i++)
        *(int64_t *)((char *)reply + numbers[i].at) = UNKNOWN;
    json_open_text(&r, (struct json_text){text, length});
    if (json_enter(&r, JSON_OBJECT))
        while (json_next_key(&r, &key))
            read_member(reply, key, &r, &known);
    known = known && r.state == JSON_OK;
    json_close(&r);
    if (!known)
        control_reply_release(reply);
    return known;
}

/* ---- sockets --------------------------------------------------------------------------------------------
 */

/* Addresses have room for 107 bytes, folders may have longer names: the way leads through the descriptor.
 * Without /proc the name itself has to do. */
static bool make_address(struct sockaddr_un *address, int folder_fd, const char *folder)
{
    char through[64];
    snprintf(through, sizeof through, "/proc/self/fd/%d", folder_fd);
    if (access(through, X_OK) == 0)
        folder = through;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path, sizeof address->sun_path, "%s/" FOLDER_SOCKET, folder);
    return length > 0 && length < (int)sizeof address->sun_path;
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* ---- the recorder's side --------------------------------------------------------------------------------
 */

void control_open(struct control *c, const struct folder *folder)
{
    struct sockaddr_un address;
    for (int i = 0; i < CONTROL_PEERS; i++)
        c->peers[i] = (struct control_peer){.fd = -1};
    c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->fd < 0)
        return;
    if (make_address(&address, folder->fd, str_text(&folder->path)) &&
        bind(c->fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(c->fd, CONTROL_PEERS) == 0)
        return;
    close(c->fd);
    c->fd = -1;
}

static void let_go(struct control_peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    *peer = (struct control_peer){.fd = -1};
}

static void accept_peer(struct control *c, struct control_peer *peer)
{
    int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    *peer = (struct control_peer){.fd = fd, .since_ns = clock_ns(CLOCK_MONOTONIC)};
    if (!is_same_user(fd))
        let_go(peer);
}

/* A longer packet arrives cut and is no known word. */
static void read_request(struct control_peer *peer)
{
    char word[CONTROL_REQUEST_BYTES];
    ssize_t length = recv(peer->fd, word, sizeof word, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (clock_ns(CLOCK_MONOTONIC) - peer->since_ns > CONTROL_PATIENCE_MS * INT64_C(1000000))
            let_go(peer);
        return;
    }
    for (int verb = CONTROL_NONE + 1; verb < CONTROL_VERBS; verb++)
        if (length == (ssize_t)strlen(control_words[verb]) &&
            memcmp(word, control_words[verb], (size_t)length) == 0)
            peer->verb = (enum control_verb)verb;
    if (peer->verb == CONTROL_NONE)
        let_go(peer);
}

void control_poll(struct control *c)
{
    if (c->fd < 0)
        return;
    for (int i = 0; i < CONTROL_PEERS; i++) {
        struct control_peer *peer = &c->peers[i];
        if (peer->fd < 0)
            accept_peer(c, peer);
        if (peer->fd >= 0 && peer->verb == CONTROL_NONE)
            read_request(peer);
    }
}

void control_answer(struct control_peer *peer, const struct control_reply *reply)
{
    struct str text = {0};
    control_reply_write(&text, reply);
    /* Who does not take it gets nothing: there is one packet, and the buffer has room for it. */
    if (send(peer->fd, text.ptr, text.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        shutdown(peer->fd, SHUT_RDWR);
    str_release(&text);
    let_go(peer);
}

void control_close(struct control *c)
{
    for (int i = 0; i < CONTROL_PEERS; i++)
        let_go(&c->peers[i]);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* ---- the other side -------------------------------------------------------------------------------------
 */

static int no_answer(const char *folder, struct err *err)
{
    return err_set(err, ERR_ENV, folder, -1, _("'warplight ctl status' lists those that run"),
                   _("the recording does not answer: %s"),
                   errno == ECONNREFUSED || errno == ENOENT || errno == 0 ? _("it has ended")
                                                                          : strerror(errno));
}

static int connect_to(const char *folder)
{
    const struct timeval patience = {.tv_sec = CONTROL_REPLY_S};
    struct sockaddr_un address;
    int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder_fd < 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool connected = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
                     setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
                     make_address(&address, folder_fd, folder) &&
                     connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    int why = errno;
    close(folder_fd);
    if (!connected && fd >= 0)
        close(fd);
    errno = why;
    return connected ? fd : -1;
}

int control_ask(const char *folder, enum control_verb verb, struct control_reply *reply, struct err *err)
{
    *reply = (struct control_reply){0};
    errno = 0;
    int fd = connect_to(folder);
    if (fd < 0)
        return no_answer(folder, err);
    char *text = mem_zalloc(1, CONTROL_REPLY_BYTES);
    ssize_t length = -1;
    if (!is_same_user(fd))
        errno = EPERM;
    else if (send(fd, control_words[verb], strlen(control_words[verb]), MSG_NOSIGNAL) >= 0)
        length = recv(fd, text, CONTROL_REPLY_BYTES, 0);
    int rc = length > 0 && control_reply_read(reply, text, (size_t)length) ? 0 : no_answer(folder, err);
    free(text);
    close(fd);
    return rc;
}
