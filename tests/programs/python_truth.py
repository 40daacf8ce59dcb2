# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Rests in many ways of calling, each on a thread of its own. Prints what Python itself calls the stack of each: a line of
JSON with the thread and its frames (file, line, function), innermost first."""

import asyncio
import functools
import json
import os
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True
import sampler_looks  # noqa: E402

LOOKS = 20
gate = threading.Lock()
told = []


def rest(*_):
    told.append((threading.get_native_id(), traceback.extract_stack())), gate.acquire(), gate.release()
    return 0


def deep(n):
    if n:
        return (0 +
                deep(n - 1))
    return rest()


def yields():
    yield 1
    rest()
    yield 2


def delegates():
    yield from yields()


async def leaf():
    rest()


async def chain(n):
    await (chain(n - 1) if n else leaf())


async def counts():
    rest()
    yield 1


async def iterates():
    async for _ in counts():
        pass


class Thing:
    def __getattr__(self, name):
        return rest()

    @property
    def slow(self):
        return rest()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        rest()

    def __lt__(self, other):
        return bool(rest())

    def method(self):
        return Thing.static()

    @staticmethod
    def static():
        return rest()


def decorated(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(
            *arguments,
        )
    return inner


@decorated
def wrapped():
    rest()


def handles():
    try:
        raise ValueError
    except ValueError:
        rest()
    finally:
        del Thing.unused


def leaves():
    with Thing():
        pass


def makes_a_class():
    class Body:
        value = rest()
    return Body


def imports():
    import python_truth_imported
    return python_truth_imported


def executes():
    exec(compile("def made():\n\n    rest()\n\nmade()\n", "made.py", "exec"), {"rest": rest})


def compiled(source):
    return eval(source, {"rest": rest})


Thing.unused = 1
WAYS = [
    functools.partial(deep, 12),
    lambda: sum(delegates()),
    lambda: [rest() for _ in range(1)],
    lambda: list(rest() for _ in range(1)),
    lambda: asyncio.run(chain(3)),
    lambda: asyncio.run(iterates()),
    lambda: sorted([1], key=rest),
    lambda: sorted([Thing(), Thing()]),
    lambda: list(map(lambda _: rest(), [1])),
    lambda: Thing().missing,
    lambda: Thing().slow,
    lambda: Thing().method(),
    lambda: functools.reduce(lambda a, b: rest(), [1, 2]),
    leaves, wrapped, handles, makes_a_class, imports, executes,
    functools.partial(compiled, "[\n\n\n rest()]"),
]

if __name__ == "__main__":
    folder = sys.argv[1]
    with open(os.path.join(folder, "python_truth_imported.py"), "w") as file:
        file.write("import __main__\n\n__main__.rest()\n")
    sys.path.insert(0, folder)
    threads = [threading.Thread(target=way) for way in WAYS]
    gate.acquire()
    for thread in threads:
        thread.start()
    while len(told) < len(threads):
        time.sleep(0.01)
    sampler_looks.await_looks(LOOKS)
    gate.release()
    for thread in threads:
        thread.join()
    for thread, stack in told:
        print(json.dumps([thread, [[frame.filename, frame.lineno, frame.name] for frame in reversed(stack)]]))
