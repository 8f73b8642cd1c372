"""A JAX peer of the Go engine, for the two-layer disentangled transformer.

    peer.py SETTING [last]   train, in the protocol of turns.py
    peer.py check FILE       compare with golden vectors in float64, and check the samplers

S=10 and S=3 are SGD on Task 1 over the in-context-learning graph with T = 20; k=2 and
k=3 are AdamW on Task 2 over the 3-gram and 4-gram graphs with S = 5, T = 32 and k heads.
Each step draws 1024 fresh sequences, takes the gradient through dense one-hot einsums and
updates the weights, in one jitted call. With "last", layer 2 computes only the query that
is read.
"""

import json
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn, random

from turns import serve

BATCH, ALPHA = 1024, 0.1
PARENTS = [i - 1 if i % 2 else -1 for i in range(19)]
NGRAM = {"S": 5, "T": 32}


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
    """A batch of Task 1: sequences x (B, 20) and the rows y (B, S) of their last tokens."""
    k1, k2, k3 = random.split(key, 3)
    pi = transitions(k1, s)
    rows = jnp.concatenate([pi, stationary(pi)[None]]).transpose(2, 0, 1)
    cdf = jnp.cumsum(rows, -1)
    u = random.uniform(k2, (BATCH, len(PARENTS)))
    x = []
    for i, p in enumerate(PARENTS):
        row = cdf[:, s] if p < 0 else row_of(cdf, x[p])
        x.append(jnp.minimum((row < u[:, i, None]).sum(-1), s - 1))
    x.append(random.randint(k3, (BATCH,), 0, s))
    return jnp.stack(x, 1), row_of(rows, x[-1])


def sample_ngram(key, s, t, k):
    """A batch of Task 2 in which each node i >= k has the k nodes before it as parents:
    sequences x (B, T) and the rows y (B, S) of their labels."""
    k1, k2, k3 = random.split(key, 3)
    g = gammas(k1, (BATCH, s**k + 1, s))
    rows = g / jnp.maximum(g.sum(-1, keepdims=True), 1e-30)
    cdf = jnp.cumsum(rows, -1)
    u = random.uniform(k2, (BATCH, t))
    x, row = [], jnp.full((BATCH,), s**k)
    for i in range(t + 1):
        if i >= k:
            row = sum(x[i - k + m] * s ** (k - 1 - m) for m in range(k))
        if i < t:
            x.append(jnp.minimum((row_of(cdf, row) < u[:, i, None]).sum(-1), s - 1))
    return jnp.stack(x, 1), row_of(rows, row)


def row_of(rows, token):
    return jnp.take_along_axis(rows, token[:, None, None], 1)[:, 0]


def loss(w, x, y, last=False):
    """Cross-entropy of f(x) = softmax(h W) against y; A[l] is (heads, d_l, d_l)."""
    s, t = y.shape[-1], x.shape[-1]
    positions = jnp.broadcast_to(jnp.eye(t), (*x.shape, t))
    h = jnp.concatenate([nn.one_hot(x, s), positions], -1)
    for layer, a in enumerate(w["A"]):
        q = h[:, -1:] if last and layer == 1 else h
        score = jnp.einsum("bij,mjk,blk->mbil", q, a, h)
        p = nn.softmax(jnp.where(jnp.tri(t, dtype=bool)[-q.shape[1] :], score, -jnp.inf))
        h = jnp.concatenate([q, *jnp.einsum("mbil,blk->mbik", p, h)], -1)
    return -(y * nn.log_softmax(h[:, -1] @ w["W"])).sum(-1).mean()


def sgd(w, g, state, rate=1.0):
    return jax.tree.map(lambda w, g: w - rate * g, w, g), state


def adamw(w, g, state, rate=0.01, decay=1e-4, b1=0.9, b2=0.999, eps=1e-8):
    m, v, i = state
    i += 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, g)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, g)

    def update(w, m, v):
        return w - rate * (m / (1 - b1**i) / (jnp.sqrt(v / (1 - b2**i)) + eps) + decay * w)

    return jax.tree.map(update, w, m, v), (m, v, i)


def train(setting, last):
    name, value = setting.split("=")
    if name == "S":
        s, t, heads, optimiser = int(value), 20, 1, sgd
        draw = lambda key: sample(key, s)  # noqa: E731
    else:
        s, t, heads, optimiser = NGRAM["S"], NGRAM["T"], int(value), adamw
        draw = lambda key: sample_ngram(key, s, t, heads)  # noqa: E731

    def step(key, w, state):
        key, sub = random.split(key)
        g = jax.grad(loss)(w, *draw(sub), last)
        return key, *optimiser(w, g, state)

    d = s + t
    wide = (1 + heads) * d
    key = random.key(0)
    sd = 1e-4 if heads > 1 else 0.0
    w = {
        "A": [sd * random.normal(key, (heads, d, d)), sd * random.normal(key, (1, wide, wide))],
        "W": jnp.zeros((2 * wide, s)),
    }
    # Three buffers of their own: they are donated.
    state = (jax.tree.map(jnp.zeros_like, w), jax.tree.map(jnp.zeros_like, w), 0.0)
    step = jax.jit(step, donate_argnums=(0, 1, 2))
    serve((key, w, state), lambda state: step(*state))


def check(path):
    jax.config.update("jax_enable_x64", True)
    with open(path) as f:
        golden = json.load(f)
    x, y = jnp.array(golden["x"]), jnp.array(golden["y"])

    def weights(v):
        return {"A": [jnp.array(a) for a in v["A"]], "W": jnp.array(v["W"])}

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
    # A token of the 3-gram repeats that of the node before with the same parents with
    # probability (ALPHA + 1) / (S ALPHA + 1), as a draw from a Polya urn does.
    x, y = sample_ngram(random.key(2), 5, 6, 1)
    same = (x[:, 1] == x[:, 2]) & (x[:, 2] != x[:, 0])
    again = x[:, 3][same] == x[:, 2][same]
    want = (ALPHA + 1) / (5 * ALPHA + 1)
    assert abs(again.mean() - want) < 5 * math.sqrt(want * (1 - want) / again.size), again.mean()
    print("the peer agrees with", path)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        train(sys.argv[1], sys.argv[2:] == ["last"])
