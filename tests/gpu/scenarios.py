"""More programs with one planted bottleneck each, to test the findings on recordings that no rule was written for.

    python3 tests/gpu/scenarios.py list
    python3 tests/gpu/scenarios.py NAME --trace OUT.json.gz [--steps N] [--stacks]
    python3 tests/gpu/scenarios.py all --out DIR        (second: only the second set)

Each scenario states the finding ids that are right answers for it, first on the list of `warplight report`. Needs a
CUDA GPU and PyTorch; records with torch.profiler. See doc/measured/findings.md for what came out.
"""
import argparse
import os
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

DEV = "cuda"
SCENARIOS = {}


def scenario(accepted, steps=12, stacks=False):
    def register(make):
        SCENARIOS[make.__name__] = (make, accepted, steps, stacks)
        return make
    return register


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def convnet(width):
    layers, channels = [], 3
    for i in range(6):
        layers += [nn.Conv2d(channels, width, 3, stride=2 if i % 2 else 1, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 100)).to(DEV)


class Slow(torch.utils.data.Dataset):
    def __init__(self, seconds, shape):
        self.seconds, self.shape = seconds, shape

    def __len__(self):
        return 10**6

    def __getitem__(self, i):
        time.sleep(self.seconds)
        return torch.randn(*self.shape), i % 100


@scenario("idle-data-loading")
def loader_too_few_workers():
    loader = iter(torch.utils.data.DataLoader(Slow(0.002, (3, 64, 64)), batch_size=32, num_workers=2, pin_memory=True))
    model = convnet(64)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def step(i):
        x, y = next(loader)
        loss = F.cross_entropy(model(x.to(DEV, non_blocking=True)), y.to(DEV, non_blocking=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step


@scenario("idle-data-loading|idle-host-compute", stacks=True)
def hand_written_loader():
    def load_batch():
        return [[float(j * k % 7) for k in range(64)] for j in range(256)]
    model = nn.Linear(64, 64).to(DEV)

    def step(i):
        with record_function("load_batch"):
            rows = load_batch()
        model(torch.tensor(rows).to(DEV)).sum().backward()
    return step


@scenario("idle-launch-bound", steps=8)
def small_transformer_batch_one():
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, device=DEV)
    model = nn.TransformerEncoder(layer, 8)
    x = torch.randn(1, 16, 256, device=DEV)
    opt = torch.optim.AdamW(model.parameters(), 1e-4, foreach=False, fused=False)

    def step(i):
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step


@scenario("idle-launch-bound", steps=10)
def rnn_cell_loop():
    cell = nn.LSTMCell(128, 128).to(DEV)
    x = torch.randn(8, 64, 128, device=DEV)

    def step(i):
        with torch.no_grad():
            h = c = torch.zeros(8, 128, device=DEV)
            for t in range(64):
                h, c = cell(x[:, t], (h, c))
    return step


@scenario("idle-host-sync|idle-launch-bound", steps=10)
def greedy_decode():
    emb = nn.Embedding(1000, 256).to(DEV)
    model = nn.GRUCell(256, 256).to(DEV)
    head = nn.Linear(256, 1000).to(DEV)

    def step(i):
        with torch.no_grad():
            token, h = 1, torch.zeros(1, 256, device=DEV)
            for _ in range(32):
                h = model(emb(torch.tensor([token], device=DEV)), h)
                token = int(head(h).argmax())
    return step


@scenario("idle-host-sync", steps=10)
def check_every_result():
    a = torch.randn(1024, 1024, device=DEV)

    def step(i):
        for _ in range(30):
            b = a @ a
            if torch.isnan(b).any():
                raise SystemExit("NaN")
    return step


@scenario("idle-host-sync|idle-launch-bound", steps=10)
def synchronize_every_kernel():
    a = torch.randn(2048, 2048, device=DEV)

    def step(i):
        for _ in range(30):
            torch.relu(a)
            torch.cuda.synchronize()
    return step


@scenario("transfer-not-overlapped")
def pinned_on_default_stream():
    h = torch.randn(64, 1024, 1024).pin_memory()
    w = torch.randn(1024, 1024, device=DEV, dtype=torch.bfloat16)

    def step(i):
        x = h.to(DEV, non_blocking=True)
        (x.to(torch.bfloat16) @ w).relu_()
    return step


@scenario("transfer-pageable")
def pageable_batches():
    h = [torch.randn(8, 1024, 1024) for _ in range(4)]
    w = torch.randn(1024, 1024, device=DEV)

    def step(i):
        for t in h:
            (t.to(DEV) @ w).relu_()
    return step


@scenario("transfer-device-to-host|transfer-pageable")
def save_activations():
    a = torch.randn(4096, 4096, device=DEV, dtype=torch.bfloat16)

    def step(i):
        outs = [(a @ a).float().cpu() for _ in range(3)]
        del outs
    return step


@scenario("transfer-many-small|idle-launch-bound", steps=6)
def many_small_copies():
    hs = [torch.randn(64).pin_memory() for _ in range(200)]

    def step(i):
        xs = [h.to(DEV, non_blocking=True) for h in hs]
        torch.stack(xs).sum()
    return step


@scenario("kernel-fp64")
def double_by_accident():
    a = torch.randn(4096, 4096, device=DEV, dtype=torch.float64)

    def step(i):
        for _ in range(4):
            (a * 1.5 + 2.0).sin_()
    return step


@scenario("kernel-no-tensor-cores")
def fp32_convolutions():
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(4096, 4096), nn.GELU())]).to(DEV)
    x = torch.randn(4096, 4096, device=DEV)

    def step(i):
        model(x).sum().backward()
    return step


