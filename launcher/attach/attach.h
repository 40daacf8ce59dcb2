// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Brings gpuprof into a running process and out again. A thread of the process is stopped for the
// load alone (late_load.h); the object does the rest on a thread of its own. Linux on x86-64.
//
// One thread. Signals that would end this process wait until the stopped thread runs again.

#pragma once

#include <cstdint>
#include <string>

#include "launcher/attach/target_facts.h"
#include "launcher/base/settings.h"

namespace gpuprof::launcher {

struct Attached {
  // One word, as in TargetFacts, or: moment, namespace, load, settings, session, lost. Empty: the
  // process is attached to.
  std::string refusal;
  std::string reason;            // cause and fix
  bool is_unknown = false;       // one thread may still be inside the load
  int32_t thread = 0;            // that was stopped for the load
  uint64_t stopped_ns = 0;       // so long
  uint64_t longest_stop_ns = 0;  // of any thread, the search for a moment included
  uint32_t stops = 0;
  uint64_t total_ns = 0;
  uint32_t slots = 0, objects = 0, left_slots = 0;
  uint64_t start_id = 0;
};

// Attaches to a process that LookAtTarget does not refuse. `object` is the inject object's path;
// `settings` are GPUPROF_* variables. Searches a safe moment for `wait_ms` at most.
Attached AttachTo(const TargetFacts& facts, const std::string& object, const Variables& settings,
                  int wait_ms);

// Detaches. Returns empty once nothing of gpuprof runs in the process, or cause and fix.
std::string DetachFrom(int32_t pid);

// Returns whether the process was attached to, and not detached from.
bool IsAttachedTo(int32_t pid);

}  // namespace gpuprof::launcher
