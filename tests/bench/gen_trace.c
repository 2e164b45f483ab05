/* Writes a trace as torch.profiler (Kineto, PyTorch 2.x) writes it: a training loop of a transformer block on
 * one GPU. For benchmarks and large-input tests; the same arguments give the same bytes.
 *
 *     gen_trace [--seed S] [--python] [--memory] [--events] N > trace.json
 *
 * writes N trace events, give or take one operator. --python adds Python frames, --memory allocator events.
 *
 * The loop is simulated: the host takes its time for every operator and launches kernels, which run one after
 * another on their stream once they are launched and the stream is free. The profiler writes operators first,
 * by thread, and GPU activity after them; here the simulation simply runs once for each part and prints only
 * that, so that memory stays constant. */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SM_COUNT = 132, WARP = 32, MAX_WARPS = 64, REGISTERS = 65536, STREAM = 7 };
enum { PROCESS = 833, MAIN_THREAD = 833, AUTOGRAD_THREAD = 858 };
#define BASE_NS  INT64_C(1790857026000000000)
#define START_NS INT64_C(5201022523720485) /* on the profiler's clock, which counts from BASE_NS */

/* ---- the workload -------------------------------------------------------------------------------------- */

#define LAMBDA(n) "{lambda()#" #n "}::operator()() const::"
#define NATIVE    "void at::native::"
#define DROPOUT                                                                                              \
    "at::native::(anonymous namespace)::masked_scale_kernel<bool, c10::BFloat16, float>(at::Tensor&, "       \
    "at::Tensor const&, at::Tensor const&, float)::{lambda(c10::BFloat16, bool)#1}"
