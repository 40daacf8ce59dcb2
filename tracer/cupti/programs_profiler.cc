// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/programs_profiler.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/ticks.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kNamed = 2;
constexpr uint32_t kResources = 128;
// Of a call of the program's, which may deliver its buffers.
constexpr uint64_t kCallLimit = 1'000'000'000;
// Of one that only has something kept.
constexpr uint64_t kKeepingLimit = 10'000'000;

// As CUPTI's own on Linux.
uint64_t WallClock() { return proto::ReadClockNs(CLOCK_REALTIME); }

// Without buffers nothing of its records can be lost: a library may be loaded early by enabling a
// kind.
bool IsBusy(const ProgramsCupti& program) {
  const bool follows = program.called_back[0].Any() || program.called_back[1].Any() ||
                       program.others.Any() || program.domains.Any();
  if (program.has_subscribed.load() != 0 && follows) return true;
  const bool records =
      program.kinds.Any() || program.recorded_calls[0].Any() || program.recorded_calls[1].Any();
  return records && program.buffer_requested.load() != nullptr;
}

// False: a call does not come to its end. Nothing is held that it could wait for.
bool AwaitCalls(const ProgramsCupti& program, uint64_t limit_ns) {
  const uint64_t began = proto::ReadClockNs(CLOCK_MONOTONIC);
  while (program.calls.load() > program.own_calls()) {
    if (proto::ReadClockNs(CLOCK_MONOTONIC) - began > limit_ns) return false;
    const timespec moment = {0, 100'000};
    syscall(SYS_nanosleep, &moment, nullptr);
  }
  return true;
}

void EnableWanted(const ProgramsCupti& program, SubscriberHandle subscriber,
                  const Functions& functions) {
  for (uint32_t id = 0; id < kResources; ++id)
    if (program.resources.Has(id)) functions.enable_callback(1, subscriber, kResource, id);
}

uint64_t LibraryOf(const Functions& functions) {
  Dl_info info = {};
  return dladdr(reinterpret_cast<void*>(functions.subscribe), &info) != 0
             ? reinterpret_cast<uint64_t>(info.dli_fbase)
             : 0;
}

// What asked for it may have been unloaded since.
bool IsThere(const void* function) {
  Dl_info info = {};
  return function != nullptr && dladdr(function, &info) != 0;
}

void CopyName(const ProgramsCupti& program, char* holder) {
  if (program.is_named.load(std::memory_order_acquire) == kNamed)
    memcpy(holder, program.name, sizeof(program.name));
}

}  // namespace

bool ProgramsProfiler::KeepOut(ProgramsCupti* program, const Functions& functions, char* holder) {
  program_ = nullptr;
  const uint64_t library = LibraryOf(functions);
  program->our_library.store(library);
  const uint64_t theirs = program->library.load();
  if (theirs != 0 && theirs != library) return true;
  if (IsBusy(*program)) {
    CopyName(*program, holder);
    return false;
  }
  program_ = program;
  const uint64_t kept = program->kept.load();
  BeginChange();
  if (!AwaitCalls(*program, kCallLimit) || IsBusy(*program)) {
    Open(functions, kept);
    CopyName(*program, holder);
    return false;
  }
  // It may have turned its kinds off, and not have asked for what was recorded: that is its own.
  if (program->buffer_requested.load() != nullptr) functions.flush_all(kFlushForced);
  if (void* handle = program->subscriber.exchange(nullptr); handle != nullptr)
    functions.unsubscribe(handle);
  program->owner.store(CuptiOwner::kCapture);
  return true;
}

void ProgramsProfiler::TakeCallbacks(SubscriberHandle ours, const Functions& functions) {
  if (program_ == nullptr) return;
  program_->our_subscriber.store(ours);
  EnableWanted(*program_, ours, functions);
}

void ProgramsProfiler::LeaveCallbacks() {
  if (program_ == nullptr) return;
  program_->our_subscriber.store(nullptr);
  AwaitCalls(*program_, kCallLimit);
}

