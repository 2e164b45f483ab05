#include "source/native_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "base/utf8.h"
#include "source/elf_function.h"
#include "source/remote_symbol.h"

enum {
    MOST_LINES = 65536, /* of /proc/PID/maps: the kernel's own default limit */
    MOST_OBJECTS = 4096,
    MOST_RANGES = 4096, /* of one object */
    MOST_ADDRESSES = 1 << 18,
    MOST_TEXTS = 1 << 17,
    SOONEST_NS = 100 * 1000 * 1000, /* between looks at the mappings */
    LATEST_NS = 1000 * 1000 * 1000,
};

void native_code_init(struct native_code *c, int folder, struct remote_memory *memory, struct intern *texts)
{
    *c = (struct native_code){.folder = folder, .memory = memory, .texts = texts, .read_at = INT64_MIN};
    c->generated = intern_puts(texts, "generated code");
}

static void forget_addresses(struct native_code *c)
{
    map_release(&c->by_address);
    c->by_address = (struct map){0};
}

void native_code_forget(struct native_code *c)
{
    vec_each (&c->objects, object) {
        free(object->path);
        vec_release(&object->ranges);
    }
    vec_release(&c->objects);
    vec_release(&c->mappings);
    forget_addresses(c);
    c->seen = 0;
    c->read_at = INT64_MIN;
}

void native_code_release(struct native_code *c)
{
    native_code_forget(c);
}

/* ---- mappings -------------------------------------------------------------------------------------------
 */

static uint32_t object_of(struct native_code *c, const char *path, uint64_t inode)
{
    for (size_t i = 0; i < c->objects.count; i++)
        if (c->objects.at[i].inode == inode && strcmp(c->objects.at[i].path, path) == 0)
            return (uint32_t)i;
    if (c->objects.count >= MOST_OBJECTS)
        return NONE;
    struct native_object *object = vec_new(&c->objects);
    object->path = mem_alloc(strlen(path) + 1);
    memcpy(object->path, path, strlen(path) + 1);
    object->inode = inode;
    return (uint32_t)c->objects.count - 1;
}

/* A line of /proc/PID/maps: what is executable becomes a mapping, and where a file begins is noted. */
static void read_line(struct native_code *c, char *line)
{
    struct native_mapping m = {.object = NONE};
    char rights[5];
    uint64_t inode;
    int path_at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m.start, &m.end, rights,
               &m.offset, &inode, &path_at) != 5 ||
        m.end <= m.start)
        return;
    char *path = line + path_at;
    path[strcspn(path, "\n")] = '\0';
    bool executable = rights[2] == 'x', file = *path == '/' || *path == '[';
    if (file && (executable || m.offset == 0) && *path == '/')
        m.object = object_of(c, path, inode);
    else if (file && executable)
        m.object = object_of(c, path, 0); /* [vdso] */
    if (m.object != NONE) {
        struct native_object *object = &c->objects.at[m.object];
        object->image = m.offset == 0 && !object->mapped ? m.start : object->image;
        object->mapped = true;
    }
    if (executable)
        vec_push(&c->mappings, m);
}

/* Symbols by which an object is told that says nothing of its own. */
static bool is_telltale(struct native_code *c, const struct native_object *object)
{
    static const char *const exports[] = {"cuInit", "InitializeInjection", "_PyRuntime"};
    struct remote_image image;
    if (!object->image || !remote_image_open(&image, c->memory, object->image))
        return false;
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        if (remote_image_symbol(&image, c->memory, exports[i]))
            return true;
    return false;
}

/* The folder of the executable, or the one above if that is named for executables ("…/bin"), with its last
 * slash: "/" and "/usr/", which hold everybody's libraries, are nobody's tree. Empty then. */
static void find_tree(char *tree, const char *executable)
{
    size_t length = strlen(executable);
    memcpy(tree, executable, length + 1);
    while (length > 0 && tree[length - 1] != '/')
        length--;
    if (length >= strlen("/bin/") && memcmp(tree + length - strlen("/bin/"), "/bin/", strlen("/bin/")) == 0)
        length -= strlen("bin/");
    tree[length] = '\0';
    if (strcmp(tree, "/") == 0 || strcmp(tree, "/usr/") == 0 || strcmp(tree, "/usr/local/") == 0)
        *tree = '\0';
}

