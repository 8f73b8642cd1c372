"""Print the numbers of JAX 0.4.13 with which package jax is compared.

    python3.11 -m venv v && v/bin/pip install jax==0.4.13 jaxlib==0.4.13 'numpy<1.25' 'scipy<1.11'
    v/bin/python vectors.py > vectors.json
"""

import json

import jax
import jax.numpy as jnp
import jax.random as jr

COUNT, LAW = 512, [0.3, 0.0, 0.1, 0.05, 0.2, 0.15, 0.02, 0.08, 0.06, 0.04]
PARENTS = [-1, 0, -1, 2, 1, 3, -1, 4]
NODES = [[], [0], [], [0, 2], [3], [1, 3], [4, 2], [5], [7, 6]]  # the label last


def sequence(key):
    """Return the tokens of the released sampler and the law of the next one."""
    matrix, tokens, query = jr.split(key, 3)
    pi = jr.dirichlet(matrix, jnp.full(3, 0.1), [3])
    mu = jnp.linalg.svd(pi.T - jnp.eye(3))[-1][-1]
    mu = mu / mu.sum()
    x = []
    for parent in PARENTS:
        tokens, own = jr.split(tokens)
        x.append(jr.choice(own, 3, p=mu if parent < 0 else pi[x[parent]]))
    x.append(jr.choice(query, 3))
    return jnp.stack(x), pi[x[-1]]


def several(key):
    """Return the tokens of the released sampler of Task 2 and the law of the label."""
    tensors, tokens = jr.split(key)
    pi = {n: jr.dirichlet(own, jnp.full(3, 0.1), [3] * n) for n, own in enumerate(jr.split(tensors, 3))}
    x = []
    for parents in NODES:
        law = pi[len(parents)][tuple(x[p] for p in parents)]
        tokens, own = jr.split(tokens)
        x.append(jr.choice(own, 3, p=law))
    return jnp.stack(x[:-1]), law


def main():
    root = jr.PRNGKey(42)
    keys = jr.split(root, COUNT)

    def each(draw):
        return jax.vmap(draw)(keys).tolist()

    rest, batches = jr.split(jr.split(jr.split(jr.PRNGKey(7))[0])[0])  # the third key of the seed 7
    blocks = []
    for _ in range(2):
        batches, own = jr.split(batches)
        blocks.append(jr.split(own, 1 << 20))
    x, y = jax.vmap(sequence)(blocks[1][-COUNT:])
    several_x, several_y = jax.vmap(several)(blocks[1][-COUNT:])
    print(json.dumps({
        "split": {n: jr.split(root, n).tolist() for n in (1, 2, 3, 7)},
        "keys": keys.tolist(),
        "bits": each(jr.bits),
        "uniform": each(jr.uniform),
        "int": each(lambda k: jr.randint(k, (), 0, 10)),
        "law": LAW,
        "choice": each(lambda k: jr.choice(k, len(LAW), p=jnp.array(LAW))),
        "normal": each(jr.normal),
        "normals": jr.normal(root, (7,)).tolist(),
        "loggamma": {a: each(lambda k: jr.loggamma(k, a)) for a in (0.1, 1.0, 2.5)},  # noqa: B023
        "dirichlet": each(lambda k: jr.dirichlet(k, jnp.full(3, 0.5), [2]).ravel()),
        "parents": [*PARENTS, -1],
        "sequences": ["".join(map(str, row)) for row in x.tolist()],
        "targets": y.tolist(),
        "nodes": NODES,
        "several": ["".join(map(str, row)) for row in several_x.tolist()],
        "labels": several_y.tolist(),
    }))


if __name__ == "__main__":
    main()
