#include "symbol/images.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An image larger than this is taken for one with code: what the linker leaves has 2 KiB. */
enum { EMPTY_BYTES_MAX = 1 << 20, UNPACKED_BYTES_MAX = 256 << 20 };

/* ---- one image ----------------------------------------------------------------------------------------- */

static bool cubin_has_code(struct images *images, struct bytes code)
{
    struct elf elf;
    const char *why;
    bool has = false;
    if (elf_open(&elf, code, &why))
        for (uint32_t i = 0; i < elf.section_count && !has; i++)
            has = (elf.sections[i].flags & ELF_EXECUTABLE) && elf.sections[i].size > 0;
    else
        images->is_cut = true;
    elf_close(&elf);
    return has;
}

static bool has_code(struct images *images, const struct fatbin_entry *entry)
{
    static const char kernel[] = ".entry";
    struct bytes code;
    const char *why;
    if (entry->full_size > EMPTY_BYTES_MAX)
        return true;
    images->unpacked += entry->full_size;
    if (images->unpacked > UNPACKED_BYTES_MAX || !fatbin_unpack(&images->buffer, entry, &code, &why)) {
        images->is_cut = true;
        return false;
    }
    if (entry->kind == FATBIN_PTX)
        return memmem(code.at, code.size, kernel, strlen(kernel)) != NULL;
    return cubin_has_code(images, code);
}

static bool is_found(const struct images *images, const struct kernel_code *code)
{
    for (size_t i = 0; i < images->count; i++) {
        const struct kernel_code *found = &images->found[i];
        if (found->sm == code->sm && found->is_ptx == code->is_ptx &&
            found->is_specific == code->is_specific && found->is_family == code->is_family)
            return true;
    }
    return false;
}

/* Whether the entry holds code of an architecture and kind that is new. */
static bool take(struct images *images, const struct fatbin_entry *entry, struct kernel_code *code)
{
    *code = (struct kernel_code){.sm = (int32_t)(entry->sm <= 999 ? entry->sm : 0),
                                 .is_ptx = entry->kind == FATBIN_PTX,
                                 .is_specific = entry->is_specific,
                                 .is_family = entry->is_family};
    if (entry->kind == FATBIN_NVVM) {
        if (images->later_sm == 0 || code->sm < images->later_sm)
            images->later_sm = code->sm;
        return false;
    }
    if (code->sm == 0 || (entry->kind != FATBIN_PTX && entry->kind != FATBIN_CUBIN)) {
        images->is_cut = true;
        return false;
    }
    if (is_found(images, code) || !has_code(images, entry))
        return false;
    if (images->count == IMAGES_MAX) {
        images->is_cut = true;
        return false;
    }
    images->found[images->count++] = *code;
    return true;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* nvcc's sections first; then, because code may be there alone, all data. */
static bool next_section(struct images *images)
{
    images->is_cut |= images->walk.damaged > 0;
    for (;;) {
        if (images->section == images->elf.section_count) {
            if (images->place == FATBIN_DATA)
                return false;
            images->place = FATBIN_DATA;
            images->section = 0;
            if (images->map) /* data is searched from end to end */
                madvise(images->map, images->size, MADV_NORMAL);
            continue;
        }
        const struct elf_section *section = &images->elf.sections[images->section++];
        if (fatbin_place(section) != images->place)
            continue;
        images->is_cut |= section->data.size < section->size; /* the file ends before it */
        images->walk = fatbin_walk_section(&images->elf, section);
        return true;
    }
}

bool images_next(struct images *images, struct kernel_code *code)
{
    struct fatbin_entry entry;
    for (;;) {
        while (fatbin_next(&images->walk, &entry))
            if (take(images, &entry, code))
                return true;
        if (!next_section(images))
            return false;
    }
}

static bool start(struct images *images, struct bytes file)
{
    const char *why;
    images->place = FATBIN_SECTION;
    if (!elf_open(&images->elf, file, &why) || images->elf.machine == ELF_MACHINE_CUDA)
        return false;
    for (uint32_t i = 0; i < images->elf.section_count; i++)
        if (fatbin_place(&images->elf.sections[i]) == FATBIN_SECTION)
            return true;
    return false;
}

bool images_open_memory(struct images *images, const void *data, size_t size)
{
    *images = (struct images){0};
    return start(images, (struct bytes){data, size});
}

bool images_open(struct images *images, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *images = (struct images){0};
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            images->map = data;
            images->size = (size_t)st.st_size;
            /* Headers lie far apart: what is read ahead of them would be read for nothing. */
            madvise(data, images->size, MADV_RANDOM);
        }
    }
    close(fd);
    return images->map && start(images, (struct bytes){images->map, images->size});
}

void images_close(struct images *images)
{
    elf_close(&images->elf);
    fatbin_release(&images->buffer);
    if (images->map)
        munmap(images->map, images->size);
    *images = (struct images){0};
}
