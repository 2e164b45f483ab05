// One fault of an application, of those that the driver logs as an Xid (13, 31) or that only the program sees:
//
//     nvcc -o faults faults.cu; ./faults KIND
//
// Prints "KIND: cudaErrorName" and ends with 0 where CUDA told of an error, else with 1. The GPU is as before:
// only the context of this process is lost.
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void illegal_address(char *p)
{
    *reinterpret_cast<int *>(p + (1ull << 42)) = 1; // an MMU fault: Xid 31
}

__global__ void misaligned(char *p)
{
    *reinterpret_cast<long long *>(p + 1) = 1; // an exception of the SM: Xid 13
}

__global__ void trap(char *)
{
    asm("trap;");
}

__global__ void shared_out_of_range(char *p)
{
    extern __shared__ int words[];
    reinterpret_cast<volatile int *>(words)[1 << 20] = *p;
}

__global__ void device_assert(char *p)
{
    assert(p == nullptr); // no Xid: the program alone is told
}

static const struct {
    const char *name;
    void (*kernel)(char *);
} kinds[] = {
    {"illegal-address", illegal_address}, {"misaligned", misaligned},
    {"trap", trap},                       {"shared-out-of-range", shared_out_of_range},
    {"assert", device_assert},
};

int main(int count, char **arguments)
{
    char *memory = nullptr;
    for (const auto &kind : kinds) {
        if (count != 2 || strcmp(kind.name, arguments[1]) != 0)
            continue;
        cudaError_t code = cudaMalloc(&memory, 1024);
        if (code == cudaSuccess) {
            kind.kernel<<<1, 1>>>(memory);
            code = cudaDeviceSynchronize();
        }
        printf("%s: %s\n", kind.name, cudaGetErrorName(code));
        return code == cudaSuccess;
    }
    fprintf(stderr, "usage: faults illegal-address | misaligned | trap | shared-out-of-range | assert\n");
    return 2;
}
