/* What to record besides the usual, as the collector says it in the environment. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "inject/recorder.h"

static const struct {
    const char *word;
    size_t at;
} words_known[] = {
    {"paused", offsetof(struct recorder_options, paused)},
    {"graph-nodes", offsetof(struct recorder_options, graph_nodes)},
    {"no-memory", offsetof(struct recorder_options, no_memory)},
    {"torch-ops", offsetof(struct recorder_options, torch_ops)},
    {"counters", offsetof(struct recorder_options, counters)},
    {"deep", offsetof(struct recorder_options, deep)},
    {"sampler", offsetof(struct recorder_options, sampler)},
};

struct recorder_options options_read(const char *words)
{
    struct recorder_options options = {0};
    words = options.words = words ? strdup(words) : NULL; /* the application may change its environment */
    while (words && *words) {
        size_t length = strcspn(words, ",");
        for (size_t i = 0; i < sizeof words_known / sizeof *words_known; i++)
            if (strlen(words_known[i].word) == length && memcmp(words, words_known[i].word, length) == 0)
                *(bool *)((char *)&options + words_known[i].at) = true;
        if (strncmp(words, "launches=", strlen("launches=")) == 0)
            options.launches = (uint32_t)strtoul(words + strlen("launches="), NULL, 10);
        words += length + (words[length] == ',');
    }
    return options;
}
