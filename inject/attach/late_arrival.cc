// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/attach/late_arrival.h"

#include <time.h>

#include "inject/attach/slots.h"
#include "inject/bootstrap_arena.h"
#include "inject/control_socket.h"
#include "inject/control_thread.h"
#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/own_threads.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/ring_file.h"
#include "inject/ring_users.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "proto/attach.h"

using namespace gpuprof;
using namespace gpuprof::inject;

extern "C" {
GPUPROF_EXPORT constinit proto::AttachReport gpuprof_attach_report = {};
}

namespace {

using proto::AttachRefusal;
using proto::AttachState;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kSecondLook = kSecond / 10;
constexpr uint64_t kThirdLook = kSecond;

constinit char g_block[proto::kMostAttachBytes] = {};
// When the slots are looked at once more. The loader fills slots of an object for a while after
// the object is in its list, and a program's first calls fill others.
uint64_t g_look_at[2] = {0, 0};

void SetState(AttachState state) {
  gpuprof_attach_report.state.store(static_cast<uint32_t>(state), std::memory_order_release);
}
AttachState State() {
  return static_cast<AttachState>(gpuprof_attach_report.state.load(std::memory_order_acquire));
}

void CountSlots(const SlotCounts& counts) {
  gpuprof_attach_report.objects = counts.objects;
  gpuprof_attach_report.slots = counts.taken;
  gpuprof_attach_report.left_slots = counts.left;
}

void Look() {
  CountSlots(TakeSlots());
  const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
  g_look_at[0] = now + kSecondLook;
  g_look_at[1] = now + kThirdLook;
}

// Leaves the process to itself. The word of the fork handlers is the process number.
void Forget() {
  g_settings.bundle[0] = 0;
  g_process.pid = 0;
}

bool Refuse(AttachRefusal refusal) {
  Text(gpuprof_attach_report.said, sizeof(gpuprof_attach_report.said)).Add(LastSaid());
  gpuprof_attach_report.refusal.store(static_cast<uint32_t>(refusal));
  Forget();
  SetState(AttachState::kRefused);
  return false;
}

// The first work of the control thread. False: it ends.
bool Begin() {
  gpuprof_attach_report.thread = raw::GetTid();
  if (IsSanitized()) return Refuse(AttachRefusal::kSanitizer);
  ResolveInProgram();
  g_program_started.store(1, std::memory_order_release);
  if (!PrepareLate()) return Refuse(AttachRefusal::kSettings);
  Look();
  if (g_launch.capture == CaptureMode::kNow && !BeginCapture("attach")) {
    GiveSlotsBack();
    return Refuse(AttachRefusal::kSession);
  }
  gpuprof_attach_report.start_id = g_settings.start_id;
  SetState(AttachState::kAttached);
  return true;
}

void AwaitEndOfOthers() {
  constexpr timespec kMoment = {0, 200'000};
  constexpr int kLooks = 10'000;
  for (int looks = 0; looks < kLooks && CountOwnThreads() > 1; ++looks) {
    ServeControlSocket();  // its thread may wait for an answer
    raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
  }
}

}  // namespace

extern "C" GPUPROF_EXPORT int gpuprof_attach(const char* settings, uint64_t bytes) {
  const AttachState state = State();
  // A detached process may be attached to again.
  if (g_settings.bundle[0] != 0 || g_process.pid != 0 || state == AttachState::kBeginning)
    return static_cast<int>(AttachRefusal::kAlready);
  if (bytes == 0 || bytes > sizeof(g_block) || settings[bytes - 1] != 0)
    return static_cast<int>(AttachRefusal::kSettings);
  bootstrap::UseNoneForTools();
  __builtin_memcpy(g_block, settings, bytes);
  GiveSettings(g_block, bytes);
  KeepAllSaid();
  gpuprof_attach_report.refusal.store(0);
  gpuprof_attach_report.error = 0;
  gpuprof_attach_report.said[0] = 0;
  gpuprof_attach_report.detach.store(0);
  SetState(AttachState::kBeginning);
  const int error = StartControlThreadFor(Begin);
  if (error == 0) return 0;
  gpuprof_attach_report.error = error;
  SetState(AttachState::kRefused);
  return static_cast<int>(AttachRefusal::kThread);
}

namespace gpuprof::inject {

namespace {

// Nothing else is in it, and no thread comes back to it.
void RemoveCallMemory() {
  const uint64_t bytes = gpuprof_attach_report.call_bytes.exchange(0);
  if (bytes == 0) return;
  raw::Call(SYS_munmap, static_cast<long>(gpuprof_attach_report.call_memory),
            static_cast<long>(bytes));
}

}  // namespace

bool IsAttached() noexcept { return State() == AttachState::kAttached; }

bool IsDetachWanted() noexcept {
  return IsAttached() && gpuprof_attach_report.detach.load(std::memory_order_acquire) != 0;
}

void LookAfterSlots() noexcept {
  if (!IsAttached()) return;
  RemoveCallMemory();
  const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
  if (ObjectsChanged()) return Look();
  for (uint64_t& at : g_look_at) {
    if (at == 0 || now < at) continue;
    at = 0;
    CountSlots(TakeSlots());
  }
}

void Detach() noexcept {
  RemoveCallMemory();
  StopCapture("detach");
  GiveSlotsBack();
  EndListener();
  // What ends a trace acts on threads of the program alone.
  t_thread.busy = t_thread.tool = 0;
  FinishProcess(proto::ExitWay::kDetached, 0);
  t_thread.busy = t_thread.tool = 1;
  AwaitEndOfOthers();
  ForgetControlSocket();
  g_process.generation.fetch_add(1);  // no thread takes its ring from here on
  if (AwaitQuietRings()) UnmapRings();
  ForgetRingUsers();
  ForgetCaptures();
  Forget();
  SetState(AttachState::kDetached);
}

}  // namespace gpuprof::inject
