/* kubectl describe node: GPUs that the node has and those that it offers. */
#include <stdlib.h>
#include <string.h>

#include "import/logs/readers.h"

static bool begins(const char *text, size_t length, const char *word)
{
    size_t size = strlen(word);
    return length >= size && memcmp(text, word, size) == 0;
}

void logs_kube(struct logs *logs, const struct log_line *line)
{
    enum { NUMBER_MAX = 12 };
    static const char resource[] = "nvidia.com/gpu:";
    struct kube_state *kube = &logs->kube;
    const char *at = line->text;
    size_t length = line->length;
    while (length > 0 && *at == ' ') {
        at++;
        length--;
    }
    if (begins(at, length, "Capacity:")) {
        *kube = (struct kube_state){KUBE_CAPACITY, -1};
    } else if (begins(at, length, "Allocatable:")) {
        kube->section = KUBE_ALLOCATABLE;
    } else if (kube->section != KUBE_NONE && begins(at, length, resource)) {
        char number[NUMBER_MAX + 1];
        size_t rest = length - strlen(resource);
        size_t size = rest < NUMBER_MAX ? rest : NUMBER_MAX;
        memcpy(number, at + strlen(resource), size);
        number[size] = '\0';
        int64_t count = strtoll(number, NULL, 10);
        if (kube->section == KUBE_CAPACITY)
            kube->capacity = count;
        else if (kube->capacity > count)
            logs_add_sign(logs, line, "k8s-unhealthy", NULL, NULL);
        logs->kinds |= 1u << KIND_KUBE;
    } else if (length > 0 && at == line->text) {
        kube->section = KUBE_NONE;
    }
}
