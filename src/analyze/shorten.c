/* Readable short forms of kernel names.
 *
 * A demangled name says everything and is unreadable: namespaces, template plumbing and the whole parameter
 * list. The short form keeps what tells two kernels apart. It is written with less and less detail until it
 * fits the width, so that a wide column shows the types and a narrow one still shows the functor:
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, …>(int, …)
 *     vectorized_elementwise_kernel<4, FillFunctor<float>>
 *     vectorized_elementwise_kernel<FillFunctor<float>>
 *     vectorized_elementwise_kernel<FillFunctor>
 *
 * A lambda is named after the function that holds it: fill_kernel#2.7(float) is lambda 7 in lambda 2 of
 * fill_kernel, called with a float. */
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/kernel_name.h"
#include "base/utf8.h"

enum detail {
    DETAIL_ALL,       /* everything but plumbing */
    DETAIL_COMPACT,   /* launch wrappers and repeated types left out */
    DETAIL_TYPES,     /* no numbers beside a functor */
    DETAIL_UNWRAPPED, /* a template around one functor gives way to it */
    DETAIL_FUNCTORS,  /* no arithmetic types beside a functor, no numbers anywhere */
    DETAIL_NAMES,     /* functors without their own arguments */
    DETAIL_FEW,       /* the first two of those */
    DETAIL_LEVELS,
};

enum { MAX_ARGUMENTS = 32, MAX_DEPTH = 12, FEW = 2 };

/* Template plumbing that says nothing about what a kernel does: offsets, load and store policies, metadata.
 */
static const char *const plumbing[] = {
    "array",
    "Array",
    "TrivialOffsetCalculator",
    "OffsetCalculator",
    "LoadWithoutCast",
    "StoreWithoutCast",
    "LoadWithCast",
    "StoreWithCast",
    "TensorListMetadata",
    "FusedOptimizerTensorListMetadata",
    "cublasGemvTensorStridedBatched",
    "default_config",
    "decltype",
    "NullType",
    "RestrictPtrTraits",
    "DefaultPtrTraits",
    NULL,
};
static const char *const plumbing_suffixes[] = {"Params", "Policy", NULL};

/* Functions and templates that only carry a functor to the device. */
static const char *const carriers[] = {"gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel",
                                       "func_wrapper_t", NULL};

/* Entry points whose template argument is the kernel. */
static const char *const entry_points[] = {"Kernel", "Kernel2",      "device_kernel",
                                           "kentry", "kernel_entry", NULL};

/* Names that say nothing without the namespace before them. */
static const char *const generic[] = {"kernel",   "Kernel",  "globalKernel", "run",      "launch", "apply",
                                      "dispatch", "combine", "forward",      "backward", "main",   "entry",
                                      NULL};
static const char *const colourless[] = {"impl", "detail", "internal", "native", NULL};

static const char *const scalars[] = {
    "void",           "bool",     "char",       "short",      "int",
    "long",           "float",    "double",     "half",       "unsigned",
    "signed",         "__half",   "__half2",    "half2",      "float2",
    "float4",         "double2",  "int2",       "int4",       "Half",
    "BFloat16",       "half_t",   "bfloat16_t", "tfloat32_t", "__nv_bfloat16",
    "__hip_bfloat16", "__bf16",   "_Float16",   "int8_t",     "uint8_t",
    "int16_t",        "uint16_t", "int32_t",    "uint32_t",   "int64_t",
    "uint64_t",       "size_t",   NULL,
};

/* A piece [start, end) of the name. */
struct piece {
    size_t start, end;
};

/* A qualified name taken apart. */
struct parts {
    struct piece base;      /* the identifier that names it */
    struct piece scope;     /* the identifier before it, if base says nothing alone; else empty */
    struct piece arguments; /* of its template, without the brackets; empty if it has none */
    struct piece more;      /* template arguments of its operator() */
    struct piece member;    /* what follows base: DeviceScanPolicy<int>::Policy600; else empty */
    struct piece taken;     /* parameters of the lambda */
    bool is_lambda;
    struct str path; /* "#2.7" */
};

struct shortener {
    struct kernel_name name;
    enum detail detail;
    struct str *out;
};

static void emit(struct shortener *s, struct piece piece, int depth);

