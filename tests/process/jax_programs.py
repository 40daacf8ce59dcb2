# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compiles and runs programs of JAX under its own profiler. Prints what XLA says of their memory, as JSON.

    jax_programs.py FOLDER"""

import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp

SIZE = 256


def chain(x, y):
    for _ in range(4):
        x = jnp.sort(x @ y, axis=0) + jnp.cumsum(x, axis=1)
    return x


def loop(x, y):
    return jax.lax.fori_loop(0, 3, lambda i, value: jnp.tanh(value @ y) + i, x)


def training(w, x):
    return jax.value_and_grad(lambda weights: jnp.sum(jnp.tanh(jnp.tanh(x @ weights) @ weights) ** 2))(w)


def donated(x, y):
    return x * 2 + y, jnp.sum(y)


def main(folder):
    x, y = jnp.ones((SIZE, SIZE)), jnp.full((SIZE, SIZE), 0.5)
    programs = [jax.jit(chain), jax.jit(loop), jax.jit(training), jax.jit(donated, donate_argnums=0)]
    told = {}
    for program in programs:
        memory = program.lower(x, y).compile().memory_analysis()
        told[f"jit_{program.__name__}"] = {"arguments": memory.argument_size_in_bytes, "outputs": memory.output_size_in_bytes,
                                           "temporary": memory.temp_size_in_bytes, "aliased": memory.alias_size_in_bytes}
    with jax.profiler.trace(folder):
        for program in programs:
            jax.block_until_ready(program(jnp.ones((SIZE, SIZE)), y))
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
