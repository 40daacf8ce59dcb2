# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Marks itself with Intel's ITT API, by Intel's own binding, and says what it did: a JSON line a range, with the moments (of
CLOCK_MONOTONIC) between which its begin and its end were made.

    itt_program.py mix | again | late | steps | storm ROUNDS
"""

import contextlib
import json
import sys
import threading
import time

import ittapi


@contextlib.contextmanager
def told(region, kind, domain, name, depth=0):
    row = {"tid": threading.get_native_id(), "kind": kind, "domain": domain, "name": name, "depth": depth}
    before = time.monotonic_ns()
    region.begin()
    row["begin"] = [before, time.monotonic_ns()]
    yield
    before = time.monotonic_ns()
    region.end()
    row["end"] = [before, time.monotonic_ns()]
    print(json.dumps(row), flush=True)


def task(name, domain, depth=0):
    return told(ittapi.task(name, domain), "push_pop", domain, name, depth)


def tasks():
    with task("outer", "library"):
        for _ in range(3):
            with task("inner", "library", 1), task("of another domain", "other"):
                time.sleep(0.001)
    with task("outer", "library"):
        pass


def mix():
    ittapi.thread_set_name("the first thread")
    tasks()
    # One begins inside of the other and ends behind it.
    first, second = (ittapi.overlapped_task("crossing", "library") for _ in range(2))
    with contextlib.ExitStack() as stack:
        stack.enter_context(told(first, "start_end", "library", "crossing"))
        with told(second, "start_end", "library", "crossing"):
            pass
    event = ittapi.event("an event")
    for _ in range(2):
        with told(event, "start_end", "", "an event"):
            pass
    worker = threading.Thread(target=tasks)
    worker.start()
    worker.join()


def again():
    """What begins again before its end goes on."""
    event, overlapped = ittapi.event("an event"), ittapi.overlapped_task("overlapped", "library")
    for region in (event, overlapped):
        for _ in range(3):
            region.begin()
        region.end()
    ittapi.event("without an end").begin()


def late():
    """Handles made, and a task begun, before anything is recorded."""
    before = ittapi.task("made before", "library")
    begun = ittapi.task("begun before", "library")
    begun.begin()
    print("ready", flush=True)
    sys.stdin.readline()
    with told(before, "push_pop", "library", "made before"):
        pass
    begun.end()
    print("done", flush=True)
    sys.stdin.readline()


def steps():
    """Six steps, in turn a task and an overlapped task, with a task of the same name inside."""
    for number in range(1, 7):
        step = f"step {number}"
        outer = task(step, "library") if number % 2 else told(ittapi.overlapped_task(step, "library"), "start_end", "library", step)
        with outer, task("step", "library", number % 2):
            pass


def storm(rounds):
    def work(number):
        for i in range(rounds):
            with ittapi.task(f"name {i % 50}", f"domain {number % 2}"), ittapi.task("inside", f"domain {number % 2}"):
                pass

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    {"mix": mix, "again": again, "late": late, "steps": steps, "storm": lambda: storm(int(sys.argv[2]))}[sys.argv[1]]()