void ProgramsProfiler::ReplaceClock(const Functions& functions) {
  has_replaced_clock_ = program_ != nullptr && functions.register_clock != nullptr &&
                        program_->clock.load() != nullptr &&
                        functions.register_clock(WallClock) == kSuccess;
}

uint64_t ProgramsProfiler::Time() const { return has_replaced_clock_ ? WallClock() : 0; }

void ProgramsProfiler::Restore(const Functions& functions) {
  void* theirs = program_->subscriber.load();
  if (program_->has_subscribed.load() == 0) {
    if (theirs != nullptr) functions.unsubscribe(program_->subscriber.exchange(nullptr));
  } else if (IsThere(program_->callback.load())) {
    const auto callback = reinterpret_cast<Callback>(program_->callback.load());
    if (theirs == nullptr &&
        functions.subscribe(&theirs, callback, program_->user.load()) == kSuccess)
      program_->subscriber.store(theirs);
    if (theirs != nullptr) EnableWanted(*program_, theirs, functions);
  }
  uint64_t (*clock)() = program_->clock.load();
  if (functions.register_clock != nullptr && IsThere(reinterpret_cast<void*>(clock)))
    functions.register_clock(clock);
  void* requested = program_->buffer_requested.load();
  if (IsThere(requested) && IsThere(program_->buffer_completed.load()))
    functions.register_callbacks(
        reinterpret_cast<BufferRequested>(requested),
        reinterpret_cast<BufferCompleted>(program_->buffer_completed.load()));
  if (const uint64_t type = program_->thread_ids.exchange(0);
      type != 0 && functions.set_thread_id_type != nullptr)
    functions.set_thread_id_type(static_cast<int>(type - 1));
}

void ProgramsProfiler::BeginChange() {
  program_->changer.store(static_cast<int32_t>(syscall(SYS_gettid)));
  program_->owner.store(CuptiOwner::kChanging);
}

// A call that could not wait any longer may have set something to be kept since: once more then.
// Nothing of that is wrong twice, as long as the program cannot have begun to record.
void ProgramsProfiler::Open(const Functions& functions, uint64_t kept) {
  constexpr int kMostRounds = 3;
  for (int round = 0; round < kMostRounds; ++round) {
    AwaitCalls(*program_, kKeepingLimit);
    const uint64_t now = program_->kept.load();
    if (now == kept) break;
    kept = now;
    Restore(functions);
  }
  program_->owner.store(CuptiOwner::kProgram);
  program_ = nullptr;
}

void ProgramsProfiler::LetIn(const Functions& functions) {
  if (program_ == nullptr) return;
  has_replaced_clock_ = false;
  BeginChange();
  AwaitCalls(*program_, kCallLimit);
  const uint64_t kept = program_->kept.load();
  Restore(functions);
  Open(functions, kept);
}

void Forward(const ProgramsCupti& program, uint32_t id, const void* data) {
  if (program.owner.load() == CuptiOwner::kProgram || program.has_subscribed.load() == 0 ||
      !program.resources.Has(id))
    return;
  const auto callback = reinterpret_cast<Callback>(program.callback.load());
  if (callback != nullptr) callback(program.user.load(), kResource, id, data);
}

void ForgetProgram(ProgramsCupti* program) {
  program->owner.store(CuptiOwner::kProgram);
  program->calls.store(program->own_calls());
  program->was_refused.store(0);
  program->our_subscriber.store(nullptr);
}

const char* RefusedProfilerNote(const ProgramsCupti& program) {
  if (program.was_refused.load() == 0 || program.is_named.load(std::memory_order_acquire) != kNamed)
    return "";
  static char note[256];
  Text(note)
      .Add("another profiler in this process (")
      .AddForeign(program.name)
      .Add(
          ") asked CUPTI for GPU activity during a capture and was refused: what it shows of that "
          "time has none");
  return note;
}

}  // namespace gpuprof::tracer::cupti
