# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Small habits, kept by machine: licence lines, header guards, no TODO without an issue, files that stay small, readers
that open files by one function.

The counts in RATCHET may only fall: lower them when the check says so.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".h", ".cc", ".c", ".py", ".proto", ".txt", ".sh"}
CPP = {".h", ".cc", ".c"}
LONG_FILE = 600

# Readers open files by codec::OpenRegular alone, and map none. These files write, or read what the kernel tells.
OPENERS = {"proto/codec/" + name for name in ("kept_folder.cc", "open_regular.cc", "process_alive.cc", "trace_writer.cc")}
OPENERS.add("analysis/base/memory_limit.cc")
OPENS = re.compile(r"(?<![\w.>])(?:open|openat|fopen|mmap|std::ifstream \w+)\(")

RATCHET = {"files over 600 lines": 0}


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def main():
    found, long_files = [], []
    for path in tracked():
        relative = path.relative_to(ROOT).as_posix()
        if path.suffix not in SOURCES or relative.startswith("tests/golden/"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        if path.suffix != ".txt" or path.name == "CMakeLists.txt":
            if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:5]):
                found.append(f"{relative}: the two SPDX lines are missing")
        if path.suffix == ".h" and "#pragma once" not in text:
            found.append(f"{relative}: #pragma once is missing")
        if path.suffix == ".h" and re.search(r"^\s*using namespace", text, re.M):
            found.append(f"{relative}: using namespace in a header")
        if relative != "tests/checks/source_hygiene.py":
            for number, line in enumerate(lines, 1):
                if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line):
                    found.append(f"{relative}:{number}: a TODO names an issue: TODO(#12)")
        if path.suffix in CPP and relative.startswith(("analysis/", "proto/codec/")) and relative not in OPENERS:
            for number, line in enumerate(lines, 1):
                if OPENS.search(line.partition("//")[0]):
                    found.append(f"{relative}:{number}: a reader opens files by codec::OpenRegular")
        if path.suffix in CPP and len(lines) > LONG_FILE:
            long_files.append(f"{relative} ({len(lines)})")
    allowed = RATCHET["files over 600 lines"]
    if len(long_files) > allowed:
        found.append(f"{len(long_files)} files over {LONG_FILE} lines, {allowed} allowed: {', '.join(long_files)}")
    if len(long_files) < allowed:
        found.append(f"only {len(long_files)} files over {LONG_FILE} lines: lower RATCHET")
    print("\n".join(found) or "sources are tidy")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
