/* Source: the keys that Triton 2.1 to 3.5 write (num_warps, shared, num_ctas). */
#include "symbol/triton.h"

#include <unistd.h>

#include "base/json.h"
#include "base/str.h"

enum { WARP = 32, WARPS_MAX = 64, FILE_MAX = 1 << 20 };

struct launcher {
    int64_t warps, shared_bytes, blocks_per_cluster; /* UNKNOWN */
};

static void read_launcher(struct json_reader *json, struct launcher *launcher)
{
    struct json_text key, value;
    if (!json_enter(json, JSON_OBJECT))
        return;
    while (json_next_key(json, &key)) {
        int64_t *into = json_text_is(key, "num_warps")  ? &launcher->warps
                        : json_text_is(key, "shared")   ? &launcher->shared_bytes
                        : json_text_is(key, "num_ctas") ? &launcher->blocks_per_cluster
                                                        : NULL;
        if (!into)
            json_skip(json);
        else if (json_read_scalar(json, &value) && !json_to_int(value, into))
            *into = UNKNOWN;
    }
}

static void apply(struct kernel_code *code, const struct launcher *launcher)
{
    if (launcher->warps > 0 && launcher->warps <= WARPS_MAX) {
        code->required_block[0] = launcher->warps * WARP;
        code->required_block[1] = code->required_block[2] = 1;
    }
    /* Triton's kernels have no static shared memory: what they need is asked for at the launch. */
    if (launcher->shared_bytes >= 0 && launcher->shared_bytes < INT32_MAX)
        code->dynamic_shared_bytes = launcher->shared_bytes;
    if (launcher->blocks_per_cluster > 1 && launcher->blocks_per_cluster <= 16) {
        code->cluster[0] = launcher->blocks_per_cluster;
        code->cluster[1] = code->cluster[2] = 1;
    }
}

void triton_read(struct run *run, const char *path, size_t first)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/') || (strcmp(dot, ".cubin") != 0 && strcmp(dot, ".ptx") != 0))
        return;
    struct str beside = {0};
    str_add(&beside, path, (size_t)(dot - path));
    str_puts(&beside, ".json");
    struct stream *in = NULL;
    if (access(str_text(&beside), R_OK) == 0 && stream_open(&in, str_text(&beside), NULL) == 0 &&
        stream_size(in) < FILE_MAX) {
        struct json_reader json;
        struct launcher launcher = {UNKNOWN, UNKNOWN, UNKNOWN};
        json_open(&json, in, NULL, NULL);
        read_launcher(&json, &launcher);
        json_close(&json);
        for (size_t i = first; i < run->codes.count && launcher.warps != UNKNOWN; i++)
            apply(&run->codes.at[i], &launcher);
    }
    if (in)
        stream_close(in);
    str_release(&beside);
}
