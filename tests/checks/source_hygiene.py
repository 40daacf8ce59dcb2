# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Small habits, kept by machine: licence lines, header guards, no TODO without an issue, files that stay small, one
function that opens what a user named.

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
OPENERS = {"proto/codec/" + name for name in ("input_path.cc", "kept_folder.cc", "open_regular.cc", "process_alive.cc", "trace_writer.cc")}
OPENERS |= {"analysis/base/memory_limit.cc", "analysis/read/input_file.cc", "analysis/export/parquet.cc"}  # the latter lists a folder that it holds
OPENS = re.compile(r"(?<![\w.>])(?:open|openat|openat2|fopen|mmap|std::ifstream \w+)\(")

# What a user named is opened by codec::OpenInput, which follows no link of a folder's owner. These files open by
# other means, and hand on nothing of a recording: they read what the kernel or gpuprof itself wrote, modules of
# programs, settings, and they write.
READS = re.compile(OPENS.pattern + r"|(?<![\w.>])(?:std::ifstream\(|ReadFile\(|OpenRegular\()")
INPUT_OPENERS = {"analysis/base/memory_limit.cc", "analysis/export/parquet.cc", "launcher/reading/limited_query.cc", "analysis/symbols/elf_sections.cc"}
# The engine of a report opens files of the page alone.
OPENERS.add("analysis/wasm/platform/files.cc")
INPUT_OPENERS |= {f"analysis/wasm/platform/{name}" for name in ("files.cc", "modules.cc")} | {"analysis/wasm/bundle_parts.cc"}
INPUT_OPENERS |= {f"analysis/{name}" for name in ("read/input_file.cc", "read/input_file.h", "read/dead_rings.cc")}  # ReadFile asks OpenInput
INPUT_OPENERS |= {f"launcher/agent/{name}" for name in ("capture_group.cc", "capture_guard.cc", "kept_runs.cc", "local_capture.cc", "window_export.cc")}
INPUT_OPENERS |= {f"launcher/{name}" for name in (
    "attach/attach.cc", "attach/attached_bundle.cc", "attach/stage.cc", "attach/stopped_thread.cc", "attach/target_facts.cc",
    "attach/target_objects.cc", "base/descriptors.cc", "base/output_file.cc", "base/processors.cc", "base/read_file.cc", "base/read_file.h",
    "base/settings_file.cc", "base/trusted_folder.cc", "control/carriers.cc", "control/control_client.cc", "control/conversation.cc",
    "control/dormant.cc", "control/given_files.cc", "control/process_numbers.cc", "doctor/container.cc", "doctor/doctor_checks.cc",
    "doctor/doctor_cuda.cc", "doctor/installation.cc", "gpu/cupti_folders.cc", "gpu/cupti_library.cc", "gpu/gpu_log.cc", "gpu/nvml_library.cc",
    "gpu/sampler_process.cc", "reading/baselines.cc", "reading/order_child.cc", "record/bundle.cc", "record/elf_file.cc", "record/job_folder.cc", "record/nccl_plugin.cc",
    "record/objects.cc", "record/obstacle_inbox.cc", "record/program.cc", "record/witness.cc", "serve/folder_processes.cc", "serve/import_cache.cc", "serve/page_order.cc",
    "upload/exit_snapshot.cc", "verbs/inject.cc", "verbs/install.cc", "verbs/run.cc")}
# Nothing hands whole files on: report.cc and served_page.cc send what OpenOwnFile has looked at.
COPIES = re.compile(r"(?<![\w.>])(?:sendfile|splice|copy_file_range|(?:std::filesystem::|fs::)(?:copy|copy_file))\(|\brdbuf\(\)")

RATCHET = {"files over 600 lines": 0}


# A type of a namespace, at its definition. Members, forward declarations and local names do not count.
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]+)? \{")


def types_of(lines):
    """The types that a file defines, with their namespaces: two definitions of one name share the functions of one."""
    spaces = []
    for line in lines:
        if opened := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line):
            spaces.append(opened[1])
        elif re.match(r"\}  // namespace", line) and spaces:
            spaces.pop()
        elif (found := TYPE.match(line)) and all(spaces):
            yield "::".join([*spaces, found[1]])


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def main():
    found, long_files, types = [], [], {}
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
        if path.suffix in CPP and relative.startswith(("analysis/", "launcher/")):
            for number, line in enumerate(lines, 1):
                code = line.partition("//")[0]
                if relative not in INPUT_OPENERS and READS.search(code):
                    found.append(f"{relative}:{number}: what a user named is opened by codec::OpenInput")
                if COPIES.search(code):
                    found.append(f"{relative}:{number}: bytes that are handed on come from OpenOwnFile")
        if path.suffix in {".h", ".cc"} and relative.startswith(("analysis/", "launcher/", "proto/")):
            for name in types_of(lines):
                if types.setdefault(name, relative) != relative and "analysis/wasm/platform/" not in relative + types[name]:
                    found.append(f"{relative}: {types[name]} defines a type {name}, too")
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
