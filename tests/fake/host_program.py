"""A Python program that "uses CUDA" through the fake CUPTI and lets the GPU wait, in a way that is asked for.

    host_program.py compute|loader|read|lock
"""
import ctypes
import os
import sys
import tempfile
import threading
import time

ROUNDS = 12
PAUSE_S = 0.06


def initialize_cuda():
    injected = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    injected.InitializeInjection()
    cupti = ctypes.CDLL(os.environ["WARPLIGHT_CUPTI"])
    cupti.fake_device()
    return cupti


def launch(cupti):
    cupti.fake_launch(b"void scale<float>(float*, int)", ctypes.c_uint64(100000))


class Preprocess:
    def normalise(self, seconds):
        end, total = time.perf_counter() + seconds, 0
        while time.perf_counter() < end:
            total += sum(range(50))  # the line that runs
        return total


def compute(cupti):
    for _ in range(ROUNDS):
        launch(cupti)
        Preprocess().normalise(PAUSE_S)


def copy(cupti):
    data = bytearray(1 << 22)
    for _ in range(ROUNDS):
        launch(cupti)
        end = time.perf_counter() + PAUSE_S
        while time.perf_counter() < end:
            bytes(data)  # libc copies


class Loader:
    def next_batch(self):
        time.sleep(PAUSE_S)  # loading


def loader(cupti):
    source = Loader()
    for _ in range(ROUNDS):
        launch(cupti)
        source.next_batch()


def read(cupti):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "samples.fifo")
        os.mkfifo(path)
        writer = threading.Thread(target=trickle, args=(path,))
        writer.start()
        with open(path, "rb", buffering=0) as source:
            for _ in range(ROUNDS):
                launch(cupti)
                source.read(16)
        writer.join()


def trickle(path):
    with open(path, "wb", buffering=0) as sink:
        for _ in range(ROUNDS):
            time.sleep(PAUSE_S)
            sink.write(b"x" * 16)


def lock(cupti):
    held = threading.Lock()
    for _ in range(ROUNDS):
        launch(cupti)
        held.acquire()
        threading.Timer(PAUSE_S, held.release).start()
        with held:
            pass


if __name__ == "__main__":
    globals()[sys.argv[1]](initialize_cuda())
