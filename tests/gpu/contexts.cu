/* What confuses a profiler of kernels: a device that is reset, a capture of the thread's default stream, modules that come and
 * go beside launches, contexts that are made beside others and end while another one is current.
 *
 *     nvcc -O2 -lineinfo -arch=native --default-stream per-thread -o contexts contexts.cu -lcuda
 *     warplight kernels -- ./contexts MODULE.cubin        also with --deep, --stalls, --launches 0
 *
 * It prints "end" with "no error"; all launches, also those of the contexts at the end, have been measured. */
#include <cstdio>
#include <thread>
#include <vector>
#include <fstream>
#include <iterator>
#include <cuda.h>
#include <cuda_runtime.h>
__global__ void small(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = p[i] * 2 + 1; }
__global__ void other(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = sinf(p[i]); }
static void work(int times) {
    float *p; cudaMalloc(&p, 1 << 22); cudaMemset(p, 0, 1 << 22);
    for (int i = 0; i < times; i++) { small<<<1024, 256>>>(p, 1 << 18); other<<<512, 256>>>(p, 1 << 17); }
    cudaStreamSynchronize(cudaStreamPerThread); cudaFree(p);
}
int main(int argc, char **argv) {
    work(20);
    cudaDeviceReset(); puts("reset");
    work(20);
    // a capture of the thread's default stream
    float *p; cudaMalloc(&p, 1 << 22);
    cudaGraph_t g; cudaGraphExec_t e;
    cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal);
    small<<<1024, 256>>>(p, 1 << 18); small<<<1024, 256>>>(p, 1 << 18);
    cudaError_t rc = cudaStreamEndCapture(cudaStreamPerThread, &g);
    printf("capture %s\n", cudaGetErrorString(rc));
    if (rc == 0 && cudaGraphInstantiate(&e, g, 0) == 0) for (int i = 0; i < 5; i++) { cudaGraphLaunch(e, cudaStreamPerThread); other<<<100 + i, 256>>>(p, 1000); }
    cudaStreamSynchronize(cudaStreamPerThread);
    // modules that come and go beside launches
    std::ifstream f(argv[1], std::ios::binary); std::vector<char> code((std::istreambuf_iterator<char>(f)), {});
    std::thread launches([] { work(3000); });
    int ok = 0;
    for (int i = 0; i < 60 && !code.empty(); i++) { CUmodule m; if (cuModuleLoadData(&m, code.data()) == 0) { ok++; cuModuleUnload(m); } }
    launches.join(); printf("modules %d\n", ok);
    // another context, current while the first ends
    CUdevice d; cuDeviceGet(&d, 0); CUcontext c = nullptr;
#if CUDA_VERSION >= 13000
    cuCtxCreate(&c, nullptr, 0, d);
#else
    cuCtxCreate(&c, 0, d);
#endif
    work(10); CUcontext c2 = nullptr; 
#if CUDA_VERSION >= 13000
    cuCtxCreate(&c2, nullptr, 0, d);
#else
    cuCtxCreate(&c2, 0, d);
#endif
    work(10); cuCtxDestroy(c); work(3); cuCtxDestroy(c2);
    printf("last error %s\n", cudaGetErrorString(cudaGetLastError())); puts("end");
}
