#include "model/setup.h"

#include <string.h>

void setup_init(struct setup *s)
{
    *s = (struct setup){
        .root = "",
        .program = "",
        .kernel = "",
        .driver_version = "",
        .container = "",
        .preload = "",
        .profiling_admin_only = UNKNOWN,
        .perf_event_paranoid = UNKNOWN,
        .ptrace_scope = UNKNOWN,
        .memlock = LIMIT_UNKNOWN,
        .nofile = LIMIT_UNKNOWN,
        .shm_bytes = UNKNOWN,
        .kernel_log = "",
        .kernel_log_error = -1,
        .toolkit = "",
        .toolkit_path = "",
        .torch = "",
        .torch_cuda = "",
        .torch_path = "",
        .nvidia = {.version = "", .blocked_by = ""},
        .uvm = {.version = "", .blocked_by = ""},
        .nouveau = {.version = "", .blocked_by = ""},
    };
}

void setup_release(struct setup *s)
{
    vec_each (&s->images, image)
        vec_release(&image->codes);
    vec_release(&s->images);
    vec_release(&s->gpus);
    vec_release(&s->nodes);
    vec_release(&s->libraries);
    vec_release(&s->variables);
    vec_release(&s->owners);
    machine_sample_release(&s->sample);
    arena_release(&s->arena);
}

const char *setup_text(struct setup *s, const char *text)
{
    return arena_text(&s->arena, text, strlen(text));
}

const char *setup_variable(const struct setup *s, const char *name)
{
    vec_each (&s->variables, variable)
        if (strcmp(variable->name, name) == 0)
            return variable->value;
    return NULL;
}

const struct setup_library *setup_library(const struct setup *s, const char *name)
{
    vec_each (&s->libraries, library)
        if (strcmp(library->name, name) == 0)
            return library;
    return NULL;
}

const struct setup_node *setup_node(const struct setup *s, const char *path)
{
    vec_each (&s->nodes, node)
        if (strcmp(node->path, path) == 0)
            return node;
    return NULL;
}