#define COPY                                                                                                 \
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::" LAMBDA(3)                               \
        LAMBDA(12) "{lambda(c10::BFloat16)#1}"
#define SUM                                                                                                  \
    "at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, "                         \
    "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::"        \
    "{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 8>"

struct kernel {
    const char *name;
    uint32_t registers, shared_bytes, grid[3], block;
    uint32_t ns; /* usual duration */
};

enum kernel_id {
    GEMM,
    GEMM_NN,
    GEMM_NT,
    ATTENTION,
    ATTENTION_BACKWARD,
    LAYER_NORM,
    LAYER_NORM_BACKWARD,
    DROPOUT_FORWARD,
    DROPOUT_BACKWARD,
    ADD,
    COPY_STRIDED,
    TO_BF16,
    RELU,
    REDUCE,
    FILL,
    ADAM,
    LOSS,
    NO_KERNEL
};

static const struct kernel kernels[] = {
    [GEMM] = {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", 168, 213040, {2, 66, 1}, 384, 118000},
    [GEMM_NN] = {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 168, 213040, {2, 66, 1}, 384, 112000},
    [GEMM_NT] = {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", 168, 213040, {66, 2, 1}, 384, 121000},
    [ATTENTION] =
        {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x64_4x1x1_kernel0_0",
         216,
         117856,
         {4, 16, 32},
         384,
         96000},
    [ATTENTION_BACKWARD] =
        {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_128x64x64_4x1x1_kernel0_0",
         216,
         201216,
         {4, 16, 32},
         384,
         240000},
    [LAYER_NORM] = {NATIVE
                    "(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float, "
                    "float const*, float const*, float const*, float*, float*, float*)",
                    32,
                    24,
                    {16384, 1, 1},
                    128,
                    37000},
    [LAYER_NORM_BACKWARD] =
        {NATIVE
         "(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<float, float, false>(float const*, "
         "float const*, float const*, float const*, float const*, float*, int)",
         36,
         64,
         {16384, 1, 1},
         128,
         52000},
    [DROPOUT_FORWARD] =
        {NATIVE "(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, "
                "1, 8, bool>(at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, "
                "at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, "
                "at::cuda::detail::TensorInfo<bool, unsigned int>, unsigned int, float, "
                "at::PhiloxCudaState)",
         48,
         0,
         {1056, 1, 1},
         256,
         29000},
    [DROPOUT_BACKWARD] = {NATIVE "vectorized_elementwise_kernel<8, " DROPOUT
                                 ", std::array<char*, 3ul> >(int, " DROPOUT ", std::array<char*, 3ul>)",
                          32,
                          0,
                          {16384, 1, 1},
                          128,
                          27000},
    [ADD] = {NATIVE
             "vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
             "3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
             32,
             0,
             {16384, 1, 1},
             128,
             31000},
    [COPY_STRIDED] = {NATIVE "elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<" COPY
                             ">(at::TensorIteratorBase&, " COPY " const&)::{lambda(int)#1}>(int, "
                             "at::native::gpu_kernel_impl_nocast<" COPY ">(at::TensorIteratorBase&, " COPY
                             " const&)::{lambda(int)#1})",
                      26,
                      0,
                      {32768, 1, 1},
                      128,
                      44000},
    [TO_BF16] = {NATIVE "vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda("
                        "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
                        "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
                        "std::array<char*, 2ul>)",
                 24,
                 0,
                 {2048, 1, 1},
                 128,
                 3800},
    [RELU] = {NATIVE
              "vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::launch_clamp_scalar("
              "at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::" LAMBDA(
                  1) LAMBDA(9) "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, "
                               "at::native::(anonymous "
                               "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, "
                               "c10::Scalar, at::native::detail::ClampLimits)::" LAMBDA(1)
                                   LAMBDA(9) "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)",
              30,
              0,
              {65536, 1, 1},
              128,
              62000},
    [REDUCE] = {NATIVE "reduce_kernel<128, 4, " SUM " >(" SUM ")", 56, 4096, {8, 33, 1}, 512, 18000},
    [FILL] =
        {NATIVE
         "vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, "
         "at::native::FillFunctor<float>, std::array<char*, 1ul>)",
         16,
         0,
         {1, 1, 1},
         128,
         900},
    [ADAM] =
        {NATIVE
         "(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
         "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
         "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, "
         "double, double, double, bool, float const*, float const*>(at::native::(anonymous namespace)::"
         "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
         "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, "
         "double, double, double, bool, float const*, float const*)",
         66,
         0,
         {320, 1, 1},
         512,
         74000},
    [LOSS] = {NATIVE
              "reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
              "float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, "
              "float, float, float>, unsigned int, float, 4, 4>)",
              32,
              16,
              {264, 1, 1},
              512,
              11000},
};

/* One operator: its chain of nested calls, outermost first, and what the innermost one launches. */
struct op {
    const char *chain[3];
    const char *inputs; /* the shapes of the innermost operator, as args */
    enum kernel_id kernel;
    int64_t output_bytes;
    const char *module; /* Python file and function around it */
};

#define ONE(type, strides, dims)                                                                             \
    "\"Concrete Inputs\": [\"\"], \"Input type\": [\"" type "\"], \"Input Strides\": [" strides              \
    "], \"Input Dims\": [" dims "]"
#define THREE(type, s1, s2, s3, d1, d2, d3)                                                                  \
    "\"Concrete Inputs\": [\"\", \"\", \"\"], \"Input type\": [\"" type "\", \"" type "\", \"" type          \
    "\"], \"Input Strides\": [" s1 ", " s2 ", " s3 "], \"Input Dims\": [" d1 ", " d2 ", " d3 "]"
#define HIDDEN       ONE("c10::BFloat16", "[524288, 1024, 1]", "[32, 512, 1024]")
#define HIDDEN_FLOAT ONE("float", "[524288, 1024, 1]", "[32, 512, 1024]")
#define LINEAR(in, out)                                                                                      \
    THREE("c10::BFloat16", "[524288, " #in ", 1]", "[" #in ", 1]", "[1]", "[32, 512, " #in "]",              \
          "[" #out ", " #in "]", "[" #out "]")
#define WEIGHT                                                                                               \
    "\"Concrete Inputs\": [\"\", \"15\", \"False\", \"False\", \"\"], \"Input type\": [\"float\", "          \
    "\"Scalar\", \"Scalar\", \"Scalar\", \"\"], \"Input Strides\": [[1024, 1], [], [], [], []], "            \
    "\"Input Dims\": [[1024, 1024], [], [], [], []]"
#define MIB (INT64_C(1) << 20)

static const struct op forward_ops[] = {
    {{"aten::layer_norm", "aten::native_layer_norm"},
     HIDDEN_FLOAT,
     LAYER_NORM,
     64 * MIB,
     "torch/nn/modules/normalization.py(217): forward"},
    {{"aten::to", "aten::_to_copy", "aten::copy_"},
     WEIGHT,
     TO_BF16,
     2 * MIB,
     "torch/nn/modules/activation.py(1140): forward"},
    {{"aten::linear", "aten::addmm"},
     LINEAR(1024, 3072),
     GEMM,
     96 * MIB,
     "torch/nn/modules/linear.py(124): forward"},
    {{"aten::view"}, HIDDEN, NO_KERNEL, 0, "torch/nn/functional.py(6209): multi_head_attention_forward"},
    {{"aten::transpose", "aten::as_strided"},
     HIDDEN,
     NO_KERNEL,
     0,
     "torch/nn/functional.py(6209): multi_head_attention_forward"},
    {{"aten::contiguous", "aten::clone", "aten::copy_"},
     HIDDEN,
     COPY_STRIDED,
     32 * MIB,
     "torch/nn/functional.py(6209): multi_head_attention_forward"},
    {{"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_cudnn_attention"},
     HIDDEN,
     ATTENTION,
     32 * MIB,
     "torch/nn/functional.py(6209): multi_head_attention_forward"},
    {{"aten::linear", "aten::addmm"},
     LINEAR(1024, 1024),
     GEMM,
     32 * MIB,
     "torch/nn/modules/linear.py(124): forward"},
    {{"aten::dropout", "aten::native_dropout"},
     HIDDEN,
     DROPOUT_FORWARD,
     32 * MIB,
     "torch/nn/modules/dropout.py(69): forward"},
    {{"aten::add"}, HIDDEN, ADD, 32 * MIB, "torch/nn/modules/transformer.py(907): forward"},
    {{"aten::layer_norm", "aten::native_layer_norm"},
     HIDDEN_FLOAT,
     LAYER_NORM,
     64 * MIB,
     "torch/nn/modules/normalization.py(217): forward"},
    {{"aten::linear", "aten::addmm"},
     LINEAR(1024, 4096),
     GEMM,
     128 * MIB,
     "torch/nn/modules/linear.py(124): forward"},
    {{"aten::relu", "aten::clamp_min"}, HIDDEN, RELU, 128 * MIB, "torch/nn/functional.py(1693): relu"},
    {{"aten::linear", "aten::addmm"},
     LINEAR(4096, 1024),
     GEMM,
     32 * MIB,
     "torch/nn/modules/linear.py(124): forward"},
    {{"aten::add"}, HIDDEN, ADD, 32 * MIB, "torch/nn/modules/transformer.py(907): forward"},
    {{"aten::mean"}, HIDDEN_FLOAT, LOSS, 512, "train.py(88): loss"},
};

static const struct op backward_ops[] = {
    {{"MeanBackward0", "aten::div", "aten::mul"}, HIDDEN_FLOAT, FILL, 64 * MIB, NULL},
    {{"AddBackward0", "aten::sum"}, HIDDEN, REDUCE, 2048, NULL},
    {{"AddmmBackward0", "aten::mm"}, LINEAR(1024, 4096), GEMM_NN, 128 * MIB, NULL},
    {{"AddmmBackward0", "aten::mm"}, LINEAR(4096, 1024), GEMM_NT, 8 * MIB, NULL},
    {{"ReluBackward0", "aten::threshold_backward"}, HIDDEN, RELU, 128 * MIB, NULL},
    {{"NativeLayerNormBackward0", "aten::native_layer_norm_backward"},
     HIDDEN_FLOAT,
     LAYER_NORM_BACKWARD,
     64 * MIB,
     NULL},
    {{"NativeDropoutBackward0", "aten::native_dropout_backward"}, HIDDEN, DROPOUT_BACKWARD, 32 * MIB, NULL},
    {{"ScaledDotProductCudnnAttentionBackward0", "aten::_scaled_dot_product_cudnn_attention_backward"},
     HIDDEN,
     ATTENTION_BACKWARD,
     96 * MIB,
     NULL},
    {{"CloneBackward0", "aten::copy_"}, HIDDEN, COPY_STRIDED, 32 * MIB, NULL},
    {{"TransposeBackward0", "aten::transpose", "aten::as_strided"}, HIDDEN, NO_KERNEL, 0, NULL},
    {{"AddmmBackward0", "aten::mm"}, LINEAR(1024, 3072), GEMM_NN, 32 * MIB, NULL},
    {{"AddmmBackward0", "aten::mm"}, LINEAR(3072, 1024), GEMM_NT, 6 * MIB, NULL},
    {{"ToCopyBackward0", "aten::to", "aten::copy_"}, WEIGHT, TO_BF16, 4 * MIB, NULL},
    {{"torch::autograd::AccumulateGrad", "aten::detach"}, HIDDEN_FLOAT, NO_KERNEL, 0, NULL},
};

static const struct op optimizer_ops[] = {
    {{"aten::_foreach_add_"}, ONE("TensorList", "[]", "[]"), FILL, 0, "torch/optim/adamw.py(220): step"},
    {{"aten::_fused_adamw_"}, ONE("TensorList", "[]", "[]"), ADAM, 0, "torch/optim/adamw.py(220): step"},
};

enum {
    FORWARD_OPS = sizeof forward_ops / sizeof *forward_ops,
    BACKWARD_OPS = sizeof backward_ops / sizeof *backward_ops,
    OPTIMIZER_OPS = sizeof optimizer_ops / sizeof *optimizer_ops,
    LAYERS = 4, /* transformer blocks a step */
    PARAMETER_GROUPS = 6,
};

/* ---- the simulation ------------------------------------------------------------------------------------ */

enum part { PART_NOTHING, PART_AUTOGRAD, PART_MAIN, PART_GPU };

struct sim {
    enum part part; /* what is printed; the rest is only simulated */
    bool python, memory;
    uint64_t random;
    int64_t events, most; /* so far; where to stop */
    int64_t now;          /* of the host */
    int64_t stream_free;  /* when the last operation of the stream ends */
    int64_t first_gpu;    /* start of the first GPU operation since it was set to 0 */
    uint64_t correlation, external, flow, python_id;
    int64_t index[2]; /* "Ev Idx" */
    int64_t step, allocated;
};

static uint64_t next_random(struct sim *sim) /* splitmix64 */
{
    uint64_t z = sim->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* About ns: mostly within a quarter of it, at times much longer, as host times are. */
static int64_t about(struct sim *sim, int64_t ns)
{
    uint64_t random = next_random(sim);
    int64_t spread = (int64_t)(random % 1024) * ns / 2048;
    int64_t tail = random >> 60 == 0 ? (int64_t)(random >> 32 & 1023) * ns / 512 : 0;
    return ns * 3 / 4 + spread + tail;
}

static bool finished(const struct sim *sim)
{
    return sim->events >= sim->most;
}

/* Counts one event and says whether it is to be printed; then its opening brace is. */
static bool event(struct sim *sim, enum part part)
{
    sim->events++;
    if (sim->part != part)
        return false;
    fputs("  {\n", stdout);
    return true;
}

static void put_time(const char *key, int64_t ns, const char *after)
{
    printf("\"%s\": %" PRId64 ".%03" PRId64 "%s", key, ns / 1000, ns % 1000, after);
}

static void put_span(const char *category, const char *name, int64_t process, int64_t thread, int64_t start,
                     int64_t end)
{
    printf("    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64
           ",\n    ",
           category, name, process, thread);
    put_time("ts", start, ", ");
    put_time("dur", end - start, ",\n");
}

__attribute__((format(printf, 1, 2))) static void put_args(const char *format, ...)
{
    fputs("    \"args\": {\n      ", stdout);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fputs("\n    }\n  },\n", stdout);
}

static void flow(struct sim *sim, enum part part, char phase, uint64_t id, const char *kind, int64_t process,
                 int64_t thread, int64_t time)
{
    if (!event(sim, part))
        return;
    printf("    \"ph\": \"%c\", \"id\": %" PRIu64 ", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ", phase, id,
           process, thread);
    put_time("ts", time, ",\n");
    printf("    \"cat\": \"%s\", \"name\": \"%s\"%s\n  },\n", kind, kind,
           phase == 'f' ? ", \"bp\": \"e\"" : "");
}

/* An API call. Returns its correlation. */
static uint64_t call(struct sim *sim, int64_t thread, const char *name, int cbid, int64_t start, int64_t end)
{
    uint64_t correlation = ++sim->correlation;
    if (event(sim, PART_GPU)) {
        put_span("cuda_runtime", name, PROCESS, thread, start, end);
        put_args("\"External id\": %" PRIu64 ",      \"cbid\": %d, \"correlation\": %" PRIu64, sim->external,
                 cbid, correlation);
    }
    flow(sim, PART_GPU, 's', correlation, "ac2g", PROCESS, thread, start);
    return correlation;
}

/* Puts work of ns on the stream, launched by a call that ends at launched. Returns when it starts. */
static int64_t occupy_stream(struct sim *sim, int64_t launched, int64_t ns)
{
    int64_t ready = launched + about(sim, 2500), next = sim->stream_free + about(sim, 700);
    int64_t start = ready > next ? ready : next;
    sim->stream_free = start + ns;
    if (sim->first_gpu == 0)
        sim->first_gpu = start;
    return start;
}

static int occupancy_percent(const struct kernel *kernel, double blocks_per_sm)
{
    uint32_t warps = kernel->block / WARP;
    uint32_t by_registers = REGISTERS / (kernel->registers * kernel->block);
    uint32_t by_shared = kernel->shared_bytes ? 233472 / (kernel->shared_bytes + 1024) : 32;
    uint32_t blocks = by_registers < by_shared ? by_registers : by_shared;
    blocks = blocks < MAX_WARPS / warps ? blocks : MAX_WARPS / warps;
    double resident = blocks_per_sm < blocks ? blocks_per_sm : blocks;
    return (int)(100 * resident * warps / MAX_WARPS);
}

static void run_kernel(struct sim *sim, const struct kernel *kernel, uint64_t correlation, int64_t launched)
{
    int64_t ns = about(sim, kernel->ns);
    int64_t start = occupy_stream(sim, launched, ns);
    if (event(sim, PART_GPU)) {
        double blocks = (double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] / SM_COUNT;
        put_span("kernel", kernel->name, 0, STREAM, start, start + ns);
        put_args("\"External id\": %" PRIu64 ",      \"queued\": 0, \"device\": 0, \"context\": 1,      "
                 "\"stream\": %d, \"correlation\": %" PRIu64
                 ",      \"registers per thread\": %u,      \"shared memory\": %u,      \"blocks per SM\": "
                 "%f,      "
                 "\"warps per SM\": %f,      \"grid\": [%u, %u, %u],      \"block\": [%u, 1, 1],      "
                 "\"est. achieved occupancy %%\": %d",
                 sim->external, STREAM, correlation, kernel->registers, kernel->shared_bytes, blocks,
                 blocks * kernel->block / WARP, kernel->grid[0], kernel->grid[1], kernel->grid[2],
                 kernel->block, occupancy_percent(kernel, blocks));
    }
    flow(sim, PART_GPU, 'f', correlation, "ac2g", 0, STREAM, start);
}

static void run_copy(struct sim *sim, const char *name, int64_t bytes, int64_t bytes_per_us,
                     uint64_t correlation, int64_t launched)
{
    int64_t ns = 800 + bytes * 1000 / bytes_per_us;
    int64_t start = occupy_stream(sim, launched, ns);
    if (event(sim, PART_GPU)) {
        put_span("gpu_memcpy", name, 0, STREAM, start, start + ns);
        put_args("\"External id\": %" PRIu64
                 ",      \"device\": 0, \"context\": 1,      \"stream\": %d, \"correlation\": %" PRIu64
                 ",      \"bytes\": %" PRId64 ", \"memory bandwidth (GB/s)\": %.17g",
                 sim->external, STREAM, correlation, bytes, (double)bytes / (double)ns);
    }
    flow(sim, PART_GPU, 'f', correlation, "ac2g", 0, STREAM, start);
}

static void allocate(struct sim *sim, enum part part, int64_t thread, int64_t time, int64_t bytes)
{
    if (!sim->memory || bytes == 0)
        return;
    /* Activations are freed at the end of a step, all at once. */
    sim->allocated += bytes;
    if (!event(sim, part))
        return;
    printf("    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n"
           "    \"pid\": %d, \"tid\": %" PRId64 ",\n    ",
           PROCESS, thread);
    put_time("ts", time, ",\n");
    put_args("\"Total Reserved\": %" PRId64 ", \"Total Allocated\": %" PRId64 ", \"Bytes\": %" PRId64
             ", \"Device Id\": 0, \"Device Type\": 1, \"Addr\": %" PRId64
             ", \"finished\": false, \"Ev Idx\": %" PRId64,
             16384 * MIB, sim->allocated, bytes, INT64_C(140626490294272) + sim->allocated,
             sim->index[part == PART_MAIN]++);
}

static void python_frame(struct sim *sim, const char *name, int64_t start, int64_t end)
{
    uint64_t id = ++sim->python_id;
    if (!event(sim, PART_MAIN))
        return;
    put_span("python_function", name, PROCESS, MAIN_THREAD, start, end);
    put_args("\"Python parent id\": %" PRIu64 ", \"Python id\": %" PRIu64 ", \"Ev Idx\": %" PRId64, id - 1,
             id, sim->index[1]++);
}

/* Prints one level of an operator; the innermost one tells its inputs. */
static void operator_event(struct sim *sim, enum part part, int64_t thread, const char *prefix,
                           const char *name, const char *inputs, int64_t start, int64_t end)
{
    sim->external++;
    if (!event(sim, part))
        return;
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    put_span("cpu_op", full, PROCESS, thread, start, end);
    put_args("\"External id\": %" PRIu64 ",\"Record function id\": 0, %s%s\"Ev Idx\": %" PRId64,
             sim->external, inputs, *inputs ? ", " : "", sim->index[part == PART_MAIN]++);
}

/* Runs one operator on a thread. Its times are drawn first, because the outer call is printed first. */
static void run_op(struct sim *sim, enum part part, const struct op *op, uint64_t link)
{
    if (finished(sim))
        return;
    int64_t thread = part == PART_MAIN ? MAIN_THREAD : AUTOGRAD_THREAD;
    int depth = 0;
    int64_t enter[3], leave[3], now = sim->now + 1000; /* room for what encloses the operator */
    for (; depth < 3 && op->chain[depth]; depth++) {
        enter[depth] = now;
        now += about(sim, 3200);
    }
    int64_t launch = now;
    int64_t launched = op->kernel == NO_KERNEL ? now : now + about(sim, 4300);
    now = launched;
    for (int i = depth - 1; i >= 0; i--)
        leave[i] = now += about(sim, 1100);

    if (sim->python && op->module) {
        python_frame(sim, "torch/nn/modules/module.py(1747): _wrapped_call_impl", enter[0] - 900, now + 600);
        python_frame(sim, op->module, enter[0] - 500, now + 300);
    }
    for (int i = 0; i < depth; i++) {
        if (part == PART_AUTOGRAD && i == 0)
            operator_event(sim, part, thread, "autograd::engine::evaluate_function: ", op->chain[0], "",
                           enter[0] - 700, leave[0] + 400);
        operator_event(sim, part, thread, "", op->chain[i], i == depth - 1 ? op->inputs : "", enter[i],
                       leave[i]);
    }
    if (link)
        flow(sim, part, part == PART_MAIN ? 's' : 'f', link, "fwdbwd", PROCESS, thread, enter[0]);
    allocate(sim, part, thread, launch - 200, op->output_bytes);
    if (op->kernel != NO_KERNEL) {
        uint64_t correlation = call(sim, thread, "cudaLaunchKernel", 211, launch, launched);
        run_kernel(sim, &kernels[op->kernel], correlation, launched);
    }
    sim->now = now + about(sim, part == PART_MAIN ? 2000 : 1200);
}

/* A copy call. If it waits, the thread waits for all that the stream has to do. */
static void copy(struct sim *sim, const char *op, const char *name, int64_t bytes, int64_t bytes_per_us)
{
    if (finished(sim))
        return;
    int64_t begin = sim->now, at = begin + about(sim, 4000);
    int64_t issued = at + about(sim, 5000);
    struct sim later = *sim; /* how long the wait is shows only once the copy has its place on the stream */
    later.part = PART_NOTHING;
    run_copy(&later, name, bytes, bytes_per_us, 0, issued);
    int64_t done = later.stream_free > issued ? later.stream_free + 3000 : issued + 3000;

    operator_event(sim, PART_MAIN, MAIN_THREAD, "", op, HIDDEN_FLOAT, begin, done + 1500);
    uint64_t correlation = call(sim, MAIN_THREAD, "cudaMemcpyAsync", 41, at, issued);
    run_copy(sim, name, bytes, bytes_per_us, correlation, issued);
    call(sim, MAIN_THREAD, "cudaStreamSynchronize", 131, issued + 900, done);
    sim->now = done + about(sim, 3000);
}

/* ---- a step -------------------------------------------------------------------------------------------- */

static void load_data(struct sim *sim)
{
    sim->now += about(sim, 350000);
    copy(sim, "aten::copy_", "Memcpy HtoD (Pinned -> Device)", 64 * MIB, 52000);
}

static void optimizer_step(struct sim *sim)
{
    for (int group = 0; group < PARAMETER_GROUPS; group++)
        for (int i = 0; i < OPTIMIZER_OPS; i++)
            run_op(sim, PART_MAIN, &optimizer_ops[i], 0);
}

/* Runs body inside an annotation, which the profiler also shows on the GPU from the first to the last
 * operation that it launched. The body runs twice: the first time only to learn when it ends. */
static void annotated(struct sim *sim, const char *name, void (*body)(struct sim *sim))
{
    if (finished(sim))
        return;
    int64_t start = sim->now;
    uint64_t external = ++sim->external;
    sim->events += 2; /* counted before the probe, so that both runs stop at the same operator */
    struct sim probe = *sim;
    probe.part = PART_NOTHING;
    probe.first_gpu = 0;
    body(&probe);
    sim->events -= 2;
    if (event(sim, PART_MAIN)) {
        put_span("user_annotation", name, PROCESS, MAIN_THREAD, start, probe.now + 500);
        put_args("\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRId64, external,
                 sim->index[1]++);
    }
    int64_t gpu_start = probe.first_gpu ? probe.first_gpu : sim->stream_free;
    if (event(sim, PART_GPU)) {
        put_span("gpu_user_annotation", name, 0, STREAM, gpu_start, probe.stream_free);
        put_args("\"External id\": %" PRIu64, external);
    }
    body(sim);
    sim->now += 1000;
}

static void step_body(struct sim *sim)
{
    annotated(sim, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", load_data);
    uint64_t links = sim->flow;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < FORWARD_OPS; i++)
            run_op(sim, PART_MAIN, &forward_ops[i], i < BACKWARD_OPS ? ++sim->flow : 0);
    sim->now += about(sim, 60000);
    uint64_t last = sim->flow;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < BACKWARD_OPS; i++)
            run_op(sim, PART_AUTOGRAD, &backward_ops[i], last > links ? last-- : 0);
    sim->now += about(sim, 30000);
    annotated(sim, "Optimizer.step#AdamW.step", optimizer_step);
    copy(sim, "aten::_local_scalar_dense", "Memcpy DtoH (Device -> Pageable)", 4, 4);
    if (sim->memory)
        allocate(sim, PART_MAIN, MAIN_THREAD, sim->now, -sim->allocated);
}

static void run_loop(struct sim *sim)
{
    while (!finished(sim)) {
        char name[48];
        snprintf(name, sizeof name, "ProfilerStep#%" PRId64, sim->step++);
        annotated(sim, name, step_body);
        sim->now += about(sim, 20000);
    }
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void put_header(bool memory)
{
    printf("\n  {\n    \"schemaVersion\": 1,\n    \"deviceProperties\": [\n    {\n"
           "      \"id\": 0, \"name\": \"NVIDIA H200\", \"totalGlobalMem\": 150109880320,\n"
           "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
           "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
           "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
           "      \"sharedMemPerBlock\": 49152, \"numSms\": %d\n"
           "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
           "\"sharedMemPerMultiprocessor\": 233472\n    }\n    ],\n"
           "      \"trace_id\": \"00000000000000000000000000000000\",\n%s"
           "      \"record_shapes\": 1,\n      \"cuda_driver_version\": 13000,\n"
           "      \"cuda_runtime_version\": 13000,\n      \"cupti_version\": 130001,\n"
           "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %" PRId64 ",\n  \"traceEvents\": [\n",
           SM_COUNT, memory ? "      \"profile_memory\": 1,\n" : "", BASE_NS);
}

static void put_name(const char *what, int64_t process, int64_t thread, const char *key, const char *value)
{
    printf("  {\n    \"name\": \"%s\", \"ph\": \"M\", ", what);
    put_time("ts", START_NS, ", ");
    printf("\"pid\": %" PRId64 ", \"tid\": %" PRId64 ",\n", process, thread);
    put_args("\"%s\": \"%s\"", key, value);
}

enum { CLOSING_EVENTS = 7 + 3 };

static void put_closing(int64_t end)
{
    put_name("process_name", PROCESS, 0, "name", "python3");
    put_name("process_labels", PROCESS, 0, "labels", "CPU");
    put_name("process_name", 0, 0, "name", "python3");
    put_name("process_labels", 0, 0, "labels", "GPU 0");
    put_name("thread_name", 0, STREAM, "name", "stream 7 ");
    put_name("thread_name", PROCESS, AUTOGRAD_THREAD, "name", "thread 858 (pt_autograd_0)");
    put_name("thread_name", PROCESS, MAIN_THREAD, "name", "thread 833 (python3)");
    printf("  {\n    \"ph\": \"X\", \"cat\": \"Trace\", ");
    put_time("ts", START_NS - 100000, ", ");
    put_time("dur", end - START_NS + 200000, ",\n");
    printf(
        "    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n");
    put_args("\"Op count\": 0");
    printf("  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n"
           "    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", ");
    put_time("ts", START_NS - 100000, "\n  },\n");
    printf("  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", "
           "\"tid\": \"\", ");
    put_time("ts", end + 100000, "\n  }\n");
    printf("  ],\n  \"traceName\": \"trace.json\"\n}");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"events", required_argument, NULL, 'e'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"python", no_argument, NULL, 'p'},
                                            {"memory", no_argument, NULL, 'm'},
                                            {0}};
    struct sim start = {.random = 1, .now = START_NS, .external = 512, .python_id = 1};
    const char *events = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'e')
            events = optarg;
        else if (option == 's')
            start.random = strtoull(optarg, NULL, 10);
        else if (option == 'p')
            start.python = true;
        else if (option == 'm')
            start.memory = true;
        else
            return 2;
    }
    if (!events && optind < argc)
        events = argv[optind];
    if (!events) {
        fprintf(stderr, "usage: gen_trace [--seed S] [--python] [--memory] [--events] N > trace.json\n");
        return 2;
    }
    start.most = strtoll(events, NULL, 10) - CLOSING_EVENTS;
    put_header(start.memory);
    struct sim sim = start;
    for (enum part part = PART_AUTOGRAD; part <= PART_GPU; part++) {
        sim = start;
        sim.part = part;
        run_loop(&sim);
    }
    put_closing(sim.now > sim.stream_free ? sim.now : sim.stream_free);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
