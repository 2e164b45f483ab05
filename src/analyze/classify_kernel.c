/* What a kernel is, from its name.
 *
 * Kernels of libraries carry their family, their arithmetic and the matrix instruction they use in the name.
 * A table of fragments collects what each says; a few patterns that a fragment cannot express follow as code.
 * Flags say what the name proves: a matrix product that nothing is known about is neither a user of tensor
 * cores nor one of the ordinary pipes. On AMD, "tensor cores" are the matrix cores (MFMA, WMMA instructions).
 *
 * Sources, unless a line says otherwise: names in recordings of PyTorch 1.8–2.9, TensorFlow, JAX, vLLM,
 * SGLang and CUDA programs on sm_35 to sm_103 and gfx90a to gfx942, and the public source trees of the named
 * libraries. */
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/kernel_name.h"

enum {
    COMM = 1 << 0,    /* communication */
    LIBRARY = 1 << 1, /* hand-tuned, of a vendor or a well-known library */
    MATRIX = 1 << 2,  /* matrix product or convolution */
    TENSOR = 1 << 3,  /* on tensor cores */
    SIMT = 1 << 4,    /* on the ordinary pipes */
    FP64 = 1 << 5,
    LOW = 1 << 6,    /* operands of 16 bits and fewer, which only tensor cores multiply fast */
    HELPER = 1 << 7, /* prepares or finishes a matrix product: none itself, whatever its family */
    LOCAL = 1 << 8,  /* no communication, whatever else the name says */
};

enum scope {
    NAME, /* anywhere in the name, its parameter types included */
    HEAD, /* in the function's name and its template arguments */
    FUNC, /* in the function's qualified name */
    START /* at the very start of the function's qualified name, without return type */
};

/* A fragment in lower case. With word set it does not match in the middle of a run of letters: "nccl" is no
 * part of "launcclient". */
struct family {
    const char *fragment;
    enum scope scope;
    bool word;
    uint16_t flags;
};

