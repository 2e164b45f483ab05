/* Whether the GPU code of a program and of what it maps runs on the GPUs that are there. */
#include <string.h>

#include "analyze/codes.h"
#include "analyze/setup_checks.h"

enum verdict {
    CODE_NOT_JUDGED, /* there is none */
    CODE_LACKS,      /* of the program itself: it cannot do anything */
    CODE_LACKS_HERE, /* but may on another GPU of this machine */
    CODE_MAY_LACK,   /* of a library, which may be there for other GPUs, or for a function that is not used */
    CODE_UNSEEN,     /* what was seen does not fit, and not all was seen */
    CODE_COMPILES,   /* PTX only */
    CODE_FITS,
};

static const char *name_of(const struct setup_image *image)
{
    const char *slash = strrchr(image->path, '/');
    return slash ? slash + 1 : image->path;
}

/* NVIDIA's own libraries choose their kernels as they run: PTX and intermediate code beside machine code are
 * there to be used, and cost little. */
static bool is_vendors(const struct setup_image *image)
{
    static const char *const beginnings[] = {"libcu", "libnv", "libnpp", "libnccl"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name_of(image), beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static enum code_fit best_fit(const struct setup_image *image, int32_t cc)
{
    enum code_fit best = FIT_NO;
    enum code_reason reason;
    vec_each (&image->codes, code) {
        enum code_fit fit = code_fit(code, cc, &reason);
        if (fit == FIT_RUNS || (fit == FIT_COMPILES && best == FIT_NO))
            best = fit;
    }
    return best;
}

static enum verdict judge(const struct setup_image *image, int32_t cc)
{
    enum code_fit fit = best_fit(image, cc);
    bool compiles_itself = image->later_sm > 0 && image->later_sm <= cc;
    if (fit == FIT_RUNS || compiles_itself)
        return CODE_FITS;
    if (fit == FIT_COMPILES)
        return is_vendors(image) ? CODE_FITS : CODE_COMPILES;
    if (!image->is_whole)
        return CODE_UNSEEN;
    return image->codes.count == 0 ? CODE_NOT_JUDGED : image->is_main ? CODE_LACKS : CODE_MAY_LACK;
}

/* The compute capability of the device in that row, if it is the first of its kind; else 0. */
static int32_t kind_of(const struct setup *s, size_t row)
{
    const struct machine_device *devices = s->sample.devices.at, *device = &devices[row];
    struct reading cc = device->facts.compute_capability;
    if (!reading_is_known(cc) || device->vendor != VENDOR_NVIDIA)
        return 0;
    for (size_t i = 0; i < row; i++)
        if (devices[i].facts.compute_capability.value == cc.value)
            return 0;
    return (int32_t)cc.value;
}

bool setup_image_is_settled(const struct setup *s, const struct setup_image *image)
{
    for (size_t row = 0; row < s->sample.devices.count; row++) {
        int32_t cc = kind_of(s, row);
        if (cc && judge(image, cc) != CODE_FITS)
            return false;
    }
    return true;
}

/* ---- what is said -------------------------------------------------------------------------------------- */

static void list_architectures(struct diagnosis *d, struct check *check, const struct setup_image *image)
{
    struct str text = {0};
    vec_each (&image->codes, code)
        str_addf(&text, "%s%s%d%s", text.len ? " " : "", code->is_ptx ? "compute_" : "sm_", code->sm,
                 code->is_specific ? "a"
                 : code->is_family ? "f"
                                   : "");
    if (image->later_sm)
        str_addf(&text, "%slto_%d", text.len ? " " : "", image->later_sm);
    if (!image->is_whole)
        str_puts(&text, text.len ? " …" : "…");
    diagnosis_evidence(d, check, image->path, str_text(&text));
    str_release(&text);
}

static struct check *start_check(struct diagnosis *d, enum verdict verdict, const char *name, int cc,
                                 size_t count)
{
    static const struct {
        enum check_status status;
        double confidence_ratio;
        const char *meaning; /* NULL: none */
        bool is_to_mend;
    } answers[] = {
        [CODE_LACKS] = {CHECK_FAIL, 0.9,
                        N_("Its kernels fail with \"no kernel image is available for execution on the "
                           "device\"."),
                        true},
        [CODE_LACKS_HERE] =
            {CHECK_WARN, 0.8,
             N_("It runs on another GPU of this machine. On this one its kernels fail with \"no "
                "kernel image is available for execution on the device\"."),
             false},
        [CODE_MAY_LACK] = {CHECK_WARN, 0.7,
                           N_("If the program launches kernels of it, they fail with \"no kernel image is "
                              "available for execution on the device\". It may be there for other GPUs, and "
                              "another library for this one."),
                           true},
        [CODE_UNSEEN] = {CHECK_UNKNOWN, 0.5,
                         N_("What could be read of it is for other GPUs; the rest is damaged, or packed in "
                            "a way that is not known."),
                         false},
        [CODE_COMPILES] = {CHECK_WARN, 0.9,
                           N_("It holds PTX only: the first start takes long, and kernels may be slower."),
                           true},
        [CODE_FITS] = {CHECK_OK, 0.95, NULL, false},
    };
    struct check *check = diagnosis_check(d, "program-architecture", answers[verdict].status,
                                          answers[verdict].confidence_ratio);
    if (verdict == CODE_FITS)
        check->title = diagnosis_words(d, N_("files with code for this GPU (sm_%d): %zu"), cc, count);
    else if (verdict == CODE_COMPILES)
        check->title =
            diagnosis_words(d, N_("%s is compiled anew for this GPU (sm_%d) by the driver"), name, cc);
    else if (verdict == CODE_UNSEEN)
        check->title =
            diagnosis_words(d, N_("whether %s holds code for this GPU (sm_%d) is not sure"), name, cc);
    else
        check->title = diagnosis_words(d, N_("%s holds no code for this GPU (sm_%d)"), name, cc);
    if (answers[verdict].meaning)
        check->meaning = diagnosis_plain(d, answers[verdict].meaning);
    if (verdict == CODE_LACKS_HERE)
        check->action =
            diagnosis_words(d, N_("keep the program from it: name the other in CUDA_VISIBLE_DEVICES"));
    if (answers[verdict].is_to_mend)
        check->action = diagnosis_words(d, N_("install a build of it for sm_%d, or compile it for that"), cc);
    return check;
}

/* One check of all files with that verdict, the program's own first; its title names the first, or says how
 * many they are. */
static void check_files(struct diagnosis *d, const struct setup *s, int32_t cc, enum verdict wanted,
                        enum verdict answer)
{
    struct check *check = NULL;
    size_t count = 0;
    vec_each (&s->images, image)
        count += judge(image, cc) == wanted;
    for (int is_main = 1; is_main >= 0; is_main--)
        vec_each (&s->images, image) {
            if (image->is_main != is_main || judge(image, cc) != wanted)
                continue;
            if (!check)
                check = start_check(d, answer, name_of(image), cc, count);
            list_architectures(d, check, image);
        }
}

/* Whether something of the program may run on that kind of GPU. */
static bool may_run(const struct setup *s, int32_t cc)
{
    vec_each (&s->images, image)
        if (judge(image, cc) >= CODE_UNSEEN)
            return true;
    return false;
}

/* The same of another kind that is there: the program need not use this one. */
static bool may_run_elsewhere(const struct setup *s, int32_t cc)
{
    for (size_t row = 0; row < s->sample.devices.count; row++) {
        int32_t other = kind_of(s, row);
        if (other && other != cc && may_run(s, other))
            return true;
    }
    return false;
}

void setup_check_code(struct diagnosis *d, const struct setup *s)
{
    for (size_t row = 0; row < s->sample.devices.count; row++) {
        int32_t cc = kind_of(s, row);
        if (cc == 0)
            continue;
        enum verdict lacks = may_run_elsewhere(s, cc) ? CODE_LACKS_HERE : CODE_LACKS;
        check_files(d, s, cc, CODE_LACKS, lacks);
        check_files(d, s, cc, CODE_MAY_LACK, may_run(s, cc) ? CODE_MAY_LACK : lacks);
        for (enum verdict verdict = CODE_UNSEEN; verdict <= CODE_FITS; verdict++)
            check_files(d, s, cc, verdict, verdict);
    }
}
