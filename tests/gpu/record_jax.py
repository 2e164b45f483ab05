"""Records a small JAX training loop with jax.profiler: python3 tests/gpu/record_jax.py OUT_DIR"""
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp


@jax.jit
def update(w, x):
    loss = lambda w: jnp.mean(jnp.tanh(x @ w) ** 2)
    return w - 0.1 * jax.grad(loss)(w)


def main():
    w = jnp.ones((2048, 2048))
    x = jnp.ones((4096, 2048))
    w = update(w, x).block_until_ready()
    jax.profiler.start_trace(sys.argv[1])
    for i in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            w = update(w, x)
    w.block_until_ready()
    jax.profiler.stop_trace()


main()
