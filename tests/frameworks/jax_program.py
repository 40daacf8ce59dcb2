# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A program of JAX in several kinds: jax_program.py KIND CALLS. It prints what it computed, and how often it called its function."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp

kind, calls = sys.argv[1], int(sys.argv[2])


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


@jax.jit
def train_step(w, x):
    value, gradient = jax.value_and_grad(loss)(w, x)
    return w - 0.1 * gradient, value


@jax.jit
def scanned(w, x):
    return jax.lax.scan(lambda carry, _: train_step(carry, x), w, None, length=4)


@jax.pmap
def mapped(x):
    return jnp.tanh(x) * 2


def train(count):
    key = jax.random.key(3)
    w, x = jax.random.normal(key, (64, 8)), jax.random.normal(key, (16, 64))
    value = None
    for _ in range(count):
        w, value = train_step(w, x)
        value.block_until_ready()
    return float(value).hex()


def say(*words):
    print(*words, flush=True)


def talk():
    """Does what the lines on stdin say, and answers each with a line."""
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "train":
            say(train(int(rest[0])))
        elif word == "end":
            return


def own_profiler():
    from jaxlib import _profiler

    say(train(20))
    jax.profiler.start_trace(sys.argv[3])
    for i in range(5):
        with jax.profiler.StepTraceAnnotation("mine", step_num=i):
            train(2)
    jax.profiler.stop_trace()
    options = _profiler.ProfileOptions()
    options.raise_error_on_start_failure = True
    session = _profiler.ProfilerSession(options)
    train(2)
    say("a session with an XSpace:", b"train_step" in session.stop(), type(session).__name__, isinstance(session, _profiler.ProfilerSession))
    try:
        session.stop()
    except Exception:
        say("stopped twice:", traceback.format_exc().count('File "'))
    try:
        _profiler.ProfilerSession("no options")
    except TypeError as error:
        # What the options are called is in the message; where it came from is this file alone.
        say("a wrong call:", traceback.format_exc().count('File "'), str(error).count("__init__"))


def look():
    """What a program can see of itself, but for addresses."""
    say(train(calls))
    say([thread.name for thread in threading.enumerate()], threading.active_count(), len(sys._current_frames()))
    say(sorted(vars(sys.modules["__main__"])))
    say(len(sys.modules), [name for name in sys.modules if "prof" in name])
    say(sys.flags, sys.getswitchinterval(), sys.getprofile(), sys.gettrace(), signal.getsignal(signal.SIGUSR1))


def fork():
    say(train(calls))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        from jaxlib import _profiler

        options = _profiler.ProfileOptions()
        options.raise_error_on_start_failure = True
        os.write(writer, b"1" if len(_profiler.ProfilerSession(options).stop()) > 0 else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    say("the child's own session:", os.read(reader, 9))
    say(subprocess.run(["true"]).returncode, train(calls))


if kind == "train":
    say(train(calls))
elif kind == "kinds":
    w, x = jnp.ones((64, 8)), jnp.ones((16, 64))
    say(train(calls), float(scanned(w, x)[1][-1]).hex(), float(mapped(jnp.ones((2, 8))).sum()).hex(), float(jax.grad(loss)(w, x).sum()).hex())
elif kind == "import":
    sys.exit(calls)
elif kind == "talk":
    talk()
elif kind == "own":
    own_profiler()
elif kind == "look":
    look()
elif kind == "fork":
    fork()
elif kind == "steps":
    for i in range(calls):
        with jax.profiler.StepTraceAnnotation("part", step_num=100 + i):
            train(1)
    say("done")
elif kind == "raise":
    say(train(calls))
    raise RuntimeError("the program's own")
elif kind == "exit":
    say(train(calls))
    os._exit(5)
elif kind == "kill":
    say(train(calls))
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
elif kind == "thread":
    # It goes on while Python waits for it at the end.
    threading.Thread(target=lambda: (train(calls), say("the thread's end"))).start()
elif kind == "server":
    say(train(calls))
    import socket

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    jax.profiler.start_server(port)
    say(train(calls))
    jax.profiler.stop_server()