static void tell_own_objects(struct native_code *c)
{
    char executable[PATH_MAX], tree[PATH_MAX];
    ssize_t length = readlinkat(c->folder, "exe", executable, sizeof executable - 1);
    executable[length > 0 ? length : 0] = '\0';
    find_tree(tree, executable);
    remote_memory_look(c->memory);
    vec_each (&c->objects, object) {
        object->telltale = is_telltale(c, object);
        object->own = !object->telltale && *executable && strcmp(object->path, executable) == 0;
        if (object->telltale && strcmp(object->path, executable) == 0)
            *tree = '\0'; /* the interpreter's tree is not the program's */
    }
    vec_each (&c->objects, object)
        object->own =
            object->own || (!object->telltale && *tree && strncmp(object->path, tree, strlen(tree)) == 0);
}

static void read_mappings(struct native_code *c, int64_t now)
{
    int fd = openat(c->folder, "maps", O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    c->read_at = now;
    if (!lines) {
        if (fd >= 0)
            close(fd);
        return;
    }
    uint64_t seen = 1;
    c->mappings.count = 0;
    vec_each (&c->objects, object)
        object->mapped = false;
    for (int i = 0; i < MOST_LINES && (length = getline(&line, &room, lines)) > 0; i++) {
        size_t before = c->mappings.count;
        read_line(c, line);
        if (c->mappings.count > before)
            seen = hash_pair(seen, hash_bytes(line, strlen(line)));
    }
    free(line);
    fclose(lines);
    if (seen == c->seen)
        return;
    c->seen = seen;
    forget_addresses(c);
    tell_own_objects(c);
}

static const struct native_mapping *mapping_at(const struct native_code *c, uint64_t address)
{
    size_t low = 0, high = c->mappings.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->mappings.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->mappings.count && c->mappings.at[low].start <= address ? &c->mappings.at[low] : NULL;
}

static const struct native_object *object_at(const struct native_code *c, const struct native_mapping *m)
{
    return m && m->object != NONE ? &c->objects.at[m->object] : NULL;
}

/* ---- names ----------------------------------------------------------------------------------------------
 */

/* The object's file as the process sees it, if it is still the one that is mapped; else -1. The executable
 * can be opened even if it was deleted. */
static int open_object(const struct native_code *c, const struct native_object *object)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
    char path[PATH_MAX + 8];
    struct stat status;
    if (*object->path != '/' || (size_t)snprintf(path, sizeof path, "root%s", object->path) >= sizeof path)
        return -1;
    int fd = openat(c->folder, path, FLAGS);
    for (int executable = 0; executable < 2; executable++) {
        if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == object->inode)
            return fd;
        if (fd >= 0)
            close(fd);
        fd = executable == 0 ? openat(c->folder, "exe", FLAGS) : -1;
    }
    return -1;
}

static uint32_t add_name(struct native_code *c, const struct native_object *object,
                         const struct elf_function *function)
{
    const char *slash = strrchr(object->path, '/');
    const char *last = slash ? slash + 1 : object->path, *deleted = strstr(last, " (deleted)");
    struct str text = {0};
    if (c->texts->count >= MOST_TEXTS)
        return 0;
    utf8_visible(&text, last, deleted ? (size_t)(deleted - last) : strlen(last));
    if (*function->name) {
        str_puts(&text, ": ");
        utf8_visible(&text, function->name, strlen(function->name));
    } else if (function->bounded) {
        str_addf(&text, "+0x%" PRIx64, function->start);
    }
    uint32_t name = intern_add(c->texts, str_text(&text), text.len);
    str_release(&text);
    return name;
}

