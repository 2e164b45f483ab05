/* The wrong arithmetic unit: double precision where single would do, matrix products beside the tensor cores.
 */
#include <math.h>

#include "analyze/analyze.h"
#include "analyze/findings/counters.h"
#include "base/i18n.h"

static const double fp64_matters = 0.1, pipe_busy = 0.6;

static void fp64_action(struct finding *finding)
{
    finding->action =
        msg_make(N_("if single precision is enough: write 1.0f instead of 1.0, sqrtf instead of sqrt, "
                    "and float for what holds intermediate results"));
}

/* One pass counts neither what else the threads compute nor conversions. That there is double precision at
 * all in a kernel that no other unit explains is worth a look. */
static void suspect_fp64(struct counter_finder *f, double pipe)
{
    if (pipe < fp64_matters || f->row->bound != BOUND_LATENCY)
        return;
    struct finding *finding = counter_add(f, "kernel-fp64", pipe / 2, 1 - f->row->bound_ratio, 0.5);
    if (!finding)
        return;
    finding->title =
        msg_make(N_("it computes in double precision: those units work {0} of the time, and none "
                    "that was measured is busy"),
                 value_ratio(pipe));
    counter_evidence(finding, msg_make(N_("conversions between float and double, which come with it where "
                                          "the data are float, and their share of the arithmetic were not "
                                          "measured: --deep counts them")));
    fp64_action(finding);
}

/* Conversions between float and double run on the XU pipe, of 16 lanes an SM. */
static void find_fp64(struct counter_finder *f)
{
    double fp64 = counter_known(counter_value(f, METRIC_FP64_FLOP)),
           fp32 = counter_known(counter_value(f, METRIC_FP32_FLOP));
    double active = counter_value(f, METRIC_SM_ACTIVE);
    active = isnan(active) ? 1 : fmin(active, 1);
    double pipe = counter_known(counter_value(f, METRIC_PIPE_FP64)) * active;
    double converts = counter_value(f, METRIC_PIPE_XU) * active;
    double share = fp64 + fp32 > 0 ? fp64 / (fp64 + fp32) : pipe > fp64_matters ? 1 : 0;
    if (share < fp64_matters || pipe < 0.02)
        return;
    bool by_conversion = converts >= pipe_busy && converts > pipe;
    double busiest = by_conversion ? converts : pipe;
    if (busiest < pipe_busy) {
        if (isnan(converts) && isnan(counter_value(f, METRIC_FP64_FLOP)))
            suspect_fp64(f, pipe);
        return;
    }
    struct finding *finding = counter_add(f, "kernel-fp64", busiest * 0.3, busiest * 0.9, 0.7);
    if (!finding)
        return;
    finding->title =
        fp64 + fp32 > 0
            ? msg_make(N_("{0} of the arithmetic is double precision, and its units hold the kernel up"),
                       value_ratio(share))
            : msg_make(N_("it computes in double precision, and the units for that hold the kernel up"));
    if (by_conversion)
        counter_evidence(finding,
                         msg_make(N_("converting between float and double keeps the XU pipe busy {0} of "
                                     "the time: the data are float, the constants or functions double"),
                                  value_ratio(converts)));
    else
        counter_evidence(finding, msg_make(N_("the fp64 pipe is busy {0} of the time"), value_ratio(pipe)));
    fp64_action(finding);
}

/* That a kernel multiplies matrices no counter tells: only those are named whose family is known to. */
static void find_no_tensor_cores(struct counter_finder *f)
{
    struct kernel_class class_ = kernel_classify(run_text(f->run, f->row->name));
    double tensor = counter_value(f, METRIC_PIPE_TENSOR), fma = f->pressure.pipe;
    if (!f->device || f->device->cc_major < 7 || !class_.is_matrix || !(tensor < 0.01) ||
        f->pressure.busiest_pipe != METRIC_PIPE_FMA || !(fma >= pipe_busy / 2))
        return;
    struct finding *finding = counter_add(f, "kernel-no-tensor-cores", fma * 0.4, fma * 0.85, 0.8);
    if (!finding)
        return;
    finding->title =
        msg_make(N_("a matrix product keeps the fp32 units busy {0} of the time and the tensor cores "
                    "not at all"),
                 value_ratio(fma));
    finding->action =
        msg_make(N_("allow TF32 (torch.set_float32_matmul_precision(\"high\"), CUBLAS_TF32_TENSOR_OP_MATH) "
                    "or use bf16/fp16 (torch.autocast), if the accuracy allows"));
}

void find_pipes(struct counter_finder *f)
{
    find_fp64(f);
    find_no_tensor_cores(f);
}
