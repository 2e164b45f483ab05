#include "import/unknown.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"

enum place {
    NAME_ENDS,   /* the file name ends so, in any case */
    AT_START,    /* the content begins so */
    AT_257,      /* where tar has its magic */
    AFTER_SPACE, /* the text begins so after blanks, in any case */
    ANYWHERE,    /* the head holds it */
};

struct look {
    enum place place;
    uint8_t length;
    const char *bytes;
    const char *what;
    const char *hint;
};

#define BYTES(literal) sizeof literal - 1, literal

static const char hint_archive[] = N_("unpack it and give the recording inside");
static const char hint_nsys[] = N_("run: nsys export --type sqlite FILE, and give the .sqlite file");
static const char hint_rocprof[] = N_("record with: rocprofv3 --output-format pftrace");
static const char hint_saved_page[] = N_("this is often a log-in or error page saved in place of a download");
static const char hint_record[] = N_("run it: warplight record -- FILE");
static const char hint_doctor[] = N_("run: warplight doctor FILE");
static const char hint_text[] =
    N_("of a log or a message: warplight doctor FILE; what can be read: man warplight-report");
static const char hint_utf8[] = N_("convert it first: iconv -f UTF-16 -t UTF-8");

/* The first match counts: what is surer, or says more, comes first. */
static const struct look looks[] = {
    {AT_START, BYTES("SQLite format 3\0"), N_("an SQLite database of another program"), NULL},
    {NAME_ENDS, BYTES(".nsys-rep"), N_("an Nsight Systems report"), hint_nsys},
    {NAME_ENDS, BYTES(".qdrep"), N_("an Nsight Systems report (old format)"), hint_nsys},
    {NAME_ENDS, BYTES(".qdstrm"), N_("an unfinished Nsight Systems recording"),
     N_("run: QdstrmImporter -i FILE, then: nsys export --type sqlite on the result")},
    {NAME_ENDS, BYTES(".xplane.pb"), N_("a profile of XLA (xplane)"),
     N_("give the .trace.json.gz that lies beside it")},
    {AT_START, BYTES("\"Kind\",\"Agent_Id\""), N_("a table of rocprofv3"), hint_rocprof},
    {AT_START, BYTES("\"Domain\",\"Function\""), N_("a table of rocprofv3"), hint_rocprof},
    {AT_START, BYTES("version https://git-lfs.github.com/spec"), N_("a Git LFS pointer, not the file itself"),
     N_("fetch the file: git lfs pull")},
    {AT_START, BYTES("\x89PNG"), N_("a PNG image"), NULL},
    {AT_START, BYTES("\xff\xd8\xff"), N_("a JPEG image"), NULL},
    {AT_START, BYTES("GIF8"), N_("a GIF image"), NULL},
    {AT_START, BYTES("%PDF"), N_("a PDF document"), NULL},
    {AT_START, BYTES("\177ELF"), N_("a program or library (ELF)"),
     N_("its GPU code: warplight kernels FILE; what it does: warplight record -- FILE")},
    {AT_START, BYTES("\x50\xed\x55\xba"), N_("GPU code (fatbin)"), N_("run: warplight kernels FILE")},
    {AT_START, BYTES("PK\3\4"), N_("a ZIP archive (or a PyTorch checkpoint)"), hint_archive},
    {AT_START, BYTES("PK\5\6"), N_("an empty ZIP archive"), NULL},
    {AT_START, BYTES("7z\xbc\xaf\x27\x1c"), N_("a 7-Zip archive"), hint_archive},
    {AT_START, BYTES("Rar!\x1a\x07"), N_("a RAR archive"), hint_archive},
    {AT_257, BYTES("ustar"), N_("a tar archive"), hint_archive},
    {AT_START, BYTES("BZh"), N_("bzip2 data"), N_("decompress it first: bunzip2")},
    {AT_START, BYTES("\3757zXZ\0"), N_("xz data"), N_("decompress it first: unxz")},
    {AT_START, BYTES("\x04\x22\x4d\x18"), N_("lz4 data"), N_("decompress it first: unlz4")},
    {AT_START, BYTES("\x89HDF\r\n\x1a\n"), N_("an HDF5 file"), NULL},
    {AT_START, BYTES("PAR1"), N_("a Parquet file"), NULL},
    {AT_START, BYTES("ARROW1\0\0"), N_("an Arrow file"), NULL},
    {AT_START, BYTES("\x93NUMPY"), N_("a NumPy array"), NULL},
    {AT_START, BYTES("PERFILE2"), N_("a recording of Linux perf"), N_("it holds no timeline of the GPU")},
    {AT_START, BYTES("MZ"), N_("a Windows program"), NULL},
    {AT_START, BYTES("\x80\x02"), N_("pickled Python objects"), NULL},
    {AT_START, BYTES("\x80\x03"), N_("pickled Python objects"), NULL},
    {AT_START, BYTES("\x80\x04\x95"), N_("pickled Python objects"), NULL},
    {AT_START, BYTES("\x80\x05\x95"), N_("pickled Python objects"), NULL},
    {AT_START, BYTES("\xff\xfe"), N_("UTF-16 text"), hint_utf8},
    {AT_START, BYTES("\xfe\xff"), N_("UTF-16 text"), hint_utf8},
    {AFTER_SPACE, BYTES("<!doctype html"), N_("a web page (HTML)"), hint_saved_page},
    {AFTER_SPACE, BYTES("<html"), N_("a web page (HTML)"), hint_saved_page},
    {ANYWHERE, BYTES("<nvidia_smi_log"), N_("printed output of nvidia-smi"), hint_doctor},
    {AFTER_SPACE, BYTES("<?xml"), N_("an XML document"), NULL},
    {ANYWHERE, BYTES("NVRM: "), N_("a log of the NVIDIA driver"), hint_doctor},
    {ANYWHERE, BYTES("NVIDIA-SMI"), N_("printed output of nvidia-smi"), hint_doctor},
    {ANYWHERE, BYTES("NVSMI LOG"), N_("printed output of nvidia-smi"), hint_doctor},
    {AT_START, BYTES("#!"), N_("a script"), hint_record},
    {AFTER_SPACE, BYTES("{"), N_("JSON without trace events"), NULL},
    {AFTER_SPACE, BYTES("["), N_("JSON without trace events"), NULL},
};

