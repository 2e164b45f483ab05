#!/usr/bin/env python3
"""Writes the seeds in corpus/: small files, made here and nowhere else, one for each thing that a parser must know.
Inputs that once broke a target are added by hand as corpus/TARGET/crash-WHAT.

    make_corpus.py            (needs zstd(1); the same files come out every time)
"""
import gzip
import json
import os
import sqlite3
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def save(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


# ---- compression ---------------------------------------------------------------------------------------------


def gz(data):
    return gzip.compress(data, mtime=0)


def zst(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def streams():
    text = b"".join(b'{"ts": %d},\n' % (n * 7919 % 1009) for n in range(60))
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    stored = zlib.compressobj(0, zlib.DEFLATED, 31)
    fixed = zlib.compressobj(9, zlib.DEFLATED, 31, 9, zlib.Z_FIXED)
    named = bytearray(gz(text))
    named[3] |= 8  # a file name follows the header
    named[10:10] = b"trace.json\0"
    seeds = {
        "plain": text,
        "gzip": gz(text),
        "gzip-stored": stored.compress(text) + stored.flush(),
        "gzip-fixed": fixed.compress(text) + fixed.flush(),
        "gzip-named": bytes(named),
        "gzip-members": gz(text[:100]) + gz(b"") + gz(text[100:]),
        "gzip-padded": gz(text) + bytes(100),
        "gzip-garbage": gz(text) + b"garbage",
        "gzip-checksum": gz(text)[:-8] + b"\1\2\3\4" + gz(text)[-4:],
        "gzip-zeros": gz(bytes(1 << 20)),
        "gzip-in-gzip": gz(gz(text)),
        "gzip-three": gz(gz(gz(text))),
        "zstd": zst(text),
        "zstd-checksum": zst(text, "--check"),
        "zstd-19": zst(text, "-19"),
        "zstd-frames": skippable + zst(text[:100]) + skippable + zst(text[100:]),
        "zstd-zeros": zst(bytes(1 << 20)),
        "zstd-garbage": zst(text) + b"garbage",
        "zstd-window": b"\x28\xb5\x2f\xfd\x00\x98\x09\x00\x00a",
        "zstd-in-gzip": gz(zst(text)),
    }
    for name, data in seeds.items():
        save("stream", name, data)


# ---- JSON ----------------------------------------------------------------------------------------------------


def documents():
    seeds = {
        "empty-object": "{}",
        "scalars": '[0, -1, 1.5e-7, 9223372036854775807, 18446744073709551615, 1e999, true, false, null, ""]',
        "words": "[NaN, Infinity, -Infinity, nan, undefined, True, None]",
        "escapes": r'["\"\\\/\b\f\n\r\t\u00e9\u6c49\ud83d\ude00\ud83d \x41 \q"]',
        "unicode": '["é 汉字 😀", "\ufeff", "\ufffd"]',
        "nesting": "[" * 40 + "]" * 40,
        "commas": '[1, 2,, 3, {"a": 1,,}, ]',
        "control": '["raw\ttab and\nline end"]',
        "keys": '{"a": 1, "a": 2, "": {"b": [{"c": []}]}}',
        "blanks": ' \t\r\n{ "a" : [ 1 , 2 ] } \n',
        "two": '{"a": 1} {"b": 2}',
        "records": '[{"ph": "X", "name": "a", "args": {"b": [1, "]"]}}, {"ph": "i", "name": "c"}]',
        "unescaped": '[{"ph": "X", "name": "say "hi", now", "ts": 1}, {"ph": "X", "name": "next"}]',
        "damaged": '[{"ph": "X", "na#%&\0\1 , {"ph": "X", "name": "after", "ts": 2}]',
        "cut": '[{"ph": "X", "name": "cut off he',
        "long-string": '["' + "x" * 3000 + '"]',
        "bom": "\ufeff[1]",
    }
    for name, text in seeds.items():
        data = text.encode(errors="surrogatepass")
        save("json", name, b"\0" + data)
        save("json", name + "-records", b"\x41" + data)
    save("json", "not-utf8", b'\0["\xff\xfe\xe6\xb1", "\xed\xa0\x80"]')
    save("json", "deep-limited", b"\x20" + b"[" * 20 + b"]" * 20)
    save("json", "string-limited", b"\x10" + b'["' + b"y" * 200 + b'"]')


# ---- Chrome traces -------------------------------------------------------------------------------------------


def kineto():
    base = {"pid": 100, "tid": 100}
    gpu = {"pid": 0, "tid": 7}
    kernel_args = {"External id": 5, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 11,
                   "registers per thread": 32, "shared memory": 1024, "blocks per SM": 1.0, "warps per SM": 4.0,
                   "grid": [132, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 6}
    return [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", **base, "ts": 100.5, "dur": 50.25,
         "args": {"External id": 5, "Record function id": 0, "Input Dims": [[64, 64], [64, 64]]}},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", **base, "ts": 90, "dur": 300,
         "args": {"External id": 4}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **base, "ts": 110, "dur": 8,
         "args": {"External id": 5, "cbid": 211, "correlation": 11}},
        {"ph": "s", "id": 11, **base, "ts": 110, "cat": "ac2g", "name": "ac2g"},
        {"ph": "X", "cat": "kernel", "name": "void gemm<float, 128>(float*, int)", **gpu, "ts": 125, "dur": 30.125,
         "args": kernel_args},
        {"ph": "f", "id": 11, **gpu, "ts": 125, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", **gpu, "ts": 160, "dur": 10,
         "args": {"device": 0, "context": 1, "stream": 7, "correlation": 12, "bytes": 4096,
                  "memory bandwidth (GB/s)": 0.4}},
        {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", **gpu, "ts": 175, "dur": 1,
         "args": {"device": 0, "context": 1, "stream": 7, "correlation": 13, "bytes": 64}},
        {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 101, "dur": 2},
        {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", **base, "ts": 105,
         "args": {"Total Reserved": 2097152, "Total Allocated": 4096, "Bytes": 4096, "Device Id": 0,
                  "Device Type": 1, "Addr": 140628870873600}},
        {"ph": "X", "cat": "python_function", "name": "train.py(3): step", **base, "ts": 95, "dur": 200,
         "args": {"Python parent id": None, "Python id": 1}},
        {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0, "args": {"name": "python3"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "ts": 0, "args": {"name": "stream 7 "}},
        {"ph": "X", "cat": "Trace", "ts": 80, "dur": 400, "pid": "Spans", "tid": "PyTorch Profiler",
         "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 500},
    ]


def traces():
    events = kineto()
    head = {"schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9,
                                  "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048, "warpSize": 32,
                                  "regsPerMultiprocessor": 65536, "numSms": 132}],
            "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 8},
            "cuda_runtime_version": 13000, "baseTimeNanoseconds": 1790857026000000000}
    collective = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
                  "pid": 0, "tid": 20, "ts": 130, "dur": 40,
                  "args": {"device": 0, "context": 1, "stream": 20, "correlation": 14,
                           "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000,
                           "Group size": 8, "dtype": "Float", "Process Group Name": "0",
                           "Process Group Ranks": "[0, 1, 2, 3, ...]", "Seq": 3}}
    generic = [{"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 1},
               {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 2}, {"ph": "E", "pid": 1, "tid": 1, "ts": 5},
               {"ph": "E", "pid": 1, "tid": 1, "ts": 9}, {"ph": "E", "pid": 1, "tid": 1, "ts": 10},
               {"ph": "C", "name": "power", "pid": 1, "ts": 3, "args": {"watts": 350.5, "cap": "700"}},
               {"ph": "b", "id": "0x1", "cat": "async", "name": "load", "pid": 1, "tid": 2, "ts": 1},
               {"ph": "e", "id": "0x1", "cat": "async", "name": "load", "pid": 1, "tid": 2, "ts": 8},
               {"ph": "I", "name": "mark", "pid": 1, "tid": 1, "ts": 4},
               {"ph": "X", "name": "no times", "pid": 1, "tid": 1},
               {"ph": "X", "name": "as text", "pid": "1", "tid": "worker", "ts": "7.25", "dur": "1"}]
    odd = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": -5, "dur": -1, "args": {}},
           {"ph": "X", "cat": "kernel", "name": "", "pid": 0, "tid": 7, "ts": 9e18, "dur": 9e18,
            "args": {"grid": [-1, 4294967296, 1.5], "block": "8", "device": -1, "stream": 1e30, "correlation": -3}},
           {"ph": "X", "cat": "kernel", "name": None, "pid": None, "tid": [], "ts": {}, "dur": None, "args": []},
           {"cat": "kernel"}, {}, 5, None, "text", []]
    # What is told of the cut: the last complete event counts.
    whole = json.dumps({**head, "traceEvents": events}, indent=2)
    seeds = {
        "kineto": whole,
        "kineto-compact": json.dumps({"traceEvents": events + [collective], **head}, separators=(",", ":")),
        "kineto-cut": whole[:len(whole) * 2 // 3],
        "array": json.dumps(generic),
        "array-open": json.dumps(generic)[:-1] + ",",
        "odd": json.dumps({"traceEvents": odd + events[:5], "displayTimeUnit": "ns"}),
        "damaged": whole.replace('"dur": 30.125', '"dur": 30.1#$"', 1),
        "nan": '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": NaN, '
               '"dur": Infinity}]}',
        "quotes": '{"traceEvents": [\n{"ph": "X", "name": "call("x", 1)", "pid": 1, "tid": 1, "ts": 1, "dur": 2},\n'
                  '{"ph": "X", "name": "next", "pid": 1, "tid": 1, "ts": 4, "dur": 2}]}',
        "no-events": '{"schemaVersion": 1, "traceEvents": []}',
        "lines": "\n".join(json.dumps(event) for event in events[:4]),
    }
    for name, text in seeds.items():
        save("chrome", name, text)
    save("chrome", "kineto.gz", gz(whole.encode()))
    for name in ("kineto-compact", "array", "odd"):
        save("report", name, seeds[name])


# ---- Nsight Systems ------------------------------------------------------------------------------------------


def database(statements):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "seed.sqlite")
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA page_size = 512")
        for statement in statements:
            connection.execute(statement)
        connection.execute("VACUUM")
        connection.close()
        data = bytearray(Path(path).read_bytes())
        data[24:28] = data[92:96] = bytes(4)  # change counters
        data[96:100] = bytes(4)  # the library's version
        return bytes(data)


