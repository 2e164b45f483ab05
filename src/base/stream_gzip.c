/* gzip (RFC 1952): one or more members, each a header, deflate data, CRC and length; zlib checks all of them.
 * Zero bytes after the last member are padding (tapes, block devices) and are skipped as gzip(1) does. */
#include "base/stream_layer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/i18n.h"
#include "base/mem.h"

enum { GZIP_WINDOW_BITS = 15 + 16 }; /* the largest window; 16 selects the gzip wrapper */

struct gzip_layer {
    struct layer layer;
    z_stream z;
    int64_t members; /* decoded to their end */
};

bool gzip_sniff(const unsigned char *data, size_t length)
{
    static const unsigned char magic[] = {0x1f, 0x8b, 8};
    return length >= 2 && memcmp(data, magic, length < 3 ? length : 3) == 0;
}

static int64_t gzip_end(struct gzip_layer *gzip, const char *damage)
{
    gzip->layer.damage = damage;
    gzip->layer.ended = true;
    return 0;
}

/* After a member: starts the next one, or ends. Returns 0, or a negative code from below. */
static int64_t gzip_next_member(struct gzip_layer *gzip, struct err *err)
{
    struct layer *layer = &gzip->layer;
    gzip->members++;
    for (;;) {
        int64_t have = layer_need(layer, 2, err);
        if (have < 0)
            return have;
        const unsigned char *next = layer->input + layer->pos;
        if (have == 0)
            return gzip_end(gzip, NULL);
        if (gzip_sniff(next, (size_t)have)) {
            inflateReset(&gzip->z);
            return 0;
        }
        if (have == 1 && *next == 0x1f)
            return gzip_end(gzip, N_("the gzip data end early"));
        if (*next != 0)
            return gzip_end(gzip, N_("bytes after the end of the gzip data were ignored"));
        while (layer->pos < layer->len && layer->input[layer->pos] == 0)
            layer->pos++;
    }
}

static const char *gzip_fault(const struct gzip_layer *gzip)
{
    if (gzip->members > 0 && gzip->z.total_out == 0)
        return N_("bytes after the end of the gzip data were ignored");
    const char *message = gzip->z.msg ? gzip->z.msg : "";
    if (strcmp(message, "incorrect data check") == 0 || strcmp(message, "incorrect length check") == 0)
        return N_("the gzip checksum does not match: some bytes are wrong");
    return N_("the gzip data are corrupt; what follows the fault is lost");
}

static int64_t gzip_read(struct layer *layer, void *buf, size_t size, struct err *err)
{
    struct gzip_layer *gzip = (struct gzip_layer *)layer;
    z_stream *z = &gzip->z;
    uInt room = size < UINT_MAX ? (uInt)size : UINT_MAX;
    int64_t status = 0;
    z->next_out = buf;
    z->avail_out = room;
    while (z->avail_out > 0 && !layer->ended) {
        int64_t have = layer_need(layer, 1, err);
        if (have < 0) {
            status = have;
            break;
        }
        z->next_in = layer->input + layer->pos;
        z->avail_in = (uInt)have;
        int result = have ? inflate(z, Z_NO_FLUSH) : Z_BUF_ERROR;
        layer->pos = layer->len - z->avail_in;
        if (result == Z_STREAM_END)
            status = gzip_next_member(gzip, err);
        else if (have == 0)
            gzip_end(gzip, N_("the gzip data end early"));
        else if (result != Z_OK && result != Z_BUF_ERROR)
            gzip_end(gzip, gzip_fault(gzip));
        if (status < 0)
            break;
    }
    uInt got = room - z->avail_out;
    return got > 0 ? (int64_t)got : status;
}

static void gzip_free(struct layer *layer)
{
    struct gzip_layer *gzip = (struct gzip_layer *)layer;
    inflateEnd(&gzip->z);
    free(layer->input);
    free(gzip);
}

struct layer *gzip_layer_new(struct layer *below)
{
    struct gzip_layer *gzip = mem_zalloc(1, sizeof *gzip);
    if (inflateInit2(&gzip->z, GZIP_WINDOW_BITS) != Z_OK) {
        free(gzip);
        return NULL;
    }
    gzip->layer = (struct layer){.read = gzip_read,
                                 .free = gzip_free,
                                 .below = below,
                                 .encoding = "gzip",
                                 .input = mem_alloc(LAYER_INPUT_BYTES)};
    return &gzip->layer;
}
