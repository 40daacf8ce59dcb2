// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What happens at the begin and at the end of an op: the thread's stack of open ops, and its
// records.
//
// The callbacks run inside every op on any thread of the program: no lock, no allocation, errno
// untouched. Ends are matched to begins by the address of the framework's own object, which is
// unique while the op is open.

#pragma once

#include <cstdint>

#include "proto/record.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::tracer {

// As the framework declares them: a begin callback returns a smart pointer to a context of its own,
// here always null. A type with a destructor is returned the same way.
struct ContextPointer {
  void* context = nullptr;
  ContextPointer() = default;
  ~ContextPointer() {}
};
using BeginCallback = ContextPointer (*)(const void* op);
using EndCallback = void (*)(const void* op, void* context);

struct OpFunctions {
  const char* (*name)(const void* op);
  bool (*is_async)(const void* op);  // may be null
};

struct OpCallbacks {
  BeginCallback begin;
  EndCallback end;
};

// Control thread, before the callbacks are registered. False: no memory.
bool OpRecorderInit(const Host* host, const OpFunctions& functions);

// Nanoseconds that the two callbacks of an op take together, of those timed so far; 0: none yet.
// Any thread.
uint32_t OpRecorderCostNs();

OpCallbacks CallbacksFor(proto::OpScope scope);

// Control thread: begins and ends observing. Begin forgets what was open before.
void OpRecorderBegin();
void OpRecorderEnd();

// In a forked child.
void OpRecorderAfterFork();

TorchCounters ReadOpCounters();

}  // namespace gpuprof::tracer
