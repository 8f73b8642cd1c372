"""A JAX peer of the Go engine, for the two-layer disentangled transformer and the two-layer
standard transformer with MLPs.

    peer.py SETTING [last]   train, in the protocol of turns.py
    peer.py check FILE       compare with golden vectors in float64, and check the samplers

S=10 and S=3 are SGD on Task 1 over the in-context-learning graph with T = 20; k=2 and
k=3 are AdamW on Task 2 over the 3-gram and 4-gram graphs with S = 5, T = 32 and k heads;
d=30 is AdamW on Task 1 over the chain with S = 10 and T = 20, of the standard transformer
of width 30 with trained embeddings. Each step draws 1024 fresh sequences, takes the
gradient through dense one-hot einsums and updates the weights, in one jitted call. With
"last", layer 2 computes only the query that is read.
"""

import json
import math
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn, random

from turns import serve

BATCH, ALPHA = 1024, 0.1
IN_CONTEXT = [i - 1 if i % 2 else -1 for i in range(19)]
CHAIN = [i - 1 for i in range(19)]
NGRAM = {"s": 5, "t": 32}


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


def sample(key, s, parents):
    """A batch of Task 1 over the graph with these parents, of all positions but the query:
    sequences x (B, T) and the rows y (B, S) of their last tokens."""
    k1, k2, k3 = random.split(key, 3)
    pi = transitions(k1, s)
    rows = jnp.concatenate([pi, stationary(pi)[None]]).transpose(2, 0, 1)
    cdf = jnp.cumsum(rows, -1)
    u = random.uniform(k2, (BATCH, len(parents)))
    x = []
    for i, p in enumerate(parents):
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
        h = jnp.concatenate([q, *attention(q, a, h)], -1)
    return cross_entropy(y, h[:, -1] @ w["W"])


def loss_mlp(w, x, y, last=False):
    """The same of the transformer with MLPs. Attention reaches the stream through the MLP
    alone, and biases are multiplied by sqrt(d)."""
    s, d = w["E"].shape
    root = math.sqrt(d)
    h = nn.one_hot(x, s) @ w["E"] + w["P"]
    for layer, a in enumerate(w["A"]):
        q = h[:, -1:] if last and layer == 1 else h
        z = attention(q, a, h)[0] @ w["V"][layer]
        u = nn.relu(z @ w["In"][layer] + root * w["BIn"][layer])
        h = q + u @ w["Out"][layer] + root * w["BOut"][layer]
    return cross_entropy(y, h[:, -1] @ w["W"])


def attention(q, a, h):
    """What the heads a (heads, d, d) return to the last Q rows q of h (B, T, d): for each
    (B, Q, d). On a CPU a loop over the heads is faster than an axis for them."""
    t = h.shape[1]
    mask = jnp.tri(t, dtype=bool)[-q.shape[1] :]
    scores = [jnp.einsum("bij,blj->bil", q @ head, h) for head in a]
    return [nn.softmax(jnp.where(mask, score, -jnp.inf)) @ h for score in scores]


def cross_entropy(y, logits):
    return -(y * nn.log_softmax(logits)).sum(-1).mean()


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


def disentangled(key, s, t, heads):
    """Initial weights of the disentangled transformer."""
    d = s + t
    wide = (1 + heads) * d
    sd = 1e-4 if heads > 1 else 0.0
    return {
        "A": [sd * random.normal(key, (heads, d, d)), sd * random.normal(key, (1, wide, wide))],
        "W": jnp.zeros((2 * wide, s)),
    }


def standard(key, s, t, d):
    """Initial weights of the transformer with MLPs."""
    zeros = {"A": (2, 1, d, d), "Out": (2, d, d), "BIn": (2, d), "BOut": (2, d), "W": (d, s)}
    normal = {"E": (s, d), "P": (t, d), "V": (2, d, d), "In": (2, d, d)}
    w = {name: jnp.zeros(shape) for name, shape in zeros.items()}
    for i, (name, shape) in enumerate(normal.items()):
        w[name] = random.normal(random.fold_in(key, i), shape) / math.sqrt(d)
    return w


def train(setting, last):
    name, value = setting.split("=")
    value, key, objective = int(value), random.key(0), loss
    if name == "S":
        w, optimiser = disentangled(key, value, 20, 1), sgd
        draw = lambda key: sample(key, value, IN_CONTEXT)  # noqa: E731
    elif name == "k":
        w, optimiser = disentangled(key, **NGRAM, heads=value), adamw
        draw = lambda key: sample_ngram(key, **NGRAM, k=value)  # noqa: E731
    else:
        w, objective, optimiser = standard(key, 10, 20, value), loss_mlp, partial(adamw, decay=2e-4)
        draw = lambda key: sample(key, 10, CHAIN)  # noqa: E731

    def step(key, w, state):
        key, sub = random.split(key)
        g = jax.grad(objective)(w, *draw(sub), last)
        return key, *optimiser(w, g, state)

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
        if golden["kind"] == "catformer":
            return {"A": [jnp.array(a) for a in v["A"]], "W": jnp.array(v["W"])}
        w = {"E": v["wte"], "P": v["wpe"], "A": v["A"], "V": v["V"], "W": v["W"]}
        for i, part in enumerate(["In", "Out"]):
            w[part] = [layer[i]["W"] for layer in v["mlp"]]
            w["B" + part] = [layer[i]["b"] for layer in v["mlp"]]
        return {k: jnp.array(v) for k, v in w.items()}

    objective = loss if golden["kind"] == "catformer" else loss_mlp
    want = golden["expected"]
    for last in False, True:
        value, grad = jax.value_and_grad(objective)(weights(golden["weights"]), x, y, last)
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
    # A child of a token equal to the query has the law y, for which y_X has mean sum_s y_s^2.
    for parents in IN_CONTEXT, CHAIN:
        x, y = sample(random.key(3), 3, parents)
        child = [i for i, p in enumerate(parents) if p >= 0]
        like = x[:, [parents[i] for i in child]] == x[:, -1:]
        excess = jnp.take_along_axis(y, x[:, child], 1) - (y**2).sum(1, keepdims=True)
        excess = (like * excess).sum(1)  # independent over the batch
        assert abs(excess.mean()) < 5 * excess.std() / math.sqrt(BATCH), excess.mean()
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