def databases():
    pid = 42 << 24
    strings = ["CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
               "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'void gemm<float>(float*)'), "
               "(3, 'cudaLaunchKernel_v7000'), (4, 'step'), (5, 'read'), (6, 'python3')"]
    kernels = ["CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId "
               "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
               "shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX "
               "INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, "
               "localMemoryPerThread INTEGER, graphNodeId INTEGER)",
               f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 11, {pid}, 2, 1, 32, 132, 1, 1, "
               f"128, 1, 1, 0, 1024, 0, NULL), (3000, 2500, 0, 1, 7, 12, {pid}, 99, 1, 32, 1, 1, 1, 1, 1, 1, 0, 0, 0, "
               "5)"]
    calls = ["CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid "
             "INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER)",
             f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 0, {pid + 42}, 11, 3, 0, NULL)"]
    copies = ["CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId "
              "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, "
              "srcKind INTEGER, dstKind INTEGER)",
              f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2100, 2300, 0, 1, 7, 13, {pid}, 4096, 1, 0, 2)"]
    nvtx = ["CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, "
            "textId INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER)",
            f"INSERT INTO NVTX_EVENTS VALUES (800, 2400, 59, NULL, NULL, 4, {pid + 42}, NULL, 0), "
            f"(810, NULL, 59, NULL, 'open', NULL, {pid + 42}, NULL, 0)"]
    system = ["CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId "
              "INTEGER, returnValue INTEGER)",
              f"INSERT INTO OSRT_API VALUES (500, 700, {pid + 42}, 1, 5, 0)"]
    target = ["CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT, smCount INTEGER, "
              "computeMajor INTEGER, computeMinor INTEGER, totalMemory INTEGER, cuDevice INTEGER)",
              "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 'GPU-0', '0000:0f:00.0', 132, 9, 0, "
              "150109880320, 0)",
              "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
              "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.7')"]
    wrong = ["CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start TEXT, end BLOB, deviceId REAL, streamId, demangledName)",
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', x'00ff', 1e300, NULL, 'name'), "
             "(-9223372036854775808, 9223372036854775807, -1, 2.5, NULL)"]
    save("nsys", "gpu.sqlite", database(strings + kernels + calls))
    save("nsys", "host.sqlite", database(strings + nvtx + system))
    save("nsys", "copies.sqlite", database(copies + target))
    save("nsys", "wrong-types.sqlite", database(strings[:1] + wrong))
    save("nsys", "empty-tables.sqlite", database(strings[:1] + kernels[:1] + calls[:1]))
    save("nsys", "other.sqlite", database(["CREATE TABLE notes (id INTEGER, text TEXT)"]))
    save("report", "gpu.sqlite", database(strings + kernels + calls + copies + nvtx + system))
    save("nsys", "gpu.sqlite.gz", gz(database(strings + kernels + calls)))


