/* Nsight Compute reports (.ncu-rep, .ncu-repz): a file header, then blocks. A block is a header message and a
 * payload of messages, each after its length: first code images, then results. */
#include <string.h>

#include "base/i18n.h"
#include "import/import.h"
#include "import/ncu_rep.h"

enum {
    FILE_HEADER_MAX = 1 << 20,
    BLOCK_HEADER_MAX = 64 << 20,
    MESSAGE_MAX = 1 << 30,
};

/* Field numbers. Those of results are in ncu_rep_result.c. */
enum { FILE_VERSION = 1 };
enum {
    BLOCK_SOURCES = 1,
    BLOCK_RESULTS = 2,
    BLOCK_SESSION = 3,
    BLOCK_STRINGS = 4,
    BLOCK_PAYLOAD = 5,
    BLOCK_PROCESS = 6,
    BLOCK_RANGES = 7
};
enum { STRING_TEXT = 1 };
enum { PROCESS_ID = 1, PROCESS_HOST = 2, PROCESS_PATH = 3 };
enum { SESSION_TIME = 2, SESSION_HOST = 3, SESSION_DEVICE = 6, SESSION_VERSION = 8, SESSION_COMMAND = 11 };
enum { HOST_SYSTEM = 1 };
enum { DEVICE_ID = 1, DEVICE_NAME = 2, DEVICE_ATTRIBUTE = 3 };
enum { PAIR_NAME = 1, PAIR_VALUE = 2 };
enum { VALUE_UINT = 5 };
enum { SOURCE_ID = 1, SOURCE_CUBIN = 4, SOURCE_FILES = 8, SOURCE_SYMBOLS = 9 };
enum { FILES_FILE = 1, FILE_PATH = 1, FILE_TEXT = 2 };
enum { SYMBOLS_FUNCTION = 1, FUNCTION_NAME = 1, FUNCTION_ADDRESS = 2 };

static const char magic[4] = "NVR";

