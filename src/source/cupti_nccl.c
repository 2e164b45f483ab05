#include "source/cupti_nccl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "source/cupti_nvtx.h"

enum { MOST_COMMUNICATORS = 4096, MOST_COMMS = 1 << 20 };

static bool number(const struct ring_payload_range *payload, const struct ring_schema *schema,
                   const char *name, uint64_t *value)
{
    for (uint32_t i = 0; payload && schema && i < schema->count; i++)
        if (strncmp(schema->entries[i].name, name, sizeof schema->entries[i].name) == 0)
            return cupti_nvtx_number(payload, &schema->entries[i], value);
    return false;
}

static struct cupti_nccl_communicator *communicator(struct cupti_nccl *n, uint64_t id)
{
    uint32_t row = map_get(&n->communicator_of, id);
    if (row != MAP_ABSENT)
        return &n->communicators.at[row];
    if (n->communicators.count >= MOST_COMMUNICATORS)
        return NULL;
    map_set(&n->communicator_of, id, (uint32_t)n->communicators.count);
    vec_push(&n->communicators,
             ((struct cupti_nccl_communicator){.id = id, .ranks = UNKNOWN, .issued = UNKNOWN}));
    return &n->communicators.at[n->communicators.count - 1];
}

static struct cupti_nccl_group *group(struct cupti_nccl *n, uint32_t thread)
{
    uint32_t row = map_get(&n->group_of, thread);
    if (row != MAP_ABSENT)
        return &n->groups.at[row];
    map_set(&n->group_of, thread, (uint32_t)n->groups.count);
    vec_push(&n->groups, ((struct cupti_nccl_group){.comm = NONE}));
    return &n->groups.at[n->groups.count - 1];
}

/* "ncclAllReduce" → "allreduce", as PyTorch calls it. */
static uint32_t collective_name(struct run *run, uint32_t range)
{
    char name[64];
    const char *text = run_text(run, range);
    text += strncmp(text, "nccl", 4) == 0 ? 4 : 0;
    snprintf(name, sizeof name, "%s", text);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return intern_puts(&run->strings, name);
}

/* NCCL says the bytes that one rank contributes; gathering and scattering multiply them by the ranks. */
static uint32_t add_comm(struct run *run, struct cupti_nccl_communicator *c, uint32_t range, uint64_t bytes)
{
    char id[32];
    if (run->comms.count >= MOST_COMMS)
        return NONE;
    snprintf(id, sizeof id, "NCCL %016llx", (unsigned long long)c->id);
    struct comm comm = {.collective = collective_name(run, range),
                        .group = intern_puts(&run->strings, id),
                        .dtype = intern_puts(&run->strings, "Byte"),
                        .in_elements = bytes <= INT64_MAX ? (int64_t)bytes : UNKNOWN,
                        .group_size = c->ranks,
                        .seq = c->issued};
    comm.out_elements = comm.in_elements;
    int64_t all;
    bool known = comm.in_elements != UNKNOWN && c->ranks != UNKNOWN &&
                 !__builtin_mul_overflow(comm.in_elements, c->ranks, &all);
    const char *name = run_text(run, comm.collective);
    if (strcmp(name, "allgather") == 0)
        comm.out_elements = known ? all : UNKNOWN;
    else if (strcmp(name, "reducescatter") == 0)
        comm.in_elements = known ? all : UNKNOWN;
    if (c->issued != UNKNOWN)
        c->issued++;
    vec_push(&run->comms, comm);
    return (uint32_t)(run->comms.count - 1);
}

void cupti_nccl_range(struct cupti_nccl *n, struct run *run, size_t span,
                      const struct ring_payload_range *payload, const struct ring_schema *schema)
{
    struct cupti_nccl_group *issued = group(n, run->spans.thread[span]);
    const char *name = run_text(run, run->spans.name[span]);
    uint64_t id, ranks, bytes;
    if (strcmp(name, "ncclGroupStart") == 0) {
        *issued = (struct cupti_nccl_group){.comm = NONE};
    } else if (strcmp(name, "ncclGroupEnd") == 0) {
        run->spans.comm[span] = issued->count == 1 ? issued->comm : NONE;
        *issued = (struct cupti_nccl_group){.comm = NONE};
    } else if (number(payload, schema, "NCCL communicator ID", &id)) {
        struct cupti_nccl_communicator *c = communicator(n, id);
        if (c && number(payload, schema, "No. of ranks", &ranks) && ranks <= INT32_MAX) {
            c->ranks = (int64_t)ranks;
            c->issued = c->issued == UNKNOWN ? 0 : c->issued;
        }
        if (c && number(payload, schema, "Message size [bytes]", &bytes)) {
            run->spans.comm[span] = issued->comm = add_comm(run, c, run->spans.name[span], bytes);
            issued->count++;
        }
    }
}

void cupti_nccl_hold(struct cupti_nccl *n, const struct compaction *c)
{
    vec_each (&n->groups, group)
        compaction_comm(c, &group->comm);
}

void cupti_nccl_release(struct cupti_nccl *n)
{
    map_release(&n->communicator_of);
    map_release(&n->group_of);
    vec_release(&n->communicators);
    vec_release(&n->groups);
}