# ---- Perfetto ------------------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One protobuf field: int → varint, bytes and text → length-delimited."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def packet(*fields):
    return field(1, b"".join(fields))


def track(uuid, *fields):  # TracePacket.track_descriptor = 60
    return packet(field(60, field(1, uuid) + b"".join(fields)))


def event(time, kind, uuid, *fields):  # TracePacket.timestamp = 8, track_event = 11
    return packet(field(8, time), field(10, 1), field(11, field(9, kind) + field(11, uuid) + b"".join(fields)))


def note(name, value):  # DebugAnnotation: name = 10, uint = 3, string = 6
    return field(4, field(10, name) + (field(3, value) if isinstance(value, int) else field(6, value)))


def perfetto():
    process = track(1, field(3, field(1, 42) + field(6, "python3")))
    thread = track(2, field(5, 1), field(4, field(1, 42) + field(2, 43) + field(5, "main")))
    stream = track(3, field(2, "GPU 0 stream 7"))
    counter = track(4, field(2, "power"), field(8, field(3, 1)))
    begin = event(1000, 1, 2, field(23, "cudaLaunchKernel"), note("correlation", 11))
    end = event(1500, 2, 2)
    kernel = event(2000, 1, 3, field(23, "gemm"), field(22, "kernel"), note("correlation", 11),
                   note("grid", "132,1,1")) + event(3000, 2, 3)
    interned = packet(field(10, 1), field(13, 1), field(12, field(2, field(1, 5) + field(2, "step")))) + event(
        100, 1, 2, field(10, 5)) + event(200, 2, 2)
    value = packet(field(8, 1100), field(11, field(9, 4) + field(11, 4) + field(30, 350)))
    whole = process + thread + stream + counter + begin + end + kernel + value
    save("perfetto", "tracks", whole)
    save("report", "tracks", whole)
    save("perfetto", "interned", thread + interned)
    save("perfetto", "unbalanced", thread + end + begin + begin)
    save("perfetto", "gzip", gz(whole))
    save("perfetto", "deflated-packets", packet(field(50, zlib.compress(whole))))
    save("perfetto", "cut", whole[:-7])
    save("perfetto", "lengths", packet(b"\xe2\x03\xff\xff\xff\xff\x0f") + thread)


