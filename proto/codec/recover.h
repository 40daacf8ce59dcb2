// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finishes the trace of a process that died: appends what its ring file still holds to its .gpt
// file (made if there is none), cuts a torn last block, writes the end marker, and removes the ring
// file. For the launcher after the command ended, and for readers that find the ring file of a dead
// process.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::codec {

struct RecoverResult {
  bool ok = false;
  bool nothing_to_do = false;  // the ring file was empty and no trace exists: nothing was made
  uint64_t rows_added = 0;
  uint64_t corrupt_records = 0;
  std::string error;  // cause and fix, when not ok
};

// `stem` is "<bundle>/p<pid>-<start>". The process must be dead (ProcessIsAlive). `exit_status` as
// waitpid told, or -1 when unknown.
RecoverResult Recover(const std::string& stem, int exit_status);

// Whether the process that wrote the ring file still lives (same pid and start, seen from this pid
// namespace).
bool ProcessIsAlive(int32_t pid, uint64_t start_id);

}  // namespace gpuprof::codec
