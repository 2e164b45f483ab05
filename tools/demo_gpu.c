/* A small program for `make demo` on a machine with a GPU: every step it prepares a batch on the host, copies
 * it from pageable memory, works on it on the GPU for a while and waits. Needs a driver, and no toolkit:
 * libcuda is opened at run time and the kernel is PTX, which every driver compiles for its GPU. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry work(.param .u64 data, .param .u32 rounds)\n"
                          "{\n"
                          "    .reg .pred %more;\n"
                          "    .reg .f32 %v;\n"
                          "    .reg .u32 %i, %n, %block, %size, %thread;\n"
                          "    .reg .u64 %p, %at;\n"
                          "    ld.param.u64 %p, [data];\n"
                          "    ld.param.u32 %n, [rounds];\n"
                          "    mov.u32 %block, %ctaid.x;\n"
                          "    mov.u32 %size, %ntid.x;\n"
                          "    mov.u32 %thread, %tid.x;\n"
                          "    mad.lo.u32 %i, %block, %size, %thread;\n"
                          "    mul.wide.u32 %at, %i, 4;\n"
                          "    add.u64 %p, %p, %at;\n"
                          "    ld.global.f32 %v, [%p];\n"
                          "again:\n"
                          "    fma.rn.f32 %v, %v, 0f3F7FFFFF, 0f3A000000;\n"
                          "    sub.u32 %n, %n, 1;\n"
                          "    setp.ne.u32 %more, %n, 0;\n"
                          "    @%more bra again;\n"
                          "    st.global.f32 [%p], %v;\n"
                          "    ret;\n"
                          "}\n";

enum { STEPS = 60, FLOATS = 4 << 20, THREADS = 256 };

static void *library;

static void *call(const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "demo: libcuda has no %s\n", name);
        exit(1);
    }
    return function;
}

static void check(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "demo: %s: CUDA error %d\n", what, result);
        exit(1);
    }
}

int main(void)
{
    void *context, *module, *function;
    int device;
    uint64_t data;
    unsigned rounds = 20000;
    float *batch = calloc(FLOATS, sizeof *batch);
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library || !batch) {
        fprintf(stderr, "demo: %s\n", library ? "no memory" : dlerror());
        return 1;
    }
    int (*init)(unsigned) = (int (*)(unsigned))call("cuInit");
    int (*device_get)(int *, int) = (int (*)(int *, int))call("cuDeviceGet");
    int (*retain)(void **, int) = (int (*)(void **, int))call("cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = (int (*)(void *))call("cuCtxSetCurrent");
    int (*load)(void **, const void *) = (int (*)(void **, const void *))call("cuModuleLoadData");
    int (*find)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))call("cuModuleGetFunction");
    int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))call("cuMemAlloc_v2");
    int (*copy)(uint64_t, const void *, size_t) =
        (int (*)(uint64_t, const void *, size_t))call("cuMemcpyHtoD_v2");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                  void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                 void **, void **))call("cuLaunchKernel");
    int (*wait)(void) = (int (*)(void))call("cuCtxSynchronize");

    check(init(0), "cuInit");
    check(device_get(&device, 0), "cuDeviceGet");
    check(retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(set_current(context), "cuCtxSetCurrent");
    check(load(&module, ptx), "cuModuleLoadData");
    check(find(&function, module, "work"), "cuModuleGetFunction");
    check(allocate(&data, FLOATS * sizeof *batch), "cuMemAlloc");
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < FLOATS; i++)
            batch[i] = (float)((i * 2654435761u + (unsigned)step) % 1000) / 1000.0f;
        check(copy(data, batch, FLOATS * sizeof *batch), "cuMemcpyHtoD");
        void *arguments[] = {&data, &rounds};
        check(launch(function, FLOATS / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL),
              "cuLaunchKernel");
        check(wait(), "cuCtxSynchronize");
    }
    printf("%d steps\n", STEPS);
    free(batch);
    return 0;
}
