#!/usr/bin/env python3
"""Turns files into C source, so that one binary carries them.

    embed.py blob SYMBOL FILE OUTPUT        const unsigned char SYMBOL[]; const size_t SYMBOL_size;
    embed.py pages FOLDER OUTPUT DEPFILE    const struct page pages[] of FOLDER/*.md (see cmd/pages.h)
    embed.py terms FILE OUTPUT              const struct term terms[] of a table (see cmd/terms.h)
    embed.py table NAME FILE OUTPUT         const struct know_NAME know_NAMEs[] of a table (see know/know.h)
"""
import pathlib
import sys


def blob(symbol, source, output):
    data = pathlib.Path(source).read_bytes()
    rows = [",".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    # The final zero keeps the array legal when the file is empty, and ends text that is read as a string.
    pathlib.Path(output).write_text(
        "#include <stddef.h>\n\n"
        f"extern const unsigned char {symbol}[];\nextern const size_t {symbol}_size;\n"
        f"const unsigned char {symbol}[] = {{\n" + "".join(row + ",\n" for row in rows) + "0};\n"
        f"const size_t {symbol}_size = {len(data)};\n")


def literal(text):
    """C string literals, a line each, of text's UTF-8 bytes."""
    lines = []
    for line in text.splitlines(keepends=True):
        escaped = "".join(
            chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in line.encode())
        lines.append(f'    "{escaped}"')
    return "\n".join(lines) or '    ""'


def pages(folder, output, depfile):
    """FOLDER/ID.md is English, FOLDER/ID.zh_CN.md is its translation."""
    root = pathlib.Path(folder)
    english = sorted(path for path in root.glob("*.md") if "." not in path.stem)
    out = ['#include "cmd/pages.h"\n\nconst struct page pages[] = {\n']
    used = []
    for path in english:
        chinese = path.with_suffix(".zh_CN.md")
        used += [path] + ([chinese] if chinese.exists() else [])
        out.append(f'{{"{path.stem}",\n{literal(path.read_text("utf-8"))},\n')
        out.append(literal(chinese.read_text("utf-8")) if chinese.exists() else "    0")
        out.append("},\n")
    out.append("{0, 0, 0}};\n")
    pathlib.Path(output).write_text("".join(out))
    # The folder itself is a dependency: a new page changes it.
    pathlib.Path(depfile).write_text(f"{output}: " + " ".join(map(str, [root] + used)) + "\n")


TERM_COLUMNS = "kind terms also formula english english_action chinese_formula chinese chinese_action".split()


def terms(source, output):
    """A tab-separated table with a heading; lines that begin with '#' are comments."""
    lines = [line for line in pathlib.Path(source).read_text("utf-8").splitlines() if line and line[0] != "#"]
    if lines[0].split("\t") != TERM_COLUMNS:
        sys.exit(f"{source}: the columns must be {' '.join(TERM_COLUMNS)}")
    out = ['#include "cmd/terms.h"\n\nconst struct term terms[] = {\n']
    for line in lines[1:]:
        cells = line.split("\t")
        if len(cells) != len(TERM_COLUMNS):
            sys.exit(f"{source}: {len(cells)} cells in '{line[:60]}'")
        out.append("{" + ",\n".join(literal(cell) for cell in cells) + "},\n")
    out.append("{0, 0, 0, 0, 0, 0, 0, 0, 0}};\n")
    pathlib.Path(output).write_text("".join(out))


NUMBERS = {"code", "confidence", "bit", "reg"}


def table(name, source, output):
    """A tab-separated table; its heading names the fields of the struct. Every row says where it is from and when."""
    head, *lines = pathlib.Path(source).read_text("utf-8").splitlines()
    columns = head.split("\t")
    out = [f'#include "know/know.h"\n\nconst struct know_{name} know_{name}s[] = {{\n']
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            sys.exit(f"{source}:{number}: {len(cells)} cells, not {len(columns)}")
        row = dict(zip(columns, cells))
        if not row["source"] or not row["date"]:
            sys.exit(f"{source}:{number}: source and date are missing")
        out.append("{" + ",\n".join(f".{column} = {cell if column in NUMBERS else literal(cell)}"
                                    for column, cell in row.items()) + "},\n")
    out.append(f"}};\nconst size_t know_{name}_count = {len(lines)};\n")
    pathlib.Path(output).write_text("".join(out))


def main():
    mode, *rest = sys.argv[1:]
    {"blob": blob, "pages": pages, "terms": terms, "table": table}[mode](*rest)


main()