static const struct family families[] = {
    /* NCCL and RCCL: ncclKernel_*, ncclDevKernel_*, ncclDevFunc_*, ncclSymkDevKernel_*, rcclGenericKernel;
     * kernels that use NCCL's device interface take ncclDevComm or ncclWindow arguments */
    {"nccl", NAME, true, COMM | LIBRARY},
    {"rccl", NAME, true, COMM | LIBRARY},
    {"hccl", FUNC, true, COMM | LIBRARY},   /* Huawei, Habana */
    {"oneccl", FUNC, true, COMM | LIBRARY}, /* Intel */
    {"msccl", FUNC, true, COMM | LIBRARY},  /* MSCCL, MSCCL++: mscclKernel_*, mscclpp:: */
    {"nvshmem", FUNC, true, COMM | LIBRARY},
    {"rocshmem", FUNC, true, COMM | LIBRARY},
    {"roc_shmem", FUNC, true, COMM | LIBRARY},
    {"ishmem", FUNC, true, COMM | LIBRARY},
    {"nvls", FUNC, true, COMM | LIBRARY},                 /* in-switch reduction */
    {"c10d::", FUNC, true, COMM | LIBRARY},               /* PyTorch symmetric memory: barriers, multimem_* */
    {"multimem_", FUNC, true, COMM},                      /* the PTX instructions for multicast memory */
    {"cross_device_reduce", FUNC, false, COMM | LIBRARY}, /* vLLM, SGLang, aiter custom all-reduce */
    {"quickreduce", FUNC, false, COMM | LIBRARY},         /* AMD, vLLM */
    {"lamport", FUNC, false, COMM | LIBRARY},             /* TensorRT-LLM, FlashInfer one-shot all-reduce */
    {"deep_ep", FUNC, true, COMM | LIBRARY},              /* DeepEP dispatch and combine */
    {"epdispatch", FUNC, true, COMM | LIBRARY},           /* AMD MORI */
    {"epcombine", FUNC, true, COMM | LIBRARY},
    {"a2a_", FUNC, true, COMM | LIBRARY},         /* pplx-kernels */
    {"userbuffers", FUNC, false, COMM | LIBRARY}, /* Transformer Engine */
    /* collectives by their common names: TensorRT-LLM oneShotAllReduceKernel, allreduce_fusion_kernel_*,
     * FBGEMM and PyTorch one_shot_all_reduce_kernel, XLA AllReduceKernel, Triton-distributed, MoE all-to-all
     */
    {"allreduce", FUNC, false, COMM},
    {"all_reduce", FUNC, false, COMM},
    {"allgather", FUNC, false, COMM},
    {"all_gather", FUNC, false, COMM},
    {"reducescatter", FUNC, false, COMM},
    {"reduce_scatter", FUNC, false, COMM},
    {"alltoall", FUNC, false, COMM},
    {"all_to_all", FUNC, false, COMM},
    {"all2all", FUNC, false, COMM},
    /* reductions over the threads of a block or warp borrow the word */
    {"block_all", FUNC, true, LOCAL},
    {"blockall", FUNC, true, LOCAL},
    {"warp_all", FUNC, true, LOCAL},
    {"warpall", FUNC, true, LOCAL},

    /* TorchInductor names generated kernels after the operators around them: triton_poi_fused_convolution_0
     * adds a bias. Only its templates (tem) multiply. */
    {"triton_poi_", START, false, HELPER | LOCAL},
    {"triton_red_", START, false, HELPER | LOCAL},
    {"triton_per_", START, false, HELPER | LOCAL},
    {"triton_for_", START, false, HELPER | LOCAL},
    {"triton_tem_", START, false, MATRIX | LOCAL},
    {"triton_mm", START, false, MATRIX | LOCAL},
    {"triton_bmm", START, false, MATRIX | LOCAL},
    {"triton_fused_", START, false, HELPER | LOCAL},

    /* NVIDIA: cuBLAS, cuBLASLt, cuDNN, CUTLASS, TensorRT and the rest */
    {"cutlass", HEAD, false, LIBRARY},
    {"cublas", NAME, false,
     LIBRARY}, /* cublasGemvParams, cublasLtEpilogue_t: small kernels have plain names */
    {"cudnn", NAME, false, LIBRARY},
    {"kernel_conv_params", NAME, false, LIBRARY}, /* cuDNN's implicit_convolve_sgemm */
    {"kernel_grad_params", NAME, false, LIBRARY}, /* cuDNN's wgrad_alg0_engine, dgrad_engine */
    {"xmma", FUNC, false, LIBRARY},
    {"nvjet", FUNC, true, LIBRARY | MATRIX | TENSOR}, /* cuBLASLt from CUDA 12.8: wgmma and tcgen05 only */
    {"maxwell_", FUNC, true, LIBRARY},
    {"volta_", FUNC, true, LIBRARY},
    {"turing_", FUNC, true, LIBRARY},
    {"ampere_", FUNC, true, LIBRARY},
    {"hopper_", FUNC, true, LIBRARY},
    {"blackwell_", FUNC, true, LIBRARY},
    {"magma_", FUNC, true, LIBRARY},
    {"cask_", FUNC, true, LIBRARY},
    {"trt_", START, false, LIBRARY},
    {"_myl", FUNC, false, LIBRARY}, /* TensorRT's graph compiler */
    {"genericreformat", FUNC, false, LIBRARY},
    {"tensorrt_llm::", FUNC, true, LIBRARY},
    {"transformer_engine::", FUNC, true, LIBRARY},
    {"deep_gemm::", FUNC, true, LIBRARY},
    {"splitkreduce", FUNC, false, LIBRARY | HELPER},
    {"reducesplitk", HEAD, false, HELPER}, /* CUTLASS reduction::kernel::ReduceSplitK */
    {"offsetskernel", FUNC, false, HELPER},
    {"init_device_workspace", FUNC, false, HELPER},
    {"winograd_nonfused", FUNC, false, HELPER}, /* transforms before and after the product */
    {"generatewinogradtiles", FUNC, false, HELPER},
    {"reduce_wgrad", FUNC, false, HELPER},
    {"im2col", FUNC, false, HELPER},
    {"col2im", FUNC, false, HELPER},
    {"cufft", FUNC, false, LIBRARY},
    {"regular_fft", FUNC, true, LIBRARY}, /* cuFFT's own names */
    {"vector_fft", FUNC, true, LIBRARY},
    {"composite_2way_fft", FUNC, true, LIBRARY},
    {"bluestein_fft", FUNC, false, LIBRARY},
    {"spradix", FUNC, true, LIBRARY},
    {"dpradix", FUNC, true, LIBRARY | FP64},
    {"cusparse", FUNC, true, LIBRARY},
    {"cusolver", FUNC, true, LIBRARY},
    {"cutensor", FUNC, true, LIBRARY},
    {"cub::", FUNC, true, LIBRARY},
    {"thrust::", FUNC, true, LIBRARY},

    /* AMD: rocBLAS and hipBLASLt (Tensile's Cijk_), MIOpen, composable kernels, rocPRIM, aiter */
    {"cijk_", FUNC, false, LIBRARY | MATRIX}, /* "Custom_Cijk_" too */
    {"rocblas", FUNC, true, LIBRARY},
    {"hipblas", FUNC, true, LIBRARY},
    {"rocsolver", FUNC, true, LIBRARY},
    {"rocsparse", FUNC, true, LIBRARY},
    {"fft_rtc_", FUNC, true, LIBRARY}, /* rocFFT */
    {"miopen", FUNC, true, LIBRARY},
    {"mlopen", FUNC, true, LIBRARY},
    {"gcnasm", FUNC, false, LIBRARY},
    {"subtensorop", START, false, LIBRARY},
    {"batched_transpose_", START, false, LIBRARY},
    {"_gtcx", FUNC, false, LIBRARY | MATRIX | TENSOR}, /* MIOpen's igemm_fwd_gtcx3: MFMA instructions */
    {"_gtcm", FUNC, false, LIBRARY | MATRIX | SIMT},   /* the same on ordinary pipes */
    {"__amd_rocclr", START, false, LIBRARY},           /* the runtime's copy and fill kernels */
    {"ck::", FUNC, true, LIBRARY},
    {"ck_tile::", FUNC, true, LIBRARY},
    {"_zn2ck", START, false, LIBRARY}, /* the same, mangled */
    {"_zn7ck_tile", START, false, LIBRARY},
    {"hipcub::", FUNC, true, LIBRARY},
    {"rocprim", FUNC, true, LIBRARY},
    {"aiter", FUNC, true, LIBRARY},

    /* libraries of the community */
    {"flashinfer::", FUNC, true, LIBRARY},
    {"fbgemm_gpu", FUNC, true, LIBRARY},
    {"split_embedding_", START, false, LIBRARY}, /* FBGEMM's generated code */
    {"marlin", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"machete", FUNC, true, LIBRARY | MATRIX | TENSOR},

    /* attention: two products and a softmax in one kernel */
    {"flash_fwd", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"flash_bwd", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"flash_fprop", FUNC, true, LIBRARY | MATRIX | TENSOR}, /* cuDNN */
    {"flash_bprop", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"flash_attn", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"flash_attention", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"flashattn", HEAD, true, LIBRARY | MATRIX | TENSOR}, /* FlashAttention 3: a template argument */
    {"flash::", FUNC, true, LIBRARY},
    {"flash_mla", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"fmha", HEAD, true, LIBRARY | MATRIX | TENSOR}, /* xFormers, CUTLASS, TensorRT, composable kernels */
    {"fused_mha", FUNC, true, LIBRARY | MATRIX | TENSOR}, /* TensorRT */
    {"attn_fwd", FUNC, true, LIBRARY | MATRIX | TENSOR},  /* AOTriton */
    {"bwd_kernel_dk_dv", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"bwd_kernel_dq", FUNC, true, LIBRARY | MATRIX | TENSOR},
    {"withpagedkvcache", FUNC, false, LIBRARY}, /* FlashInfer */
    {"prefillwith", FUNC, false, LIBRARY | MATRIX | TENSOR},
    {"unified_attention", FUNC, false, MATRIX}, /* vLLM, in Triton */
    {"dot_do_o", FUNC, false, HELPER},
    {"convert_dq", FUNC, false, HELPER},
    {"convert_dkv", FUNC, false, HELPER},
    {"bwdpreprocess", HEAD, false, HELPER},
    {"bwd_preprocess", FUNC, false, HELPER},
    {"bwdpostprocess", HEAD, false, HELPER},
    {"combine_kernel", FUNC, false, HELPER},
    {"finalize", FUNC, true, HELPER},
    {"fwdcombine", HEAD, false, HELPER},
    {"fmhareduction", FUNC, false, HELPER},

    /* matrix products and convolutions by their common names */
    {"matmul", FUNC, false, MATRIX},
    {"matrixmul", FUNC, false, MATRIX},
    {"matrix_mul", FUNC, false, MATRIX},
    {"mat_mul", FUNC, false, MATRIX},
    {"bmm", FUNC, true, MATRIX},
    {"grouped_mm", FUNC, true, MATRIX},
    {"scaled_mm", FUNC, true, MATRIX | LOW},
    {"fused_moe_kernel", FUNC, true, MATRIX}, /* vLLM, SGLang, in Triton */
    {"convolve", FUNC, false, MATRIX},
    {"winograd", FUNC, false, MATRIX},
    {"fprop", FUNC, true, MATRIX},
    {"dgrad", HEAD, false, MATRIX},
    {"wgrad", HEAD, false, MATRIX},
    {"grouped_direct_kernel", FUNC, false, MATRIX}, /* cuDNN's grouped convolutions */
    {"scudnn", FUNC, false, MATRIX | SIMT},
    {"hcudnn", FUNC, false, MATRIX},
    {"icudnn", FUNC, false, MATRIX},
    {"depthwise", HEAD, false, HELPER}, /* one channel at a time: no product to speak of */
    {"causal_conv1d", FUNC, false, HELPER},

    /* which instructions */
    {"_tensorop_", HEAD, false, TENSOR}, /* CUTLASS operator class */
    {"mmatensorop", HEAD, false, TENSOR},
    {"classtensorop", HEAD, false, TENSOR},
    {"wgmma", HEAD, false, MATRIX | TENSOR},
    {"wmma", HEAD, false, MATRIX | TENSOR},
    {"hmma", HEAD, true, MATRIX | TENSOR},
    {"imma", HEAD, true, MATRIX | TENSOR},
    {"dmma", HEAD, true, MATRIX | TENSOR | FP64},
    {"gmma", HEAD, true, MATRIX | TENSOR},
    {"umma", HEAD, true, MATRIX | TENSOR},
    {"tcgen05", HEAD, true, MATRIX | TENSOR},
    {"mma_sync", HEAD, false, MATRIX | TENSOR},
    {"mfma", HEAD, false, MATRIX | TENSOR},
    {"matrix_core", FUNC, true, TENSOR},
    {"_xdl", HEAD, false, TENSOR}, /* composable kernels: MFMA */
    {"warpgroupsize", FUNC, false, TENSOR},
    {"mainloopsm90tma", HEAD, false, TENSOR}, /* CUTLASS 3 */
    {"mainloopsm100", HEAD, false, TENSOR},
    {"tf32", HEAD, false, TENSOR},
    {"tfloat32", HEAD, false, TENSOR},
    {"simt", HEAD, false, SIMT},
    {"ffma", FUNC, true, SIMT},
    {"sgemm", FUNC, true, MATRIX | SIMT},
    {"sgemm_largek", FUNC, true, LIBRARY}, /* cuBLAS */
    {"cgemm", FUNC, false, MATRIX | SIMT}, /* gcgemm */
    {"gemmsn_", FUNC, true, MATRIX | SIMT},
    {"gemmk1_", FUNC, true, MATRIX | SIMT},
    {"alg0_engine", FUNC, false, SIMT},
    {"alg1_engine", FUNC, false, SIMT},
    {"dgrad_engine", FUNC, false, SIMT},

    /* which arithmetic */
    {"bf16", FUNC, true, LOW},
    {"bfloat16", FUNC, true, LOW},
    {"fp8", FUNC, true, LOW},
    {"fp4", FUNC, false, LOW}, /* mxfp4, nvfp4 */
    {"e4m3", FUNC, true, LOW},
    {"e5m2", FUNC, true, LOW},
    {"f16f16", FUNC, true, LOW},
    {"dgemm", FUNC, true, MATRIX | FP64},
    {"zgemm", FUNC, true, MATRIX | FP64},
    {"dgemv", FUNC, true, FP64},
    {"dtrsm", FUNC, true, FP64},
    {"dsyrk", FUNC, true, FP64},
    {"f64f64", FUNC, true, FP64},
    {"float64", FUNC, true, FP64},
    {"fp64", FUNC, true, FP64},
};

