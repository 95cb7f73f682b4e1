"""Peers that compute relu(x*a + b) on the CPU: op by op, fused, and into an array that is there already.

``_array_peers.py PEER ELEMENTS`` says which ways it has, then answers each line of its input, a way's number and how
many times, with how many elements are right and the ms of each time. A child of compute.
"""

import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

A, B = np.float32(1.5), np.float32(0.25)
Call = Callable[[], Any]  # computes once, and returns the result when it is there
Ways = dict[str, Call]


def numpy_ways(x: Any) -> Ways:
    y, t = np.empty_like(x), np.empty_like(x)

    def into() -> Any:
        np.multiply(x, A, out=t)
        np.add(t, B, out=t)
        return np.maximum(t, 0.0, out=y)

    return {"op by op": lambda: np.maximum(x * A + B, np.float32(0.0)), "op by op, preallocated": into}


def torch_ways(x: Any) -> Ways:
    import torch

    torch.set_num_threads(os.cpu_count() or 1)
    data = torch.from_numpy(x)
    t, u, y = (torch.empty_like(data) for _ in range(3))
    a, b = float(A), float(B)

    def relu(v: Any) -> Any:
        return torch.relu(v * a + b)

    def into(v: Any, out: Any) -> None:
        out.copy_(torch.relu(v * a + b))

    fused, fused_into = torch.compile(relu), torch.compile(into)

    def eager_into() -> Any:
        torch.mul(data, a, out=t)
        torch.add(t, b, out=u)
        return torch.clamp_min(u, 0.0, out=y)

    def compiled_into() -> Any:
        fused_into(data, y)
        return y

    return {
        "op by op": lambda: relu(data),
        "op by op, preallocated": eager_into,
        "fused": lambda: fused(data),
        "fused, preallocated": compiled_into,
    }


def jax_ways(x: Any) -> Ways:
    import jax
    import jax.numpy as jnp

    data = jnp.asarray(x)
    multiply, add = jax.jit(lambda v: v * A), jax.jit(lambda v: v + B)
    largest = jax.jit(lambda v: jnp.maximum(v, np.float32(0.0)))

    def relu(v: Any) -> Any:
        return jnp.maximum(v * A + B, np.float32(0.0))

    fused = jax.jit(relu)
    donated = jax.jit(lambda v, out: relu(v), donate_argnums=1, keep_unused=True)
    place = [jnp.zeros_like(data)]

    def fused_into() -> Any:
        """JAX's way: the argument that is given up lends its memory to the result."""
        before = place[0].unsafe_buffer_pointer()
        place[0] = donated(data, place[0]).block_until_ready()
        if place[0].unsafe_buffer_pointer() != before:
            raise RuntimeError("the result is in other memory than the array that was given up")
        return place[0]

    return {
        "op by op": lambda: largest(add(multiply(data))).block_until_ready(),
        "fused": lambda: fused(data).block_until_ready(),
        "fused, preallocated": fused_into,
    }


def numba_ways(x: Any) -> Ways:
    import numba

    y, t, u = (np.empty_like(x) for _ in range(3))

    @numba.njit(parallel=True)
    def multiply(v: Any, out: Any) -> None:
        for i in numba.prange(v.size):
            out[i] = v[i] * A

    @numba.njit(parallel=True)
    def add(v: Any, out: Any) -> None:
        for i in numba.prange(v.size):
            out[i] = v[i] + B

    @numba.njit(parallel=True)
    def largest(v: Any, out: Any) -> None:
        for i in numba.prange(v.size):
            out[i] = max(v[i], np.float32(0.0))

    @numba.njit(parallel=True)
    def relu(v: Any, out: Any) -> None:
        for i in numba.prange(v.size):
            out[i] = max(v[i] * A + B, np.float32(0.0))

    def by_op() -> Any:
        multiply(x, t)
        add(t, u)
        largest(u, y)
        return y

    def fused() -> Any:
        relu(x, y)
        return y

    return {"op by op, preallocated": by_op, "fused, preallocated": fused}


def right(result: Any, x: Any) -> int:
    """How many elements are; where a product is not rounded before the sum, the last bits differ."""
    exact = np.maximum(x * A + B, np.float32(0.0))
    return int(np.count_nonzero(np.isclose(np.asarray(result), exact, rtol=1e-6, atol=1e-6)))


def timed(call: Call, times: int, x: Any) -> list[float]:
    """[elements that are right, ms, ms, ...]"""
    result, took = call(), []
    for _ in range(times):
        result = None  # what it allocated is given back before the next, as in a loop of a user's
        begin = time.perf_counter_ns()
        result = call()
        took.append((time.perf_counter_ns() - begin) / 1e6)
    return [right(result, x), *took]


_PEERS: dict[str, Callable[[Any], Ways]] = {
    "numpy": numpy_ways,
    "torch": torch_ways,
    "jax": jax_ways,
    "numba": numba_ways,
}


def main(peer: str, elements: int) -> None:
    if find_spec(peer) is None:
        print("not installed", flush=True)
        return
    x = np.resize(np.random.default_rng(37).standard_normal(1 << 20, np.float32), elements)
    ways = _PEERS[peer](x)
    for call in ways.values():
        call()  # first use of everything
    print("ready;" + ";".join(ways), flush=True)
    calls = list(ways.values())
    for line in sys.stdin:
        number, times = map(int, line.split())
        print(*timed(calls[number], times, x), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