@scenario("kernel-dominant")
def big_sort():
    a = torch.randn(1 << 26, device=DEV)

    def step(i):
        torch.sort(a)
        a.mul_(1.0001)
    return step


@scenario("kernel-dominant")
def scattered_embedding():
    table = torch.randn(1 << 21, 128, device=DEV)
    index = torch.randint(0, 1 << 21, (1 << 20,), device=DEV)

    def step(i):
        for _ in range(4):
            table[index].sum()
    return step


@scenario("kernel-grid-too-small")
def long_scan_of_few_rows():
    a = torch.randn(4, 1 << 20, device=DEV)

    def step(i):
        for _ in range(10):
            torch.cumsum(a, dim=1)
    return step


@scenario("idle-allocator")
def pin_every_batch():
    h = torch.randn(32, 1024, 1024)

    def step(i):
        p = torch.empty(32, 1024, 1024 + i, pin_memory=True)
        p[:, :, :1024].copy_(h)
        p.to(DEV, non_blocking=True).sum()
        torch.cuda.synchronize()
        del p
        torch._C._host_emptyCache()
    return step


@scenario("idle-allocator")
def allocate_and_free():
    def step(i):
        for k in range(4):
            t = torch.empty((1 << 28) + (k << 20), device=DEV)
            t.zero_()
            del t
            torch.cuda.empty_cache()
    return step


@scenario("idle-host-compute", stacks=True)
def metrics_in_python():
    model = convnet(64)
    x = torch.randn(64, 3, 64, 64, device=DEV)

    def confusion(n):
        table = {}
        for j in range(n):
            key = (j % 10, j * 7 % 10)
            table[key] = table.get(key, 0) + 1
        return table

    def step(i):
        model(x).sum().backward()
        confusion(60000)
    return step


@scenario("imbalance-steps|idle-host-compute", steps=24)
def slow_step_now_and_then():
    model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(8)]).to(DEV, torch.bfloat16)
    x = torch.randn(8192, 4096, device=DEV, dtype=torch.bfloat16)

    def step(i):
        model(x).sum().backward()
        if i % 8 == 7:
            torch.cuda.synchronize()
            spin(0.05)
    return step


@scenario("healthy")
def big_convnet():
    torch.backends.cudnn.benchmark = True
    model = convnet(256).to(memory_format=torch.channels_last)
    x = torch.randn(256, 3, 128, 128, device=DEV).to(memory_format=torch.channels_last)
    opt = torch.optim.SGD(model.parameters(), 0.01, fused=True)

    def step(i):
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).float().pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step


@scenario("healthy")
def attention_large():
    q = torch.randn(8, 32, 4096, 128, device=DEV, dtype=torch.bfloat16)

    def step(i):
        for _ in range(4):
            F.scaled_dot_product_attention(q, q, q, is_causal=True)
    return step


@scenario("healthy")
def log_loss_of_big_step():
    model = nn.Sequential(*[nn.Linear(8192, 8192) for _ in range(4)]).to(DEV, torch.bfloat16)
    x = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)

    def step(i):
        loss = model(x).float().mean()
        loss.backward()
        loss.item()
    return step