/* A name in lower case, and where its parts begin and end. */
struct text {
    char lower[KERNEL_NAME_LIMIT + 1];
    size_t start, func, head, length;
};

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- the parts of a name ------------------------------------------------------------------------------- */

static void text_init(struct text *text, const struct kernel_name *name)
{
    for (size_t i = 0; i < name->length; i++) {
        char c = name->text[i];
        text->lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    text->lower[name->length] = '\0';
    text->length = name->length;
    text->head = name->head;
    text->start = 0;
    text->func = name->head;
    for (size_t i = 0; i < name->head; i++) {
        if (name->text[i] == ' ' && name->head < name->length) { /* what came before is the return type */
            text->start = i + 1;
            text->func = name->head;
        } else if (name->text[i] == '<' && name->close[i] && text->func == name->head) {
            text->func = i;
        }
        if (name->close[i])
            i = name->close[i];
    }
}

/* Whether the family's fragment, which stands at the place, counts there. */
static bool in_scope(const struct text *text, const struct family *family, size_t at, size_t length)
{
    if (family->word && at > 0 && is_letter(text->lower[at - 1]))
        return false;
    switch (family->scope) {
    case NAME:
        return true;
    case HEAD:
        return at >= text->start && at + length <= text->head;
    case FUNC:
        return at >= text->start && at + length <= text->func;
    case START:
        return at == text->start;
    }
    return false;
}

enum { FAMILIES = sizeof families / sizeof *families };

/* What all families that occur in the text say. The families that begin with one character are chained, so
 * that one pass over the text asks only those that can begin at each place. */
static unsigned find_families(const struct text *text)
{
    uint8_t first[256] = {0}, next[FAMILIES];
    _Static_assert(FAMILIES < UINT8_MAX, "chains hold 1 + the row in one byte");
    for (size_t i = 0; i < FAMILIES; i++) {
        uint8_t *head = &first[(unsigned char)families[i].fragment[0]];
        next[i] = *head;
        *head = (uint8_t)(i + 1);
    }
    unsigned flags = 0;
    for (size_t at = 0; at < text->length; at++) {
        for (size_t i = first[(unsigned char)text->lower[at]]; i != 0; i = next[i - 1]) {
            const struct family *family = &families[i - 1];
            if (family->fragment[1] != text->lower[at + 1])
                continue; /* nearly always */
            size_t n = strlen(family->fragment);
            if ((flags & family->flags) != family->flags &&
                strncmp(text->lower + at, family->fragment, n) == 0 && in_scope(text, family, at, n))
                flags |= family->flags;
        }
    }
    return flags;
}

/* ---- patterns ------------------------------------------------------------------------------------------ */

/* The shape of a matrix instruction in a name of cuBLAS, cuDNN or CUTLASS, after the letter of its
 * accumulator: h884gemm, s1688cudnn, s16816gemm, i8816, d884gemm. */
static unsigned instruction_shape(const struct text *text)
{
    static const char *const shapes[] = {"884",   "1688",   "16816", "16832", "16864",
                                         "83216", "161616", "8816",  "8832",  "88128"};
    for (size_t i = text->start + 1; i < text->head; i++) {
        char accumulator = text->lower[i - 1];
        if (!is_digit(text->lower[i]) || !strchr("shidzcbqe", accumulator) || accumulator == '\0' ||
            (i - 1 > text->start && is_letter(text->lower[i - 2])))
            continue;
        size_t digits = strspn(text->lower + i, "0123456789");
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            if (digits == strlen(shapes[s]) && memcmp(text->lower + i, shapes[s], digits) == 0)
                return MATRIX | TENSOR | (accumulator == 'd' || accumulator == 'z' ? FP64 : 0);
    }
    return 0;
}

/* "gemm" anywhere but in the name of a library; "conv" as a word or the start of one, but not "convert". */
static unsigned product(const struct text *text)
{
    const char *start = text->lower + text->start, *at = start;
    const char *head = text->lower + text->head, *func = text->lower + text->func;
    for (; at < head && (at = memmem(at, (size_t)(head - at), "gemm", 4)) != NULL; at += 4)
        if ((at - start < 2 || memcmp(at - 2, "fb", 2) != 0) && strncmp(at, "gemm::", 6) != 0)
            return MATRIX;
    for (at = start; at < func && (at = memmem(at, (size_t)(func - at), "conv", 4)) != NULL; at += 4)
        if (strncmp(at + 4, "er", 2) != 0)
            return MATRIX;
    return 0;
}

/* xMMA kernels use tensor cores unless the name says ffma: sm80_xmma_fprop_implicit_gemm_tf32f32_…. */
static unsigned xmma(const struct text *text, unsigned flags)
{
    if (!(flags & MATRIX) || (flags & SIMT))
        return 0;
    return strncmp(text->lower + text->start, "sm", 2) == 0 && strstr(text->lower, "_xmma_") ? TENSOR : 0;
}

/* Tensile: Cijk_Ailk_Bjlk_<types>_…_MT128x64x32_MI32x32x1_…: D is double, Z double complex, S single; an MI
 * with a shape is a matrix instruction. Source: Tensile, SolutionStructs naming. */
static unsigned tensile(const struct text *text)
{
    const char *at = strstr(text->lower + text->start, "cijk_");
    if (!at)
        return 0;
    unsigned flags = 0;
    for (const char *mi = at; (mi = strstr(mi, "_mi")) != NULL; mi += 3)
        if (is_digit(mi[3]))
            flags |= TENSOR;
    for (int underscores = 0; *at && underscores < 3; at++)
        underscores += *at == '_';
    if (*at == 'd' || *at == 'z')
        flags |= FP64;
    if (!(flags & TENSOR) && (*at == 's' || *at == 'c'))
        flags |= SIMT;
    return flags;
}

/* ---- double precision ---------------------------------------------------------------------------------- */

struct level {
    char bracket; /* '<'; 'l' of a lambda's parameters; '(' of the kernel's own; ' ' of what does not count */
    bool doubles; /* holds double as an argument, or only doubles further in */
    bool others;  /* holds a narrower floating-point type */
};

enum { LEVELS = 64 };

static bool is_word(const char *text, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && memcmp(text, *words, length) == 0)
            return true;
    return false;
}

