// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/hooks/signals.h"

#include <errno.h>
#include <signal.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/dormant.h"
#include "inject/hook_list.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/signal_sender.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

int g_signal = 0;

// The program's own action for our signal. Handlers may read while another thread writes: slots are
// written in turn and published by index; a reader that is overtaken by kSlots writes is not a
// case.
constexpr uint32_t kSlots = 8;
struct sigaction g_program[kSlots];
std::atomic<uint32_t> g_current{0};
std::atomic<uint32_t> g_writing{0};

const struct sigaction& ProgramAction() {
  return g_program[g_current.load(std::memory_order_acquire) % kSlots];
}

void SetProgramAction(const struct sigaction& action) {
  const uint32_t slot = g_writing.fetch_add(1, std::memory_order_relaxed) + 1;
  g_program[slot % kSlots] = action;
  g_current.store(slot, std::memory_order_release);
}

// As the kernel sees it: what the two are does not depend on SA_SIGINFO.
bool IsHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// In a vfork child: the memory is its parent's, but the kernel's table of handlers is its own.
// Python's subprocess and every other careful spawner put their handlers back to the default there.
bool MemoryIsBorrowed() { return g_process.pid == 0 || raw::GetPid() != g_process.pid; }

void Handle(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool borrowed = MemoryIsBorrowed();
  const bool is_wake_up = IsWakeUp(info);
  const bool is_asked =
      !borrowed && !is_wake_up && !IsProgramsOwn(info, IsHandler(ProgramAction()));
  if (is_asked) RequestToggle();
  if ((is_asked || (is_wake_up && !borrowed)) && IsDormant()) WakeInHandler(context);
  errno = saved;
  if (is_wake_up) return;
  const struct sigaction action = ProgramAction();
  if (!IsHandler(action)) return;
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    struct sigaction fallback = action;  // as the kernel does it: the flags stay
    fallback.sa_handler = SIG_DFL;
    if (borrowed) {
      real.sigaction(number, &fallback, nullptr);
    } else {
      SetProgramAction(fallback);
    }
  }
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(number, info, context);
  } else {
    action.sa_handler(number);
  }
}

// Ours in the kernel, behaving towards the program as its own would: same mask, same restart and
// stack flags. What the program ignores is ignored in truth: a handler, whatever its flags, would
// end sleeps and waits early, and what the program executes is to inherit the same.
std::atomic<bool> g_restart{false};  // see RestartCalls

bool InstallFor(const struct sigaction& program) {
  if (program.sa_handler == SIG_IGN) return real.sigaction(g_signal, &program, nullptr) == 0;
  struct sigaction ours = {};
  ours.sa_sigaction = Handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  if (IsHandler(program)) {
    ours.sa_mask = program.sa_mask;
    ours.sa_flags = SA_SIGINFO | (program.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER));
  }
  if (g_restart.load(std::memory_order_relaxed)) ours.sa_flags |= SA_RESTART;
  return real.sigaction(g_signal, &ours, nullptr) == 0;
}

bool Ours(int number) { return g_signal != 0 && number == g_signal && g_process.pid != 0; }

// What a vfork child sets goes to its own table in the kernel and not into what we keep, which is
// its parent's.
int ChangeBorrowedAction(const struct sigaction* action, struct sigaction* old) {
  const struct sigaction before = ProgramAction();
  const bool ours = SignalInForce() != 0;
  if (real.sigaction(g_signal, action, old) != 0) return -1;
  if (ours && old != nullptr) *old = before;
  return 0;
}

// sigaction() for our signal.
int ChangeProgramAction(const struct sigaction* action, struct sigaction* old) {
  if (MemoryIsBorrowed()) return ChangeBorrowedAction(action, old);
  const struct sigaction before = ProgramAction();
  if (action != nullptr) {
    SetProgramAction(*action);
    if (action->sa_handler == SIG_IGN && IsDormant()) WakeNow();
    if (!InstallFor(*action)) return -1;
  }
  if (old != nullptr) *old = before;
  return 0;
}

// As the kernel has it, and the first word of a sigset_t.
uint64_t Mask(int number) { return uint64_t{1} << (number - 1); }

