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

// As CUPTI's own on Linux.
uint64_t WallClock() { return proto::ReadClockNs(CLOCK_REALTIME); }

// Without buffers nothing of it can be lost: a library may be loaded early by enabling a kind.
bool Records(const ProgramsCupti& program) {
  return (program.kinds[0].load() | program.kinds[1].load()) != 0 &&
         program.buffer_requested.load() != nullptr;
}

}  // namespace

bool ProgramsProfiler::KeepOut(ProgramsCupti* program, char* holder) {
  program_ = program;
  program->is_kept_out.store(1);
  if (!Records(*program)) return true;
  program->is_kept_out.store(0);
  if (program->is_named.load(std::memory_order_acquire) == kNamed)
    memcpy(holder, program->name, sizeof(program->name));
  return false;
}

void ProgramsProfiler::ReplaceClock(const Functions& functions) {
  has_replaced_clock_ = functions.register_clock != nullptr && program_->clock.load() != nullptr &&
                        functions.register_clock(WallClock) == kSuccess;
}

uint64_t ProgramsProfiler::Time() const { return has_replaced_clock_ ? WallClock() : 0; }

void ProgramsProfiler::LetIn(const Functions& functions) {
  if (program_ == nullptr || program_->is_kept_out.load() == 0) return;
  if (uint64_t(*clock)() = program_->clock.load();
      clock != nullptr && functions.register_clock != nullptr)
    functions.register_clock(clock);
  if (void* requested = program_->buffer_requested.load(); requested != nullptr)
    functions.register_callbacks(
        reinterpret_cast<BufferRequested>(requested),
        reinterpret_cast<BufferCompleted>(program_->buffer_completed.load()));
  has_replaced_clock_ = false;
  program_->is_kept_out.store(0);
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