static bool ends_with(const struct kernel_name *name, size_t end, const char *word)
{
    size_t n = strlen(word);
    return end >= n && memcmp(name->text + end - n, word, n) == 0;
}

/* An arithmetic type as the argument of a template or lambda, or as what a parameter points to. */
static void see_type(const struct kernel_name *name, size_t at, size_t length, struct level *level)
{
    static const char *const doubles[] = {"double", "double2", "double4", "cuDoubleComplex", "Float64", NULL};
    static const char *const others[] = {
        "float",         "float2",         "float4",     "half",     "__half",  "half2",
        "__half2",       "Half",           "half_t",     "BFloat16", "Float32", "Float16",
        "__nv_bfloat16", "__hip_bfloat16", "bfloat16_t", "bfloat16", "__bf16",  NULL};
    bool is_double = is_word(name->text + at, length, doubles);
    if (!is_double && !is_word(name->text + at, length, others))
        return;
    if (level->bracket == '(') {
        size_t after = at + length;
        while (after < name->length && (name->text[after] == ' ' || name->text[after] == '*' ||
                                        strncmp(name->text + after, "const", 5) == 0)) {
            if (name->text[after] == '*')
                break;
            after += name->text[after] == ' ' ? 1 : 5;
        }
        if (after >= name->length || name->text[after] != '*')
            return; /* a scalar says nothing about the data */
    }
    level->doubles |= is_double;
    level->others |= !is_double;
}

