# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads every #include and refuses those that go against the arrows of ARCHITECTURE.md. There are no exceptions."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)

# room -> predicate on the included path (repository-relative, quoted includes).
ALLOWED = {
    "proto": lambda p: p.startswith("proto/"),
    "inject": lambda p: p.startswith(("inject/", "proto/")) and not p.startswith("proto/codec/") or p == "tracer/tracer.h",
    "tracer": lambda p: p.startswith(("tracer/", "proto/")),
    "analysis": lambda p: p.startswith(("analysis/", "proto/")),
    "launcher": lambda p: p.startswith(("launcher/", "proto/")) or p in ("analysis/analysis.h", "analysis/passes/page_need.h", "analysis/timeline/page_timeline.h", "analysis/query/query.h", "analysis/query/operation_table.h", "analysis/export/tool_formats.h"),
    "examples": lambda p: False,
}
# Folders of a room with arrows of their own: folder -> what it may include, and who may include it.
FOLDERS = {
    "analysis/xprof": (("analysis/xprof/", "analysis/base/", "analysis/import/", "analysis/hlo/", "analysis/analysis.h"), ("analysis/xprof/",)),
    "analysis/stragglers": (("analysis/stragglers/", "analysis/steps/interval.h", "analysis/analysis.h"), ("analysis/stragglers/", "analysis/passes/", "analysis/query/")),
    "analysis/timeline": (("analysis/timeline/", "analysis/base/", "analysis/model/", "analysis/derived/", "analysis/steps/", "analysis/symbols/", "analysis/analysis.h"), ("analysis/timeline/", "analysis/wasm/")),
}
# Within launcher/: what stands below includes nothing of what stands above.
LOWER = {
    "launcher/base": ("launcher/base/",),
    "launcher/reading": ("launcher/base/", "launcher/reading/"),
    "launcher/gpu": ("launcher/base/", "launcher/gpu/", "launcher/record/"),
    "launcher/serve": ("launcher/base/", "launcher/control/", "launcher/reading/", "launcher/record/", "launcher/serve/"),
    "launcher/mcp": ("launcher/base/", "launcher/reading/", "launcher/record/", "launcher/serve/", "launcher/mcp/"),
}
# Within analysis/: what a folder includes of the folders that stand above the model. A name with an ending is one header.
# Folders below the passes include none of them. `registry` is the table of all passes, and knows their words; render.cc reads it.
ABOVE = ("analysis/passes/", "analysis/advice/", "analysis/compare/", "analysis/render/", "analysis/export/", "analysis/dump/", "analysis/query/", "analysis/arrow/")
QUESTION = tuple(f"analysis/passes/{name}.h" for name in ("context", "session", "passes", "main_process", "rows", "kept_rows", "critical_path", "device_memory"))
PARTS = ("analysis/passes/kernels/", "analysis/passes/memory/", "analysis/passes/device/", "analysis/passes/host/", "analysis/passes/recorder/", "analysis/passes/job/")
STACKS = "analysis/passes/host/stack_frames.h"
FOUND = ("analysis/advice/finding.h", "analysis/advice/rules/rules.h")
INSIDE = {
    "analysis/passes/kernels": QUESTION + PARTS[:1],
    "analysis/passes/memory": QUESTION + PARTS[1:2],
    "analysis/passes/device": QUESTION + (PARTS[0], PARTS[2]),
    "analysis/passes/host": QUESTION + PARTS[1:4],
    "analysis/passes/recorder": QUESTION + PARTS[4:5],
    "analysis/passes/job": QUESTION + (PARTS[2], PARTS[5]),
    "analysis/passes": ("analysis/passes/", "analysis/advice/"),
    "analysis/advice": ("analysis/advice/rule_", "analysis/advice/finding.h", "analysis/advice/thresholds.h"),
    "analysis/advice/facts": QUESTION + PARTS + ("analysis/advice/rule_", "analysis/advice/thresholds.h", "analysis/advice/facts/"),
    "analysis/advice/rules": (STACKS, "analysis/advice/"),
    "analysis/compare": ("analysis/passes/", "analysis/compare/"),
    "analysis/render": (STACKS, *FOUND, "analysis/render/"),
    "analysis/export": ("analysis/passes/", "analysis/render/", "analysis/query/", "analysis/export/", "analysis/arrow/arrow_export.h"),
    "analysis/query": ("analysis/passes/registry.h", "analysis/passes/context.h", "analysis/passes/session.h", "analysis/export/export_window.h", "analysis/export/tool_formats.h", "analysis/passes/straggler_rows.h", "analysis/render/table.h", "analysis/render/csv_text.h", "analysis/query/"),
    "analysis/arrow": ("analysis/query/", "analysis/arrow/"),
    "analysis/dump": ("analysis/passes/", "analysis/render/", "analysis/dump/"),
    "analysis/wasm": ABOVE,
}
ANY = ("analysis/passes/registry.", "analysis/render/render.cc")
ROOMS = ("proto", "inject", "tracer", "analysis", "launcher", "viewer", "deploy", "examples", "tests")