# ---- recordings ----------------------------------------------------------------------------------------------


def zigzag(value):
    return varint(value << 1 ^ value >> 63)


def column(name, coding, *values):
    """One column of a chunk: coding 0 varint, 1 zigzag, 2 delta, 3 fixed, 4 constant, 5 bytes."""
    data = bytearray()
    before = 0
    for value in values:
        if coding == 5:
            data += value.encode()
        elif coding == 3:
            data += struct.pack("<d", value)
        elif coding in (1, 2):
            data += zigzag(value - (before if coding == 2 else 0))
            before = value
        else:
            data += varint(value)
    return varint(len(name)) + name.encode() + bytes([coding]) + varint(len(data)) + data


def chunk(table, sequence, rows, *columns, packed=False):
    """A chunk whose checksums are zero: the fuzz target mends them."""
    payload = varint(len(columns)) + b"".join(columns)
    stored = zst(payload, "-3") if packed else payload
    return b"\xf7WLC" + struct.pack("<BBHIIIIQQ", table, packed, 0, len(stored), len(payload), rows, sequence, 0,
                                    0) + stored


def recordings():
    head = b"\x89WLT\r\n\x1a\n" + struct.pack("<HHIIIQ", 1, 0, 0, 0, 0, 0)
    texts = ["gemm", "cudaLaunchKernel", "python3", "power", "GPU-0"]
    strings = chunk(1, 0, 5, column("id", 2, *range(1, 6)), column("length", 0, *map(len, texts)),
                    column("text", 5, "".join(texts)))
    sources = chunk(2, 1, 1, column("row", 2, 0), column("path", 0, 3), column("rank", 1, 1))
    repairs = chunk(3, 2, 1, column("row", 2, 0), column("source_row", 0, 1), column("text", 0, 1),
                    column("count", 2, 5))
    facts = chunk(4, 3, 1, column("row", 2, 0), column("source_row", 0, 1), column("key", 0, 1),
                  column("value", 0, 2))
    losses = chunk(5, 4, 1, column("row", 2, 0), column("dropped", 2, 3))
    devices = chunk(6, 5, 1, column("row", 2, 0), column("source_row", 0, 1), column("device", 2, 0),
                    column("uuid", 0, 5), column("vendor", 1, 1), column("sm_count", 1, 132))
    processes = chunk(7, 6, 1, column("row", 2, 0), column("source_row", 0, 1), column("pid", 2, 42))
    threads = chunk(8, 7, 2, column("row", 2, 0, 1), column("process_row", 0, 1, 1), column("tid", 2, 42, 43))
    streams = chunk(9, 8, 1, column("row", 2, 0), column("process_row", 0, 1), column("device_row", 0, 1),
                    column("context", 2, 1), column("stream", 2, 7))
    shapes = chunk(10, 9, 1, column("row", 2, 0), column("grid", 0, 132, 1, 1), column("block", 0, 128, 1, 1))
    comms = chunk(11, 10, 1, column("row", 2, 0), column("collective", 0, 1), column("in_elements", 2, 10))
    series = chunk(12, 11, 1, column("row", 2, 0), column("name", 0, 4), column("device_row", 0, 1),
                   column("unit", 1, 3))
    op_columns = [column("start", 2, 1000, 3000), column("duration", 1, 1000, 500), column("correlation", 2, 11, 12),
                  column("name", 4, 1), column("stream", 4, 1), column("shape", 0, 1, 0), column("comm", 0, 0, 1)]
    ops = chunk(13, 12, 2, *op_columns)
    spans = chunk(14, 13, 2, column("start", 2, 900, 950), column("duration", 1, 20, 20), column("id", 2, 11, 12),
                  column("name", 4, 2), column("thread", 0, 1, 2))
    samples = chunk(15, 14, 2, column("time", 2, 1000, 2000), column("value", 3, 350.5, 0.0), column("series", 4, 1))
    marks = chunk(16, 15, 1, column("time", 2, 1500), column("text", 0, 1), column("kind", 1, 3),
                  column("device_row", 0, 1))
    waits = chunk(17, 16, 1, column("start", 2, 1500), column("end", 2, 1600), column("kind", 0, 1),
                  column("stream_row", 0, 1))
    clocks = chunk(18, 17, 1, column("time", 2, 1500), column("value", 2, 600), column("clock", 0, 4))
    index = chunk(19, 18, 1, column("offset", 2, 32), column("table", 0, 13), column("rows", 0, 2))
    end = chunk(20, 19, 1, column("index_offset", 3, 0.0))
    tables = [strings, sources, repairs, facts, losses, devices, processes, threads, streams, shapes, comms, series,
              ops, spans, samples, marks, waits, clocks]
    whole = head + b"".join(tables) + index + end
    save("wlt", "whole", whole)
    save("wlt", "not-closed", head + b"".join(tables))
    save("wlt", "references-lost", head + ops + spans + samples + marks + waits)
    save("wlt", "later", head[:10] + b"\x07" + head[11:] + chunk(99, 0, 1, column("x", 0, 1)) + chunk(
        13, 1, 1, column("start", 2, 1), column("new", 9, 1), column("stream", 0, 1)))
    save("wlt", "major", head[:8] + b"\x02" + head[9:] + ops)
    save("wlt", "packed", head + strings + chunk(13, 1, 2, *op_columns, packed=True) + end)
    save("wlt", "torn", head + b"".join(tables[:9]) + ops[:60] + spans + end)
    save("wlt", "header-lost", bytes(32) + b"".join(tables))
    save("wlt", "gzip", gz(whole))


