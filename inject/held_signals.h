// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Keeps the program's signal handlers off this thread while gpuprof's code changes data in several
// steps. A handler that forks would otherwise copy the data half changed into its child. Signals
// that a thread brings on itself (SIGSEGV, SIGXFSZ and the like) come through. Any thread; system
// calls only, errno untouched.

#pragma once

#include <signal.h>

#include <cstdint>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {

constexpr uint64_t SignalBit(int number) { return uint64_t{1} << (number - 1); }

class HeldSignals {
 public:
  HeldSignals() noexcept : HeldSignals(kAllButOwn) {}
  ~HeldSignals() noexcept {
    if (mask_ != 0) Set(&before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Holds only the signals that the program has handlers for; the other signals end the program as
  // ever. For work that takes longer than a moment. Holds no signal, if not `wanted`.
  explicit HeldSignals(bool wanted) noexcept : HeldSignals(wanted ? Handled() : 0) {}

 private:
  explicit HeldSignals(uint64_t mask) noexcept : mask_(mask & kAllButOwn) {
    if (mask_ != 0) Set(&mask_, &before_);
  }
  static uint64_t Handled() noexcept;

  static constexpr uint64_t kAllButOwn =
      ~(SignalBit(SIGSEGV) | SignalBit(SIGBUS) | SignalBit(SIGILL) | SignalBit(SIGFPE) |
        SignalBit(SIGTRAP) | SignalBit(SIGSYS) | SignalBit(SIGABRT) | SignalBit(SIGXFSZ));
  static void Set(const uint64_t* mask, uint64_t* before) noexcept {
    raw::Call(SYS_rt_sigprocmask, before != nullptr ? SIG_BLOCK : SIG_SETMASK, raw::Arg(mask),
              raw::Arg(before), sizeof(*mask));
  }
  const uint64_t mask_;
  uint64_t before_ = 0;
};

}  // namespace gpuprof::inject
