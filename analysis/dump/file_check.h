// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The full check of one .gpt file, and of the segments of a flight recorder that are not joined to
// it yet: every byte is read, every block decompressed and decoded. For Verify; different files may
// be checked on different threads at once. Changes nothing.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/codec/input_path.h"

namespace gpuprof::analysis {

struct FileFault {
  uint64_t offset = 0;
  std::string what;
};

struct FileReport {
  std::string name;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t rows = 0;
  std::vector<FileFault> findings;  // what is wrong
  uint64_t findings_not_told = 0;   // beyond the first hundred
  bool lacks_end = false;           // whole as far as it goes, but without an end marker
  std::vector<std::string> notes;   // what is worth knowing
  bool ok() const { return findings.empty(); }
};

// The report of the trace at `path`, then those of `segments`, names in the same directory from the
// oldest to the newest. `is_alive`: the process still writes, so that a cut end is no finding; nor
// is it of the newest segment.
std::vector<FileReport> CheckTrace(const codec::InputPath& path, const std::string& name,
                                   const std::vector<std::string>& segments, bool is_alive);

// Where that a trace has no end is no matter of a note: the run ended.
void FindWithoutEnd(FileReport* report);

}  // namespace gpuprof::analysis
