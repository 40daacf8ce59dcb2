// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/call.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {

std::atomic<uint32_t> wanted{0};
std::atomic<Sink*> the_sink{nullptr};
std::atomic<bool> driver_initialised{false};
std::atomic<bool> driver_exited{false};
thread_local CUcontext current_context = nullptr;

namespace {

thread_local Call* innermost = nullptr;
thread_local uint32_t own_tid = 0;
std::atomic<uint32_t> last_correlation{0};
std::atomic<uint64_t> last_call{0};
// Set in a child by fork's handler: cheaper than getpid in every call.
std::atomic<bool> forked{false};

bool HasFailures() {
  static const bool has = !TheScript().failures.empty();
  return has;
}

const Call* Outermost() {
  const Call* call = innermost;
  while (call != nullptr && call->outer != nullptr) call = call->outer;
  return call;
}

void TellTruth(const Call& call) {
  TruthLine(
      "{\"t\":\"api\",\"call\":%lu,\"domain\":\"%s\",\"name\":\"%s\",\"cbid\":%u,\"tid\":%u,"
      "\"correlation\":%u,\"depth\":%u,\"start\":%lu,\"end\":%lu,\"result\":%d}",
      call.number, call.domain == Domain::kRuntime ? "runtime" : "driver", call.name, call.cbid,
      call.tid, call.correlation, call.depth, call.start, Monotonic(), call.result);
}

void InChild() {
  forked.store(true, std::memory_order_relaxed);
  own_tid = 0;
}

}  // namespace

void SetSink(Sink* sink, uint32_t wants) {
  the_sink.store(sink, std::memory_order_release);
  wanted.store(wants, std::memory_order_release);
}

void RememberProcess() {
  static const int once = pthread_atfork(nullptr, nullptr, InChild);
  static_cast<void>(once);
}

bool Forked() { return forked.load(std::memory_order_relaxed); }

uint32_t CurrentTid() {
  if (own_tid == 0) own_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  return own_tid;
}

uint32_t CurrentCorrelation() { return innermost == nullptr ? 0 : innermost->correlation; }

uint64_t CurrentCall() {
  const Call* call = Outermost();
  return call == nullptr ? 0 : call->number;
}

uint64_t CallerOfApi() {
  const Call* call = Outermost();
  return call == nullptr ? 0 : call->caller;
}

void CallScope::Enter() {
  call_.outer = innermost;
  call_.depth = call_.outer == nullptr ? 0 : call_.outer->depth + 1;
  if (Forked()) [[unlikely]] {
    refusal_ = CUDA_ERROR_NOT_INITIALIZED;
  } else if (driver_exited.load(std::memory_order_relaxed)) [[unlikely]] {
    refusal_ = CUDA_ERROR_DEINITIALIZED;
  } else if (HasFailures()) {
    refusal_ = ScriptedFailure(call_.name);
  }
  const bool truth = TruthWanted();
  // Asked once: a tool that comes in between must find all of the call or nothing.
  const uint32_t wants = Forked() ? 0 : wanted.load(std::memory_order_acquire);
  told_ = (wants & kWantCalls) != 0;
  if (truth || told_) {
    call_.tid = CurrentTid();
    call_.number = last_call.fetch_add(1, std::memory_order_relaxed) + 1;
    call_.context = current_context;
    if (truth) call_.start = Monotonic();
  }
  if (call_.outer != nullptr) call_.correlation = call_.outer->correlation;
  // A call that began before the tool came has none to share.
  if (call_.correlation == 0 && ((wants & kWantIds) != 0 || TheScript().correlation_always)) {
    call_.correlation = last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  innermost = &call_;
  if (told_) TheSink()->Enter(&call_);
}

void CallScope::Exit() {
  if (told_) TheSink()->Exit(&call_);
  if (call_.number != 0 && TruthWanted()) TellTruth(call_);
  innermost = call_.outer;
}

}  // namespace fake_gpu