@scenario("healthy|kernel-too-short", steps=30)
def graphed_mlp():
    model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.ReLU())]).to(DEV, torch.bfloat16)
    x = torch.randn(2048, 1024, device=DEV, dtype=torch.bfloat16)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad():
        with torch.cuda.stream(side):
            model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(8):
                model(x)
    return lambda i: graph.replay()


@scenario("idle-warmup|idle-host-compute", steps=6)
def compile_in_the_loop():
    a = torch.randn(1024, 1024, device=DEV)

    def step(i):
        torch._dynamo.reset()
        f = torch.compile(lambda x: (x * (i + 2)).sin().sum())
        f(a)
    return step


@scenario("idle-host-compute|idle-host-io|idle-host-sync", steps=8)
def checkpoint_every_step():
    model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)]).to(DEV)
    x = torch.randn(512, 1024, device=DEV)
    path = os.path.join(tempfile.mkdtemp(), "state.pt")

    def step(i):
        model(x).sum().backward()
        torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)
    return step

# ---- second set: recorded after the rules were settled on the first -----------------------------------------


@scenario("healthy")
def loader_with_enough_workers():
    loader = iter(torch.utils.data.DataLoader(Slow(0.0005, (3, 64, 64)), batch_size=32, num_workers=8, pin_memory=True))
    model = nn.Sequential(*[nn.Linear(8192, 8192) for _ in range(4)]).to(DEV, torch.bfloat16)
    x = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)

    def step(i):
        batch, _ = next(loader)
        batch.to(DEV, non_blocking=True).sum()
        with torch.no_grad():
            for _ in range(3):
                model(x)
    return step


@scenario("idle-launch-bound", steps=10)
def eager_inference_batch_one():
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device=DEV, dtype=torch.bfloat16)
    model = nn.TransformerEncoder(layer, 6).eval()
    x = torch.randn(1, 32, 512, device=DEV, dtype=torch.bfloat16, requires_grad=True)

    def step(i):
        model(x)
    return step


@scenario("idle-launch-bound|idle-host-sync", steps=10)
def clip_and_log_each_step():
    model = nn.Sequential(*[m for _ in range(10) for m in (nn.Linear(256, 256), nn.ReLU())]).to(DEV)
    x = torch.randn(128, 256, device=DEV)
    opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def step(i):
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        float(loss) + float(norm)
    return step


@scenario("idle-host-compute")
def augment_with_numpy():
    import numpy as np
    model = convnet(128)

    def step(i):
        images = np.random.rand(64, 3, 64, 64)
        images = np.flip(images, axis=3) * 1.1 + 0.01
        images = np.sort(images, axis=2).astype(np.float32)
        model(torch.from_numpy(np.ascontiguousarray(images)).to(DEV)).sum().backward()
    return step


@scenario("healthy")
def results_copied_back_behind_compute():
    side = torch.cuda.Stream()
    a = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)
    host = torch.empty(4096, 4096, dtype=torch.bfloat16).pin_memory()

    def step(i):
        for _ in range(6):
            b = a @ a
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            host.copy_(b[:4096, :4096].contiguous(), non_blocking=True)
    return step


@scenario("idle-host-wait|idle-host-compute")
def wait_for_another_thread():
    import queue
    import threading
    work, done = queue.Queue(), queue.Queue()

    def worker():
        while work.get() is not None:
            time.sleep(0.008)
            done.put(1)
    threading.Thread(target=worker, daemon=True).start()
    a = torch.randn(4096, 4096, device=DEV, dtype=torch.bfloat16)

    def step(i):
        a @ a
        work.put(1)
        done.get()
    return step


@scenario("kernel-no-tensor-cores")
def fp32_attention():
    torch.backends.cuda.matmul.allow_tf32 = False
    q = torch.randn(16, 16, 2048, 64, device=DEV)

    def step(i):
        torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q
    return step


@scenario("kernel-dominant|healthy")
def big_layer_norm():
    x = torch.randn(65536, 4096, device=DEV)
    norm = nn.LayerNorm(4096).to(DEV)

    def step(i):
        with torch.no_grad():
            for _ in range(4):
                norm(x)
    return step


