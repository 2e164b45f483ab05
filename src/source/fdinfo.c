#include "source/fdinfo.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "source/small_file.h"

enum { MOST_CLIENTS = 16384, MOST_DESCRIPTORS = 65536 };

/* ---- one file --------------------------------------------------------------------------------------------
 */

/* Names of amdgpu, i915, xe, panfrost and others. One that is not here is left out. */
static int engine_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum fdinfo_engine engine;
    } engines[] = {{"gfx", FDINFO_RENDER}, {"render", FDINFO_RENDER},   {"rcs", FDINFO_RENDER},
                   {"gpu", FDINFO_RENDER}, {"compute", FDINFO_COMPUTE}, {"ccs", FDINFO_COMPUTE},
                   {"dma", FDINFO_COPY},   {"copy", FDINFO_COPY},       {"bcs", FDINFO_COPY},
                   {"dec", FDINFO_DECODE}, {"video", FDINFO_DECODE},    {"vcs", FDINFO_DECODE},
                   {"enc", FDINFO_ENCODE}, {"enc_1", FDINFO_ENCODE},    {"jpeg", FDINFO_JPEG}};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strlen(engines[i].name) == length && strncmp(engines[i].name, name, length) == 0)
            return (int)engines[i].engine;
    return -1;
}

struct line {
    const char *key, *value;
    size_t key_length;
};

/* The rest of the key after prefix, or NULL; *length is that rest's. */
static const char *after_prefix(const struct line *line, const char *prefix, size_t *length)
{
    size_t prefix_length = strlen(prefix);
    if (line->key_length <= prefix_length || strncmp(line->key, prefix, prefix_length) != 0)
        return NULL;
    *length = line->key_length - prefix_length;
    return line->key + prefix_length;
}

static struct fdinfo_use *use_of(struct fdinfo_client *c, const struct line *line, const char *prefix)
{
    size_t length;
    const char *name = after_prefix(line, prefix, &length);
    int engine = name ? engine_of(name, length) : -1;
    return engine >= 0 ? &c->use[engine] : NULL;
}

static void take_engine(struct fdinfo_client *c, const struct line *line, int64_t number)
{
    struct fdinfo_use *use;
    if ((use = use_of(c, line, "drm-engine-capacity-"))) {
        use->capacity = number;
    } else if ((use = use_of(c, line, "drm-engine-")) || (use = use_of(c, line, "drm-cycles-"))) {
        use->known = true;
        if (__builtin_add_overflow(use->busy, number, &use->busy))
            use->known = false;
    } else if ((use = use_of(c, line, "drm-total-cycles-"))) {
        use->total = number;
    }
}

/* "1024 KiB": bytes without a unit. */
static int64_t bytes_of(const char *value, int64_t number)
{
    enum { KIB = 10, MIB = 20 };
    int shift = strstr(value, "KiB") ? KIB : strstr(value, "MiB") ? MIB : 0;
    return number >= 0 && number <= INT64_MAX >> shift ? number << shift : 0;
}

struct memory {
    int64_t card, host; /* by region */
    bool has_card, has_host;
};

static void take_memory(struct memory *m, const struct line *line, int64_t bytes)
{
    size_t length;
    const char *region = after_prefix(line, "drm-resident-", &length);
    if (!region)
        return;
    bool on_card = strncmp(region, "vram", 4) == 0 || strncmp(region, "local", 5) == 0;
    int64_t *sum = on_card ? &m->card : &m->host;
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = 0;
    *(on_card ? &m->has_card : &m->has_host) = true;
}

/* The older name of the same; a file with both is counted once. */
static bool is_old_memory(const struct line *line)
{
    size_t length;
    return after_prefix(line, "drm-memory-", &length) != NULL;
}

static bool next_line(const char **text, struct line *line)
{
    while (**text) {
        const char *begin = *text;
        size_t length = strcspn(begin, "\n");
        *text += length + (begin[length] == '\n');
        const char *colon = memchr(begin, ':', length);
        if (!colon)
            continue;
        *line = (struct line){begin, colon + 1, (size_t)(colon - begin)};
        while (*line->value == ' ' || *line->value == '\t')
            line->value++;
        return true;
    }
    return false;
}

