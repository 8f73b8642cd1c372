"""The paper's released code, timed where the user has put it.

    authors.py DIR S

DIR is a checkout of the authors' repository, of which the modules problems and catformer
are imported. As in their script, sequences are drawn in blocks and the gradient step is
one jitted call; a line with a number of steps is answered by the mean time of a gradient
step plus BATCH / BLOCK of the time of one block, in ms. Their blocks have 2^20 sequences;
shorter ones keep a turn short.
"""

import sys
import time

import jax
import jax.numpy as jnp
from jax import random

sys.path.insert(0, sys.argv[1])
from catformer import CatFormer
from problems import InContextTree

BATCH, BLOCK, T, ALPHA, RATE = 1024, 2**14, 20, 0.1, 1.0
S = int(sys.argv[2])

problem = InContextTree(S, jnp.array([i - 1 if i % 2 else -1 for i in range(T - 1)]), ALPHA)
sample = jax.jit(lambda key: jax.vmap(problem.sample)(random.split(key, BLOCK)))


def loss(model, x, y):
    return -(jnp.log(model(x)) * y).sum(-1).mean()


@jax.jit
def step(model, x, y):
    return jax.tree.map(lambda w, g: w - RATE * g, model, jax.grad(loss)(model, x, y))


def timed(n, f):
    """Call f n times and return the last result and the mean time in ms."""
    start = time.perf_counter()
    for _ in range(n):
        out = f()
    jax.block_until_ready(out)
    return out, 1e3 * (time.perf_counter() - start) / n


model, key = CatFormer(T, S, [1, 1]), random.key(0)
for line in sys.stdin:
    key, sub = random.split(key)
    (x, y), drawing = timed(1, lambda: sample(sub))

    def next_step():
        global model
        model = step(model, x[:BATCH], y[:BATCH])
        return model

    _, stepping = timed(int(line), next_step)
    print(drawing * BATCH / BLOCK + stepping, flush=True)
