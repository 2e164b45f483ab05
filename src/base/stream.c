#include "base/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/stream_file.h"
#include "base/stream_queue.h"
#include "base/time.h"

enum {
    PEEK_BYTES = LAYER_INPUT_BYTES,
    SNIFF_BYTES = 4,
    DECODERS_MAX = 2, /* gzip in gzip happens; more is a mistake or an attack */
};

static const struct {
    bool (*sniff)(const unsigned char *data, size_t length);
    struct layer *(*create)(struct layer *below);
} encodings[] = {{gzip_sniff, gzip_layer_new}, {zstd_sniff, zstd_layer_new}};

enum { ENCODINGS = sizeof encodings / sizeof *encodings };

struct stream {
    char *path;
    struct layer *layers[1 + DECODERS_MAX]; /* [0] reads the file */
    int layer_count;
    struct stream_queue *queue; /* NULL: this thread reads the layers */
    bool ended;                 /* read to the end; the queue touches the layers no more */
    char encoding[32];
    /* Bytes looked at but not yet read: head[head_pos .. head_len). Holds PEEK_BYTES. */
    unsigned char *head;
    size_t head_pos, head_len;
};

int64_t layer_need(struct layer *layer, size_t count, struct err *err)
{
    size_t pending = layer_pending(layer);
    if (pending >= count)
        return (int64_t)pending;
    memmove(layer->input, layer->input + layer->pos, pending);
    layer->pos = 0;
    layer->len = pending;
    while (layer->len < count) {
        size_t room = LAYER_INPUT_BYTES - layer->len;
        int64_t got = layer->below->read(layer->below, layer->input + layer->len, room, err);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        layer->len += (size_t)got;
    }
    return (int64_t)layer->len;
}

/* Reads what comes after the head. */
static int64_t stream_pull(struct stream *s, void *buf, size_t size, struct err *err)
{
    struct layer *top = s->layers[s->layer_count - 1];
    int64_t got = s->queue ? stream_queue_read(s->queue, buf, size, err) : top->read(top, buf, size, err);
    s->ended |= got <= 0;
    if (got < 0 && err && err->where[0] == '\0')
        snprintf(err->where, sizeof err->where, "%s", s->path);
    return got;
}

/* Fills the head to at least count bytes, or to the end. Returns how many there are or a negative code. */
static int64_t head_need(struct stream *s, size_t count, struct err *err)
{
    size_t have = s->head_len - s->head_pos;
    if (have < count && s->head_pos > 0) {
        memmove(s->head, s->head + s->head_pos, have);
        s->head_pos = 0;
        s->head_len = have;
    }
    while (s->head_len - s->head_pos < count) {
        int64_t got = stream_pull(s, s->head + s->head_len, PEEK_BYTES - s->head_len, err);
        if (got < 0 && s->head_len == 0)
            return got;
        if (got <= 0)
            break;
        s->head_len += (size_t)got;
    }
    return (int64_t)(s->head_len - s->head_pos);
}

/* Adds a decoder for what the head begins with, and hands the head to it. Returns 1 if one was added, 0 if
 * the data are plain, or a negative code. */
static int add_decoder(struct stream *s, struct err *err)
{
    int64_t have = head_need(s, SNIFF_BYTES, err);
    if (have < 0)
        return (int)have;
    if (have == 0 && s->layer_count == 1)
        return err_set(err, ERR_INPUT, s->path, -1,
                       _("the program that should have written it may have failed or may still be running"),
                       _("the file is empty"));
    size_t which = 0;
    while (which < ENCODINGS && !encodings[which].sniff(s->head, s->head_len))
        which++;
    if (which == ENCODINGS)
        return 0;
    if (s->layer_count == 1 + DECODERS_MAX)
        return err_set(err, ERR_INPUT, s->path, -1, _("decompress it by hand first: gunzip or zstd -d"),
                       _("the file is compressed more than %d times"), DECODERS_MAX);
    struct layer *layer = encodings[which].create(s->layers[s->layer_count - 1]);
    if (!layer)
        return err_set(err, ERR_ENV, s->path, -1, NULL, _("not enough memory to decompress"));
    memcpy(layer->input, s->head, s->head_len);
    layer->len = s->head_len;
    s->head_len = 0;
    s->ended = false;
    s->layers[s->layer_count++] = layer;
    return 1;
}

