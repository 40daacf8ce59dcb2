// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that start the ranks of a job and do nothing else. They leave no trace unless included
// by name: they hand the environment on, and the ranks are recorded. Included by freestanding code,
// so no library headers.

#pragma once

#include <cstddef>

namespace gpuprof::proto {

// Names of executables, of scripts that Python runs, and of modules (python -m NAME). One text: a
// table of pointers would need a relocation for each name. An empty name ends it.
inline constexpr char kJobLaunchers[] =
    "srun\0sbatch\0salloc\0slurmstepd\0mpirun\0mpiexec\0mpirun.openmpi\0mpiexec.openmpi\0orterun\0"
    "orted\0prte\0prted\0prterun\0prun\0mpirun.mpich\0mpiexec.mpich\0mpiexec.hydra\0"
    "hydra_pmi_proxy\0hydra_bstrap_proxy\0hydra_persist\0hydra_nameserver\0torchrun\0"
    "torch.distributed.run\0torch.distributed.launch\0deepspeed\0deepspeed.launcher.runner\0"
    "deepspeed.launcher.launch\0accelerate\0accelerate-launch\0accelerate.commands.launch\0"
    "accelerate.commands.accelerate_cli\0";

// Beginnings of the names of programs whose first argument is the program that runs.
inline constexpr char kScriptRunners[] = "python\0pypy\0";

constexpr bool IsSameText(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

// Returns the part of a path behind its last slash.
constexpr const char* LastPartOf(const char* path) {
  const char* part = path;
  for (; *path != 0; ++path)
    if (*path == '/') part = path + 1;
  return part;
}

// Returns whether a script, a module or an executable of this base name starts the ranks of a job.
constexpr bool IsJobLauncher(const char* name) {
  for (const char* known = kJobLaunchers; *known != 0;) {
    if (IsSameText(known, name)) return true;
    while (*known++ != 0) continue;
  }
  return false;
}

// Returns whether the executable of this base name runs scripts, in whatever version.
constexpr bool RunsScripts(const char* name) {
  for (const char* runner = kScriptRunners; *runner != 0;) {
    size_t same = 0;
    while (runner[same] != 0 && runner[same] == name[same]) ++same;
    if (runner[same] == 0) return true;
    while (*runner++ != 0) continue;
  }
  return false;
}

// Returns the script or the module that Python runs; null: neither, or code (-c).
// `words` are its command line, the program first. Each word ends in zero, also the last.
constexpr const char* ScriptOf(const char* words, size_t bytes) {
  const auto next = [words, bytes](size_t at) {
    while (at < bytes && words[at] != 0) ++at;
    return at < bytes ? at + 1 : bytes;
  };
  for (size_t at = next(0); at < bytes; at = next(at)) {
    const char* word = words + at;
    if (word[0] != '-') return LastPartOf(word);
    if (word[1] == '-') continue;
    // Letters may be joined (-Im), and so may a value (-mNAME, -XDEV).
    for (const char* letter = word + 1; *letter != 0; ++letter) {
      const bool has_value = *letter == 'm' || *letter == 'c' || *letter == 'X' || *letter == 'W';
      if (*letter == 'c') return nullptr;
      if (!has_value) continue;
      const size_t value = next(at);
      if (*letter == 'm')
        return letter[1] != 0 ? letter + 1 : value < bytes ? words + value : nullptr;
      if (letter[1] == 0) at = value;
      break;
    }
  }
  return nullptr;
}

}  // namespace gpuprof::proto
