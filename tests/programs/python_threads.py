# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Threads of Python with one task each. Prints which line each function's marked statement is on, then ends.
usage: python_threads.py ROUNDS [FILE]: the file gets the length of the nap in seconds. With a file it is sampled, or runs alone."""

import sys
import threading
import time

sys.dont_write_bytecode = True
import sampler_looks  # noqa: E402

LINES = {}


def here(name):
    LINES[name] = sys._getframe(1).f_lineno


class Worker:
    def rest(self, event):
        here("rest")
        event.wait()  # the line after the mark

    def spin(self, until):
        total = 0
        while time.thread_time() < until:
            for i in range(200):
                total += i
        return total

    def deep(self, depth, until):
        if depth == 0:
            return self.spin(until)
        return self.deep(depth - 1, until)


def nap(seconds):
    here("nap")
    time.sleep(seconds)  # the line after the mark


def main(rounds, file=None):
    # The sampler may come so late to the end of the nap, and that must be a small part of the nap.
    seconds = max(0.3 * rounds, 30 * sampler_looks.worst_delay())
    if file is not None:
        sampler_looks.await_looks(1)
    worker = Worker()
    event = threading.Event()
    rest = threading.Thread(target=worker.rest, args=(event,))
    spin = threading.Thread(target=worker.deep, args=(9, 0.3 * rounds))
    rest.start()
    spin.start()
    worker.spin(time.thread_time() + 0.3 * rounds)
    spin.join()
    before = time.monotonic()
    nap(seconds)
    slept = time.monotonic() - before
    event.set()
    rest.join()
    print(LINES["rest"] + 1, LINES["nap"] + 1)
    if file is not None:
        with open(file, "w") as out:
            out.write(str(slept))


main(int(sys.argv[1]), *sys.argv[2:])