/* ---- pieces -------------------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ';
}

static struct piece trim(const struct shortener *s, struct piece p)
{
    while (p.start < p.end && is_space(s->name.text[p.start]))
        p.start++;
    while (p.start < p.end && is_space(s->name.text[p.end - 1]))
        p.end--;
    return p;
}

static bool piece_is(const struct shortener *s, struct piece p, const char *word)
{
    return strlen(word) == p.end - p.start && memcmp(s->name.text + p.start, word, p.end - p.start) == 0;
}

static bool piece_in(const struct shortener *s, struct piece p, const char *const *words)
{
    for (; *words; words++)
        if (piece_is(s, p, *words))
            return true;
    return false;
}

static bool starts_with(const struct shortener *s, struct piece p, const char *word)
{
    size_t n = strlen(word);
    return p.end - p.start >= n && memcmp(s->name.text + p.start, word, n) == 0;
}

static bool pieces_equal(const struct shortener *s, struct piece a, struct piece b)
{
    return a.end - a.start == b.end - b.start &&
           memcmp(s->name.text + a.start, s->name.text + b.start, a.end - a.start) == 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* Splits at the commas outside brackets. Returns the number of pieces. */
static size_t split(const struct shortener *s, struct piece list, struct piece *pieces)
{
    size_t count = 0, start = list.start;
    for (size_t i = list.start; i <= list.end && count < MAX_ARGUMENTS; i++) {
        if (i == list.end || s->name.text[i] == ',') {
            struct piece p = trim(s, (struct piece){start, i});
            if (p.start < p.end)
                pieces[count++] = p;
            start = i + 1;
        } else if (s->name.close[i] && s->name.close[i] < list.end) {
            i = s->name.close[i];
        }
    }
    return count;
}

/* A number, bool, enumerator by value, or null: "4", "-1", "128u", "true", "(bool)1", "(ns::Policy)3". */
static bool is_literal(const struct shortener *s, struct piece p)
{
    if (s->name.text[p.start] == '(' && s->name.close[p.start] && s->name.close[p.start] + 1u < p.end)
        p.start = s->name.close[p.start] + 1u;
    char c = s->name.text[p.start];
    return (c >= '0' && c <= '9') || c == '-' || c == '\'' || piece_is(s, p, "true") ||
           piece_is(s, p, "false") || piece_is(s, p, "nullptr");
}

/* Drops a return type, qualifiers before and after, and the address operator. */
static struct piece bare(const struct shortener *s, struct piece p)
{
    static const char *const before[] = {"const ", "volatile ", "struct ", "class ",
                                         "enum ",  "typename ", "&",       NULL};
    static const char *const after[] = {" const", "const", "*", "&", " volatile", NULL};
    bool again = true;
    while (again) {
        again = false;
        p = trim(s, p);
        for (const char *const *word = before; *word; word++) {
            if (starts_with(s, p, *word)) {
                p.start += strlen(*word);
                again = true;
            }
        }
        for (const char *const *word = after; *word; word++) {
            size_t n = strlen(*word);
            if (p.end - p.start > n && memcmp(s->name.text + p.end - n, *word, n) == 0) {
                p.end -= n;
                again = true;
            }
        }
        if (p.start + 1 < p.end && s->name.text[p.start] == '(' && s->name.close[p.start] == p.end - 1) {
            p = (struct piece){p.start + 1, p.end - 1};
            again = true;
        }
    }
    size_t name = p.start;
    for (size_t i = p.start; i < p.end; i++) {
        if (s->name.text[i] == ' ')
            name = i + 1;
        else if (s->name.text[i] == '(' && i > p.start &&
                 (is_name_char(s->name.text[i - 1]) || s->name.text[i - 1] == '>'))
            return (struct piece){name, p.end}; /* a function with its return type before it */
        if (s->name.close[i])
            i = s->name.close[i];
    }
    return p;
}

/* ---- taking a qualified name apart --------------------------------------------------------------------- */