# ---- rings ---------------------------------------------------------------------------------------------------


def text(kind, key, data):
    data = data if isinstance(data, bytes) else data.encode()
    return struct.pack("<QII", key, kind, len(data)) + data + bytes(-len(data) % 8)


def record(kind, length, form, *values):
    return (struct.pack("<I" + form, kind, *values)).ljust(length, b"\0")[:length]


def ring(log, slot, lengths=()):
    table = bytearray(64)
    for kind, length in lengths:
        table[kind] = length
    return bytes(table) + struct.pack("<I", len(log)) + log + slot


def rings():
    def kernel(correlation, graph=0, name=0x1000, length=216):
        head = struct.pack("<IIIIQQQIII6iiiIIIqQQQQBBHIQII", 10, 32 << 16, 0, 0, 1000 + correlation, 1500 + correlation, 0,
                           0, 1, 7, 10, 1, 1, 128, 1, 1, 0, 0, 0, 0, correlation, 0, name, 0, 0, 0, 0, 0, 0, 0,
                           graph << 32 | 1 if graph else 0, 0, graph)
        return head.ljust(length, b"\0")[:length]

    def managed(counter):
        return record(25, 104, "IQQQQIIII", counter, 4096, 1000, 1200, 0x2000, 0, 0, 0, 1)

    def memory(operation, kind, address, time):
        return record(49, 128, "IIIQQQQIIIIQIIIIQQQ", operation, kind, 0, address, 65536, time, 0, 1, 0, 1, 7, 0, 0, 0, 1, 0,
                      0x3000, 0, 1 << 20)

    def span(kind, name, domain=0, category=0, payload_type=0, payload=0, end_thread=0):
        return struct.pack("<IIqqQQIIQII", kind, 42, 1000, 2000, name, domain, category, payload_type, payload, end_thread, 0)

    schema = struct.pack("<II", 2, 0) + struct.pack("<IHBB40s", 0, 8, 0, 0, b"NCCL communicator ID") + struct.pack(
        "<IHBB40s", 8, 8, 0, 0, b"Message size [bytes]")
    names = text(0, 0x1000, "kernel") + text(1, 211, "cudaLaunchKernel_v7000") + text(3, 1, "ncclAllReduce") + text(
        3, 2, "NCCL") + text(4, 42, "thread") + text(5, 2 ^ 4 * 0x9E3779B97F4A7C15 & (1 << 64) - 1, "category") + text(6, 9, schema)
    call = record(5, 40, "IQQIIII", 211, 1100, 1200, 1, 42, 5, 0)
    launch = record(51, 56, "IQQIIII", 6, 3000, 4000, 0, 12, 1, 7)
    moved = span(60, 1, 2) + struct.pack("<QII", 9, 16, 0) + struct.pack("<QQ", 77, 4096).ljust(48, b"\0")
    everything = call + kernel(5) + kernel(6, 12) + launch + managed(1) + managed(4) + memory(1, 3, 64, 900) + memory(
        2, 3, 64, 1900) + record(50, 80, "IIIIIQQQQQ", 1, 1, 0, 1, 0, 0, 0x3000, 1 << 20, 0, 950)
    save("ring", "activities", ring(names, everything))
    save("ring", "ranges", ring(names, span(63, 1) + span(63, 1, 2, 3, 5, 7, 43) + moved + span(62, 1) + call + kernel(5)))
    save("ring", "reused-address", ring(names + text(0, 0x1000, "later"), kernel(1) + kernel(2)))
    save("ring", "short-records", ring(names, kernel(1, length=160) + call, [(10, 160)]))
    save("ring", "torn", ring(names[:-5], everything[:-7]))
    save("ring", "unknown", ring(b"", record(33, 40, "I", 0) + kernel(1), [(33, 40)]))


