# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Sentences of the pages that say what gpuprof does not have or has not done, and what makes each of them false.

A row is a page, words of it, and a function that returns why the words are false, or nothing."""

import re

# Words that say so. A sentence with such words needs a row.
WORDS = re.compile(r"\bnot yet\b|\byet\b[.|]|\b(?:recorded|measured|tested|supported|done|known) yet\b|\bnot measured\b|\bnot been measured\b|\bnot tested\b"
                   r"|\bhas not run\b|\bThere is no\b(?! [a-z]+ (?:test|pass|verb|rule)\b)|\bis not supported\b|\bare not recorded\b")


def exists(*patterns):
    """The words are false if there are such files."""
    return lambda root: next((f"{path.relative_to(root)} exists" for pattern in patterns for path in root.glob(pattern)), None)


def says(file, pattern):
    """The words are false if a file has this."""
    def look(root):
        found = re.search(pattern, (root / file).read_text(encoding="utf-8"), re.M)
        return found and f"{file} has '{found[0]}'"
    return look


def does_not_say(file, pattern):
    """The words are false if a file does not have this any more."""
    def look(root):
        return None if re.search(pattern, (root / file).read_text(encoding="utf-8"), re.M) else f"{file} has no '{pattern}'"
    return look


PM_CLOCKS = does_not_say("tests/gpu/README.md", r"PM sampling changes no clock of the GPU")

ABSENT = [
    ("docs/capturing.md", "What the subscription costs between captures was not measured on a real GPU",
     does_not_say("tests/gpu/README.md", r"The subscription of `--capture=cuda-profiler` costs")),
    ("docs/limits.md", "JAX's marks are not recorded on GPUs", does_not_say("tracer/jax/device_tracer.cc", r"device_tracer|words")),
    ("docs/limits.md", "but has not run there", exists("tests/golden/traces/aarch64*")),
    ("docs/limits.md", "of PyTorch are not recorded", says("proto/record.h", r"kAsyncRange")),
    ("docs/gpu.md", "This has not been measured yet", PM_CLOCKS),
    ("docs/advice.md", "the calls of the store, which are not recorded", says("proto/sources.h", r'"(?:c10d|store)"')),
    ("docs/advice.md", "the width and generation of the PCIe link, which are not recorded", says("launcher/gpu/counters.cc", r"PcieLink")),
    ("docs/advice.md", "swaps of pages, which are not recorded", says("proto/schema.h", r'"swap')),
    ("docs/advice.md", "these settings are not recorded", says("proto/bundle.proto", r"persistence|governor|numa")),
    ("docs/advice.md", "writes of files are not recorded", says("proto/record.h", r"kFileWrite")),
    ("docs/device-time.md", "dependencies between threads are not recorded", says("analysis/derived/dependency_graph.h", r"[Ww]akes|[Hh]and-?over")),
    ("docs/recording.md", "Reads of pipes, sockets, terminals and character devices are not recorded", does_not_say("inject/hooks/files.cc", r"S_ISREG")),
    ("docs/recording.md", "such as the stride of a convolution, are not recorded", says("tracer/torch/input_shapes.cc", r"Concrete Inputs")),
    ("docs/recording.md", "Functions written in C are not recorded", says("tracer/python_calls/monitoring.cc", r'"C_RETURN"')),
    ("docs/recording.md", "Calls that were running before a capture began are not recorded",
     does_not_say("tracer/python_calls/call_recorder.cc", r"CountUp\(&g_unbegun\)")),
    ("docs/recording.md", "its calls are not recorded before 3.12", does_not_say("tracer/python_calls/profile_function.cc", r"\+\+foreign")),
    ("docs/limits.md", "Threads of native code that enter Python for a moment are not recorded", says("inject/hook_list.h", r"PyGILState_Ensure")),
    ("docs/limits.md", "the inner ones are not recorded", does_not_say("tracer/python_calls/call_recorder.cc", r"kMostOpen = 1200;")),
]

# Sentences about the world or about one recording, which no change of gpuprof makes false.
ALWAYS = [
    "There is no lock that a blocked thread can hold",
    "a process that has not recorded yet",
    "rules that do not exist yet",
]
