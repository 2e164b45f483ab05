#!/usr/bin/env python3
"""Builds the samples of GPU code and what `ptxas -v` says of them.

    make_samples.py FOLDER_WITH_OLDER_PTXAS…      (nvcc of CUDA 13.0 or later on the PATH; ar(1))

Each further folder holds the ptxas of one older toolkit; its version becomes part of the sample's name.
"""
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ["75", "80", "86", "89", "90", "90a", "100", "120"]
COMMON = ["-lineinfo"]
WORK = pathlib.Path("/tmp/warplight-samples")


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    text = done.stdout.decode()
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{text}")
    return text


def facts(text):
    """Rows of ptxas -v: kernel, architecture, registers, barriers, shared, stack, spill stores, spill loads."""
    rows = []
    for block in re.split(r"Compiling entry function ", text)[1:]:
        name, sm = re.match(r"'([^']*)' for 'sm_([0-9a-z]+)'", block).groups()

        def number(pattern, block=block):
            found = re.search(pattern, block)
            return found.group(1) if found else "0"

        frame = re.search(r"Function properties for " + re.escape(name) + r"\n *(\d+) bytes stack frame, "
                          r"(\d+) bytes spill stores, (\d+) bytes spill loads", block)
        rows.append([name, sm, number(r"Used (\d+) registers"), number(r"used (\d+) barriers"),
                     number(r"(\d+) bytes smem"), *frame.groups()])
    return rows


def generate(archs):
    return [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in archs]


def build(work, older, rows):
    for source in HERE.glob("*.cu"):
        (work / source.name).write_bytes(source.read_bytes())

    def nvcc(out, *options, source="kernels.cu"):
        text = run("nvcc", *COMMON, *options, source, "-o", HERE / out, cwd=work)
        rows.extend([out, *row] for row in facts(text))

    nvcc("kernels.fatbin", "-fatbin", "-compress-mode=size", "-Xptxas=-v", *generate(ARCHITECTURES))
    ptx = ["-gencode=arch=compute_90a,code=compute_90a", "-gencode=arch=compute_100f,code=compute_100f"]
    for mode in ("none", "speed", "size"):
        nvcc(f"plain-{mode}.fatbin", "-fatbin", f"-compress-mode={mode}", *generate(["75", "100f"]), *ptx, source="plain.cu")
    nvcc("plain.cubin", "-cubin", "-arch=sm_90a", "-Xptxas=-v", source="plain.cu")
    nvcc("small.cubin", "-cubin", "-arch=sm_90", "-Xptxas=-v", source="small.cu")
    nvcc("plain.o", "-c", *generate(["75"]), "-gencode=arch=compute_120,code=compute_120", source="plain.cu")
    nvcc("plain-relocatable.o", "-dc", *generate(["90"]), source="plain.cu")
    nvcc("plain.ptx", "-ptx", "-arch=compute_80", source="plain.cu")
    (HERE / "plain.a").unlink(missing_ok=True)
    run("ar", "qcD", HERE / "plain.a", HERE / "plain.o", HERE / "plain-relocatable.o")

    run("nvcc", *COMMON, "-ptx", "-arch=compute_75", "kernels.cu", "-o", work / "kernels.ptx", cwd=work)
    text = (work / "kernels.ptx").read_text()
    for folder in older:
        ptxas = pathlib.Path(folder) / "ptxas"
        version = re.search(r"release ([\d.]+),", run(ptxas, "--version")).group(1)
        lower = re.sub(r"^\.version .*$", ".version 7.8", text, flags=re.M)
        lower = re.sub(r"^\.target .*$", ".target sm_80", lower, flags=re.M)
        (work / "old.ptx").write_text(lower)
        out = f"cuda-{version}.fatbin"
        rows.extend([out, *row] for row in facts(run(ptxas, "-v", "-arch=sm_80", "old.ptx", "-o", "old.cubin", cwd=work)))
        run("fatbinary", "-64", "--compress-mode=size", f"--create={HERE / out}",
            "--image3=kind=elf,sm=80,file=old.cubin", cwd=work)


def main(older):
    rows = []
    # The line tables hold the folder: it has the same name every time.
    WORK.mkdir()
    try:
        build(WORK, older, rows)
    finally:
        shutil.rmtree(WORK)
    with open(HERE / "ptxas.tsv", "w", encoding="utf-8") as table:
        print("file", "kernel", "sm", "registers", "barriers", "shared_bytes", "stack_bytes", "spill_store_bytes",
              "spill_load_bytes", sep="\t", file=table)
        for row in sorted(rows):
            print(*row, sep="\t", file=table)


if __name__ == "__main__":
    main(sys.argv[1:])