# ---- GPU code ------------------------------------------------------------------------------------------------

SAMPLES = Path(__file__).parent.parent / "samples/code"


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def fatbin_entry(kind, payload, flags=0x11, full=0, sm=90):
    padded = payload + bytes(-len(payload) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), len(payload), 0, 0, 9, sm, 0, 0, flags, 0,
                       full) + padded


def code():
    ptx = b".version 9.0\n.target sm_90a\n.entry k(.param .b8 p[9]) .maxntid 8, 8 { .shared .b32 x; }\n"
    for name in ("plain.cubin", "plain-size.fatbin", "plain-relocatable.o", "small.cubin"):
        save("code", name, (SAMPLES / name).read_bytes())
    save("code", "ptx", ptx)
    save("code", "ptx-odd", b"/**/ .version\n.target sm_\n.entry\n.entry a(.param .u999 x[99999999999]) .maxntid {{")
    save("code", "fatbin-zstd", fatbin(fatbin_entry(1, zst(ptx), 0x8011, len(ptx))))
    save("code", "fatbin-lz4", fatbin(fatbin_entry(1, bytes([0xF0, len(ptx) - 15]) + ptx, 0x2011, len(ptx))))
    save("code", "fatbin-huge", fatbin(fatbin_entry(1, zst(ptx), 0x8011, 1 << 40)))
    save("code", "fatbin-kinds", fatbin() + fatbin(fatbin_entry(8, b"x" * 9), fatbin_entry(1, ptx)) + b"\0" * 5)
    cubin = (SAMPLES / "plain.cubin").read_bytes()
    member = b"plain.cubin/    0           0     0     644     %-10d`\n" % len(cubin)
    save("code", "archive", b"!<arch>\n" + member + cubin + b"torn/ ")


# ---- Nsight Compute and nvprof --------------------------------------------------------------------------------


