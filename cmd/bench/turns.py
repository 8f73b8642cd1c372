"""The protocol of cmd/bench: a line with a number of steps comes in, ms per step go out."""

import sys
import time

import jax


def serve(state, step):
    """Run state = step(state) as often as each line of stdin asks for, and print the mean time."""
    for line in sys.stdin:
        n = int(line)
        start = time.perf_counter()
        for _ in range(n):
            state = step(state)
        jax.block_until_ready(state)
        print(1e3 * (time.perf_counter() - start) / n, flush=True)