/* "{lambda(float)#7}", "[lambda(int) (instance 3)]", "{unnamed type#1}": its number and parameters. */
static void see_lambda(const struct shortener *s, struct piece p, struct parts *parts)
{
    size_t number = 0;
    struct piece taken = {0, 0};
    for (size_t i = p.start + 1; i + 1 < p.end; i++) {
        char c = s->name.text[i];
        if (c == '(' && taken.end == 0 && s->name.close[i])
            taken = (struct piece){i + 1, s->name.close[i]};
        if (c == '#' || c == ' ')
            number = 0;
        if (c >= '0' && c <= '9' && number < 1000000)
            number = number * 10 + (size_t)(c - '0');
        if (s->name.close[i] && c == '(' && !starts_with(s, (struct piece){i + 1, p.end}, "instance"))
            i = s->name.close[i];
    }
    parts->is_lambda = true;
    parts->taken = taken;
    str_addf(&parts->path, "%s%zu", parts->path.len ? "." : "#", number);
}

/* One component: what stands between two "::". */
static void see_component(const struct shortener *s, struct piece p, struct parts *parts)
{
    p = trim(s, p);
    size_t end = p.start;
    while (end < p.end && is_name_char(s->name.text[end]))
        end++;
    struct piece word = {p.start, end}, arguments = {0, 0};
    char first = p.start < p.end ? s->name.text[p.start] : '\0';
    bool is_operator = piece_is(s, word, "operator");
    if (is_operator && end < p.end && s->name.text[end] == ' ')
        end++;
    if (is_operator && end + 1 < p.end && s->name.text[end] == '(')
        end += 2;
    if (end < p.end && s->name.text[end] == '<' && s->name.close[end])
        arguments = (struct piece){end + 1, s->name.close[end]};
    if (first == '{' || first == '[') {
        see_lambda(s, p, parts);
    } else if (is_operator) {
        parts->more = arguments;
    } else if (word.start < word.end) {
        bool plain = arguments.end == 0 && parts->arguments.end > 0 && end >= p.end;
        if (plain) {
            parts->member = word; /* of a template: the template names it */
            return;
        }
        if (!piece_in(s, parts->base, colourless) && !piece_in(s, parts->base, generic))
            parts->scope = parts->base;
        parts->base = word;
        parts->arguments = arguments;
        parts->member = parts->more = (struct piece){0, 0};
        parts->is_lambda = false;
        str_cut(&parts->path, 0);
    }
}

/* path must be released. */
static struct parts take_apart(const struct shortener *s, struct piece p)
{
    struct parts parts = {0};
    size_t start = p.start;
    for (size_t i = p.start; i < p.end; i++) {
        if (s->name.text[i] == ':' && i + 1 < p.end && s->name.text[i + 1] == ':') {
            see_component(s, (struct piece){start, i}, &parts);
            start = i + 2;
            i++;
        } else if (s->name.close[i]) {
            i = s->name.close[i];
        }
    }
    see_component(s, (struct piece){start, p.end}, &parts);
    if (!piece_in(s, parts.base, generic))
        parts.scope = (struct piece){0, 0};
    return parts;
}

/* ---- which arguments stay ------------------------------------------------------------------------------ */

enum argument { ARGUMENT_LITERAL, ARGUMENT_SCALAR, ARGUMENT_PLUMBING, ARGUMENT_TELLING };

static bool is_plumbing(const struct shortener *s, struct piece name)
{
    for (const char *const *suffix = plumbing_suffixes; *suffix; suffix++) {
        size_t n = strlen(*suffix);
        if (name.end - name.start > n && memcmp(s->name.text + name.end - n, *suffix, n) == 0)
            return true;
    }
    return name.start == name.end || piece_in(s, name, plumbing);
}

static enum argument argument_kind(const struct shortener *s, struct piece p)
{
    if (is_literal(s, p))
        return ARGUMENT_LITERAL;
    struct parts parts = take_apart(s, bare(s, p));
    str_release(&parts.path);
    if (is_plumbing(s, parts.base))
        return ARGUMENT_PLUMBING;
    return piece_in(s, parts.base, scalars) ? ARGUMENT_SCALAR : ARGUMENT_TELLING;
}

/* The number of telling arguments of a template, and the first of them. */
static size_t find_telling(const struct shortener *s, struct piece arguments, struct piece *first)
{
    struct piece pieces[MAX_ARGUMENTS];
    size_t count = split(s, arguments, pieces), telling = 0;
    for (size_t i = 0; i < count; i++)
        if (argument_kind(s, pieces[i]) == ARGUMENT_TELLING && telling++ == 0)
            *first = pieces[i];
    return telling;
}

