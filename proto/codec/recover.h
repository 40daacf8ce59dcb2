// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finishes the trace of a process that is gone: appends what its ring file still holds to its .gpt
// file (made if there is none: a process that lived for milliseconds leaves a ring alone), cuts a
// torn last block, writes the end marker, and removes the ring file. For the launcher after the
// command ended, and for readers that find the ring file of a dead process. Any thread; several
// processes may try at once. Never touches the files of a process that still runs, and loses
// nothing when it is killed itself or the disk is full: the ring file stays until all of it is in
// the trace.

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

// How often a caller still tries to lock a ring file that another process has locked: 20 times a
// second. The files of a bundle share it, so that many locked files cost one wait.
struct LockWait {
  int tries_left = 100;
};

// `stem` is "<bundle>/p<pid>-<start>". `exit_status` is the wait status as waitpid told it, or -1
// when unknown; it counts where the process did not note its own way out. Without `wait` it waits
// for this file as long as for a bundle.
RecoverResult Recover(const std::string& stem, int exit_status, LockWait* wait = nullptr);

// Does the same while other processes of the bundle still run, perhaps on other hosts. It takes
// only a ring file that was made on this host, in this namespace of process numbers. The exit
// status is not known, and a locked file is left alone.
RecoverResult RecoverNear(const std::string& stem);

// What can be seen to be wrong with the ring file of a dead process without recovering it, in
// words; empty: nothing, or there is none. Changes nothing.
std::string CheckRingFile(const std::string& path);

// Whether the process `pid` that began at `start_id` still lives, as far as this machine can tell:
// it maps its ring file; or, where it maps none of that pid's (a dormant process, or one that may
// not be looked into), it is not younger than `start_id`. A process in a pid namespace below ours
// is found by its number there.
bool ProcessIsAlive(int32_t pid, uint64_t start_id);

}  // namespace gpuprof::codec