/* Takes the lowest layer. */
static int stream_start(struct stream **out, const char *path, struct layer *lowest, struct err *err)
{
    struct stream *s = mem_zalloc(1, sizeof *s);
    s->path = mem_strdup(path);
    s->head = mem_alloc(PEEK_BYTES);
    s->layers[0] = lowest;
    s->layer_count = 1;
    int added;
    do
        added = add_decoder(s, err);
    while (added > 0);
    if (added < 0) {
        stream_close(s);
        return added;
    }
    if (s->layer_count == 1)
        snprintf(s->encoding, sizeof s->encoding, "plain");
    else if (s->layer_count == 2)
        snprintf(s->encoding, sizeof s->encoding, "%s", s->layers[1]->encoding);
    else
        snprintf(s->encoding, sizeof s->encoding, "%s in %s", s->layers[2]->encoding, s->layers[1]->encoding);
    struct layer *top = s->layers[s->layer_count - 1];
    if (s->layer_count > 1 && !top->ended)
        s->queue = stream_queue_new(top);
    *out = s;
    return 0;
}

int stream_open(struct stream **out, const char *path, struct err *err)
{
    struct layer *lowest;
    int code = file_layer_open(&lowest, path, err);
    return code < 0 ? code : stream_start(out, path, lowest, err);
}

int stream_open_memory(struct stream **out, const char *name, const void *data, size_t length,
                       struct err *err)
{
    return stream_start(out, name, file_layer_memory(data, length), err);
}

int64_t stream_read(struct stream *s, void *buf, size_t size, struct err *err)
{
    size_t have = s->head_len - s->head_pos;
    if (have == 0 || size == 0)
        return size == 0 ? 0 : stream_pull(s, buf, size, err);
    have = have < size ? have : size;
    memcpy(buf, s->head + s->head_pos, have);
    s->head_pos += have;
    if (s->head_pos == s->head_len)
        s->head_pos = s->head_len = 0;
    return (int64_t)have;
}

int64_t stream_peek(struct stream *s, void *buf, size_t size, struct err *err)
{
    size = size < PEEK_BYTES ? size : PEEK_BYTES;
    int64_t have = head_need(s, size, err);
    if (have < 0)
        return have;
    size = size < (size_t)have ? size : (size_t)have;
    if (size > 0)
        memcpy(buf, s->head + s->head_pos, size);
    return (int64_t)size;
}

void stream_close(struct stream *s)
{
    if (!s)
        return;
    file_layer_stop(s->layers[0]);
    if (s->queue)
        stream_queue_free(s->queue);
    for (int i = s->layer_count - 1; i >= 0; i--)
        s->layers[i]->free(s->layers[i]);
    free(s->head);
    free(s->path);
    free(s);
}

const char *stream_path(const struct stream *s)
{
    return s->path;
}

const char *stream_encoding(const struct stream *s)
{
    return s->encoding;
}

int64_t stream_consumed(const struct stream *s)
{
    int64_t consumed = file_layer_consumed(s->layers[0]);
    /* What the decoder read but could not use was not consumed. */
    if (s->ended && s->layer_count > 1)
        consumed -= (int64_t)layer_pending(s->layers[1]);
    return consumed;
}

int64_t stream_size(const struct stream *s)
{
    return file_layer_size(s->layers[0]);
}

/* The lowest damage is the cause of those above it. */
const char *stream_damage(const struct stream *s)
{
    for (int i = 1; s->ended && i < s->layer_count; i++)
        if (s->layers[i]->damage)
            return s->layers[i]->damage;
    return NULL;
}
