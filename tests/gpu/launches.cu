// What a launch costs the host, in shapes that launchbench does not have: several threads, or graphs.
//   ./launches N [THREADS [GRAPH_NODES]]
// Every thread makes N launches on a stream of its own, of a kernel or of a graph of GRAPH_NODES kernels, and waits for
// the GPU after every 256 kernels. Prints the best of five rounds: wall time of the round over the launches of a thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                                            \
    do {                                                                                                                       \
        cudaError_t error = (call);                                                                                            \
        if (error != cudaSuccess) {                                                                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                                     \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

__global__ void tiny(int *p)
{
    if (p)
        *p = 1;
}

static cudaGraphExec_t make_graph(int nodes)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; i++)
        tiny<<<1, 32, 0, stream>>>(nullptr);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void run(int launches, int nodes, cudaGraphExec_t exec, cudaStream_t stream)
{
    int often = nodes ? std::max(1, 256 / nodes) : 256;
    for (int i = 0; i < launches; i++) {
        if (exec)
            CHECK(cudaGraphLaunch(exec, stream));
        else
            tiny<<<1, 32, 0, stream>>>(nullptr);
        if (i % often == often - 1)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 100000, threads = argc > 2 ? atoi(argv[2]) : 1;
    int nodes = argc > 3 ? atoi(argv[3]) : 0;
    std::vector<cudaStream_t> streams(threads);
    std::vector<cudaGraphExec_t> graphs(threads);
    for (int t = 0; t < threads; t++) {
        CHECK(cudaStreamCreateWithFlags(&streams[t], cudaStreamNonBlocking));
        graphs[t] = nodes ? make_graph(nodes) : nullptr;
    }
    run(16, nodes, graphs[0], streams[0]);
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        std::vector<std::thread> workers;
        auto start = std::chrono::steady_clock::now();
        for (int t = 0; t < threads; t++)
            workers.emplace_back(run, launches, nodes, graphs[t], streams[t]);
        for (std::thread &worker : workers)
            worker.join();
        std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count() / launches);
    }
    printf("min %.1f ns/launch, %lld kernels\n", best,
           (5LL * launches * threads + 16) * (nodes ? nodes : 1));
}
