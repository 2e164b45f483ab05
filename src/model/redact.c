#include "model/redact.h"

#include <string.h>

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
    return is_hex(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t hex_run(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && is_hex(text[length]))
        length++;
    return length;
}

/* 8-4-4-4-12 hexadecimal digits. */
static size_t uuid_length(const char *text)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (size_t i = 0; i < 5; i++) {
        if (hex_run(text + at, groups[i]) != groups[i] || (i < 4 && text[at + groups[i]] != '-'))
            return 0;
        at += groups[i] + (i < 4);
    }
    return at;
}

static size_t mac_length(const char *text)
{
    enum { PAIRS = 6, PAIR = 3 };
    for (size_t i = 0; i < PAIRS; i++)
        if (hex_run(text + i * PAIR, 2) != 2 || (i < PAIRS - 1 && text[i * PAIR + 2] != ':'))
            return 0;
    return is_word(text[PAIRS * PAIR - 1]) || text[PAIRS * PAIR - 1] == ':' ? 0 : PAIRS * PAIR - 1;
}

/* Four numbers up to 255. A version such as 535.154.05 has three. */
static size_t ip4_length(const char *text)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        int value = 0, digits = 0;
        for (; text[at] >= '0' && text[at] <= '9' && digits < 4; digits++)
            value = value * 10 + (text[at++] - '0');
        if (digits == 0 || digits > 3 || value > 255 || (part < 3 && text[at] != '.'))
            return 0;
        at += part < 3;
    }
    return text[at] == '.' && is_word(text[at + 1]) ? 0 : is_word(text[at]) ? 0 : at;
}

/* Colons with at least two groups of four digits, as 2001:db8::1; not a time or a PCI address. */
static size_t ip6_length(const char *text)
{
    size_t at = 0;
    int colons = 0;
    bool twice = false;
    while (is_hex(text[at]) || text[at] == ':') {
        twice |= text[at] == ':' && text[at + 1] == ':';
        colons += text[at] == ':';
        at++;
    }
    return is_word(text[at]) || (!twice && colons != 7) || colons < 2 || !is_hex(text[0]) ? 0 : at;
}

static const char *const folders[] = {"/home/", "/Users/", "\\Users\\"};

/* Length of a prefix after which a private word stands; *what: its stand-in. */
static size_t label_length(const char *text, const char **what)
{
    static const struct {
        const char *label, *what;
    } labels[] = {{"Serial Number", "<serial>"}, {"serial number", "<serial>"}, {"Serial", "<serial>"},
                  {"<serial>", "<serial>"},      {"Hostname", "<host>"},        {"hostname", "<host>"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(text, folders[i], strlen(folders[i])) == 0) {
            *what = "<user>";
            return strlen(folders[i]);
        }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        size_t length = strlen(labels[i].label);
        if (strncmp(text, labels[i].label, length) != 0)
            continue;
        size_t gap = strspn(text + length, " \t:=");
        if (gap == 0 && labels[i].label[0] != '<')
            continue;
        *what = labels[i].what;
        return length + gap;
    }
    return 0;
}

static size_t name_length(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (length > 0 && strncmp(text, names[i], length) == 0 && !is_word(text[length]))
            return length;
    }
    return 0;
}

/* What begins here, at the start of a word: its length and its stand-in. */
static size_t private_length(const char *at, const char *const *names, size_t count, const char **what)
{
    static const struct {
        size_t (*length)(const char *text);
        const char *what;
    } kinds[] = {{uuid_length, "<uuid>"}, {mac_length, "<mac>"}, {ip4_length, "<ip>"}, {ip6_length, "<ip>"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = kinds[i].length(at);
        *what = kinds[i].what;
        if (length > 0)
            return length;
    }
    *what = "<host>";
    return name_length(at, names, count);
}

void redact_text(struct str *out, const char *text, const char *const *names, size_t name_count)
{
    const char *what;
    for (const char *at = text; *at;) {
        bool starts = at == text || !is_word(at[-1]);
        size_t label = label_length(at, &what);
        if (label > 0) {
            str_add(out, at, label);
            at += label;
            size_t length = strcspn(at, " \t/\\,;<\"'");
            if (length > 0)
                str_puts(out, what);
            at += length;
            continue;
        }
        size_t length = starts ? private_length(at, names, name_count, &what) : 0;
        if (length > 0)
            str_puts(out, what);
        else
            str_putc(out, *at);
        at += length ? length : 1;
    }
}

struct redactor {
    struct diagnosis *d;
    const char *const *names;
    size_t count;
};

static void replace(struct redactor *r, const char **text)
{
    if (!*text)
        return;
    struct str out = {0};
    redact_text(&out, *text, r->names, r->count);
    *text = diagnosis_text(r->d, str_text(&out));
    str_release(&out);
}

static void replace_evidence(struct redactor *r, struct evidence *evidence)
{
    replace(r, &evidence->where);
    replace(r, &evidence->text);
}

static void replace_words(struct redactor *r, struct words *words)
{
    replace(r, &words->plain);
    replace(r, &words->local);
}

void redact_diagnosis(struct diagnosis *d, const char *const *names, size_t name_count)
{
    struct redactor r = {d, names, name_count};
    vec_each (&d->checks, check) {
        replace_words(&r, &check->title);
        replace_words(&r, &check->meaning);
        vec_each (&check->evidence, evidence)
            replace_evidence(&r, evidence);
    }
    vec_each (&d->events, event) {
        replace(&r, &event->device);
        replace(&r, &event->process);
        replace_evidence(&r, &event->evidence);
    }
    vec_each (&d->sources, source)
        replace_evidence(&r, source);
}