static int sniff(const char *head, size_t length)
{
    return length >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? 95 : 0;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

struct reader {
    struct stream *in;
    struct err *err;
    unsigned char *buffer;
    size_t cap, length;
    int64_t offset;
    int code;
};

/* Reads size bytes into the buffer; fewer only at the end of the input. */
static bool read_bytes(struct reader *r, size_t size)
{
    enum { STEP = 1 << 20 };
    r->length = 0;
    while (r->length < size) {
        size_t want = size - r->length < STEP ? size - r->length : STEP; /* a size may be a lie */
        if (r->length + want > r->cap) {
            r->cap = r->cap * 2 > r->length + want ? r->cap * 2 : r->length + want;
            r->buffer = mem_resize(r->buffer, r->cap, 1);
        }
        int64_t got = stream_read(r->in, r->buffer + r->length, want, r->err);
        if (got <= 0) {
            r->code = got < 0 ? (int)got : 0;
            return false;
        }
        r->length += (size_t)got;
        r->offset += got;
    }
    return true;
}

static bool read_size(struct reader *r, uint32_t *size)
{
    if (!read_bytes(r, sizeof *size))
        return false;
    *size = r->buffer[0] | (uint32_t)r->buffer[1] << 8 | (uint32_t)r->buffer[2] << 16 |
            (uint32_t)r->buffer[3] << 24;
    return true;
}

/* ---- what blocks say ----------------------------------------------------------------------------------- */

static uint32_t text_of(struct ncu_rep *rep, const struct proto_field *field)
{
    return intern_add(&rep->run->strings, (const char *)field->data, field->length);
}

static void take_strings(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    while (proto_next(&message, &f))
        if (f.number == STRING_TEXT && f.type == PROTO_BYTES)
            vec_push(&rep->names, text_of(rep, &f));
}

static void take_process(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    int64_t pid = 0;
    uint32_t path = 0;
    while (proto_next(&message, &f)) {
        pid = f.number == PROCESS_ID ? (int64_t)(f.value & INT64_MAX) : pid;
        path = f.number == PROCESS_PATH && f.type == PROTO_BYTES ? text_of(rep, &f) : path;
    }
    rep->process = run_process(rep->run, rep->source, pid);
    rep->run->processes.at[rep->process].name = path;
}

static void take_attribute(struct ncu_rep *rep, uint32_t device, struct proto message)
{
    struct proto_field f, v;
    uint32_t name = 0;
    while (proto_next(&message, &f)) {
        if (f.number == PAIR_NAME)
            name = text_of(rep, &f);
        struct proto inside = proto_inside(&f);
        while (f.number == PAIR_VALUE && proto_next(&inside, &v))
            if (v.number == VALUE_UINT && v.type == PROTO_VARINT)
                profiles_device_value(&rep->profiles, device, run_text(rep->run, name), (double)v.value);
    }
}

static void take_device(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    uint32_t device = NONE;
    while (proto_next(&message, &f)) {
        if (f.number == DEVICE_ID && f.value <= INT32_MAX) {
            device = run_device(rep->run, rep->source, (int64_t)f.value);
            rep->run->devices.at[device].vendor = VENDOR_NVIDIA;
            vec_push(&rep->devices, (int64_t)f.value);
        } else if (device != NONE && f.number == DEVICE_NAME) {
            rep->run->devices.at[device].name = text_of(rep, &f);
        } else if (device != NONE && f.number == DEVICE_ATTRIBUTE) {
            take_attribute(rep, device, proto_inside(&f));
        }
    }
}

/* "Nsight Compute Target", "CUDA Version", … */
static void take_version(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    uint32_t name = 0, value = 0;
    while (proto_next(&message, &f)) {
        name = f.number == PAIR_NAME ? text_of(rep, &f) : name;
        value = f.number == PAIR_VALUE ? text_of(rep, &f) : value;
    }
    if (strcmp(run_text(rep->run, name), "Nsight Compute Target") == 0) {
        struct str tool = {0};
        str_addf(&tool, "Nsight Compute %s", run_text(rep->run, value));
        rep->run->sources.at[rep->source].tool = intern_add(&rep->run->strings, str_text(&tool), tool.len);
        str_release(&tool);
    } else if (strcmp(run_text(rep->run, name), "CUDA Version") == 0) {
        run_fact(rep->run, rep->source, "cuda_version", run_text(rep->run, value),
                 intern_length(&rep->run->strings, value));
    }
}

static void take_session(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    while (proto_next(&message, &f)) {
        if (f.number == SESSION_DEVICE)
            take_device(rep, proto_inside(&f));
        else if (f.number == SESSION_VERSION)
            take_version(rep, proto_inside(&f));
        else if (f.number == SESSION_COMMAND && f.type == PROTO_BYTES)
            run_fact(rep->run, rep->source, "command", (const char *)f.data, f.length);
    }
}

struct block {
    uint64_t sources, results, ranges, payload;
};

static void take_block_header(struct ncu_rep *rep, const struct reader *r, struct block *block)
{
    struct proto message = proto_message(r->buffer, r->length);
    struct proto_field f;
    *block = (struct block){0};
    while (proto_next(&message, &f)) {
        switch (f.number) {
        case BLOCK_SOURCES:
            block->sources = f.value;
            break;
        case BLOCK_RESULTS:
            block->results = f.value;
            break;
        case BLOCK_RANGES:
            block->ranges = f.value;
            break;
        case BLOCK_PAYLOAD:
            block->payload = f.value;
            break;
        case BLOCK_SESSION:
            take_session(rep, proto_inside(&f));
            break;
        case BLOCK_STRINGS:
            take_strings(rep, proto_inside(&f));
            break;
        case BLOCK_PROCESS:
            take_process(rep, proto_inside(&f));
            break;
        default:
            break;
        }
    }
}

/* ---- code ---------------------------------------------------------------------------------------------- */

static void take_file(struct ncu_rep *rep, struct proto message)
{
    struct proto_field f;
    struct source_file file = {.source = rep->source};
    while (proto_next(&message, &f)) {
        if (f.number == FILE_PATH)
            file.path = text_of(rep, &f);
        else if (f.number == FILE_TEXT)
            file.text = text_of(rep, &f);
    }
    if (file.path && file.text)
        vec_push(&rep->run->source_files, file);
}

static void take_function(struct ncu_rep *rep, struct proto message, uint32_t image)
{
    struct proto_field f;
    struct rep_function function = {.image = image};
    while (proto_next(&message, &f)) {
        if (f.number == FUNCTION_NAME)
            function.name = text_of(rep, &f);
        else if (f.number == FUNCTION_ADDRESS)
            function.address = f.value;
    }
    if (function.name && function.address)
        vec_push(&rep->functions, function);
}

/* An image that is named again, to list more of its functions, comes without its bytes. */
static uint32_t find_image(const struct ncu_rep *rep, int64_t id)
{
    const struct run *run = rep->run;
    for (uint32_t i = 0; i < run->images.count; i++)
        if (run->images.at[i].source == rep->source && run->images.at[i].id == id)
            return i;
    return NONE;
}

static void take_code(struct ncu_rep *rep, const void *data, size_t length)
{
    struct proto message = proto_message(data, length);
    struct proto_field f, inner;
    int64_t id = 0;
    uint32_t image = NONE;
    while (proto_next(&message, &f)) {
        struct proto inside = proto_inside(&f);
        if (f.number == SOURCE_ID) {
            id = (int64_t)f.value;
            image = find_image(rep, id);
        } else if (f.number == SOURCE_CUBIN && f.length > 0 && image == NONE) {
            image = (uint32_t)rep->run->images.count;
            vec_push(&rep->run->images,
                     ((struct code_image){.source = rep->source, .bytes = text_of(rep, &f), .id = id}));
        } else if (f.number == SOURCE_FILES) {
            while (proto_next(&inside, &inner))
                if (inner.number == FILES_FILE)
                    take_file(rep, proto_inside(&inner));
        } else if (f.number == SOURCE_SYMBOLS) {
            while (proto_next(&inside, &inner))
                if (inner.number == SYMBOLS_FUNCTION)
                    take_function(rep, proto_inside(&inner), image);
        }
    }
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void report_damage(struct ncu_rep *rep, const struct reader *r, int64_t good_offset)
{
    rep->run->losses.truncated_bytes += r->offset - good_offset;
    run_repair(rep->run, rep->source, N_("the report is cut off or damaged: what came before was read"), 1,
               good_offset);
}

/* Reads the payload's messages. False where the input ends or makes no sense. */
static bool read_payload(struct ncu_rep *rep, struct reader *r, const struct block *block,
                         int64_t *good_offset)
{
    uint64_t left = block->payload;
    for (uint64_t i = 0; left > 0; i++) {
        uint32_t size;
        if (left < sizeof size || !read_size(r, &size) || size > left - sizeof size || size > MESSAGE_MAX ||
            !read_bytes(r, size))
            return false;
        left -= sizeof size + size;
        if (i < block->sources)
            take_code(rep, r->buffer, r->length);
        else if (i - block->sources < block->results) {
            if (!ncu_rep_result(rep, r->buffer, r->length))
                run_repair(rep->run, rep->source,
                           N_("results with damaged parts were read as far as possible"), 1, *good_offset);
        } else {
            run_repair(rep->run, rep->source, N_("results of whole ranges are not read yet"), 1,
                       *good_offset);
        }
        *good_offset = r->offset;
    }
    return true;
}

static void read_blocks(struct ncu_rep *rep, struct reader *r)
{
    for (;;) {
        int64_t good_offset = r->offset;
        uint32_t size;
        struct block block;
        if (!read_size(r, &size)) {
            if (r->length > 0)
                report_damage(rep, r, good_offset);
            return;
        }
        if (size > BLOCK_HEADER_MAX || !read_bytes(r, size)) {
            report_damage(rep, r, good_offset);
            return;
        }
        take_block_header(rep, r, &block);
        if (!read_payload(rep, r, &block, &good_offset)) {
            report_damage(rep, r, good_offset);
            return;
        }
    }
}

static int read_report(struct run *run, struct stream *in, const struct import_options *options,
                       struct err *err)
{
    (void)options;
    struct reader r = {.in = in, .err = err};
    struct ncu_rep rep = {.run = run, .process = NONE};
    uint32_t size;
    size_t before = run->profiles.count;
    rep.source = run_add_source(run, stream_path(in), "ncu-rep");
    run->sources.at[rep.source].bytes = stream_size(in);
    profiles_begin(&rep.profiles, run, rep.source);
    if (read_bytes(&r, sizeof magic) && read_size(&r, &size) && size <= FILE_HEADER_MAX &&
        read_bytes(&r, size))
        read_blocks(&rep, &r);
    profiles_end(&rep.profiles);
    if (rep.unnamed)
        run_repair(run, rep.source, N_("metrics without a name were left out"), rep.unnamed, -1);
    int code = r.code;
    if (code == 0 && run->profiles.count == before)
        code = err_set(err, ERR_INPUT, stream_path(in), r.offset, _("profile the program again with ncu"),
                       _("this Nsight Compute report holds no whole result"));
    free(r.buffer);
    vec_release(&rep.names);
    vec_release(&rep.functions);
    vec_release(&rep.devices);
    return code;
}

const struct importer import_ncu_rep = {
    .name = "ncu",
    .title = N_("Nsight Compute reports"),
    .sniff = sniff,
    .read = read_report,
};
