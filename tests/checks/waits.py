# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Tests in Python wait for what must happen, and guess no time for it.

On a busy machine everything takes ten times as long. So tests/waiting.py alone sleeps and has a limit, and ctest's limits are
those of cmake/GpuprofOptions.cmake. This check refuses other ones:

- `time.sleep`, and reading a clock to compare it: `time.monotonic()`, `time.perf_counter()`;
- a number as a time limit: `timeout=60`, `settimeout(5)`, TIMEOUT 600.

What a recorded program does by itself is no wait of a test: programs are in files of their own, or texts."""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["process", "viewer", "fake_gpu", "frameworks", "golden"]
CLOCKS = {"sleep", "monotonic", "perf_counter"}
HELP = "use wait_until or LIMIT_S of tests/waiting.py; stay() where the time itself is the subject"


def is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def offences(source):
    """Line and words of each guess in a test."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "time" and function.attr in CLOCKS:
            yield node.lineno, f"time.{function.attr}()"
        if isinstance(function, ast.Attribute) and function.attr == "settimeout" and node.args and is_number(node.args[0]):
            yield node.lineno, f"settimeout({node.args[0].value})"
        for keyword in node.keywords:
            if keyword.arg in ("timeout", "limit") and is_number(keyword.value):
                yield node.lineno, f"{keyword.arg}={keyword.value.value}"


def main():
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / "tests" / folder).rglob("*.py")):
            if not path.name.endswith("_program.py"):  # what is recorded
                found += [f"{path.relative_to(ROOT)}:{line}: {words}: {HELP}" for line, words in offences(path.read_text(encoding="utf-8"))]
    for path in sorted([*(ROOT / "tests").rglob("CMakeLists.txt"), *(ROOT / "tests").glob("*.cmake"), *(ROOT / "cmake").glob("*.cmake")]):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"\bTIMEOUT +\d", line):
                found.append(f"{path.relative_to(ROOT)}:{number}: a limit of its own: use GPUPROF_TEST_LIMIT_S")
    assert list(offences("import time\ntime.sleep(1)\nrun(x, timeout=5)\nrun(x, timeout=LIMIT_S)\n")) == [(2, "time.sleep()"), (3, "timeout=5")]
    print("\n".join(found) or "no test guesses a time")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
