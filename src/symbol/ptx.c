/* The entries of a PTX text and what their directives ask for. Source: PTX ISA 9.0, chapters 5, 10 and 11. */
#include <stdlib.h>

#include "base/i18n.h"
#include "symbol/code.h"

enum { NAME_MAX_BYTES = 8 << 10, NUMBER_DIGITS = 9 };

struct ptx {
    struct bytes text;
    uint64_t at;
    struct bytes token; /* empty at the end */
    uint32_t version;   /* text: "PTX ISA 9.0" */
    struct code_origin origin;
    struct code_reader *reader;
};

enum character { CHAR_OTHER, CHAR_WORD, CHAR_STOP /* what read_body() looks at */ };

/* PTX texts are large and nearly all of them is the bodies of functions. */
static const uint8_t characters[256] = {
    ['0' ... '9'] = CHAR_WORD, ['A' ... 'Z'] = CHAR_WORD, ['a' ... 'z'] = CHAR_WORD, ['_'] = CHAR_WORD,
    ['$'] = CHAR_WORD,         ['%'] = CHAR_WORD,         ['.'] = CHAR_STOP,         ['{'] = CHAR_STOP,
    ['}'] = CHAR_STOP,         ['/'] = CHAR_STOP,         ['"'] = CHAR_STOP,
};

static bool is_word(uint8_t c)
{
    return characters[c] == CHAR_WORD || c == '.';
}

static void skip_to(struct ptx *p, const char *end)
{
    size_t length = strlen(end);
    const uint8_t *found = memmem(p->text.at + p->at, p->text.size - p->at, end, length);
    p->at = found ? (uint64_t)(found - p->text.at) + length : p->text.size;
}

static void skip_blanks(struct ptx *p)
{
    while (p->at < p->text.size) {
        uint8_t c = p->text.at[p->at];
        uint8_t next = bytes_u8(p->text, p->at + 1);
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            p->at++;
        else if (c == '/' && next == '/')
            skip_to(p, "\n");
        else if (c == '/' && next == '*')
            skip_to(p, "*/");
        else
            return;
    }
}

/* Words keep their leading dot: ".entry" is one token, and so is a name. */
static bool next_token(struct ptx *p)
{
    skip_blanks(p);
    uint64_t start = p->at;
    if (start < p->text.size && p->text.at[start] == '"') {
        p->at++;
        skip_to(p, "\"");
    } else if (start < p->text.size) {
        p->at++;
        while (is_word(p->text.at[start]) && p->at < p->text.size && is_word(p->text.at[p->at]))
            p->at++;
    }
    p->token = bytes_part(p->text, start, p->at - start);
    return p->token.size > 0;
}

static bool token_is(const struct ptx *p, const char *text)
{
    return p->token.size == strlen(text) && memcmp(p->token.at, text, p->token.size) == 0;
}

static bool token_is_number(const struct ptx *p)
{
    return p->token.size > 0 && p->token.size <= NUMBER_DIGITS && p->token.at[0] >= '0' &&
           p->token.at[0] <= '9';
}

static int64_t token_number(const struct ptx *p)
{
    int64_t value = 0;
    for (size_t i = 0; i < p->token.size && p->token.at[i] >= '0' && p->token.at[i] <= '9'; i++)
        value = value * 10 + (p->token.at[i] - '0');
    return value;
}

/* ---- header -------------------------------------------------------------------------------------------- */

bool ptx_is(struct bytes text)
{
    struct ptx p = {.text = bytes_up_to(text, 0, 1 << 16)};
    return next_token(&p) && token_is(&p, ".version");
}

static void read_version(struct ptx *p)
{
    struct str text = {0};
    if (next_token(p) && p->token.size < 16) {
        str_puts(&text, "PTX ISA ");
        str_add(&text, (const char *)p->token.at, p->token.size);
        p->version = intern_add(&p->reader->run->strings, text.ptr, text.len);
    }
    str_release(&text);
}