/* Whether the level of detail shows an argument of this kind, at this depth, beside a functor or not. */
static bool shows(const struct shortener *s, enum argument kind, int depth, bool beside_functor)
{
    switch (kind) {
    case ARGUMENT_LITERAL:
        return s->detail < DETAIL_TYPES || (s->detail < DETAIL_FUNCTORS && !(depth == 0 && beside_functor));
    case ARGUMENT_SCALAR:
        return s->detail < DETAIL_FUNCTORS || (s->detail < DETAIL_NAMES && !beside_functor);
    case ARGUMENT_TELLING:
        return true;
    case ARGUMENT_PLUMBING:
        break;
    }
    return false;
}

static size_t choose(const struct shortener *s, struct piece *pieces, size_t count, int depth)
{
    enum argument kinds[MAX_ARGUMENTS];
    bool any_telling = false;
    for (size_t i = 0; i < count; i++) {
        kinds[i] = argument_kind(s, pieces[i]);
        any_telling |= kinds[i] == ARGUMENT_TELLING;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool repeats =
            kept > 0 && kinds[i] == ARGUMENT_SCALAR && pieces_equal(s, pieces[kept - 1], pieces[i]);
        if (shows(s, kinds[i], depth, any_telling) && !(repeats && s->detail >= DETAIL_COMPACT))
            pieces[kept++] = pieces[i];
    }
    return kept;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void emit_piece(struct shortener *s, struct piece p)
{
    str_add(s->out, s->name.text + p.start, p.end - p.start);
}

static void emit_list(struct shortener *s, struct piece first, struct piece second, int depth)
{
    struct piece pieces[2 * MAX_ARGUMENTS];
    size_t count = choose(s, pieces, split(s, first, pieces), depth);
    count += choose(s, pieces + count, split(s, second, pieces + count), depth);
    size_t shown = s->detail >= DETAIL_FEW && count > FEW ? FEW : count;
    for (size_t i = 0; i < shown; i++) {
        str_puts(s->out, i == 0 ? "<" : ", ");
        emit(s, pieces[i], depth + 1);
    }
    if (count > 0)
        str_puts(s->out, shown < count ? ", …>" : ">");
}

static void emit_literal(struct shortener *s, struct piece p)
{
    if (s->name.text[p.start] == '(' && s->name.close[p.start] && s->name.close[p.start] + 1u < p.end)
        p.start = s->name.close[p.start] + 1u;
    size_t end = p.end;
    while (end > p.start + 1 && (s->name.text[end - 1] == 'u' || s->name.text[end - 1] == 'l') &&
           s->name.text[p.start] <= '9')
        end--;
    emit_piece(s, (struct piece){p.start, end});
}

static void emit_lambda(struct shortener *s, const struct parts *parts)
{
    size_t length = parts->path.len;
    if (length >= 2 && memcmp(parts->path.ptr + length - 2, ".1", 2) == 0)
        length -= 2; /* the innermost is nearly always the first */
    if (!(length == 2 && memcmp(parts->path.ptr, "#1", 2) == 0))
        str_add(s->out, parts->path.ptr, length);
    if (s->detail >= DETAIL_FUNCTORS)
        return;
    struct piece pieces[MAX_ARGUMENTS];
    size_t count = choose(s, pieces, split(s, parts->taken, pieces), 1);
    for (size_t i = 0; i < count; i++) {
        str_puts(s->out, i == 0 ? "(" : ", ");
        emit(s, pieces[i], MAX_DEPTH);
    }
    if (count > 0)
        str_putc(s->out, ')');
}

static void emit_parts(struct shortener *s, const struct parts *parts, int depth)
{
    if (parts->scope.start < parts->scope.end) {
        emit_piece(s, parts->scope);
        str_puts(s->out, "::");
    }
    emit_piece(s, parts->base);
    if (depth == 0 || (depth < MAX_DEPTH && s->detail < DETAIL_NAMES))
        emit_list(s, parts->arguments, parts->more, depth);
    if (parts->member.start < parts->member.end && s->detail < DETAIL_NAMES) {
        str_puts(s->out, "::");
        emit_piece(s, parts->member);
    }
    if (parts->is_lambda)
        emit_lambda(s, parts);
}

/* A type, value or function as a template argument. */
static void emit(struct shortener *s, struct piece piece, int depth)
{
    if (is_literal(s, piece)) {
        emit_literal(s, piece);
        return;
    }
    struct piece name = bare(s, piece);
    struct parts parts = take_apart(s, name);
    struct piece wrapped;
    bool is_carrier = s->detail >= DETAIL_COMPACT && piece_in(s, parts.base, carriers);
    bool is_wrapper = s->detail >= DETAIL_UNWRAPPED && !parts.is_lambda;
    if (depth < MAX_DEPTH && (is_carrier || is_wrapper) && find_telling(s, parts.arguments, &wrapped) == 1) {
        emit(s, wrapped, depth + 1);
    } else if (parts.base.start == parts.base.end) {
        emit_piece(s, name);
    } else if (piece_in(s, parts.base, scalars) && parts.arguments.end == 0) {
        emit_piece(s, starts_with(s, name, "unsigned") || starts_with(s, name, "long") ? name : parts.base);
        if (memchr(s->name.text + name.end, '*', piece.end - name.end))
            str_putc(s->out, '*');
    } else {
        emit_parts(s, &parts, depth);
    }
    str_release(&parts.path);
}

static void emit_function(struct shortener *s, struct piece function)
{
    struct parts parts = take_apart(s, function);
    struct piece kernel;
    if (piece_in(s, parts.base, entry_points) && find_telling(s, parts.arguments, &kernel) > 0) {
        struct piece name = bare(s, kernel);
        str_release(&parts.path);
        parts = take_apart(s, name);
    }
    emit_parts(s, &parts, 0);
    str_release(&parts.path);
}

/* ---- names that are not demangled C++ ------------------------------------------------------------------ */

/* Reads the identifiers of a mangled qualified name at *at ("N", "S_", digits and text). Returns the last. */
static struct piece mangled_name(const struct shortener *s, size_t *at)
{
    struct piece last = {0, 0};
    const char *text = s->name.text;
    size_t i = *at;
    while (i < s->name.length) {
        size_t digits = strspn(text + i, "0123456789"), length = 0;
        for (size_t d = 0; d < digits && length < KERNEL_NAME_LIMIT; d++)
            length = length * 10 + (size_t)(text[i + d] - '0');
        bool whole =
            digits > 0 && length > 0 && i + digits + length <= s->name.length &&
            ((unsigned char)text[i + digits + length] & 0xc0) != 0x80; /* no cut inside a character */
        if (whole) {
            last = (struct piece){i + digits, i + digits + length};
            i = last.end;
        } else if (text[i] == 'S') { /* a substitution: "S_", "S1_", "St" */
            i++;
            i += strspn(text + i, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            i += text[i] == '_' || text[i] == 't';
        } else if (text[i] == 'N' || text[i] == 'K') {
            i++;
        } else {
            break;
        }
    }
    *at = i;
    return last;
}

/* The function's name; of an entry point, the first name among its template arguments. */
static void shorten_mangled(struct shortener *s)
{
    size_t at = 2;
    struct piece name = mangled_name(s, &at);
    if (piece_in(s, name, entry_points) && s->name.text[at] == 'I') {
        at++;
        while (s->name.text[at] == 'L') { /* numbers: "Li128E" */
            const char *end = strchr(s->name.text + at, 'E');
            if (!end || (size_t)(end - s->name.text) >= s->name.length)
                break;
            at = (size_t)(end - s->name.text) + 1;
        }
        struct piece kernel = mangled_name(s, &at);
        if (kernel.start < kernel.end)
            name = kernel;
    }
    if (name.start < name.end)
        emit_piece(s, name);
    else
        emit_piece(s, (struct piece){0, s->name.length});
}

/* Tensile: contraction and types, macro tile and matrix instruction out of several hundred characters. */
static bool shorten_tensile(struct shortener *s)
{
    const char *text = strstr(s->name.text, "Cijk_");
    if (!text)
        return false;
    const char *tile = strstr(text, "_MT"), *instruction = strstr(text, "_MI");
    const char *end = text;
    if (!tile)
        return false;
    for (int words = 0; end < tile && words < 5; end++)
        words += *end == '_';
    str_add(s->out, text, (size_t)(end - text) - (end[-1] == '_'));
    str_putc(s->out, ' ');
    str_add(s->out, tile + 1, strcspn(tile + 1, "_"));
    if (instruction && instruction[3] >= '0' && instruction[3] <= '9') {
        str_putc(s->out, ' ');
        str_add(s->out, instruction + 1, strcspn(instruction + 1, "_"));
    }
    return true;
}

/* xMMA (cuBLAS, cuDNN, TensorRT): the words of the name without those that all of them share. */
static bool shorten_xmma(struct shortener *s)
{
    static const char *const shared[] = {"warpsize", "tensor", "g1",    "execute", "kernel", "5x",
                                         "cudnn",    "cublas", "infer", "train",   "trt",    NULL};
    static const char tile[] = "tilesize";
    const char *text = s->name.text, *end = text + s->name.length;
    if (!strstr(text, "_xmma_"))
        return false;
    size_t before = s->out->len;
    while (text < end) {
        size_t length = strcspn(text, "_");
        bool skip = length == 0;
        for (const char *const *word = shared; *word && !skip; word++)
            skip = strncmp(text, *word, strlen(*word)) == 0;
        size_t prefix = strncmp(text, tile, sizeof tile - 1) == 0 ? sizeof tile - 1 : 0;
        if (!skip) {
            str_puts(s->out, s->out->len > before ? "_" : "");
            str_add(s->out, text + prefix, length - prefix);
        }
        text += length + (text[length] == '_');
    }
    return s->out->len > before;
}

/* ---- fitting ------------------------------------------------------------------------------------------- */

/* Keeps the beginning and the end, as generated names differ in the last characters. */
static void add_cut(struct str *out, const char *text, size_t length, int width)
{
    static const char ellipsis[] = "…";
    int columns = utf8_width(text, length);
    if (columns <= width) {
        str_add(out, text, length);
        return;
    }
    if (width < 1)
        return;
    int tail = (width - 1) / 2;
    str_add(out, text, utf8_cut(text, length, width - 1 - tail));
    str_add(out, ellipsis, sizeof ellipsis - 1);
    size_t skip = utf8_cut(text, length, columns - tail);
    while (skip < length && utf8_width(text + skip, length - skip) > tail)
        skip += utf8_cut(text + skip, length - skip, 2);
    str_add(out, text + skip, length - skip);
}

/* Where the qualified name of the function is, without return type and parameters; empty for other text. */
static struct piece find_function(const struct shortener *s)
{
    size_t start = 0;
    bool has_template = false;
    for (size_t i = 0; i < s->name.head; i++) {
        if (s->name.text[i] == ' ')
            start = i + 1;
        has_template |= s->name.text[i] == '<' && s->name.close[i];
        if (s->name.close[i])
            i = s->name.close[i];
    }
    if (s->name.head == s->name.length && !has_template)
        return (struct piece){0, 0};
    return (struct piece){start, s->name.head};
}

static bool render(struct shortener *s, struct piece function)
{
    if (function.end > function.start) {
        emit_function(s, function);
        return s->out->len > 0;
    }
    if (starts_with(s, (struct piece){0, s->name.length}, "_Z"))
        shorten_mangled(s);
    else if (s->detail == DETAIL_ALL || !(shorten_tensile(s) || shorten_xmma(s)))
        emit_piece(s, (struct piece){0, s->name.length});
    return true;
}

void kernel_shorten(struct str *out, const char *name, size_t width)
{
    struct str text = {0}, clean = {0};
    utf8_visible(&clean, name, strnlen(name, KERNEL_NAME_LIMIT));
    static const char *const suffixes[] = {".kd", " [clone .kd]"}; /* AMD's kernel descriptors */
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (clean.len > n && memcmp(clean.ptr + clean.len - n, suffixes[i], n) == 0)
            str_cut(&clean, clean.len - n);
    }
    if (clean.len > KERNEL_NAME_LIMIT)
        str_cut(&clean, utf8_valid(clean.ptr, KERNEL_NAME_LIMIT));
    struct shortener s = {.out = &text};
    kernel_name_scan(&s.name, str_text(&clean));
    struct piece function = find_function(&s);
    int columns = width < INT32_MAX ? (int)width : INT32_MAX;
    for (s.detail = DETAIL_ALL; s.detail < DETAIL_LEVELS; s.detail++) {
        str_cut(&text, 0);
        if (!render(&s, function))
            str_add(&text, s.name.text, s.name.length);
        if (utf8_width(str_text(&text), text.len) <= columns)
            break;
    }
    add_cut(out, str_text(&text), text.len, columns);
    str_release(&text);
    str_release(&clean);
}
