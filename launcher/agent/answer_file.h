// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An answer of Profile in a file, as a foreign server sent it: which bytes of it are traces, and
// what they say. The file is walked, not loaded: it may have a gigabyte. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct AnswerTrace {
  std::string name;  // as the server named it; empty: it is the field xspace
  uint64_t offset = 0, bytes = 0;
  uint64_t planes = 0;
  std::vector<std::string> errors, warnings;  // that the trace holds
};

struct AnswerParts {
  std::vector<AnswerTrace> traces;
  bool is_empty_trace = false;  // the server says that it recorded nothing
  uint64_t other_data = 0;      // data of tools that are no traces
};

// Walks over the first `bytes` of a file. Returns empty, or what is wrong with it.
std::string ReadAnswer(int file, uint64_t bytes, AnswerParts* parts);

}  // namespace gpuprof::launcher
