# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Which constant of the source a figure of the pages is. claims.py compares the two."""

import re

# Page, words with the figure in a group, file, and the constant in a group.
FIGURES = [
    ("docs/analysing.md", r"`timeline` in JSON has at most (\d+) moments", "analysis/derived/memory_account.h", r"kMostMemoryPoints = (\d+);"),
    ("docs/limits.md", r"Up to (\d+ MiB) \(`--memory`\)", "proto/contract.h", r'X\(kEnvMemory, "GPUPROF_MEMORY", "([^"]+)"'),
    ("docs/limits.md", r"up to (\d+ MiB) for the rings", "proto/contract.h", r'X\(kEnvRingMemory, "GPUPROF_RING_MEMORY", "([^"]+)"'),
    ("docs/recording.md", r"regular file of at most (\d+ KiB)", "launcher/base/settings_file.cc", r"kMostBytes = ([^;]+);"),
    ("docs/recording.md", r"`--gpu-finish TIME` \| (\w+) ", "inject/settings.cc", r"gpu_finish_ns = ([\d']+);"),
    ("docs/recording.md", r"disk free, at least (\d GiB)", "tracer/disk_room.cc", r"kGiB = ([^;]+);"),
    ("docs/recording.md", r"one sample for every (\d MiB)", "launcher/base/values.cc", r"the default is (\dMiB)"),
    ("docs/recording.md", r"another period, from (\d KiB)", "launcher/base/values.cc", r"bytes < (1024) "),
    ("docs/recording.md", r"KiB to (\d GiB) \|", "launcher/base/values.cc", r"bytes > \(([^)]+)\)"),
    ("docs/recording.md", r"block for (\d+ µs) or longer", "inject/hooks/blocking.cc", r"that is recorded: (\d+ us)"),
    ("docs/recording.md", r"path is cut after ([\d,]+) bytes", "proto/kept_name.h", r"kMostNameBytes = ([^;]+);"),
    ("docs/recording.md", r"after each (\d+ ms) of its processor time", "tracer/samples/native_events.h", r"kNativePeriodNs = ([\d']+);"),
    ("docs/recording.md", r"has the top (\d KiB)", "tracer/samples/native_events.cc", r"kStackBytes = ([^;]+);"),
    ("docs/recording.md", r"or for (two seconds)\. Until then TensorFlow", "inject/tensorflow/level.cc", r"kTimeToWarm = ([\d']+);"),
    ("docs/recording.md", r"worked for (15 s) before", "inject/tensorflow/level.cc", r"kWarmCpu = ([\d']+);"),
    ("docs/recording.md", r"in windows, of up to (5 s)", "tracer/jax/recorder.cc", r"kMostTime = ([^;]+);"),
    ("docs/recording.md", r"and covers ([\d,]+) operations", "tracer/torch/shape_window.h", r"kOpsOfFirstWindow = ([^;]+);"),
    ("docs/recording.md", r"Windows of ([\d,]+) operations follow", "tracer/torch/shape_window.h", r"kOpsOfWindow = ([^;]+);"),
    ("docs/recording.md", r"each opens\s+(2 s) after", "tracer/torch/shape_window.h", r"kWindowPauseNs = ([^;]+);"),
    ("docs/limits.md", r"After (\d+) failures the", "tracer/torch/shape_window.h", r"kMostFailures = ([^;]+);"),
    ("docs/limits.md", r"window is missing: up to (5 s)", "tracer/jax/recorder.cc", r"kMostTime = ([^;]+);"),
    ("docs/limits.md", r"lines of its last (4 s) may be", "tracer/inductor/line_maps.cc", r"kMostPause = ([^;]+);"),
    ("docs/limits.md", r"generated file above (32 MiB) is not", "tracer/inductor/kernel_rows.cc", r"kMostFileBytes = ([^;]+);"),
    ("docs/limits.md", r"capture's end waits (2 s) for", "tracer/python_agent/python_agent.cc", r"kEndLimit = ([^;]+);"),
    ("docs/capturing.md", r"waits for (two seconds) at most", "inject/marked_captures.cc", r"kLimit = ([\d']+);"),
    ("docs/capturing.md", r"in the capture, (half a second) at most", "inject/settings.cc", r"gpu_finish_ns = ([\d']+);"),
    ("docs/capturing.md", r"waits longer, (two minutes) at most", "proto/contract.h", r"kMostGpuFinishNs = ([^;]+);"),
    ("docs/capturing.md", r"half of its steps, and (\d+ ms)", "inject/budget/account.cc", r"kFirstSwitchNs = ([\d']+);"),
    ("docs/capturing.md", r"lasts about (two seconds)", "inject/budget/account.cc", r"kLongestWindowNs = ([\d']+);"),
    ("docs/capturing.md", r"windows of (\d+ ms) are recorded", "inject/budget/account.cc", r"kTimeWindowNs = ([\d']+);"),
    ("docs/capturing.md", r"records, (\d+ ns) each", "inject/budget/account.cc", r"kRecordNs = ([\d']+);"),
    ("docs/gpu.md", r"waits for the GPU, (half a second) by default", "inject/settings.cc", r"gpu_finish_ns = ([\d']+);"),
    ("docs/gpu.md", r"counters of the GPUs every (\d+ ms)", "launcher/base/values.cc", r"period is \w+ to \w+; the default is (\w+)"),
    ("docs/gpu.md", r"The range is (\d+ ms) to", "launcher/base/values.cc", r"the period is (\w+) to"),
    ("docs/gpu.md", r"The range is \d+ ms to (\d minute)", "launcher/base/values.cc", r"the period is \w+ to (\w+);"),
    ("docs/gpu.md", r"PM sampling, every (\d+ us) to", "launcher/base/values.cc", r"takes a sample every (\w+) to"),
    ("docs/gpu.md", r"PM sampling, every \d+ us to (\d s)", "launcher/base/values.cc", r"takes a sample every \w+ to (\w+);"),
    ("docs/gpu.md", r"left CUPTI, (one second) at most", "tracer/cupti/capture.cc", r"kReadLimit = (1000 \* kMillisecond);"),
    ("docs/report.md", r"files whole, up to (\d+ MiB)", "viewer/src/engine/files.ts", r"MOST_KEPT = ([^;]+);"),
    ("docs/report.md", r"take at most (\d GiB)", "launcher/serve/import_cache.h", r"kMostBytes = ([^;]+);"),
    ("docs/report.md", r"page holds at most (\d+ MiB)", "launcher/verbs/report.cc", r'max_size_ = "([^"]+)"'),
    ("docs/report.md", r"At most (four) stay open", "launcher/serve/served_folder.cc", r"kMostOpened = (\d+);"),
    ("docs/report.md", r"more than (\d+ million) pieces", "analysis/model/work_summary.h", r"kMostWorkRows = ([\d']+);"),
    ("docs/report.md", r"with more than (\d+ million) rows", "launcher/serve/large_results.h", r"most_recording_rows = ([\d']+);"),
    ("docs/report.md", r"than (\d+ MB) for their rows", "launcher/serve/large_results.h", r"most_bytes = ([\d']+);"),
    ("docs/report.md", r"keeps at most (\d+ MiB) of rows", "analysis/timeline/timeline.h", r"row_limit_bytes = ([^;]+);"),
    ("docs/report.md", r"of more than (\d+ million) rows are found", "analysis/timeline/page_timeline.h", r"kMostRowsForSteps = ([\d']+);"),
    ("docs/device-time.md", r"both sides again, ([\d,]+) times", "analysis/steps/bootstrap.cc", r"kDraws = (\d+);"),
    ("docs/device-time.md", r"durations of at most ([\d,]+) steps", "analysis/steps/bootstrap.cc", r"kMostSamples = (\d+);"),
    ("docs/device-time.md", r"not among the (\d+) with most time", "analysis/compare/compare.cc", r"kRowsWithInterval = (\d+);"),
    ("docs/analysing.md", r"waits of (\d+ ms) or longer", "analysis/passes/host/wall_time.cc", r"kLongWaitNs = ([\d']+);"),
    ("docs/analysing.md", r"Buffers below (\d+ KiB) and", "analysis/passes/memory_viewer.cc", r"kSmallBufferBytes = ([^,]+),"),
    ("docs/analysing.md", r"JSON has at most ([\d,]+) buffers", "analysis/passes/memory_viewer.cc", r"kMostBufferRows = ([\d']+),"),
    ("docs/analysing.md", r"buffers and ([\d,]+) moments", "analysis/passes/memory_viewer.cc", r"kMostHeapMoments = ([\d']+);"),
    ("docs/analysing.md", r"At most ([\d,]+) operations are shown", "analysis/passes/graph_viewer.cc", r"kMostGraphNodes = ([\d']+);"),
    ("docs/analysing.md", r"others may be; (\d) by default", "analysis/passes/graph_viewer.cc", r"kUsualDepth = (\d);"),
    ("docs/analysing.md", r"or one of more than (\d+ MiB)", "analysis/import/xspace_reader.cc", r"kMostModuleBytes = ([^;]+);"),
    ("SECURITY.md", r"A request has (\d+ MiB) at most", "launcher/agent/http2_session.h", r"kMostMessageBytes = ([^;]+);"),
    ("SECURITY.md", r"its headers (\d+ KiB)", "launcher/agent/http2_session.h", r"kMostHeaderBytes = ([^;]+);"),
    ("SECURITY.md", r"An answer has (\d+ GiB)", "launcher/agent/profiler_service.h", r"kMostAnswerBytes = ([^;]+);"),
    ("README.md", r"glibc ([\d.]+) or newer", "tests/checks/injected_objects.py", r"OLDEST_GLIBC = \(([^)]+)\)"),
    ("docs/limits.md", r"glibc ([\d.]+) or newer", "tests/checks/injected_objects.py", r"OLDEST_GLIBC = \(([^)]+)\)"),
    ("CONTRIBUTING.md", r"glibc symbol is younger than ([\d.]+\d)", "tests/checks/injected_objects.py", r"OLDEST_GLIBC = \(([^)]+)\)"),
    ("CONTRIBUTING.md", r"CMake ([\d.]+) or newer", "scripts/setup", r"CMAKE_MINIMUM=([\d.]+)"),
    ("CONTRIBUTING.md", r"libunwind ([\d.]+) or newer", "scripts/setup", r"LIBUNWIND_MINIMUM=([\d.]+)"),
    ("CONTRIBUTING.md", r"Node.js ([\d.]+) or newer", "scripts/setup", r"NODE_MINIMUM=([\d.]+)"),
    ("docs/differences-from-hta.md", r"HTA is version ([\d.]+\d)", "scripts/setup", r"HTA_VERSION=([\d.]+)"),
    ("docs/differences-from-xprof.md", r"what xprof ([\d.]+\d) prints", "scripts/setup", r"xprof==([\d.]+)"),
]