static uint32_t name_in_object(struct native_code *c, struct native_object *object, uint64_t offset)
{
    vec_each (&object->ranges, range)
        if (offset >= range->start && offset < range->end)
            return range->name;
    struct elf_file file;
    struct elf_function function = {0};
    struct native_range range = {0, UINT64_MAX, 0}; /* nothing is known of the file */
    uint64_t address;
    int fd = open_object(c, object);
    if (fd >= 0 && elf_file_open(&file, fd) && elf_file_address(&file, offset, &address)) {
        elf_file_function(&file, address, &function);
        range.start = offset - (address - function.start);
        range.end =
            function.end - address < UINT64_MAX - offset ? offset + (function.end - address) : UINT64_MAX;
        range.start = range.start <= offset ? range.start : offset;
    }
    if (fd >= 0)
        close(fd);
    range.name = add_name(c, object, &function);
    if (object->ranges.count < MOST_RANGES)
        vec_push(&object->ranges, range);
    return range.name;
}

static uint32_t name_at(struct native_code *c, const struct native_mapping *m, uint64_t address)
{
    if (m->object == NONE)
        return c->generated;
    uint32_t name = map_get(&c->by_address, address);
    if (name != MAP_ABSENT)
        return name;
    if (c->by_address.count >= MOST_ADDRESSES)
        forget_addresses(c);
    name = name_in_object(c, &c->objects.at[m->object], address - m->start + m->offset);
    map_set(&c->by_address, address, name);
    return name;
}

/* ---- frames ---------------------------------------------------------------------------------------------
 */

#if defined __x86_64__
/* CALL rel32 (E8), and CALL through a register or memory (FF /2, two to seven bytes). */
static bool follows_call(const struct native_code *c, uint64_t address)
{
    enum { LONGEST = 7 };
    unsigned char code[LONGEST];
    int32_t distance;
    if (address < LONGEST || !remote_memory_read(c->memory, address - LONGEST, code, sizeof code))
        return false;
    memcpy(&distance, code + LONGEST - sizeof distance, sizeof distance);
    if (code[LONGEST - 5] == 0xe8 && mapping_at(c, address + (uint64_t)(int64_t)distance))
        return true;
    for (int length = 2; length <= LONGEST; length++)
        if (code[LONGEST - length] == 0xff && (code[LONGEST - length + 1] >> 3 & 7) == 2)
            return true;
    return false;
}
#elif defined __aarch64__
/* BL and BLR. */
static bool follows_call(const struct native_code *c, uint64_t address)
{
    uint32_t code;
    return address % 4 == 0 && address >= 4 &&
           remote_memory_read(c->memory, address - 4, &code, sizeof code) &&
           (code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000);
}
#else
static bool follows_call(const struct native_code *c, uint64_t address)
{
    (void)c;
    (void)address;
    return false;
}
#endif

/* The function of the program's own code that the stack leads to first; 0 none. */
static uint32_t own_caller(struct native_code *c, const struct perf_sample *sample)
{
    for (size_t i = 0; i < sample->stack_words; i++) {
        uint64_t word = sample->stack[i];
        const struct native_mapping *m = mapping_at(c, word - 1);
        const struct native_object *object = object_at(c, m);
        if (object && object->own && follows_call(c, word))
            return name_at(c, m, word - 1);
    }
    return 0;
}

struct native_frame native_code_frame(struct native_code *c, const struct perf_sample *sample, int64_t now)
{
    if (c->read_at == INT64_MIN || now - c->read_at >= LATEST_NS)
        read_mappings(c, now);
    const struct native_mapping *m = mapping_at(c, sample->instruction);
    if (!m && now - c->read_at >= SOONEST_NS) {
        read_mappings(c, now);
        m = mapping_at(c, sample->instruction);
    }
    if (!m)
        return (struct native_frame){0};
    const struct native_object *object = object_at(c, m);
    if (object && object->own)
        return (struct native_frame){.function = name_at(c, m, sample->instruction)};
    uint32_t caller = own_caller(c, sample);
    if (caller)
        return (struct native_frame){caller, name_at(c, m, sample->instruction), object && object->telltale};
    if (object && object->telltale)
        return (struct native_frame){0};
    return (struct native_frame){.function = name_at(c, m, sample->instruction)};
}
