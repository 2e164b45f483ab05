#include "nvtx_client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int (*nvtx_push_ex)(const struct nvtx_event *event);
int (*nvtx_push_a)(const char *message);
int (*nvtx_push_w)(const wchar_t *message);
int (*nvtx_pop)(void);
int (*nvtx_domain_push_ex)(void *domain, const struct nvtx_event *event);
int (*nvtx_domain_pop)(void *domain);
void *(*nvtx_domain_create_a)(const char *name);
void *(*nvtx_domain_register_string_a)(void *domain, const char *text);

void (*nvtx_mark_ex)(const struct nvtx_event *event);
uint64_t (*nvtx_start_ex)(const struct nvtx_event *event);
uint64_t (*nvtx_start_a)(const char *message);
void (*nvtx_end)(uint64_t id);
void (*nvtx_name_category_a)(uint32_t category, const char *name);
void (*nvtx_name_thread_a)(uint32_t thread, const char *name);
uint64_t (*nvtx_schema_register)(void *domain, const void *attributes);
int (*nvtx_pop_payload)(void *domain, const struct nvtx_payload *payloads, size_t count);

/* Numbers of nvtxTypes.h: NvtxCallbackIdCore and NvtxCallbackIdCore2. */
static void **const core[] = {[1] = (void **)&nvtx_mark_ex,
                              [4] = (void **)&nvtx_start_ex,
                              [5] = (void **)&nvtx_start_a,
                              [7] = (void **)&nvtx_end,
                              [12] = (void **)&nvtx_name_category_a,
                              [14] = (void **)&nvtx_name_thread_a,
                              [8] = (void **)&nvtx_push_ex,
                              [9] = (void **)&nvtx_push_a,
                              [10] = (void **)&nvtx_push_w,
                              [11] = (void **)&nvtx_pop,
                              [15] = NULL};
static void **const core2[] = {[4] = (void **)&nvtx_domain_push_ex,
                               [5] = (void **)&nvtx_domain_pop,
                               [10] = (void **)&nvtx_domain_register_string_a,
                               [12] = (void **)&nvtx_domain_create_a,
                               [15] = NULL};

static int get_module(int module, void ***const *table[1], unsigned *size)
{
    if (module != 1 && module != 5)
        return 0;
    *table = (void ***const *)(module == 1 ? core : core2);
    *size = 15;
    return 1;
}

static const struct {
    size_t size;
    int (*get_module)(int module, void ***const *table[1], unsigned *size);
} callbacks = {sizeof callbacks, get_module};

static const void *get_export_table(uint32_t id)
{
    return id == 1 ? &callbacks : NULL;
}

/* nvtxExtModuleInfo_t and what it points to. */
static int load_extension(void *library)
{
    enum { PAYLOAD = 2, SLOTS = 8 };
    static intptr_t slots[SLOTS];
    struct {
        size_t id, count;
        intptr_t *slots;
    } segment = {0, SLOTS, slots};
    struct {
        uint16_t version, size, id, compatibility;
        size_t segment_count;
        void *segments;
        void *get_export;
        const void *types;
    } module = {3, sizeof module, PAYLOAD, 0x0104, 1, &segment, NULL, NULL};
    int (*initialize)(void *module) = NULL;
    *(void **)&initialize = dlsym(library, "InitializeInjectionNvtxExtension");
    if (!initialize || !initialize(&module))
        return 0;
    *(void **)&nvtx_schema_register = (void *)slots[0];
    *(void **)&nvtx_pop_payload = (void *)slots[4];
    module.id = PAYLOAD + 1; /* an extension that nobody knows */
    return nvtx_schema_register && nvtx_pop_payload && !initialize(&module);
}

int nvtx_load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*get)(uint32_t)) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    return initialize && initialize(get_export_table) != 0 && load_extension(library);
}

struct nvtx_event nvtx_message(int type, const void *message)
{
    return (struct nvtx_event){
        .version = 3, .size = sizeof(struct nvtx_event), .message_type = type, .message = message};
}

static int expect(const char *what, int is, int should)
{
    if (is != should)
        fprintf(stderr, "%s returned %d, not %d\n", what, is, should);
    return is != should;
}

int nvtx_play(void)
{
    enum { DEEP = 80 };
    int wrong = expect("unbalanced pop", nvtx_pop(), -1);
    void *domain = nvtx_domain_create_a("library");
    struct nvtx_event registered = nvtx_message(3, nvtx_domain_register_string_a(domain, "registered"));
    struct nvtx_event wide = nvtx_message(2, L"wide \u00fc\u4e16");
    wrong += expect("push", nvtx_push_a("outer"), 0);
    wrong += expect("push", nvtx_push_w(L"wide \u00fc\u4e16"), 1);
    wrong += expect("push", nvtx_push_ex(&wide), 2);
    nvtx_domain_push_ex(domain, &registered);
    wrong += expect("pop of another domain", nvtx_domain_pop(nvtx_domain_create_a("other")), -1);
    nvtx_pop(); /* domains have stacks of their own: not the registered one */
    nvtx_pop();
    nvtx_pop();
    wrong += expect("pop of what is open elsewhere", nvtx_pop(), -1);
    nvtx_domain_pop(domain);
    for (int i = 0; i < DEEP; i++)
        wrong += expect("deep push", nvtx_push_a("deep"), i);
    for (int i = DEEP; i-- > 0;)
        wrong += expect("deep pop", nvtx_pop(), i);
    return wrong + expect("unbalanced pop", nvtx_pop(), -1);
}

static void *end_elsewhere(void *id)
{
    nvtx_end(*(uint64_t *)id);
    nvtx_end(*(uint64_t *)id); /* once is enough */
    return NULL;
}

