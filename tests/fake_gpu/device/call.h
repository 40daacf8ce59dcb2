// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A call of the driver's or the runtime's API while it lasts: gives it its ids, tells the sink and
// the truth of its entry and exit, and knows which call it is nested in.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

class CallScope {
 public:
  CallScope(Domain domain, uint32_t cbid, const char* name, const void* parameters,
            const char* symbol, const void* caller) {
    call_.caller = reinterpret_cast<uint64_t>(caller);
    call_.domain = domain;
    call_.cbid = cbid;
    call_.name = name;
    call_.parameters = parameters;
    call_.symbol = symbol;
    Enter();
  }
  ~CallScope() { Exit(); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // The scripted result, or what the process's state forbids (a forked child, after the end), or 0.
  int refusal() const { return refusal_; }

  template <typename T>
  T End(T result) {
    call_.result = static_cast<int>(result);
    return result;
  }

 private:
  void Enter();
  void Exit();

  Call call_;
  bool told_ = false;
  int refusal_ = 0;
};

// The correlation id and the number of the outermost call on this thread, 0 outside any.
uint32_t CurrentCorrelation();
uint64_t CurrentCall();
uint32_t CurrentTid();

// The address in the program from which the outermost call came: what an allocation record tells.
uint64_t CallerOfApi();

// The context that the thread's calls are made in; may be null.
extern thread_local CUcontext current_context;

// True in a process forked from the one that initialised the device.
bool Forked();
void RememberProcess();

// True once cuInit has succeeded.
extern std::atomic<bool> driver_initialised;

// True after the driver's exit handler.
extern std::atomic<bool> driver_exited;

}  // namespace fake_gpu
