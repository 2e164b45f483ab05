#!/usr/bin/env bash
# Shows what Warplight says about recordings of real programs on a real GPU. Needs no GPU.
set -eu
cd "$(dirname "$0")/.."
warplight=$1
samples=tests/samples/torch

case "${WARPLIGHT_LANG:-${LANGUAGE:-${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}}}" in
zh*) say() { echo "── $2"; } ;;
*) say() { echo "── $1"; } ;;
esac

show() { # RECORDING ENGLISH CHINESE
    say "$2" "$3"
    echo "   warplight report $samples/$1"
    echo
    "$warplight" report "$samples/$1"
    echo
}

show loader_starved.json.gz \
    "A training loop on an H200 that waits for its data loader. The first finding names cause, place and fix." \
    "H200 上的一个训练循环，在等数据加载。第一条发现给出原因、位置和做法。"
show pageable_h2d.json.gz \
    "The same GPU, fed from pageable host memory: the copies, not the kernels, fill the time." \
    "同一块 GPU，数据来自可换页的主机内存：占满时间的是拷贝，而不是内核。"
show gemm_bf16.json.gz \
    "A healthy run: tensor cores at work nearly all the time, nothing to fix." \
    "一次健康的运行：tensor core 几乎一直在工作，没有要改的。"

say "Inside kernels: a matrix transpose before and after, as Nsight Compute measured it on an H200. The usual repair still
   has a fault of its own; doc/transpose.md sets what is often predicted beside what was measured." \
    "内核内部：Nsight Compute 在 H200 上测得的矩阵转置，改之前和改之后。常见的改法自己还有毛病；doc/transpose.zh_CN.md 把
   常见的预期与实测放在一起。"
echo "   warplight kernels tests/samples/ncu/transpose_raw.csv.gz"
echo
"$warplight" kernels tests/samples/ncu/transpose_raw.csv.gz
echo

# Where there is an NVIDIA GPU, a live program as well: built here, needing nothing but the driver.
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    ${CC:-cc} -O2 -o "$folder/demo_gpu" tools/demo_gpu.c -ldl
    say "And a live one, on the GPU of this machine: it prepares each batch on the host while the GPU waits." \
        "再来一个实时的，就在这台机器的 GPU 上：每个批次都在主机上准备，GPU 等着。"
    echo "   warplight record demo_gpu"
    echo
    "$warplight" record --force -o "$folder/demo.wlt" -- "$folder/demo_gpu"
else
    say "No NVIDIA GPU here, so no live recording. With one, this demo records a program, too." \
        "这里没有 NVIDIA GPU，所以不做实时录制；有的话，本演示还会录制一个程序。"
fi
