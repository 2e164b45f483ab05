#include "symbol/images.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf.h"
#include "symbol/fatbin.h"

static size_t add_code(struct kernel_code *codes, size_t count, size_t most, const struct fatbin_entry *entry)
{
    bool is_ptx = entry->kind == FATBIN_PTX;
    if (count == most || entry->sm == 0 || entry->sm > 999 || (!is_ptx && entry->kind != FATBIN_CUBIN))
        return count;
    for (size_t i = 0; i < count; i++)
        if (codes[i].sm == (int32_t)entry->sm && codes[i].is_ptx == is_ptx &&
            codes[i].is_specific == entry->is_specific && codes[i].is_family == entry->is_family)
            return count;
    codes[count] = (struct kernel_code){.sm = (int32_t)entry->sm,
                                        .is_ptx = is_ptx,
                                        .is_specific = entry->is_specific,
                                        .is_family = entry->is_family};
    return count + 1;
}

static size_t read_elf(struct bytes file, struct kernel_code *codes, size_t most)
{
    struct elf elf;
    const char *why;
    size_t count = 0;
    if (elf_open(&elf, file, &why)) {
        for (uint32_t i = 0; i < elf.section_count; i++) {
            struct fatbin_walk walk = {.data = elf.sections[i].data};
            struct fatbin_entry entry;
            if (strcmp(elf.sections[i].name, ".nv_fatbin") != 0)
                continue;
            while (fatbin_next(&walk, &entry))
                count = add_code(codes, count, most, &entry);
        }
    }
    elf_close(&elf);
    return count;
}

size_t images_read(const char *path, struct kernel_code *codes, size_t most)
{
    struct stat st;
    size_t count = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            struct bytes file = {data, (size_t)st.st_size};
            count = elf_is(file) ? read_elf(file, codes, most) : 0;
            munmap(data, (size_t)st.st_size);
        }
    }
    close(fd);
    return count;
}