static char level_kind(const struct kernel_name *name, size_t at)
{
    if (name->text[at] == '<')
        return ends_with(name, at, "optional") ? ' ' : '<';
    if (name->text[at] == '(' && ends_with(name, at, "lambda"))
        return 'l';
    return at == name->head ? '(' : ' ';
}

/* Whether the kernel's data are doubles: they occur as template argument, parameter of its lambda or target
 * of its pointers, and no narrower floating-point type beside or around them. */
static bool works_on_doubles(const struct kernel_name *name)
{
    struct level levels[LEVELS] = {{.bracket = ' '}};
    uint16_t closing[LEVELS] = {name->length};
    int depth = 0;
    for (size_t i = 0; i < name->length; i++) {
        char c = name->text[i];
        while (depth > 0 && i == closing[depth]) {
            bool only_doubles = levels[depth].doubles && !levels[depth].others;
            depth--;
            levels[depth].doubles |= only_doubles;
        }
        if (name->close[i]) {
            if (++depth == LEVELS)
                return false;
            levels[depth] = (struct level){.bracket = level_kind(name, i)};
            closing[depth] = name->close[i];
        } else if (is_letter(c | 0x20) || c == '_') {
            size_t length = 1;
            while (i + length < name->length &&
                   (is_letter(name->text[i + length] | 0x20) || is_digit(name->text[i + length]) ||
                    name->text[i + length] == '_'))
                length++;
            if (levels[depth].bracket != ' ')
                see_type(name, i, length, &levels[depth]);
            i += length - 1;
        }
    }
    return levels[0].doubles && !levels[0].others;
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static unsigned collect_flags(const struct kernel_name *name)
{
    struct text text;
    text_init(&text, name);
    unsigned flags = find_families(&text);
    flags |= instruction_shape(&text);
    flags |= product(&text);
    flags |= tensile(&text);
    flags |= xmma(&text, flags);
    return flags;
}

struct kernel_class kernel_classify(const char *text)
{
    struct kernel_name name;
    kernel_name_scan(&name, text);
    unsigned flags = collect_flags(&name);
    if (flags & LOCAL)
        flags &= ~(unsigned)COMM;
    if (flags & (HELPER | COMM))
        flags &= ~(unsigned)(MATRIX | TENSOR | SIMT);
    if ((flags & MATRIX) && (flags & LOW) && !(flags & SIMT))
        flags |= TENSOR;
    bool fp64 = (flags & FP64) || works_on_doubles(&name);
    return (struct kernel_class){
        .is_comm = flags & COMM,
        .is_tuned_library = flags & LIBRARY,
        .is_matrix = flags & MATRIX,
        .uses_tensor_cores = (flags & MATRIX) && (flags & TENSOR),
        .is_fp64 = fp64,
        .is_fp32_simt = (flags & MATRIX) && (flags & SIMT) && !(flags & TENSOR) && !fp64,
    };
}