/* ".target sm_90a, debug" */
static void read_target(struct ptx *p)
{
    if (!next_token(p) || p->token.size < 5 || p->token.size > 16 || memcmp(p->token.at, "sm_", 3) != 0)
        return;
    int64_t sm = 0;
    for (size_t i = 3; i < p->token.size && p->token.at[i] >= '0' && p->token.at[i] <= '9' && sm < 1000; i++)
        sm = sm * 10 + (p->token.at[i] - '0');
    p->origin.sm = (uint32_t)sm;
    p->origin.is_specific = p->token.at[p->token.size - 1] == 'a';
    p->origin.is_family = p->token.at[p->token.size - 1] == 'f';
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static int64_t type_bytes(const struct ptx *p)
{
    if (p->token.size < 3 || p->token.at[0] != '.' || !strchr("bsuf", p->token.at[1]))
        return 0;
    int64_t bits = 0;
    for (size_t i = 2; i < p->token.size && i < 5; i++) {
        if (p->token.at[i] < '0' || p->token.at[i] > '9')
            return 0;
        bits = bits * 10 + (p->token.at[i] - '0');
    }
    return bits / 8;
}

/* The rest of a variable after its state space, as in ".align 8 .b8 name[24]": places it behind what lies
 * there, and returns the new end. Stops at the token that ends it. */
static int64_t place_variable(struct ptx *p, int64_t end)
{
    int64_t align = 0, bytes = 0, count = 1;
    while (next_token(p) && !token_is(p, ",") && !token_is(p, ")") && !token_is(p, ";") &&
           !token_is(p, "{") && !token_is(p, "=")) {
        if (token_is(p, ".align") && next_token(p)) {
            align = token_number(p);
        } else if (token_is(p, "[") && next_token(p)) {
            if (token_is_number(p) && count < INT32_MAX)
                count *= token_number(p);
        } else if (bytes == 0) {
            bytes = type_bytes(p);
        }
    }
    if (align == 0)
        align = bytes > 0 ? bytes : 1;
    if (align > 4096 || count > INT32_MAX)
        return end;
    return (end + align - 1) / align * align + bytes * count;
}

static int64_t read_parameters(struct ptx *p)
{
    int64_t end = 0;
    while (!token_is(p, ")") && next_token(p))
        if (token_is(p, ".param"))
            end = place_variable(p, end);
    return end;
}

/* One to three numbers, the missing ones 1. The first token behind them becomes the current one. */
static void read_triple(struct ptx *p, int64_t *triple)
{
    triple[0] = triple[1] = triple[2] = 1;
    for (int i = 0; next_token(p) && token_is_number(p); i++) {
        if (i < 3)
            triple[i] = token_number(p);
        if (!next_token(p) || !token_is(p, ","))
            return;
    }
}

/* Goes to the next brace, comment, string or word that begins with a dot. */
static bool skip_instructions(struct ptx *p)
{
    while (p->at < p->text.size) {
        uint8_t c = p->text.at[p->at];
        if (characters[c] == CHAR_STOP && (c != '.' || p->at == 0 || !is_word(p->text.at[p->at - 1])))
            return true;
        p->at++;
    }
    return false;
}

/* Shared variables that the body declares; the current token is its opening brace. */
static int64_t read_body(struct ptx *p)
{
    int64_t shared = 0;
    int depth = 1;
    bool is_extern = false;
    while (depth > 0 && skip_instructions(p) && next_token(p)) {
        if (token_is(p, "{"))
            depth++;
        else if (token_is(p, "}"))
            depth--;
        else if (token_is(p, ".shared") && !is_extern)
            shared = place_variable(p, shared);
        is_extern = token_is(p, ".extern");
    }
    return shared;
}

static void read_directives(struct ptx *p, struct kernel_code *code)
{
    int64_t triple[3];
    bool more = next_token(p);
    while (more && !token_is(p, "{") && !token_is(p, ";")) {
        if (token_is(p, ".maxntid")) {
            read_triple(p, triple);
            int64_t threads = triple[0] <= UINT16_MAX && triple[1] <= UINT16_MAX ? triple[0] * triple[1] : 0;
            code->max_threads_per_block = threads <= UINT16_MAX ? threads * triple[2] : UNKNOWN;
        } else if (token_is(p, ".reqntid")) {
            read_triple(p, code->required_block);
        } else if (token_is(p, ".reqnctapercluster")) {
            read_triple(p, code->cluster);
        } else {
            bool is_min = token_is(p, ".minnctapersm");
            more = next_token(p);
            if (is_min && token_is_number(p))
                code->min_blocks_per_sm = token_number(p);
        }
        more &= p->token.size > 0;
    }
}

static void read_entry(struct ptx *p)
{
    if (!next_token(p) || !is_word(p->token.at[0]) || p->token.size > NAME_MAX_BYTES)
        return;
    struct kernel_code *code = code_add(p->reader, &p->origin, (const char *)p->token.at, p->token.size);
    code->is_ptx = true;
    code->toolkit = p->version;
    next_token(p);
    code->parameter_bytes = token_is(p, "(") ? read_parameters(p) : 0;
    read_directives(p, code);
    if (token_is(p, "{"))
        code->static_shared_bytes = read_body(p);
}

void ptx_read(struct code_reader *reader, struct bytes text, const struct code_origin *origin)
{
    /* nvcc and fatbins end the text with a NUL. */
    const uint8_t *end = text.size ? memchr(text.at, '\0', text.size) : NULL;
    struct ptx p = {.text = text, .reader = reader, .origin = *origin};
    if (end)
        p.text.size = (size_t)(end - text.at);
    while (next_token(&p)) {
        if (token_is(&p, ".version"))
            read_version(&p);
        else if (token_is(&p, ".target"))
            read_target(&p);
        else if (token_is(&p, ".entry"))
            read_entry(&p);
    }
}
