"""Print how often the law of the roots in the released sampler is off, in total variation, for S = 3 and alpha = 0.1.

    v/bin/python roots.py     # the environment of vectors.py
"""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

pi = jax.jit(jax.vmap(lambda k: jr.dirichlet(k, jnp.full(3, 0.1), [3])))(jr.split(jr.PRNGKey(5), 100_000))
single = jax.jit(jax.vmap(lambda p: jnp.linalg.svd(p.T - jnp.eye(3))[-1][-1]))(pi)
single, pi = np.asarray(single, dtype=float), np.asarray(pi)
double = np.linalg.svd((np.transpose(pi, (0, 2, 1)) - np.eye(3, dtype=np.float32)).astype(float))[2][:, -1]
p = pi.astype(float)


def trees(i, j, k):
    """Return the weight of all trees with arrows to i."""
    return p[:, j, i] * p[:, k, i] + p[:, j, i] * p[:, k, j] + p[:, k, i] * p[:, j, k]


exact = np.stack([trees(0, 1, 2), trees(1, 2, 0), trees(2, 0, 1)], 1)
single, double, exact = (m / m.sum(1, keepdims=True) for m in (single, double, exact))
for name, other in ("the stationary measure", exact), ("the vector in double precision", double):
    print(f"more than 0.01 from {name}: {np.mean(np.abs(single - other).sum(1) / 2 > 0.01):.5f}")
print(f"an entry below -0.001: {np.mean((single < -1e-3).any(1)):.5f}")
