"""A JAX peer of the Go engine: SGD of the two-layer disentangled transformer on Task 1.

    peer.py S [last]      train, in the protocol of turns.py
    peer.py check FILE    compare with golden vectors in float64, and check the sampler

Each step draws 1024 fresh sequences over the in-context-learning graph with T = 20,
takes the gradient through dense one-hot einsums and updates the weights, in one jitted
call. With "last", layer 2 computes only the query that is read.
"""

import json
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn, random

from turns import serve

BATCH, T, ALPHA, RATE = 1024, 20, 0.1, 1.0
PARENTS = [i - 1 if i % 2 else -1 for i in range(T - 1)]


def gammas(key, shape):
    """Gamma(ALPHA) draws by Ahrens and Dieter's GS rejection, all proposals at once.

    One proposal in 1.09 is accepted at ALPHA = 0.1; of 1.12 per draw enough remain, by
    more than ten standard deviations. jax.random.gamma loops over the entries on a CPU
    and takes ten times as long.
    """
    n = math.prod(shape)
    b = 1 + ALPHA / math.e
    u, v = random.uniform(key, (2, int(1.12 * n) + 64))
    small = b * u <= 1
    x = jnp.where(small, (b * u) ** (1 / ALPHA), -jnp.log((b - b * u) / ALPHA))
    accept = v <= jnp.where(small, jnp.exp(-x), x ** (ALPHA - 1))
    return x[jnp.nonzero(accept, size=n)[0]].reshape(shape)


def stationary(pi):
    """Stationary measures (S, B) of pi (S, S, B), row-stochastic in its second axis, by the
    elimination of Grassmann, Taksar and Heyman."""
    s = len(pi)
    for n in range(s - 1, 0, -1):
        out = pi[:n, n] / jnp.maximum(pi[n, :n].sum(0), 1e-30)
        pi = pi.at[:n, n].set(out).at[:n, :n].add(out[:, None] * pi[n, :n])
    mu = jnp.ones_like(pi[0, :1])
    for n in range(1, s):
        mu = jnp.concatenate([mu, (mu * pi[:n, n]).sum(0, keepdims=True)])
    return mu / mu.sum(0)


def transitions(key, s):
    """Transition matrices (S, S, B) with Dirichlet(ALPHA) rows."""
    g = gammas(key, (s, s, BATCH))
    return g / jnp.maximum(g.sum(1, keepdims=True), 1e-30)


def sample(key, s):
    """A batch of Task 1: sequences x (B, T) and the rows y (B, S) of their last tokens."""
    k1, k2, k3 = random.split(key, 3)
    pi = transitions(k1, s)
    rows = jnp.concatenate([pi, stationary(pi)[None]]).transpose(2, 0, 1)
    cdf = jnp.cumsum(rows, -1)
    u = random.uniform(k2, (BATCH, T))
    x = []
    for i, p in enumerate(PARENTS):
        row = cdf[:, s] if p < 0 else row_of(cdf, x[p])
        x.append(jnp.minimum((row < u[:, i, None]).sum(-1), s - 1))
    x.append(random.randint(k3, (BATCH,), 0, s))
    return jnp.stack(x, 1), row_of(rows, x[-1])


def row_of(rows, token):
    return jnp.take_along_axis(rows, token[:, None, None], 1)[:, 0]


def loss(w, x, y, last=False):
    """Cross-entropy of f(x) = softmax(h W) against y; A[l] is (d_l, d_l), W is (4 d_0, S)."""
    s, t = y.shape[-1], x.shape[-1]
    positions = jnp.broadcast_to(jnp.eye(t), (*x.shape, t))
    h = jnp.concatenate([nn.one_hot(x, s), positions], -1)
    for layer, a in enumerate(w["A"]):
        q = h[:, -1:] if last and layer == 1 else h
        score = jnp.einsum("bij,jk,blk->bil", q, a, h)
        p = nn.softmax(jnp.where(jnp.tri(t, dtype=bool)[-q.shape[1] :], score, -jnp.inf))
        h = jnp.concatenate([q, jnp.einsum("bil,blk->bik", p, h)], -1)
    return -(y * nn.log_softmax(h[:, -1] @ w["W"])).sum(-1).mean()


def train(s, last):
    def step(key, w):
        key, sub = random.split(key)
        g = jax.grad(loss)(w, *sample(sub, s), last)
        return key, jax.tree.map(lambda w, g: w - RATE * g, w, g)

    d = s + T
    w = {"A": [jnp.zeros((d, d)), jnp.zeros((2 * d, 2 * d))], "W": jnp.zeros((4 * d, s))}
    step = jax.jit(step, donate_argnums=(0, 1))
    serve((random.key(0), w), lambda state: step(*state))


def check(path):
    jax.config.update("jax_enable_x64", True)
    with open(path) as f:
        golden = json.load(f)
    x, y = jnp.array(golden["x"]), jnp.array(golden["y"])

    def weights(v):
        return {"A": [jnp.array(a[0]) for a in v["A"]], "W": jnp.array(v["W"])}

    want = golden["expected"]
    for last in False, True:
        value, grad = jax.value_and_grad(loss)(weights(golden["weights"]), x, y, last)
        np.testing.assert_allclose(value, want["loss"], rtol=0, atol=1e-12)
        jax.tree.map(
            lambda g, e: np.testing.assert_allclose(g, e, rtol=0, atol=1e-12),
            grad,
            weights(want["grad"]),
        )
    for s in 3, 10:
        pi = transitions(random.key(1), s)
        mu = stationary(pi)
        np.testing.assert_allclose(pi.sum(1), 1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(jnp.einsum("ib,ijb->jb", mu, pi), mu, rtol=0, atol=1e-12)
        # E pi_ij^2 of a Dirichlet row; five standard errors of the mean over B S rows.
        squares = (pi**2).sum(1)
        want = (ALPHA + 1) / (s * ALPHA + 1)
        assert abs(squares.mean() - want) < 5 * squares.std() / math.sqrt(squares.size), squares.mean()
    print("the peer agrees with", path)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        train(int(sys.argv[1]), sys.argv[2:] == ["last"])
