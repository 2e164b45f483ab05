/* kernel_classify(): what the name of a kernel proves. */
#include "cmocka_all.h"
#include "kernel_names.h"

static void expect(const char *expected, const char *name)
{
    char class[7];
    kernel_names_class(name, class);
    if (strcmp(class, expected) != 0)
        print_error("%s\n", name);
    assert_string_equal(class, expected);
}

static void real_names_are_what_the_golden_file_says(void **state)
{
    (void)state;
    struct kernel_names names = {.file = fopen(KERNEL_NAMES, "r")};
    assert_non_null(names.file);
    while (kernel_names_next(&names))
        expect(names.fields[FIELD_CLASS], names.fields[FIELD_NAME]);
    fclose(names.file);
    free(names.line);
}

static void communication_is_known_by_every_family(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)",
        "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
        "void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevFunc_ReduceScatter_RING_SIMPLE_Sum_bf16",
        "void vllm::cross_device_reduce_2stage<c10::Half, 4>(vllm::RankData*, int, int)",
        "void aiter::cross_device_reduce_1stage<__hip_bfloat16, 8>(aiter::RankData*)",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(AllReduceParams)",
        "void deep_ep::internode::combine<false, __nv_bfloat16>(int4*)",
        "_ZN7deep_ep10internode_8dispatchILb0EEEvPi",
        "nvshmemi_barrier_all_on_stream",
        "mscclKernel_Sum_half_Simple_false",
        "void mscclpp::allreduceAllToAll<float>(float*)",
        "two_shot_all_reduce_kernel",
        "void userbuffers_fp16_sum_inplace_gpu_rr_rs<8>(int)",
        "moeAlltoAllKernel",
        "my_put_kernel(float*, ncclDevComm)",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!kernel_classify(names[i]).is_comm)
            fail_msg("not communication: %s", names[i]);
}

static void reductions_inside_a_gpu_are_no_communication(void **state)
{
    (void)state;
    static const char *const names[] = {
        "block_all_reduce_sum_f32x4_f32_kernel(float*, float*, int)",
        "void blockAllReduceSum<float>(float*)",
        "warpAllReduceMax(float*)",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)",
        "triton_poi_fused_all_gather_into_tensor_wait_tensor_0",
        "launcclient_kernel",
        "void cub::DeviceReduceKernel<int>(int*)",
        "gather_kernel",
        "scatter_reduce",
        "broadcast_add_kernel",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kernel_classify(names[i]).is_comm)
            fail_msg("communication: %s", names[i]);
}

static void tensor_cores_are_told_from_ordinary_pipes(void **state)
{
    (void)state;
    expect("-LM--S", "volta_sgemm_128x64_nn");
    expect("-LM--S", "ampere_fp16_sgemm_fp16_128x64_tn");
    expect(
        "-LM--S",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(cutlass_80_simt_sgemm::Params)");
    expect("-LM--S",
           "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_ffma_execute_kernel_cublas");
    expect("-LM---", "volta_hgemm_128x128_nn");
    expect("-LMT--", "volta_h884gemm_64x64_ldg8_nn");
    expect("-LMT--", "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1");
    expect("-LMT--", "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn");
    expect("-LMT--",
           "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_execute_kernel__5x_cublas");
    expect("-LMT--", "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN");
    expect("-LMT--",
           "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_align8");
    expect("-LMT--",
           "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128> >(Flash_fwd_params)");
    expect("-LMT--", "_matmul_ogs_cutlass_bf16xbf16xmxfp4_16x128x256x1");
    expect("--MT--", "void wmma_example(half*, half*, float*)");
    expect("--M--S", "void sgemm_naive<float>(int, int, int, float, float const*)");
    expect("--M---", "matrixMul(float*, float*, float*, int, int)");
}

static void helpers_of_a_product_are_no_product(void **state)
{
    (void)state;
    expect("-L----",
           "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>)");
    expect("-L----", "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(Params)");
    expect("-L----", "void pytorch_flash::flash_bwd_dot_do_o_kernel<true>(Flash_bwd_params)");
    expect("-L----", "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*)");
    expect("------", "triton_poi_fused_convolution_relu_3");
    expect("--M---", "triton_tem_fused_addmm_relu_1");
    expect("------", "loop_convert_fusion");
    expect("-L----", "void gemv2T_kernel_val<int, float, 128>(cublasGemvParams<float>)");
}

static void matrix_cores_of_amd_are_tensor_cores(void **state)
{
    (void)state;
    expect("-LMT--", "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x64x32_MI32x32x1_SN_LDSB0");
    expect("-LM--S", "Cijk_Ailk_Bljk_SB_MT128x64x8_SN_1LDSB0_APM1");
    expect("-LMTD-", "Cijk_Ailk_Bljk_DB_MT64x64x16_MI16x16x4x1_SN");
    expect("-LM-D-", "Cijk_Ailk_Bljk_DB_MT64x64x16_SN_1LDSB0");
    expect("-LMT--", "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1");
    expect("-L----", "__amd_rocclr_fillBufferAligned.kd");
    expect("-LM---", "miopenSp3AsmConv_v21_1_3_gfx9_fp32_f2x3_stride1");
}

static void doubles_count_only_where_they_are_the_data(void **state)
{
    (void)state;
    expect("----D-", "axpy(int, double, double*, double const*)");
    expect("----D-", "void scale<double>(double*, double, int)");
    expect("----D-", "void f<g(int, Buffer<double> &)::[lambda(int) (instance 1)]>(Range, T1)");
    expect("----D-", "void e<exp_kernel(Iter&)::{lambda()#1}::operator()() const::{lambda(double)#1}>(int)");
    expect("----D-", "void k<thrust::complex<double> >(thrust::complex<double>*)");
    expect("-LM-D-", "volta_dgemm_128x64_nt");
    expect("-LMTD-", "cutlass_80_tensorop_d884gemm_32x32_16x5_nn_align1");
    expect("-L--D-", "void trsm_left_kernel<double, 256>(cublasTrsmParams<double>, double)");
    expect("------", "scale(float*, double, int)");
    expect("------", "void f<h(Tensor const&, double)::{lambda(float)#1}, 4>(int)");
    expect("------", "void n<nan_to_num(Iter&, c10::optional<double>)::{lambda(float)#1}>(int)");
    expect("------", "void convert<float, double>(float*, double*)");
    expect("------", "void accumulate<Op<float, Sum<double> > >(float*)");
    expect("------", "doubled_kernel(float*)");
}

static void hostile_names_are_nothing(void **state)
{
    (void)state;
    expect("------", "");
    expect("------", "<<<<(((([[[[{{{{");
    expect("------", ">>>>)))]]]}}}");
    expect("------", "void f<a, b(>)(<)>");
    enum { LONG = 100000 };
    char *text = mem_alloc(LONG + 1);
    memset(text, '<', LONG);
    text[LONG] = '\0';
    expect("------", text);
    memset(text, '9', LONG);
    expect("------", text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_names_are_what_the_golden_file_says),
        cmocka_unit_test(communication_is_known_by_every_family),
        cmocka_unit_test(reductions_inside_a_gpu_are_no_communication),
        cmocka_unit_test(tensor_cores_are_told_from_ordinary_pipes),
        cmocka_unit_test(helpers_of_a_product_are_no_product),
        cmocka_unit_test(matrix_cores_of_amd_are_tensor_cores),
        cmocka_unit_test(doubles_count_only_where_they_are_the_data),
        cmocka_unit_test(hostile_names_are_nothing),
    };
    return cmocka_run_group_tests_name("classify_kernel", tests, NULL, NULL);
}
