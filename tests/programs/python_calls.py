# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Calls of functions whose number is known. The first argument names what is called. With --cprofile it prints what
cProfile counts instead."""

import gc

pauses = []


def note_pause(phase, info):
    if phase == "stop":
        pauses.append([info["generation"], info["collected"], info["uncollectable"]])


if __name__ == "__main__":
    gc.callbacks.append(note_pause)

import json
import sys
import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def innermost():
    return 1


def middle():
    return innermost() + innermost()


def outermost():
    return middle() + innermost()


def recursion():
    fib(12)
    for _ in range(3):
        outermost()


def counted(n):
    for i in range(n):
        yield i


def delegated(n):
    yield from counted(n)


def patient():
    while True:
        try:
            yield innermost()
        except KeyError:
            yield innermost()


def generators():
    sum(counted(5))
    sum(delegated(4))
    left = counted(3)
    next(left)
    left.close()
    told = patient()
    next(told)
    told.throw(KeyError())
    told.close()
    list(innermost() for _ in range(3))


def raises():
    raise ValueError


def passes_on():
    innermost()
    raises()


def deep(n):
    if n == 0:
        raises()
    deep(n - 1)


def fails_late(n):
    yield n
    raise ValueError


class Closing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        innermost()
        return True


def exceptions():
    for _ in range(4):
        try:
            passes_on()
        except ValueError:
            innermost()
    with Closing():
        deep(20)
    try:
        list(fails_late(1))
    except ValueError:
        innermost()
    innermost()


async def leaf(n):
    import asyncio
    await asyncio.sleep(0)
    return innermost() + n


async def branch():
    import asyncio
    return sum(await asyncio.gather(leaf(1), leaf(2), leaf(3)))


def coroutines():
    import asyncio
    asyncio.run(branch())


def work(n):
    for _ in range(n):
        outermost()


def threads():
    import _thread
    done = _thread.allocate_lock()
    done.acquire()

    def bare():
        work(7)
        done.release()

    several = [threading.Thread(target=work, args=(10 + i,)) for i in range(4)]
    _thread.start_new_thread(bare, ())
    for each in several:
        each.start()
    for each in several:
        each.join()
    done.acquire()


class Knot:
    def __init__(self):
        self.own = self


def garbage():
    for _ in range(5):
        for _ in range(300):
            Knot()
    gc.collect(0)
    for _ in range(5000):
        Knot()
    gc.collect()
    gc.collect(1)


def everything():
    recursion()
    generators()
    exceptions()
    coroutines()


def cprofile(scenario):
    import cProfile
    profile = cProfile.Profile()
    profile.enable()
    scenario()
    profile.disable()
    counts = {}
    for entry in profile.getstats():
        if not isinstance(entry.code, str) and entry.code.co_filename == __file__:
            counts[f"{entry.code.co_firstlineno}"] = counts.get(f"{entry.code.co_firstlineno}", 0) + entry.callcount
    return counts


def tools():
    """What Python has of tools."""
    found = [sys.getprofile() is not None, sys.gettrace() is not None, len(gc.callbacks)]
    if hasattr(sys, "monitoring"):
        found += [sys.monitoring.get_tool(i) for i in range(6)]
    return found


def listen():
    """Does what it is told, a line each."""
    import os
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "call":
            for _ in range(int(rest)):
                innermost()
        elif word == "profile":
            events = []
            sys.setprofile(lambda frame, event, arg: events.append(event))
        elif word == "ids":
            for each in (3, 4):
                sys.monitoring.use_tool_id(each, "theirs")
        elif word == "collect":
            gc.collect()
        elif word == "thread":
            each = threading.Thread(target=work, args=(int(rest),))
            each.start()
            each.join()
        elif word == "fork":
            child = os.fork()
            if child == 0:
                for _ in range(int(rest)):
                    middle()
                sys.exit(0)
            os.waitpid(child, 0)
        print(json.dumps(tools()), flush=True)


def main():
    name = sys.argv[1]
    if "--cprofile" in sys.argv:
        print(json.dumps(cprofile(globals()[name])))
        return
    globals()[name]()
    gc.disable()
    if name == "garbage":
        print(json.dumps(pauses))
    gc.callbacks.remove(note_pause)


if __name__ == "__main__":
    main()