/* nvtxPayloadSchemaEntry_t and nvtxPayloadSchemaAttr_t. */
struct schema_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset;
    const void *semantics, *reserved;
};
struct schema {
    uint64_t fields;
    const char *name;
    uint64_t type, flags;
    const struct schema_entry *entries;
    size_t entry_count, bytes, align;
    uint64_t id;
    const void *extension;
};
enum { TYPE_INT = 5, TYPE_UINT64 = 18, TYPE_DOUBLE = 20, TYPE_SIZE = 22, TYPE_TEXT = 75 };
enum {
    FIRST_SCHEMA = 1 << 24,
    ALL_FIELDS = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8,
    PAYLOAD_EXTENSION = (int)0xdfbd0009
};

static uint64_t register_schema(void *domain, uint64_t id, const struct schema_entry *entries, size_t count,
                                size_t bytes)
{
    struct schema schema = {
        .fields = ALL_FIELDS, .type = 1, .entries = entries, .entry_count = count, .bytes = bytes, .id = id};
    return nvtx_schema_register(domain, &schema);
}

int nvtx_play_all(void)
{
    pthread_t thread;
    struct {
        int32_t offset;
        double ratio;
        const char *text;
        uint8_t after;
    } data = {-3, 0.25, "text", 7};
    const struct schema_entry entries[] = {{.type = TYPE_INT, .name = "offset"},
                                           {.type = TYPE_DOUBLE, .name = "ratio"},
                                           {.type = TYPE_TEXT, .name = "text"},
                                           {.type = 12, .name = "after", .offset = 24}};
    void *domain = nvtx_domain_create_a("library");
    int wrong = expect(
        "schema", register_schema(domain, FIRST_SCHEMA + 5, entries, 4, sizeof data) != FIRST_SCHEMA + 5, 0);
    nvtx_name_category_a(3, "copying");
    nvtx_name_thread_a((uint32_t)syscall(SYS_gettid), "conductor");
    uint64_t first = nvtx_start_a("first"), second = nvtx_start_a("second");
    wrong += expect("ids", first == 0 || second == 0 || first == second, 0);
    nvtx_end(first); /* they overlap and do not nest */
    pthread_create(&thread, NULL, end_elsewhere, &second);
    pthread_join(thread, NULL);
    nvtx_end(0);
    nvtx_end(first); /* its place may be another's by now */
    struct nvtx_event event = nvtx_message(1, "counted");
    event.category = 3;
    event.payload_type = 5;
    event.payload = (uint32_t)-17;
    nvtx_push_ex(&event);
    nvtx_mark_ex(&event);
    nvtx_pop();
    struct nvtx_payload payload = {FIRST_SCHEMA + 5, sizeof data, &data};
    event = nvtx_message(1, "described");
    event.payload_type = PAYLOAD_EXTENSION;
    event.reserved = 1;
    event.payload = (uint64_t)(uintptr_t)&payload;
    nvtx_domain_push_ex(domain, &event);
    nvtx_domain_pop(domain);
    nvtx_start_a("open for ever");
    return wrong;
}

int nvtx_play_nccl(void (*launch)(void))
{
    struct {
        uint64_t communicator;
        size_t bytes;
        int32_t operation;
    } reduce = {0xc0ffee, 4096, 0};
    struct {
        uint64_t communicator;
        int32_t ranks, rank, device;
    } init = {0xc0ffee, 8, 3, 0};
    const struct schema_entry init_entries[] = {{.type = TYPE_UINT64, .name = "NCCL communicator ID"},
                                                {.type = TYPE_INT, .name = "No. of ranks"},
                                                {.type = TYPE_INT, .name = "Rank"},
                                                {.type = TYPE_INT, .name = "CUDA device"}};
    const struct schema_entry entries[] = {{.type = TYPE_UINT64, .name = "NCCL communicator ID"},
                                           {.type = TYPE_SIZE, .name = "Message size [bytes]"},
                                           {.type = FIRST_SCHEMA + 11, .name = "Reduction operation"}};
    void *domain = nvtx_domain_create_a("NCCL");
    register_schema(domain, FIRST_SCHEMA, init_entries, 4, sizeof init);
    register_schema(domain, FIRST_SCHEMA + 5, entries, 3, sizeof reduce);
    struct nvtx_event event = nvtx_message(1, "ncclCommInitRank");
    struct nvtx_payload payload = {FIRST_SCHEMA, SIZE_MAX, &init};
    nvtx_domain_push_ex(domain, &event);
    nvtx_pop_payload(domain, &payload, 1); /* known only at its end */
    for (int i = 0; i < 2; i++) {
        event = nvtx_message(1, "ncclGroupStart");
        nvtx_domain_push_ex(domain, &event);
        nvtx_domain_pop(domain);
        payload = (struct nvtx_payload){FIRST_SCHEMA + 5, sizeof reduce, &reduce};
        event = nvtx_message(1, "ncclAllReduce");
        event.payload_type = PAYLOAD_EXTENSION;
        event.reserved = 1;
        event.payload = (uint64_t)(uintptr_t)&payload;
        nvtx_domain_push_ex(domain, &event);
        nvtx_domain_pop(domain);
        event = nvtx_message(1, "ncclGroupEnd");
        nvtx_domain_push_ex(domain, &event);
        launch();
        nvtx_domain_pop(domain);
    }
    return 0;
}

static void *push_and_pop(void *ranges)
{
    for (int i = *(int *)ranges; i > 0; i--) {
        nvtx_push_a("thread");
        nvtx_pop();
    }
    return NULL;
}

void nvtx_play_threads(int threads, int ranges)
{
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, push_and_pop, &ranges);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}
