// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/held_signals.h"

namespace gpuprof::inject {
namespace {

// As the kernel has it; of its words only the first is of interest.
struct KernelAction {
  uint64_t handler;
  uint64_t others[8];
};
constexpr int kSignals = 64;

}  // namespace

[[gnu::cold]] uint64_t HeldSignals::Handled() noexcept {
  uint64_t handled = 0;
  for (int number = 1; number <= kSignals; ++number) {
    KernelAction action = {};
    if (raw::Call(SYS_rt_sigaction, number, 0, raw::Arg(&action), sizeof(uint64_t)) != 0) continue;
    const bool is_handler = action.handler != reinterpret_cast<uint64_t>(SIG_DFL) &&
                            action.handler != reinterpret_cast<uint64_t>(SIG_IGN);
    if (is_handler) handled |= SignalBit(number);
  }
  return handled;
}

}  // namespace gpuprof::inject
