#include "symbol/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "symbol/code.h"
#include "symbol/elf.h"
#include "symbol/triton.h"

enum { DEPTH_MAX = 4, MEMBER_HEADER = 60 };

/* Real code compresses 3 to 10 times; a file of empty blocks must not keep us for hours. */
enum { UNPACKED_RATIO = 64, UNPACKED_SLACK = 64 << 20 };

static const char archive_magic[8] = {'!', '<', 'a', 'r', 'c', 'h', '>', '\n'};

static void read_bytes(struct code_reader *reader, struct bytes file, const struct code_origin *origin,
                       int depth);

static void repair(struct code_reader *reader, const char *why, int64_t count)
{
    run_repair(reader->run, reader->source, why, count, -1);
}

/* ---- fatbins ------------------------------------------------------------------------------------------- */

/* "path", or "path: name of the source file". */
static uint32_t container_text(struct code_reader *reader, uint32_t outer, struct bytes name)
{
    struct intern *strings = &reader->run->strings;
    while (name.size > 0 && name.at[name.size - 1] == '\0')
        name.size--;
    if (name.size == 0 || name.size > 4096)
        return outer;
    struct str text = {0};
    str_addf(&text, "%s: ", intern_text(strings, outer));
    str_add(&text, (const char *)name.at, name.size);
    uint32_t id = intern_add(strings, text.ptr, text.len);
    str_release(&text);
    return id;
}

static void read_entry(struct code_reader *reader, const struct fatbin_entry *entry,
                       const struct code_origin *outer)
{
    struct bytes code;
    const char *why;
    if (entry->kind != FATBIN_PTX && entry->kind != FATBIN_CUBIN) {
        repair(reader, N_("pieces of intermediate code (for link-time optimisation) were passed over"), 1);
        return;
    }
    if (entry->compression != FATBIN_PLAIN && entry->full_size < UINT64_MAX / 2)
        reader->unpacked += entry->full_size;
    if (reader->unpacked > reader->unpacked_max) {
        repair(
            reader,
            N_("compressed GPU code was left out: there is far more of it than a file of this size can hold"),
            1);
        return;
    }
    if (!fatbin_unpack(&reader->buffer, entry, &code, &why)) {
        repair(reader, why, 1);
        return;
    }
    struct code_origin origin = {
        .container = container_text(reader, outer->container, entry->name),
        .sm = entry->sm < 1000 ? entry->sm : 0,
        .is_specific = entry->is_specific,
        .is_family = entry->is_family,
    };
    if (entry->kind == FATBIN_PTX)
        ptx_read(reader, code, &origin);
    else
        cubin_read(reader, code, &origin);
}

static void read_fatbin(struct code_reader *reader, struct fatbin_walk walk, const struct code_origin *origin)
{
    struct fatbin_entry entry;
    while (fatbin_next(&walk, &entry))
        read_entry(reader, &entry, origin);
    if (walk.damaged > 0)
        repair(reader, N_("containers of GPU code (fatbins) end too early"), (int64_t)walk.damaged);
}

/* ---- ELF and archives ---------------------------------------------------------------------------------- */

static void read_elf(struct code_reader *reader, struct bytes file, const struct code_origin *origin)
{
    struct elf elf;
    const char *why;
    if (!elf_open(&elf, file, &why)) {
        repair(reader, why, 1);
    } else if (elf.machine == ELF_MACHINE_CUDA) {
        cubin_read(reader, file, origin);
    } else {
        for (uint32_t i = 0; i < elf.section_count; i++) {
            const struct elf_section *section = &elf.sections[i];
            if (strcmp(section->name, ".hip_fatbin") == 0)
                repair(reader, N_("code for AMD GPUs was passed over"), 1);
            else if (fatbin_place(section) != FATBIN_NOWHERE)
                read_fatbin(reader, fatbin_walk_section(&elf, section), origin);
        }
    }
    elf_close(&elf);
}

static uint64_t member_size(struct bytes header)
{
    enum { SIZE_AT = 48, SIZE_DIGITS = 10 };
    uint64_t size = 0;
    for (int i = 0; i < SIZE_DIGITS; i++) {
        uint8_t c = bytes_u8(header, SIZE_AT + (uint64_t)i);
        if (c >= '0' && c <= '9')
            size = size * 10 + (c - '0');
    }
    return size;
}

