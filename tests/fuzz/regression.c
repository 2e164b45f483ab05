/* Replays a corpus through a fuzz target without a fuzzer: every file whole, and cut at a number of places,
 * as recordings of killed programs are. Each input lies at the end of its own allocation, where the sanitizer
 * sees a read past it.
 *
 *     regress_NAME FILE_OR_FOLDER... */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { CUTS = 64, FILE_MAX = 16 << 20 };

static void replay_bytes(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    FUZZ_CHECK(exact);
    if (size > 0)
        memcpy(exact, data, size);
    FUZZ_CHECK(LLVMFuzzerTestOneInput(exact, size) == 0);
    free(exact);
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(FILE_MAX);
    FUZZ_CHECK(file && data);
    size_t size = fread(data, 1, FILE_MAX, file);
    fclose(file);
    replay_bytes(data, size);
    for (size_t cut = 0; cut < CUTS && cut < size; cut++)
        replay_bytes(data, size * cut / CUTS);
    free(data);
    return 1;
}

/* Returns how many files were replayed. */
static int replay_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return 0;
    if (!S_ISDIR(st.st_mode))
        return replay_file(path);
    DIR *folder = opendir(path);
    FUZZ_CHECK(folder);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        files += replay_path(inside);
    }
    closedir(folder);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += replay_path(argv[i]);
    printf("%d inputs, each whole and cut\n", files);
    return files > 0 ? 0 : 1;
}
