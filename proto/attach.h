// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What `gpuprof attach` and the inject object agree on. The launcher has a thread of the target
// load the object. It then calls kAttachFunction with the settings and reads kAttachReport in the
// target's memory until the state changes.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::proto {

// Exported by the inject object:
//   int gpuprof_attach(const char* settings, uint64_t bytes)
// The settings are "NAME=value" entries, each ended by a zero byte. The function copies them,
// starts the control thread and returns at once: 0, or an AttachRefusal.
inline constexpr char kAttachFunction[] = "gpuprof_attach";
// An AttachReport.
inline constexpr char kAttachReport[] = "gpuprof_attach_report";
// The settings have no more bytes than this.
inline constexpr uint32_t kMostAttachBytes = 16384;

enum class AttachState : uint32_t {
  kNever = 0,
  kBeginning = 1,  // the control thread is at work
  kAttached = 2,
  kRefused = 3,   // `refusal` says why; nothing is left but the loaded object
  kDetached = 4,  // no thread, no timer and no changed slot is left
};

enum class AttachRefusal : uint32_t {
  kNone = 0,
  kAlready = 1,    // the process has gpuprof: it was started with it, or attached to
  kSettings = 2,   // the settings are too long, or wrong; `said` has the words
  kThread = 3,     // no thread could be made; `error` is its errno
  kSanitizer = 4,  // a runtime that watches each thread or each address
  kSession = 5,    // the capture could not begin; `said` has the words
};

struct AttachReport {
  std::atomic<uint32_t> state;   // AttachState
  std::atomic<uint32_t> detach;  // the launcher writes 1 to have the process left
  // Memory of the call by which the object was loaded. The launcher writes the size last, once the
  // thread has left it; the object unmaps it.
  uint64_t call_memory;
  std::atomic<uint64_t> call_bytes;
  std::atomic<uint32_t> refusal;  // AttachRefusal
  int32_t error;
  int32_t thread;       // the control thread, by its number in the process's namespace
  uint32_t objects;     // of the program, whose slots were looked at
  uint32_t slots;       // that call gpuprof now
  uint32_t left_slots;  // that call another function of the name, and are left alone
  uint64_t start_id;    // of the trace: p<pid>-<start>
  char said[512];       // what could not be done, and the fix
};

}  // namespace gpuprof::proto
