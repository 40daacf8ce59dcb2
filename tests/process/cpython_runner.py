# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Runs tests of CPython's own suite in the interpreter that executes this file, and writes what became of each.

    cpython_runner.py OUTCOMES LIMIT_S MODULE [SELECTION]

OUTCOMES gets one JSON line when a test begins and one when it has ended, so that a run that hangs or dies says where. A
test that takes longer than LIMIT_S ends the run (status 1) with every thread's traceback on stderr. SELECTION is a file of test ids, one a
line; without it all tests of the module are run, in its order. No resource (network, much time or memory) is granted,
as in `python -m test`. Called by test_real_cpython.py and never with gpuprof's knowledge.
"""

import faulthandler
import json
import os
import sys
import threading
import unittest

from test import support


class Result(unittest.TestResult):
    def __init__(self, outcomes, limit):
        super().__init__()
        self.outcomes = outcomes
        self.limit = limit
        self.outcome = None

    def write(self, **row):
        self.outcomes.write(json.dumps(row) + "\n")
        self.outcomes.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "passed"
        self.write(begins=test.id())
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        self.write(test=test.id(), outcome=self.outcome)
        super().stopTest(test)

    def fail(self, what, test, err):
        self.outcome = what
        text = self._exc_info_to_string(err, test)
        print(f"{what}: {test.id()}\n{text}", file=sys.stderr, flush=True)
        if not isinstance(test, unittest.TestCase):  # a fixture of a class or module
            self.write(test=test.id(), outcome=what)

    def addError(self, test, err):
        super().addError(test, err)
        self.fail("error", test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail("failed", test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.fail("failed", test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skipped"
        if not isinstance(test, unittest.TestCase):
            self.write(test=test.id(), outcome="skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.outcome = "expected failure"


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main():
    outcomes, limit, module = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    support.use_resources = []
    threading.excepthook = threading.__excepthook__
    faulthandler.enable()
    tests = list(flat(unittest.defaultTestLoader.loadTestsFromName(module)))
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="utf-8") as file:
            wanted = {line.strip() for line in file}
        tests = [test for test in tests if test.id() in wanted]
    with open(outcomes, "a", encoding="utf-8") as file:
        result = Result(file, limit)
        if os.environ.get("CPYTHON_RUNNER_LIST"):
            for test in tests:
                result.write(lists=test.id())
            return 0
        unittest.TestSuite(tests).run(result)
        result.write(done=len(tests))
    return 0 if result.wasSuccessful() else 2


if __name__ == "__main__":
    sys.exit(main())
