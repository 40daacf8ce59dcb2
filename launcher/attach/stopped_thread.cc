// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/stopped_thread.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/attach/wait_calls.h"
#include "launcher/base/read_file.h"
#include "proto/ticks.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK static_cast<__ptrace_request>(0x420a)
#define PTRACE_SETSIGMASK static_cast<__ptrace_request>(0x420b)
#endif

namespace gpuprof::launcher {
namespace {

constexpr int kStopMs = 2'000;
constexpr int kCallMs = 2'000;
// More than any processor's registers take: AMX alone has 8 KiB.
constexpr size_t kMostVectorBytes = 64 * 1024;
// What must reach the thread even now: faults of its own.
constexpr uint64_t kFaults = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSEGV - 1) |
                             uint64_t{1} << (SIGBUS - 1) | uint64_t{1} << (SIGILL - 1) |
                             uint64_t{1} << (SIGSYS - 1);

uint64_t NowNs() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void* Word(uint64_t value) { return reinterpret_cast<void*>(value); }

constexpr uint64_t kCallBytes = 2;  // of a system call instruction

bool IsCallStop(int status) { return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80); }

// The signal that a stop of the thread is about to deliver; 0: none.
uint64_t SignalOf(int status) {
  const bool is_signal = WIFSTOPPED(status) && !IsCallStop(status) && status >> 16 == 0;
  return is_signal ? static_cast<uint64_t>(WSTOPSIG(status)) : 0;
}

bool IsEventStop(int status) { return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP; }

}  // namespace

// Looks often at first: a stop takes microseconds on an idle machine.
bool StoppedThread::Wait(int limit_ms, int* status) {
  const uint64_t end = NowNs() + static_cast<uint64_t>(limit_ms) * 1'000'000;
  for (long pause = 2'000;; pause = pause < 500'000 ? pause * 2 : pause) {
    const pid_t got = waitpid(tid_, status, __WALL | WNOHANG);
    if (got == tid_) {
      if (!WIFEXITED(*status) && !WIFSIGNALED(*status)) return true;
      is_lost_ = true;
      return false;
    }
    if (got < 0 && errno != EINTR) {
      is_lost_ = true;
      return false;
    }
    if (NowNs() >= end) return false;
    const timespec time = {0, pause};
    nanosleep(&time, nullptr);
  }
}

// Waits for the stop that was asked for. A signal that comes before it goes to the program.
bool StoppedThread::AwaitStop(int limit_ms) {
  int status = 0;
  while (Wait(limit_ms, &status)) {
    if (IsEventStop(status)) return true;
    if (ptrace(PTRACE_CONT, tid_, nullptr, Word(SignalOf(status))) != 0) return false;
  }
  return false;
}

std::string StoppedThread::Stop() {
  if (ptrace(PTRACE_SEIZE, tid_, nullptr, Word(PTRACE_O_TRACESYSGOOD)) != 0)
    return errno == ESRCH ? "it has ended" : strerror(errno);
  is_seized_ = true;
  stopped_at_ = NowNs();
  if (ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) != 0) return strerror(errno);
  if (!AwaitStop(kStopMs)) return "it does not stop";
  uint8_t room[kMostVectorBytes];
  iovec vectors = {room, sizeof room};
  if (ptrace(PTRACE_GETREGS, tid_, nullptr, &registers_) != 0 ||
      ptrace(PTRACE_GETREGSET, tid_, Word(NT_X86_XSTATE), &vectors) != 0 ||
      ptrace(PTRACE_GETSIGMASK, tid_, Word(sizeof blocked_), &blocked_) != 0)
    return strerror(errno);
  vectors_.assign(room, room + vectors.iov_len);
  BeginWaitAgain();
  return "";
}

// The kernel does this for most waits. For some it ends them, as epoll_wait(): programs that have
// no signal handlers do not expect it. With a signal on its way it is what they wait for.
void StoppedThread::BeginWaitAgain() {
  const auto number = static_cast<long>(registers_.orig_rax);
  if (static_cast<long>(registers_.rax) != -EINTR || number < 0 || !IsWaitCall(number) ||
      HasSignals())
    return;
  registers_.rax = registers_.orig_rax;
  registers_.orig_rax = static_cast<unsigned long long>(-1);
  registers_.rip -= kCallBytes;
  waited_in_ = number;
  is_changed_ = true;
}

bool StoppedThread::HasSignals() const {
  const std::string status =
      ReadFile("/proc/" + std::to_string(tid_) + "/status").value_or("SigPnd:\t1");
  uint64_t pending = 0;
  for (const char* key : {"SigPnd:", "ShdPnd:"}) {
    const size_t at = status.find(key);
    if (at != std::string::npos) pending |= strtoull(status.c_str() + at + 7, nullptr, 16);
  }
  return (pending & ~blocked_) != 0;
}

