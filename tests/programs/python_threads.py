# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Threads of Python with one task each. Prints which line each function's marked statement is on, then ends.
usage: python_threads.py ROUNDS"""

import sys
import threading
import time

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


def main(rounds):
    worker = Worker()
    event = threading.Event()
    rest = threading.Thread(target=worker.rest, args=(event,))
    spin = threading.Thread(target=worker.deep, args=(9, 0.3 * rounds))
    rest.start()
    spin.start()
    worker.spin(time.thread_time() + 0.3 * rounds)
    spin.join()
    nap(0.3 * rounds)
    event.set()
    rest.join()
    print(LINES["rest"] + 1, LINES["nap"] + 1)


main(int(sys.argv[1]))
