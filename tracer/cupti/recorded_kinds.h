// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What CUPTI is asked to record in a capture: the kinds of records, and of calls those that are
// wanted. A kind that the library refuses is said once, with what will be missing.
//
// The thread that calls CUPTI, one at a time.

#pragma once

#include <cstddef>

#include "tracer/cupti/api_functions.h"
#include "tracer/cupti/library.h"
#include "tracer/cupti/subscriber.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class RecordedKinds {
 public:
  // `has_objects`: the driver may have devices, contexts and streams already. False: the library
  // refuses every kind.
  bool Enable(const Host& host, const Library& library, const FunctionNames& names,
              Subscriber* subscriber, bool has_objects);
  // After any kind was enabled or disabled, which undoes choices of single calls.
  void ChooseCalls(const FunctionNames& names, Subscriber* subscriber);
  void Disable(const FunctionNames& names, Subscriber* subscriber);

 private:
  static constexpr size_t kMost = 64;

  bool is_enabled_[kMost] = {};
  bool is_told_[kMost] = {};        // that it was refused
  bool has_all_of_driver_ = false;  // its calls cannot be chosen one by one
};

// Has CUPTI call back about contexts, modules, graphs and streams, and about launches where their
// stacks are wanted (launch_stacks.h).
void AskForCallbacks(const Host& host, const Library& library, const FunctionNames& names,
                     Subscriber* subscriber, bool enable);

}  // namespace gpuprof::tracer::cupti