bool StoppedThread::SetRegisters(const user_regs_struct& registers) const {
  return ptrace(PTRACE_SETREGS, tid_, nullptr, &registers) == 0;
}

void StoppedThread::HoldSignals() {
  if (holds_signals_) return;
  holds_signals_ = is_changed_ = true;
  // A handler that ran now would find the program's wait over: its restart would be lost.
  uint64_t held = ~(kFaults | uint64_t{1} << (kMarkSignal - 1));
  ptrace(PTRACE_SETSIGMASK, tid_, Word(sizeof held), &held);
}

bool StoppedThread::Call(uint64_t instruction, uint64_t stack, long number,
                         const std::vector<uint64_t>& arguments, int64_t* result) {
  HoldSignals();
  user_regs_struct now = registers_;
  unsigned long long* const places[] = {&now.rdi, &now.rsi, &now.rdx, &now.r10, &now.r8, &now.r9};
  for (size_t i = 0; i < arguments.size(); ++i) *places[i] = arguments[i];
  now.rax = static_cast<unsigned long long>(number);
  now.orig_rax = static_cast<unsigned long long>(-1);  // no wait is begun again
  now.rip = instruction;
  if (stack != 0) now.rsp = stack;
  if (!SetRegisters(now)) return false;
  // To the call, and behind it.
  for (int stops = 0; stops < 2;) {
    int status = 0;
    if (ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0 || !Wait(kCallMs, &status))
      return false;
    if (IsCallStop(status)) ++stops;
    if (SignalOf(status) == kMarkSignal) mark_is_due_ = true;
  }
  is_behind_call_ = true;
  if (ptrace(PTRACE_GETREGS, tid_, nullptr, &now) != 0) return false;
  *result = static_cast<int64_t>(now.rax);
  return true;
}

bool StoppedThread::RunToMark(uint64_t entry, uint64_t stack, uint64_t mark, int limit_ms) {
  HoldSignals();
  user_regs_struct now = registers_;
  now.rip = entry;
  now.rsp = stack;
  now.orig_rax = static_cast<unsigned long long>(-1);
  now.eflags &= ~0x400ull;  // the direction flag, as the ABI wants it
  if (!SetRegisters(now)) return false;
  is_behind_call_ = false;
  const uint64_t end = NowNs() + static_cast<uint64_t>(limit_ms) * 1'000'000;
  while (NowNs() < end) {
    int status = 0;
    if (ptrace(PTRACE_CONT, tid_, nullptr, nullptr) != 0) return false;
    const auto left = static_cast<int>((end - NowNs()) / 1'000'000) + 1;
    if (!Wait(left, &status)) break;
    const uint64_t signal = SignalOf(status);
    if (signal == kMarkSignal && ptrace(PTRACE_GETREGS, tid_, nullptr, &now) == 0) {
      if (now.rip == mark) return true;
      mark_is_due_ = true;
    } else if (signal != 0) {
      // A fault in the call goes to the program, as it would without us.
      is_lost_ = true;
      ptrace(PTRACE_DETACH, tid_, nullptr, Word(signal));
      return false;
    }
  }
  // It is let go where it is. PTRACE_DETACH needs a stopped thread: it may have to be asked.
  int status = 0;
  if (!is_lost_ && ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) == 0 && Wait(kStopMs, &status))
    ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
  is_lost_ = true;
  return false;
}

// The kernel begins an interrupted wait again if it finds the registers of the interruption after
// it has looked for signals. The stop behind a system call is not in that look: the thread is
// stopped there once more.
void StoppedThread::Restore() {
  if (is_behind_call_) {
    ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
    ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    AwaitStop(kStopMs);
  }
  iovec vectors = {vectors_.data(), vectors_.size()};
  ptrace(PTRACE_SETREGSET, tid_, Word(NT_X86_XSTATE), &vectors);
  ptrace(PTRACE_SETSIGMASK, tid_, Word(sizeof blocked_), &blocked_);
  SetRegisters(registers_);
}

uint64_t StoppedThread::Release() {
  if (!is_seized_) return stopped_ns_;
  is_seized_ = false;
  if (!is_lost_ && is_changed_) Restore();
  const uint64_t signal = mark_is_due_ ? kMarkSignal : 0;
  if (!is_lost_) ptrace(PTRACE_DETACH, tid_, nullptr, Word(signal));
  stopped_ns_ = NowNs() - stopped_at_;
  return stopped_ns_;
}

}  // namespace gpuprof::launcher