/* Members lie one after another, each behind a header of text, at even offsets. */
static void read_archive(struct code_reader *reader, struct bytes file, const struct code_origin *origin,
                         int depth)
{
    uint64_t at = sizeof archive_magic;
    while (bytes_have(file, at, MEMBER_HEADER)) {
        uint64_t size = member_size(bytes_part(file, at, MEMBER_HEADER));
        struct bytes member = bytes_up_to(file, at + MEMBER_HEADER, size);
        if (elf_is(member))
            read_bytes(reader, member, origin, depth + 1);
        at += MEMBER_HEADER + size + size % 2;
    }
}

/* ---- any file ------------------------------------------------------------------------------------------ */

static bool is_archive(struct bytes file)
{
    return bytes_start_with(file, archive_magic, sizeof archive_magic);
}

static void read_bytes(struct code_reader *reader, struct bytes file, const struct code_origin *origin,
                       int depth)
{
    if (depth > DEPTH_MAX)
        return;
    if (elf_is(file))
        read_elf(reader, file, origin);
    else if (fatbin_is(file))
        read_fatbin(reader, (struct fatbin_walk){.data = file}, origin);
    else if (is_archive(file))
        read_archive(reader, file, origin, depth);
    else
        ptx_read(reader, file, origin);
}

static const char *format_of(struct bytes file)
{
    if (elf_is(file))
        return bytes_u16(file, 18) == ELF_MACHINE_CUDA ? "cubin" : "ELF";
    return fatbin_is(file) ? "fatbin" : is_archive(file) ? "archive" : "PTX";
}

bool binary_is(const void *data, size_t size)
{
    struct bytes file = {data, size};
    return elf_is(file) || fatbin_is(file) || is_archive(file) || ptx_is(file);
}

static void read_source(struct run *run, uint32_t source, struct bytes file)
{
    struct code_reader reader = {.run = run, .source = source};
    reader.unpacked_max = (uint64_t)file.size * UNPACKED_RATIO + UNPACKED_SLACK;
    struct code_origin origin = {.container = run->sources.at[source].path};
    read_bytes(&reader, file, &origin, 0);
    fatbin_release(&reader.buffer);
    map_release(&reader.demangled);
}

int binary_read_memory(struct run *run, const char *path, const void *data, size_t size, struct err *err)
{
    struct bytes file = {data, size};
    if (!binary_is(data, size))
        return err_set(err, ERR_INPUT, path, -1,
                       _("give a program, a library, an object, a cubin, a fatbin or PTX"),
                       _("this is no file with GPU code"));
    uint32_t source = run_add_source(run, path, format_of(file));
    run->sources.at[source].bytes = (int64_t)size;
    read_source(run, source, file);
    return 0;
}

void binary_read_images(struct run *run)
{
    vec_each (&run->images, image) {
        /* Texts stay where they are, whatever is added to the strings. */
        struct bytes file = {(const uint8_t *)run_text(run, image->bytes),
                             intern_length(&run->strings, image->bytes)};
        if (binary_is(file.at, file.size))
            read_source(run, image->source, file);
    }
}

static int fail(struct err *err, const char *path, enum err_code code)
{
    return err_set(err, code, path, -1, NULL, _("cannot read: %s"), strerror(errno));
}

int binary_read(struct run *run, const char *path, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_open(err, path, errno);
    int rc = 0;
    void *data = NULL;
    if (fstat(fd, &st) != 0)
        rc = fail(err, path, ERR_INPUT);
    else if (!S_ISREG(st.st_mode))
        rc = err_set(err, ERR_INPUT, path, -1, NULL, _("not a regular file"));
    else if (st.st_size > 0 &&
             (data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
        rc = fail(err, path, ERR_ENV);
    close(fd);
    if (rc < 0)
        return rc;
    size_t first = run->codes.count;
    rc = binary_read_memory(run, path, data ? data : "", (size_t)st.st_size, err);
    if (data)
        munmap(data, (size_t)st.st_size);
    if (rc == 0)
        triton_read(run, path, first);
    return rc;
}