// What the older functions have in common: `*handler` becomes the one before. `number` is ours.
// SIG_ERR is refused by libc's own, which gets it, except by sigset(), which takes it for a
// handler.
bool ChangeHandler(int number, sighandler_t* handler, int flags, bool masks_itself) {
  struct sigaction action = {};
  action.sa_handler = *handler;
  action.sa_flags = flags;
  const uint64_t mask = masks_itself ? Mask(number) : 0;
  __builtin_memcpy(&action.sa_mask, &mask, sizeof(mask));
  struct sigaction old = {};
  if (ChangeProgramAction(&action, &old) != 0) return false;
  *handler = old.sa_handler;
  return true;
}

// siginterrupt()'s last words, which signal() follows. libc keeps its own where we cannot see it.
uint64_t g_interrupts = 0;

}  // namespace

void InstallSignal(int number) noexcept {
  if (number == 0) return;
  struct sigaction before = {};
  if (real.sigaction(number, nullptr, &before) != 0) return;
  SetProgramAction(before);
  g_signal = number;
  if (!InstallFor(before)) g_signal = 0;
}

void RestartCalls(bool restart) noexcept {
  if (g_restart.exchange(restart) != restart && SignalInForce() != 0) InstallFor(ProgramAction());
}

int SignalInForce() noexcept {
  if (g_signal == 0) return 0;
  struct sigaction now = {};
  if (real.sigaction(g_signal, nullptr, &now) != 0) return 0;
  return (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == Handle ? g_signal : 0;
}

}  // namespace gpuprof::inject

using namespace gpuprof::inject;

extern "C" {

GPUPROF_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (__builtin_expect(Ours(number), 0)) return ChangeProgramAction(action, old);
  return real.sigaction(number, action, old);
}

GPUPROF_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  if (__builtin_expect(Ours(number), 0) && handler != SIG_ERR) {
    const int flags = (g_interrupts & Mask(number)) != 0 ? 0 : SA_RESTART;
    return ChangeHandler(number, &handler, flags, true) ? handler : SIG_ERR;
  }
  return real.signal(number, handler);
}

GPUPROF_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) {
  if (__builtin_expect(Ours(number), 0) && handler != SIG_ERR) {
    const int flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    return ChangeHandler(number, &handler, flags, false) ? handler : SIG_ERR;
  }
  return real.sysv_signal(number, handler);
}

// Sets the handler and lets the signal in; SIG_HOLD: leaves the handler and keeps the signal out.
GPUPROF_EXPORT sighandler_t sigset(int number, sighandler_t handler) {
  if (__builtin_expect(!Ours(number), 1)) return real.sigset(number, handler);
  const bool hold = handler == SIG_HOLD;
  struct sigaction now = {};
  if (hold) ChangeProgramAction(nullptr, &now);
  if (hold) handler = now.sa_handler;
  if (!hold && !ChangeHandler(number, &handler, 0, false)) return SIG_ERR;
  uint64_t mask = Mask(number);
  raw::Call(SYS_rt_sigprocmask, hold ? SIG_BLOCK : SIG_UNBLOCK, raw::Arg(&mask), raw::Arg(&mask),
            sizeof(mask));
  return (mask & Mask(number)) != 0 ? SIG_HOLD : handler;
}

GPUPROF_EXPORT int sigignore(int number) {
  if (__builtin_expect(!Ours(number), 1)) return real.sigignore(number);
  sighandler_t handler = SIG_IGN;
  return ChangeHandler(number, &handler, 0, false) ? 0 : -1;
}

GPUPROF_EXPORT int siginterrupt(int number, int interrupt) {
  // Also of a constructor before ours.
  if (number > 0 && number <= 64)
    g_interrupts = interrupt != 0 ? g_interrupts | Mask(number) : g_interrupts & ~Mask(number);
  if (__builtin_expect(!Ours(number), 1)) return real.siginterrupt(number, interrupt);
  struct sigaction action = {};
  ChangeProgramAction(nullptr, &action);
  action.sa_flags = (action.sa_flags & ~SA_RESTART) | (interrupt != 0 ? 0 : SA_RESTART);
  return ChangeProgramAction(&action, nullptr);
}

// The names under which headers of older standards, and libraries, reach the same functions.
GPUPROF_EXPORT int __sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  return sigaction(number, action, old);
}
GPUPROF_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) {
  return signal(number, handler);
}
GPUPROF_EXPORT sighandler_t ssignal(int number, sighandler_t handler) {
  return signal(number, handler);
}
GPUPROF_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) {
  return sysv_signal(number, handler);
}

}  // extern "C"
