// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which program a command will really run, and what stands in the way of recording it. Called
// before the command is started and, with its answers, when nothing was recorded. Never runs
// anything.

#pragma once

#include <string>
#include <vector>

namespace gpuprof::launcher {

struct Program {
  std::string path;    // as PATH resolves it; empty: not found
  std::string binary;  // behind `#!`, `env` and links: the ELF file that the loader will see first
  std::string script;  // that Python runs, by base name, or its module; empty: none
  bool found = false;
  bool executable = false;
  std::string cannot_preload;  // the program runs, but without the injected object: why, and what
                               // to do; empty: nothing in the way
  bool preload_is_harmless = true;  // though useless for this program: its children may load it
  std::string sanitizer;  // the AddressSanitizer runtime it needs first in LD_PRELOAD, as the
                          // loader takes it; empty: none
};

// Resolves as execvp would, with `search_path` for PATH (null: the system's default).
Program FindProgram(const std::string& command, const std::vector<std::string>& arguments,
                    const char* search_path);

// Returns whether the injected object leaves a program of this name alone (proto/contract.h:
// kExcludedPrograms, proto/job_launchers.h). A target triplet in front and a -NUMBER behind do not
// count.
bool IsExcludedByName(const std::string& base_name, const std::vector<std::string>& include,
                      const std::vector<std::string>& exclude);

std::string BaseName(const std::string& path);

}  // namespace gpuprof::launcher
