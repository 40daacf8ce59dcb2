// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording in memory.

#pragma once

#include <string>
#include <vector>

#include "tests/fake_gpu/replay/replay_file.h"

namespace fake_gpu_replay {

struct Recording {
  std::vector<std::string> names;
  std::vector<Row> rows;  // by their ends

  bool IsCall(const Row& row) const { return row.type == kRuntimeCall || row.type == kDriverCall; }
};

// Null, or what is wrong with the file.
const char* Read(const char* path, Recording* recording);

}  // namespace fake_gpu_replay
