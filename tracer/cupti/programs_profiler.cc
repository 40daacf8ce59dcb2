// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/programs_profiler.h"

#include <string.h>
#include <time.h>

#include "proto/ticks.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kNamed = 2;
constexpr uint32_t kWordBits = 64;
constexpr uint32_t kIds = 2 * kWordBits;

// As CUPTI's own on Linux.
uint64_t WallClock() { return proto::ReadClockNs(CLOCK_REALTIME); }

// Without buffers nothing of its records can be lost: a library may be loaded early by enabling a
// kind.
bool IsBusy(const ProgramsCupti& program) {
  if (program.has_subscribed.load() != 0 && program.wants_more.load() != 0) return true;
  return (program.kinds[0].load() | program.kinds[1].load()) != 0 &&
         program.buffer_requested.load() != nullptr;
}

bool Wants(const ProgramsCupti& program, uint32_t id) {
  return id < kIds && (program.resources[id / kWordBits].load() >> id % kWordBits & 1) != 0;
}

void EnableWanted(const ProgramsCupti& program, SubscriberHandle subscriber,
                  const Functions& functions) {
  for (uint32_t id = 0; id < kIds; ++id)
    if (Wants(program, id)) functions.enable_callback(1, subscriber, kResource, id);
}

}  // namespace

bool ProgramsProfiler::KeepOut(ProgramsCupti* program, const Functions& functions, char* holder) {
  program_ = program;
  program->is_kept_out.store(1);
  if (IsBusy(*program)) {
    program->is_kept_out.store(0);
    if (program->is_named.load(std::memory_order_acquire) == kNamed)
      memcpy(holder, program->name, sizeof(program->name));
    return false;
  }
  if (void* theirs = program->subscriber.exchange(nullptr); theirs != nullptr)
    functions.unsubscribe(theirs);
  return true;
}

void ProgramsProfiler::TakeCallbacks(SubscriberHandle ours, const Functions& functions) {
  program_->our_subscriber.store(ours);
  EnableWanted(*program_, ours, functions);
}

void ProgramsProfiler::ReplaceClock(const Functions& functions) {
  has_replaced_clock_ = functions.register_clock != nullptr && program_->clock.load() != nullptr &&
                        functions.register_clock(WallClock) == kSuccess;
}

uint64_t ProgramsProfiler::Time() const { return has_replaced_clock_ ? WallClock() : 0; }

void ProgramsProfiler::LetIn(const Functions& functions) {
  if (program_ == nullptr || program_->is_kept_out.load() == 0) return;
  program_->our_subscriber.store(nullptr);
  has_replaced_clock_ = false;
  if (program_->has_subscribed.load() != 0) {
    SubscriberHandle theirs = nullptr;
    const auto callback = reinterpret_cast<Callback>(program_->callback.load());
    if (functions.subscribe(&theirs, callback, program_->user.load()) == kSuccess) {
      program_->subscriber.store(theirs);
      EnableWanted(*program_, theirs, functions);
    }
  }
  if (uint64_t(*clock)() = program_->clock.load();
      clock != nullptr && functions.register_clock != nullptr)
    functions.register_clock(clock);
  if (void* requested = program_->buffer_requested.load(); requested != nullptr)
    functions.register_callbacks(
        reinterpret_cast<BufferRequested>(requested),
        reinterpret_cast<BufferCompleted>(program_->buffer_completed.load()));
  program_->is_kept_out.store(0);
}

void Forward(const ProgramsCupti& program, uint32_t id, const void* data) {
  if (program.has_subscribed.load() == 0 || !Wants(program, id)) return;
  const auto callback = reinterpret_cast<Callback>(program.callback.load());
  if (callback != nullptr) callback(program.user.load(), kResource, id, data);
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