@scenario("kernel-dominant")
def scatter_with_collisions():
    x = torch.zeros(1024, device=DEV)
    index = torch.randint(0, 16, (1 << 25,), device=DEV)
    ones = torch.ones(1 << 25, device=DEV)

    def step(i):
        x.index_add_(0, index, ones)
    return step


@scenario("kernel-fp64")
def double_matrix_products():
    a = torch.randn(4096, 4096, device=DEV, dtype=torch.float64)

    def step(i):
        for _ in range(3):
            a @ a
    return step


@scenario("kernel-grid-too-small|kernel-dominant")
def small_batch_of_sorts():
    a = torch.randn(8, 1024, 1024, device=DEV)

    def step(i):
        for _ in range(4):
            torch.linalg.inv(a[:2, :512, :512])
    return step


@scenario("idle-allocator")
def empty_cache_after_each_batch():
    model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(2048, 2048), nn.ReLU())]).to(DEV)

    def step(i):
        x = torch.randn(16384 + 64 * i, 2048, device=DEV)
        model(x).sum().backward()
        del x
        torch.cuda.empty_cache()
    return step


@scenario("transfer-device-to-host|transfer-pageable")
def offload_states():
    states = [torch.randn(1 << 22, device=DEV) for _ in range(16)]

    def step(i):
        host = [s.cpu() for s in states]
        for s, h in zip(states, host):
            s.mul_(0.9)
        del host
    return step


@scenario("transfer-pageable|transfer-device-to-host")
def weights_streamed_from_host():
    layers = [torch.randn(4096, 4096, dtype=torch.bfloat16) for _ in range(8)]
    x = torch.randn(512, 4096, device=DEV, dtype=torch.bfloat16)

    def step(i):
        y = x
        for w in layers:
            y = y @ w.to(DEV)
    return step


@scenario("idle-launch-bound", steps=8)
def many_small_matrices():
    ms = [torch.randn(64, 64, device=DEV) for _ in range(256)]

    def step(i):
        for m in ms:
            m @ m
    return step


@scenario("idle-host-sync|idle-launch-bound", steps=8)
def growing_cache_decode():
    w = torch.randn(1024, 1024, device=DEV, dtype=torch.bfloat16)

    def step(i):
        cache = torch.randn(1, 1024, device=DEV, dtype=torch.bfloat16)
        for _ in range(48):
            q = cache[-1:] @ w
            cache = torch.cat([cache, torch.softmax(q @ cache.t(), -1) @ cache])
            if cache.sum().item() != cache.sum().item():
                break
    return step


@scenario("healthy")
def compiled_block():
    block = nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, device=DEV, dtype=torch.bfloat16)
    f = torch.compile(block)
    x = torch.randn(16, 1024, 2048, device=DEV, dtype=torch.bfloat16)

    def step(i):
        f(x).sum().backward()
    return step



def record(name, out, steps=None, stacks=None):
    make, accepted, default_steps, default_stacks = SCENARIOS[name]
    torch.backends.cuda.matmul.allow_tf32 = True
    step = make()
    for i in range(3):
        step(i)
    torch.cuda.synchronize()
    stacks = default_stacks if stacks is None else stacks
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=stacks) as prof:
        begin = time.perf_counter()
        for i in range(steps or default_steps):
            with record_function(f"step {i}"):
                step(i)
        torch.cuda.synchronize()
        took = time.perf_counter() - begin
    prof.export_chrome_trace(out)
    print(f"{name}\t{accepted}\t{took / (steps or default_steps) * 1e3:.3f} ms/step\t{os.path.getsize(out)} bytes",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--trace", default="trace.json.gz")
    parser.add_argument("--out", default=".")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--stacks", action="store_true", default=None)
    args = parser.parse_args()
    if args.name == "list":
        for name, (_, accepted, *_rest) in SCENARIOS.items():
            print(f"{name}\t{accepted}")
    elif args.name in ("all", "second"):
        names = list(SCENARIOS)
        if args.name == "second":
            names = names[names.index("loader_with_enough_workers"):]
        for name in names:  # a process each: no scenario sees another's caches
            status = os.system(f"{sys.executable} {__file__} {name} --trace {args.out}/{name}.json.gz")
            if status:
                print(f"{name}\tFAILED\t{status}", flush=True)
    else:
        record(args.name, args.trace, args.steps, args.stacks)


if __name__ == "__main__":
    main()
