/* Zstandard (RFC 8878): one or more frames, skippable frames among them; libzstd checks checksums. */
#include "base/stream_layer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/i18n.h"
#include "base/mem.h"

/* What a decoder must support by RFC 8878 is 8 MiB; zstd itself decodes up to 128 MiB unless told otherwise.
 * The limit keeps a hostile header from claiming gigabytes. */
enum { ZSTD_WINDOW_LOG_MAX = 27, ZSTD_MAGIC_BYTES = 4 };

struct zstd_layer {
    struct layer layer;
    ZSTD_DCtx *context;
    size_t wanted;     /* bytes that the decoder asks for next; 0 between frames */
    int64_t frames;    /* decoded to their end */
    int64_t frame_out; /* bytes that came out of the present frame */
};

bool zstd_sniff(const unsigned char *data, size_t length)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    if (length < 4)
        return false;
    return memcmp(data, frame, 4) == 0 || ((data[0] & 0xf0) == 0x50 && memcmp(data + 1, skippable, 3) == 0);
}

static void zstd_end(struct zstd_layer *zstd, const char *damage)
{
    zstd->layer.damage = damage;
    zstd->layer.ended = true;
}

/* Ends the layer for the libzstd result code; an error only where the data are not to blame. */
static int64_t zstd_fault(struct zstd_layer *zstd, size_t result, struct err *err)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return err_set(err, ERR_ENV, NULL, -1, NULL, _("not enough memory to decompress zstd data"));
    case ZSTD_error_prefix_unknown:
        if (zstd->frames > 0 && zstd->frame_out == 0) {
            zstd_end(zstd, N_("bytes after the end of the zstd data were ignored"));
            return 0;
        }
        break;
    case ZSTD_error_checksum_wrong:
        zstd_end(zstd, N_("the zstd checksum does not match: some bytes are wrong"));
        return 0;
    case ZSTD_error_frameParameter_windowTooLarge:
        zstd_end(zstd, N_("the zstd data need a window of over 128 MiB: compress them again without --long"));
        return 0;
    default:
        break;
    }
    zstd_end(zstd, N_("the zstd data are corrupt; what follows the fault is lost"));
    return 0;
}

/* Decodes once. libzstd forgets how much it wrote when a call fails, so each call gets no more than the one
 * block that it asked for: then a fault costs no good block. */
static int64_t zstd_step(struct zstd_layer *zstd, ZSTD_outBuffer *out, struct err *err)
{
    struct layer *layer = &zstd->layer;
    int64_t have = layer_need(layer, 1, err);
    if (have < 0)
        return have;
    if (have == 0 && zstd->wanted == 0) {
        zstd_end(zstd, NULL);
        return 0;
    }
    size_t offer = zstd->wanted ? zstd->wanted : ZSTD_MAGIC_BYTES;
    offer = offer < (size_t)have ? offer : (size_t)have;
    ZSTD_inBuffer in = {.src = layer->input + layer->pos, .size = offer};
    size_t before = out->pos;
    size_t result = ZSTD_decompressStream(zstd->context, out, &in);
    if (ZSTD_isError(result))
        return zstd_fault(zstd, result, err);
    layer->pos += in.pos;
    zstd->wanted = result;
    zstd->frame_out += (int64_t)(out->pos - before);
    if (result == 0) {
        zstd->frames++;
        zstd->frame_out = 0;
    } else if (have == 0 && out->pos == before) { /* nothing left inside the decoder either */
        zstd_end(zstd, N_("the zstd data end early"));
    }
    return 0;
}

static int64_t zstd_read(struct layer *layer, void *buf, size_t size, struct err *err)
{
    struct zstd_layer *zstd = (struct zstd_layer *)layer;
    ZSTD_outBuffer out = {.dst = buf, .size = size};
    int64_t status = 0;
    while (out.pos < out.size && !layer->ended && status == 0)
        status = zstd_step(zstd, &out, err);
    return out.pos > 0 ? (int64_t)out.pos : status;
}

static void zstd_free(struct layer *layer)
{
    struct zstd_layer *zstd = (struct zstd_layer *)layer;
    ZSTD_freeDCtx(zstd->context);
    free(layer->input);
    free(zstd);
}

struct layer *zstd_layer_new(struct layer *below)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context)
        return NULL;
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
    struct zstd_layer *zstd = mem_zalloc(1, sizeof *zstd);
    *zstd = (struct zstd_layer){.layer = {.read = zstd_read,
                                          .free = zstd_free,
                                          .below = below,
                                          .encoding = "zstd",
                                          .input = mem_alloc(LAYER_INPUT_BYTES)},
                                .context = context};
    return &zstd->layer;
}
