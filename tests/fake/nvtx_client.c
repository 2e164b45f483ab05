#include "nvtx_client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int (*nvtx_push_ex)(const struct nvtx_event *event);
int (*nvtx_push_a)(const char *message);
int (*nvtx_push_w)(const wchar_t *message);
int (*nvtx_pop)(void);
int (*nvtx_domain_push_ex)(void *domain, const struct nvtx_event *event);
int (*nvtx_domain_pop)(void *domain);
void *(*nvtx_domain_create_a)(const char *name);
void *(*nvtx_domain_register_string_a)(void *domain, const char *text);

/* Numbers of nvtxTypes.h: NvtxCallbackIdCore and NvtxCallbackIdCore2. */
static void **const core[] = {[8] = (void **)&nvtx_push_ex,
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

int nvtx_load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*get)(uint32_t)) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    return initialize && initialize(get_export_table) != 0;
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