# Sizes and times without a constant: measured, examples, or of something else.
NO_CONSTANT = {
    "docs/report.md": ["adds about 1.6 MB to each report", "gives one page: 4 GiB"],
    "docs/limits.md": [
        "about 1 MiB of addresses more while dormant, and 20 MiB more while capturing", "a ring file of some 28 KiB",
        "Below 25 MiB `mlockall`", "some 20 ms after its last own thread",
    ],
    "docs/recording.md": [
        "12.4 s", "`65536`, `512KiB`, `32MiB` or `1GiB`", "`20us`, `500ms`, `5s`, `1.5m` or `2h`", "2 to 3 ms later", "10 to 20 ms",
        "the last 0.5 to 1.5 s", "JAX needs some 2 µs for each mark then", "takes 0.3 to 1 us",
    ],
    "docs/capturing.md": [
        "from 30 s after the start |", "from 30 s after the start, for 10 s", "this takes about 2 ms, the first time 10 ms", "about 20 ms later",
        "waits meanwhile too, one second at most",
    ],
    "docs/gpu.md": ["about the first 20 ms"],
}

UNITS = {"ns": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "minute": 60 * 10**9,
         "million": 10**6, "MB": 10**6}
IN_WORDS = {"half a second": 5 * 10**8, "one second": 10**9, "two seconds": 2 * 10**9, "two minutes": 120 * 10**9, "four": 4}


def value_of(text):
    """The value of a figure or of a constant: bytes, nanoseconds or a plain number; of a version its parts."""
    if text in IN_WORDS:
        return IN_WORDS[text]
    if match := re.fullmatch(r"([\d.,]+) ?([A-Za-zµ]+)", text):
        if match[2] in UNITS:
            return round(float(match[1].replace(",", "")) * UNITS[match[2]])
    if re.fullmatch(r"\d+(\.\d+)+", text) or re.fullmatch(r"\d+, \d+", text):
        return tuple(map(int, re.findall(r"\d+", text)))
    plain = re.sub(r"uint64_t\{(\d+)\}|(\d)(?:ull|u)\b", lambda match: match[1] or match[2], text.replace("'", "").replace(",", ""))
    plain = plain.replace("kMillisecond", str(10**6)).replace("kSecond", str(10**9))
    assert re.fullmatch(r"[\d *<]+", plain), f"'{text}' is no figure"
    return eval(plain)  # pylint: disable=eval-used  # digits, products and shifts alone