static bool is_key(const struct line *line, const char *key)
{
    return strlen(key) == line->key_length && strncmp(line->key, key, line->key_length) == 0;
}

bool fdinfo_parse(const char *text, struct fdinfo_client *c)
{
    struct memory memory = {0}, old = {0};
    struct line line;
    bool has_client = false;
    *c = (struct fdinfo_client){.memory = UNKNOWN};
    while (next_line(&text, &line)) {
        int64_t number;
        if (is_key(&line, "drm-pdev"))
            snprintf(c->bus, sizeof c->bus, "%.*s", (int)strcspn(line.value, " \t\n"), line.value);
        if (strncmp(line.key, "drm-", 4) != 0 || !small_number(line.value, &number) || number < 0)
            continue;
        if (is_key(&line, "drm-client-id")) {
            c->client = number;
            has_client = true;
        }
        take_engine(c, &line, number);
        if (is_old_memory(&line)) {
            struct line as_new = line;
            char key[64];
            snprintf(key, sizeof key, "drm-resident-%.*s", (int)(line.key_length - strlen("drm-memory-")),
                     line.key + strlen("drm-memory-"));
            as_new.key = key;
            as_new.key_length = strlen(key);
            take_memory(&old, &as_new, bytes_of(line.value, number));
        }
        take_memory(&memory, &line, bytes_of(line.value, number));
    }
    if (!memory.has_card && !memory.has_host)
        memory = old;
    if (memory.has_card || memory.has_host)
        c->memory = memory.has_card ? memory.card : memory.host;
    return has_client && c->bus[0];
}

/* ---- all of them -----------------------------------------------------------------------------------------
 */

static bool is_number(const char *name)
{
    return isdigit((unsigned char)*name) && strlen(name) < 12;
}

static bool is_card(int descriptors, const char *name)
{
    char target[64];
    ssize_t length = readlinkat(descriptors, name, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    return strncmp(target, "/dev/dri/", 9) == 0;
}

static void read_process(const char *proc, const char *pid, struct map *seen, fdinfo_list *list)
{
    char folder[512], text[8192];
    if (snprintf(folder, sizeof folder, "%s/%s/fd", proc, pid) >= (int)sizeof folder)
        return;
    DIR *descriptors = opendir(folder);
    int left = MOST_DESCRIPTORS;
    for (struct dirent *entry; descriptors && left-- > 0 && (entry = readdir(descriptors));) {
        struct fdinfo_client client;
        if (!is_number(entry->d_name) || !is_card(dirfd(descriptors), entry->d_name) ||
            small_file_read(text, sizeof text, "%s/%s/fdinfo/%s", proc, pid, entry->d_name) < 0 ||
            !fdinfo_parse(text, &client))
            continue;
        uint64_t key = hash_pair((uint64_t)client.client, hash_bytes(client.bus, strlen(client.bus)));
        if (map_get(seen, key) != MAP_ABSENT || list->count >= MOST_CLIENTS)
            continue;
        map_set(seen, key, 1);
        small_number(pid, &client.pid);
        vec_push(list, client);
    }
    if (descriptors)
        closedir(descriptors);
}

void fdinfo_read(const char *proc, fdinfo_list *list)
{
    struct map seen = {0};
    list->count = 0;
    DIR *processes = opendir(proc);
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (is_number(entry->d_name))
            read_process(proc, entry->d_name, &seen, list);
    if (processes)
        closedir(processes);
    map_release(&seen);
}

struct reading fdinfo_share(const struct fdinfo_use *before, const struct fdinfo_use *after,
                            int64_t elapsed_ns)
{
    enum { THOUSAND = 1000 };
    if (!after->known)
        return reading_missing(READING_UNSUPPORTED);
    if (!before->known)
        return reading_missing(READING_UNREAD);
    int64_t whole = after->total ? after->total - before->total : elapsed_ns;
    int64_t busy = after->busy - before->busy, capacity = after->capacity > 1 ? after->capacity : 1;
    if (whole <= 0)
        return reading_missing(READING_UNREAD);
    if (busy < 0) /* the kernel warns that it can go back: the larger one stays true */
        busy = 0;
    return reading_of((int64_t)((__int128)busy * THOUSAND / whole / capacity));
}