NCU_COLUMNS = ["ID", "Process ID", "Process Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device",
               "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type",
               "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def quoted(*cells):
    return ",".join('"%s"' % cell for cell in cells) + "\n"


def ncu_row(*cells):
    return quoted("0", "9", "app", "k(int)", "1", "7", "(64, 2, 1)", "(10, 1, 1)", "0", "9.0", *cells)


def ncu_tables():
    sol = "GPU Speed Of Light Throughput"
    details = (quoted(*NCU_COLUMNS) + ncu_row(sol, "Duration", "us", "18.21") +
               ncu_row(sol, "Elapsed Cycles", "cycle", "35,990") +
               ncu_row("Launch Statistics", "Registers Per Thread", "register/thread", "16") +
               ncu_row("SpeedOfLight", "", "", "", "Rule", "OPT", 'It says ""more"",\nin two lines', "local", "12.5"))
    save("ncu_csv", "details", "==PROF== Connected to process 9\n" + details)
    save("ncu_csv", "details-twice", details + "output\n" + details)
    save("ncu_csv", "details-utf16", b"\xff\xfe" + details.encode("utf-16-le"))
    save("ncu_csv", "details-cut", details[:-60])
    european = quoted(*NCU_COLUMNS) + ncu_row("S", "a__ns", "ns", "117.344") + ncu_row("S", "b__pct", "%", "65,77")
    save("ncu_csv", "european", european)
    save("ncu_csv", "undecided", quoted(*NCU_COLUMNS) + ncu_row("S", "a__ns", "ns", "117.344"))
    save("ncu_csv", "raw", quoted("ID", "Process ID", "Kernel Name", "dram__bytes.sum", "launch__block_size",
                                  "device__attribute_warp_size", "lts__t_sector_hit_rate.pct") +
         quoted("", "", "", "Mbyte", "", "", "%") + quoted("0", "9", "k", "4.198400", "1,024", "32", "n/a"))
    save("ncu_csv", "derived", "gpu__time_duration.sum;launch__grid_size\nms;-\n17,61;1048576\n")
    save("ncu_csv", "source", quoted("Kernel Name", "k(int)") + quoted("Address", "Source", "# Samples", "stall_wait") +
         quoted("0x7f0010", "LDC R1", "24", "-") + quoted("0x7f0020", "EXIT", "1", "5"))
    line = "    " + "-" * 23 + " " + "-" * 11 + " " + "-" * 12 + "\n"
    text = ("==PROF== Connected to process 12 (/bin/app)\n[12] app@127.0.0.1\n"
            "  k<int, 4>(T1) (10, 1, 1)x(64, 2, 1), Context 1, Stream 7, Device 3, CC 8.6\n"
            "    Section: GPU Speed Of Light Throughput\n" + line +
            "    Metric Name             Metric Unit Metric Value\n" + line +
            "    Duration                         us        18.21\n" + line +
            "\n    OPT   Est. Local Speedup: 97.28%\n          All pipelines are\n          under-utilized.\n")
    save("ncu_text", "details", text)
    save("ncu_text", "date", text.replace(" (10, 1, 1)x(64, 2, 1)", ", 2020-Oct-25 20:27:10"))
    save("ncu_text", "error", "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM\n")


def sized(data):
    return struct.pack("<I", len(data)) + data


def number(value):  # of a metric: double = 3
    return varint(3 << 3 | 1) + struct.pack("<d", value)


def ncu_reports():
    names = ["gpu__time_duration.sum", "lts__t_sector_hit_rate.pct", "inst_executed", "launch__device_id"]
    address = 0x7f0000001000
    code = field(1, 77) + field(4, b"\x7fELF") + field(8, field(1, field(1, b"/a.cu") + field(2, b"code"))) + field(
        9, field(1, field(1, b"_Z1ki") + field(2, address)))
    instance = field(3, field(1, field(5, address + 16)) + field(2, field(5, 3)))
    rule = field(19, field(1, b"Rule") + field(4, b"Section") + field(3, field(1, field(1, field(
        1, b"See @section:A:the section@ and @url:B:https://example.org@") + field(2, 4)) + field(
            10, field(1, 1) + varint(2 << 3 | 1) + struct.pack("<d", 25.0)))))
    ranges = field(21, field(2, field(1, 5) + field(2, field(1, 0) + field(3, field(1, b"outer")) + field(3, field(1, b"inner")))))
    dim = field(1, 100) + field(2, 1) + field(3, 1)
    result = (field(5, b"_Z1ki") + field(6, b"k") + field(7, b"k(int)") + field(10, dim) + field(11, dim) +
              field(13, field(1, 0) + field(2, number(18208.0))) + field(13, field(1, 1) + field(2, number(50.0))) +
              field(13, field(1, 2) + field(2, field(5, 7)) + instance) + field(13, field(1, 3) + field(2, field(5, 0))) +
              field(13, field(1, 9)) + rule + ranges)
    session = field(3, field(6, field(1, 0) + field(2, b"GPU") + field(3, field(1, b"device__attribute_warp_size") + field(
        2, field(5, 32)))) + field(8, field(1, b"Nsight Compute Target") + field(2, b"2025.3")) + field(11, b"ncu app"))
    strings = field(4, b"".join(field(1, name.encode()) for name in names))
    process = field(6, field(1, 9) + field(2, b"host") + field(3, b"app"))
    head = b"NVR\0" + sized(field(1, 7)) + sized(session + process)
    code_block = sized(field(1, 1) + field(2, 0) + field(5, len(code) + 4)) + sized(code)
    result_block = sized(field(1, 0) + field(2, 1) + strings + field(5, len(result) + 4)) + sized(result)
    range_block = sized(field(1, 0) + field(2, 0) + field(5, len(result) + 4) + field(7, 1)) + sized(result)
    whole = head + code_block + result_block * 2 + range_block
    save("ncu", "whole", whole)
    save("ncu", "cut", whole[:-40])
    save("ncu", "results-first", head + result_block + code_block)
    save("ncu", "zstd", zst(whole))
    save("ncu", "long", head + struct.pack("<I", 0xffffffff) + result_block)


def nvprof():
    metrics = ("==29682== NVPROF is profiling process 29682, command: ./test\n==29682== Metric result:\n" +
               quoted("Device", "Kernel", "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg") +
               '"Tesla K20c (0)","k(int)",2,"gld_efficiency","x",50.00%,50.00%,50.00%\n'
               '"Tesla K20c (0)","k(int)",2,"dram_utilization","x","Idle (0)","High (7)","Low (2)"\n')
    trace = ("======== Profiling result:\n" + quoted("Start", "Duration", "Grid X", "Grid Y", "Grid Z", "Block X", "Block Y",
                                                    "Block Z", "Registers Per Thread", "Size", "SrcMemType", "Device",
                                                    "Context", "Stream", "Name", "Correlation_ID") +
             "us,us,,,,,,,,KB,,,,,,\n"
             '0.0,1.5,,,,,,,,1.003906,"Device","GPU (0)","1","7","[CUDA memset]",274\n'
             '20.2,100.5,32,8,1,256,1,1,40,,,"GPU (0)","1","7","k(int) [276]",\n19.0,2.0,,,,,,,,,,,,,"cudaLaunchKernel",276\n')
    summary = ("==7== Profiling result:\n" + quoted("Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max", "Name") +
               ',%,ms,,us,us,us,\n"GPU activities",78.0,3.0,4,750.25,700,800,"k(int)"\n')
    save("nvprof", "metrics", metrics)
    save("nvprof", "trace", trace)
    save("nvprof", "all", metrics + trace + summary)
    save("nvprof", "launches", "==1== Metric result:\n" + quoted("Device", "Context", "Stream", "Kernel", "ipc") +
         '"GPU (0)","1","7","k",1.5\n')


def kernels():
    kernel = {"name": "k(int)", "launches": 3, "profiled_launches": 2, "grid": [8, 1, 1], "block": [256, 1, 1],
              "registers_per_thread": 40, "static_shared_bytes": None, "static_shared_bytes_why": "unknown",
              "metrics": {"duration_ns": 1500, "l1_hit_ratio": None, "l1_hit_ratio_why": "a share of nothing",
                          "dram_throughput_ratio": 0.9},
              "spread": {"duration_ns": {"min": 1400, "max": 1600, "deviation": 100}},
              "stalls": [{"reason": "barrier", "share_ratio": 1}], "findings": [{"id": "kernel-memory-bound"}]}
    report = {"schema": "warplight.kernels/1", "device": {"id": 0, "name": "GPU", "compute_capability": "9.0", "sm_count": 132},
              "kernels": [kernel, {"name": "static", "launches": None}]}
    whole = json.dumps(report)
    save("kernels", "whole", whole)
    save("kernels", "cut", whole[:-200])
    lines = [{"file": "a.cu", "line": 4, "function": "f", "inlined_at": [{"file": "a.cu", "line": 9, "function": "k"}, {}, 3],
              "instruction": "NOP", "offset_bytes": 16, "samples": 9, "stalls": {"barrier": 9, "none": None}},
             {"line": None, "line_why": "no line information", "offset_bytes": -1, "stalls": []}, None]
    report["kernels"] = [{**kernel, "stall_source": "sampled", "spill_store_bytes": 8, "spill_load_bytes": 1e99, "lines": lines,
                          "counters": {"a__b.sum": 3}}, {**kernel, "spill_store_bytes": 0, "spill_load_bytes": 0, "lines": lines[0]}]
    save("kernels", "lines", json.dumps(report))
    save("kernels", "lines-without-launches", json.dumps({**report, "kernels": [{"name": "k", "lines": lines}]}))
    save("kernels", "code", json.dumps({"schema": "warplight.kernels/1", "device": None, "kernels": [{"name": "k"}]}))


def logs():
    """Of what people paste: a few of the samples of doctor, and what breaks parsers."""
    samples = CORPUS.parent.parent / "samples" / "logs"
    for name in ("xid79-solo", "mig-94", "aer-then-79", "bad-hbm", "nvlink-cuda", "power-brake", "gpuz-hot", "oom-other",
                 "k8s-seven-of-eight", "amdgpu-ring", "browser-31", "chrome-blocklist"):
        save("logs", name, (samples / f"{name}.txt").read_bytes())
    save("logs", "kmsg", "3,1021,1126600412,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, x\n3,,,;\n")
    save("logs", "xml", '<nvidia_smi_log><gpu id="00000000:3B:00.0"><remapped_rows><remapped_row_pending>Yes'
         "</remapped_row_pending></remapped_rows><a/><b></gpu></nvidia_smi_log>\n<gpu id=\n")
    save("logs", "dmon", "# gpu pwr sm tviol dbecc\n# Idx W % bool errs\n 0 100 99 1 2\n 0 - - -\n99 1 1 1 1\n# gpu pid\n 0 - -\n")
    save("logs", "query", "index, pcie.link.width.current, pcie.link.width.max, power.draw [W]\n0, 8, 16, 1\n0, [N/A], , \n0,1\n")
    save("logs", "deep", "==============NVSMI LOG==============\n" + "".join(" " * n + f"k{n} : v\n" for n in range(40)))


def sass():
    """As nvdisasm prints code, and what breaks parsers."""
    save("sass", "code", '\t.target\tsm_90\n\n\t.section\t.text._Z1kPf,"ax",@progbits\n\t.align\t128\n_Z1kPf:\n.text._Z1kPf:\n'
         "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n        /*0010*/              @!P0 BRA `(.L_x_1) ;  /* 0x947 */\n"
         "                                             /* 0x000fea0003800000 */\n.L_x_1:\n        /*0020*/                   EXIT ;\n"
         '\t.section\t.debug_line,"",@progbits\n        /*0000*/ \t.byte\t0x6a, 0x02\n')
    save("sass", "odd", ".section .text.\n/*0*/ A ;\n.section .text.k\n/**/ A ;\n/*fffffffffffffffff*/ A ;\n/*0*/;\n/*0*/ ;;\n/*1*/ A ;")


if __name__ == "__main__":
    sass()
    logs()
    rings()
    streams()
    documents()
    traces()
    databases()
    perfetto()
    recordings()
    ncu_tables()
    ncu_reports()
    nvprof()
    kernels()
    code()
