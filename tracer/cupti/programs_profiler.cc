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
constexpr uint32_t kKinds = 128;
// Of a call of the program's, which may deliver its buffers.
constexpr uint64_t kCallLimit = 1'000'000'000;
// Of one that only has something kept.
constexpr uint64_t kKeepingLimit = 10'000'000;

// As CUPTI's own on Linux.
uint64_t WallClock() { return proto::ReadClockNs(CLOCK_REALTIME); }

// Without buffers nothing of its records can be lost: a library may be loaded early by enabling a
// kind. Such kinds are off during the capture.
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

bool SomebodyRecords(const Functions& functions) {
  uint32_t kinds = 0;
  return functions.get_enabled_kinds != nullptr &&
         functions.get_enabled_kinds(nullptr, nullptr, nullptr, &kinds) == kSuccess && kinds != 0;
}

// Has what the program has recorded delivered, and holds a buffer of its own for it
// (ProgramsCupti). Inside, calls of the program's may come.
void Deliver(ProgramsCupti* program, const Functions& functions) {
  void* completed = program->buffer_completed.load();
  const auto requested = reinterpret_cast<BufferRequested>(program->buffer_requested.load());
  if (!IsThere(reinterpret_cast<void*>(requested)) || !IsThere(completed)) return;
  functions.flush_all(kFlushForced);
  if (program->unfetched.load() == 0 || program->held.load() != nullptr) return;
  uint8_t* buffer = nullptr;
  size_t size = 0, most_records = 0;
  requested(&buffer, &size, &most_records);
  program->held_size.store(size);
  program->held_completed.store(completed);
  program->held.store(buffer);
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
  has_taken_ = has_turned_off_ = false;
  kept_ = program->kept.load();
  BeginChange();
  if (!AwaitCalls(*program, kCallLimit) || IsBusy(*program)) {
    Open(functions);
    CopyName(*program, holder);
    return false;
  }
  TurnOffKinds(functions);
  // It may have turned its kinds off, and not have asked for what was recorded: that is its own.
  if (program->buffer_requested.load() != nullptr && !SomebodyRecords(functions))
    Deliver(program, functions);
  if (void* handle = program->subscriber.exchange(nullptr); handle != nullptr)
    functions.unsubscribe(handle);
  program->owner.store(CuptiOwner::kCapture);
  return true;
}

void ProgramsProfiler::TurnOffKinds(const Functions& functions) {
  has_turned_off_ = true;
  for (uint32_t kind = 0; kind < kKinds; ++kind)
    if (program_->kinds.Has(kind)) functions.disable(kind);
}

void ProgramsProfiler::TakeCallbacks(SubscriberHandle ours, const Functions& functions) {
  has_taken_ = true;
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
  } else if (program_->callback.load() == nullptr || IsThere(program_->callback.load())) {
    const auto callback = reinterpret_cast<Callback>(program_->callback.load());
    if (theirs == nullptr &&
        functions.subscribe(&theirs, callback, program_->user.load()) == kSuccess)
      program_->subscriber.store(theirs);
    if (theirs != nullptr) EnableWanted(*program_, theirs, functions);
  }
  RestoreSettings(functions);
  for (uint32_t kind = 0; has_turned_off_ && kind < kKinds; ++kind)
    if (program_->kinds.Has(kind)) functions.enable(kind);
}

// Where the capture came to nothing they are as they were, and may have become somebody else's.
void ProgramsProfiler::RestoreSettings(const Functions& functions) {
  if (!has_taken_ && program_->kept.load() == kept_) return;
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
  program_->waited_in_vain.store(0);
  program_->changer.store(static_cast<int32_t>(syscall(SYS_gettid)));
  program_->owner.store(CuptiOwner::kChanging);
}

// A call that could not wait any longer may have set something to be kept since: once more then.
// Nothing of that is wrong twice, as long as the program cannot have begun to record.
void ProgramsProfiler::Open(const Functions& functions) {
  constexpr int kMostRounds = 3;
  for (int round = 0; round < kMostRounds; ++round) {
    AwaitCalls(*program_, kKeepingLimit);
    const uint64_t now = program_->kept.load();
    if (now == kept_) break;
    Restore(functions);
    kept_ = now;
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
  kept_ = kept;
  Open(functions);
}

uint8_t ProgramsProfiler::AllSyncRecords() const {
  const uint32_t set = program_ != nullptr ? program_->all_sync_records.load() : 0;
  return static_cast<uint8_t>(set == 1 ? 0 : 1);
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