static bool begins(const char *text, size_t length, const struct look *look)
{
    return length >= look->length && memcmp(text, look->bytes, look->length) == 0;
}

static bool begins_after_space(const char *text, size_t length, const struct look *look)
{
    size_t at = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return length - at >= look->length && strncasecmp(text + at, look->bytes, look->length) == 0;
}

static bool name_ends(const char *path, const struct look *look)
{
    size_t length = strlen(path);
    return length >= look->length && strcasecmp(path + length - look->length, look->bytes) == 0;
}

static bool looks_like(const struct look *look, const char *path, const char *head, size_t length)
{
    switch (look->place) {
    case NAME_ENDS:
        return name_ends(path, look);
    case AT_START:
        return begins(head, length, look);
    case AT_257:
        return length > 257 && begins(head + 257, length - 257, look);
    case AFTER_SPACE:
        return begins_after_space(head, length, look);
    case ANYWHERE:
        return memmem(head, length, look->bytes, look->length) != NULL;
    }
    return false;
}

/* No control bytes but white space and the escape of terminals: then a person can read it. */
static bool is_text(const char *head, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)head[i];
        if (c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b)
            return false;
    }
    return true;
}

struct unknown_look unknown_look(const char *path, const char *head, size_t length)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        if (looks_like(&looks[i], path, head, length))
            return (struct unknown_look){.what = _(looks[i].what),
                                         .hint = looks[i].hint ? _(looks[i].hint) : NULL};
    }
    if (is_text(head, length))
        return (struct unknown_look){.what = _("plain text"), .hint = _(hint_text)};
    return (struct unknown_look){.what = _("unknown binary data")};
}