# What is found comes before what is printed: these folders know no message of a result.
BELOW_RESULTS = tuple(f"analysis/{folder}/" for folder in ("base", "read", "import", "hlo", "model", "symbols", "derived", "steps", "stragglers"))

# Third-party header -> the only folders that may include it (tests may reach everything).
CONFINED = [
    (re.compile(r"^libunwind.*\.h$"), ("tracer/stack/", "launcher/attach/")),
    (re.compile(r"^zstd.*\.h$|^zdict\.h$"), ("proto/codec/",)),
    (re.compile(r"^google/protobuf/|\.pb\.h$"), ("analysis/", "launcher/", "proto/codec/")),
    (re.compile(r"^(cupti|cuda|nvml|generated_cuda).*\.h$"), ("tracer/cupti/",)),
    (re.compile(r"^nlohmann/"), ("analysis/", "launcher/")),
    (re.compile(r"^flatbuffers/"), ("analysis/arrow/ipc_writer.cc",)),
    (re.compile(r"^utf8proc\.h$"), ("analysis/base/",)),
    (re.compile(r"^simdjson\.h$"), ("analysis/import/",)),
    (re.compile(r"^zlib\.h$"), ("analysis/import/", "analysis/export/report_text.cc", "analysis/symbols/elf_sections.cc", "launcher/")),
    (re.compile(r"^minizip/"), ("analysis/import/zip_file.cc",)),
    (re.compile(r"^sqlite3\.h$"), ("analysis/import/sqlite_file.", "analysis/query/sqlite_export.cc")),
    (re.compile(r"^CLI/"), ("launcher/",)),
    (re.compile(r"^toml\+\+/"), ("launcher/base/settings_file.cc",)),
    (re.compile(r"^yaml\.h$"), ("launcher/kubernetes/yaml_tree.cc",)),
    (re.compile(r"^httplib\.h$"), ("launcher/serve/http_messages.cc",)),
    (re.compile(r"^nghttp2/"), ("launcher/agent/http2_session.cc", "launcher/agent/remote_call.cc")),
    (re.compile(r"^(gtest|gmock|benchmark)/"), ()),
]


def violations(path):
    relative = path.relative_to(ROOT).as_posix()
    room = relative.split("/", 1)[0]
    for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
        quoted, angled = match.groups()
        name = quoted or angled
        if room != "tests":
            for pattern, folders in CONFINED:
                if pattern.search(name) and not relative.startswith(folders):
                    yield f"{relative}: {name} may only be included in {', '.join(folders) or 'tests/'}"
        if relative.startswith(BELOW_RESULTS) and name.startswith("proto/results/"):
            yield f"{relative} must not include {name}: it is below the passes"
        for folder, (allowed, users) in FOLDERS.items():
            if relative.startswith(folder + "/") and name.startswith("analysis/") and not name.startswith(allowed):
                yield f"{relative}: {folder}/ must not include {name}"
            if name.startswith(folder + "/") and room == "analysis" and not relative.startswith(users):
                yield f"{relative}: only {', '.join(users)} may include {name}"
        if room == "analysis" and name.startswith(ABOVE) and not relative.startswith(ANY):
            folder = relative.rsplit("/", 1)[0]
            if not name.startswith(INSIDE.get(folder, ())):
                yield f"{relative}: {folder}/ must not include {name}"
        for folder, allowed in LOWER.items():
            if relative.startswith(folder + "/") and name.startswith("launcher/") and not name.startswith(allowed):
                yield f"{relative}: {folder}/ must not include {name}"
        if name.startswith("launcher/verbs/") and not relative.startswith("tests/"):
            yield f"{relative}: nothing includes {name}; command.h declares the verbs"
        if name.split("/", 1)[0] in ROOMS and (ROOT / name.split("/", 1)[0]).is_dir():
            if room in ALLOWED and not ALLOWED[room](name):
                yield f"{relative}: {room}/ must not include {name}"
            elif quoted is None:
                yield f"{relative}: write #include \"{name}\"; angle brackets are for other people's headers"
        elif quoted and not name.endswith(".pb.h"):
            yield f"{relative}: write the path from the repository's root: {name}"


def main():
    found = [line for room in ROOMS for path in sorted((ROOT / room).rglob("*"))
             if path.suffix in (".h", ".cc", ".c") and path.is_file() for line in violations(path)]
    print("\n".join(found) or "every include follows the arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
