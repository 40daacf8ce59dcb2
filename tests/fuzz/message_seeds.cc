// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See message_seeds.h.

#include "tests/fuzz/message_seeds.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "proto/control.h"
#include "tests/fuzz/cupti_script.h"
#include "tests/fuzz/temp_files.h"

namespace gpuprof::fuzz {
namespace {

namespace cupti = tracer::cupti;

void Write(const std::filesystem::path& path, const std::string& bytes) {
  WriteFile(path, bytes.data(), bytes.size());
}

// Writes the operations that Script reads.
class Operations {
 public:
  explicit Operations(uint8_t settings) { bytes_ += static_cast<char>(settings); }

  // Begins a record of `length` bytes that are zero until they are set.
  Operations& Record(Activity kind, size_t length) {
    const auto* found = std::find(std::begin(kKinds), std::end(kKinds), kind);
    bytes_ += static_cast<char>(found - kKinds);
    bytes_ += static_cast<char>(length);
    record_ = bytes_.size() - sizeof(uint32_t);  // the kind itself is left out
    bytes_.append(length - sizeof(uint32_t), 0);
    return *this;
  }
  template <typename Value>
  Operations& Set(size_t offset, Value value) {
    if (record_ + offset + sizeof value <= bytes_.size())
      std::memcpy(&bytes_[record_ + offset], &value, sizeof value);
    return *this;
  }
  Operations& Do(Operation operation) {
    bytes_ += static_cast<char>(operation);
    return *this;
  }
  Operations& Step(Operation operation, int16_t place) {
    Do(operation);
    bytes_ += static_cast<char>(place);
    bytes_ += static_cast<char>(place >> 8);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t record_ = 0;
};

constexpr uint64_t kTime = 1'750'000'000'000'000'000;
constexpr uint32_t kContextId = 1, kStreamId = 7, kThreadId = 77;

// A launch and its kernel, as a release of CUDA records both: with `bytes` bytes of a kernel.
void AddLaunch(uint32_t correlation, size_t bytes, Operations* out) {
  const uint64_t time = kTime + correlation * uint64_t{1000};
  out->Record(Activity::kRuntime, 40)
      .Set(cupti::api::kCallbackId, uint32_t{3})
      .Set(cupti::api::kStart, time)
      .Set(cupti::api::kEnd, time + 100)
      .Set(cupti::api::kThread, kThreadId)
      .Set(cupti::api::kCorrelation, correlation);
  out->Record(Activity::kConcurrentKernel, bytes)
      .Set(cupti::kernel::kStart, time + 200)
      .Set(cupti::kernel::kEnd, time + 700)
      .Set(cupti::kernel::kContext, kContextId)
      .Set(cupti::kernel::kStream, kStreamId)
      .Set(cupti::kernel::kGrid, uint32_t{64})
      .Set(cupti::kernel::kCorrelation, correlation)
      .Set(cupti::kernel::kName, uint64_t{2})
      .Set(cupti::kernel::kGraph, correlation % 2);
}

void AddCopies(Operations* out) {
  for (const Activity kind : {Activity::kMemcpy, Activity::kMemcpy2, Activity::kMemset}) {
    out->Record(kind, 96)
        .Set(cupti::copy::kBytes, uint64_t{4096})
        .Set(cupti::copy::kStart, kTime)
        .Set(cupti::copy::kEnd, kTime + 50)
        .Set(cupti::copy::kContext, kContextId)
        .Set(cupti::copy::kStream, kStreamId);
  }
}

void AddEvents(Operations* out) {
  out->Record(Activity::kDriver, 40)
      .Set(cupti::api::kCallbackId, uint32_t{2})
      .Set(cupti::api::kStart, kTime)
      .Set(cupti::api::kEnd, kTime + 5)
      .Set(cupti::api::kThread, kThreadId)
      .Set(cupti::api::kCorrelation, uint32_t{90});
  out->Record(Activity::kCudaEvent, 56)
      .Set(cupti::cuda_event::kCorrelation, uint32_t{90})
      .Set(cupti::cuda_event::kContext, kContextId)
      .Set(cupti::cuda_event::kStream, kStreamId)
      .Set(cupti::cuda_event::kRecord, uint64_t{101});
  out->Record(Activity::kSynchronization, 56)
      .Set(cupti::sync::kType, cupti::sync::kForEvent)
      .Set(cupti::sync::kStart, kTime)
      .Set(cupti::sync::kEnd, kTime + 9)
      .Set(cupti::sync::kContext, kContextId)
      .Set(cupti::sync::kEventRecord, uint64_t{101});
}

void AddMemory(Operations* out) {
  out->Record(Activity::kMemory2, 128)
      .Set(cupti::memory::kOperation, uint32_t{1})
      .Set(cupti::memory::kMemoryKind, uint32_t{3})
      .Set(cupti::memory::kBytes, uint64_t{4096})
      .Set(cupti::memory::kTime, kTime)
      .Set(cupti::memory::kPoolType, cupti::kPoolLocal)
      .Set(cupti::memory::kSource, uint64_t{2});
  out->Record(Activity::kMemoryPool, 80)
      .Set(cupti::pool::kOperation, uint32_t{3})
      .Set(cupti::pool::kPoolType, cupti::kPoolLocal)
      .Set(cupti::pool::kTime, kTime + 3);
  out->Record(Activity::kUnifiedMemoryCounter, 64)
      .Set(cupti::um::kCounter, uint32_t{1})
      .Set(cupti::um::kStart, kTime)
      .Set(cupti::um::kEnd, kTime + 20);
}

void AddPlaces(Operations* out) {
  out->Record(Activity::kDevice, 184)
      .Set(cupti::device::kName, uint64_t{2})
      .Set(cupti::device::kMajor, uint32_t{9});
  out->Record(Activity::kContext, 32).Set(cupti::context::kId, kContextId);
  out->Record(Activity::kStream, 24)
      .Set(cupti::stream::kContext, kContextId)
      .Set(cupti::stream::kId, kStreamId);
}

void AddOverheads(Operations* out) {
  for (const uint32_t object : {cupti::kObjectThread, cupti::kObjectDevice}) {
    out->Record(Activity::kOverhead, 56)
        .Set(cupti::overhead::kKind, cupti::kCommandBufferFull)
        .Set(cupti::overhead::kObjectKind, object)
        .Set(cupti::overhead::kThread, kThreadId)
        .Set(cupti::overhead::kStart, kTime)
        .Set(cupti::overhead::kEnd, kTime + 30);
  }
  out->Record(Activity::kJit, 72)
      .Set(cupti::jit::kStart, kTime)
      .Set(cupti::jit::kEnd, kTime + 30)
      .Set(cupti::jit::kThread, kThreadId);
  out->Record(Activity::kGraphTrace, 56)
      .Set(cupti::graph_trace::kStart, kTime)
      .Set(cupti::graph_trace::kEnd, kTime + 30)
      .Set(cupti::graph_trace::kContext, cupti::graph_trace::kOnHost);
}

}  // namespace

void MakeControl(const std::filesystem::path& folder) {
  const std::string at_once(1, 31);
  for (const char* verb :
       {proto::kVerbStatus, proto::kVerbStart, proto::kVerbStop, proto::kVerbToggle,
        proto::kVerbSnapshot, "snapshot after_warm-up.1", "snapshot ../up"}) {
    std::string name = verb;
    std::replace(name.begin(), name.end(), '/', '_');
    Write(folder / name, at_once + verb + "\n");
  }
  Write(folder / "byte_by_byte", std::string(1, 0) + "status\nstop\n");
  Write(folder / "too_long", at_once + std::string(300, 'x') + "\n");
}

void MakeAnswers(const std::filesystem::path& folder) {
  Write(folder / "ok",
        "result=ok\npid=12\nstate=capturing\ncaptures=1\nprogram=python3\nbundle=/tmp/a\n"
        "events=5\nlost=0\nsignal=10\nops=none\n");
  Write(folder / "refused", "result=error\nerror=a capture is under way; stop it first\npid=12\n");
  Write(folder / "control_characters", "result=ok\nprogram=\x1b[2Jx\x07\xc2\x9b\xff\r\n");
  Write(folder / "names",
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "ffff0000: 00000002 00000000 00010000 0001 01 20000 @gpuprof-0/12-1f\n"
        "ffff0001: 00000002 00000000 00010000 0001 01 20001 @gpuprof-0/x-1\n"
        "ffff0002: 00000002 00000000 00010000 0001 01 20002 /run/user/0/bus\n");
}

void MakeCupti(const std::filesystem::path& folder) {
  Operations all(kOwnsData);
  AddPlaces(&all);
  for (uint32_t i = 1; i <= 4; ++i) AddLaunch(i, 216, &all);
  AddCopies(&all);
  AddEvents(&all);
  AddMemory(&all);
  AddOverheads(&all);
  all.Do(kEnd).Do(kRelease).Do(kWrite);
  Write(folder / "every_kind", all.bytes());

  Operations old(kHasEarliest | kLimitsNodes);
  for (uint32_t i = 1; i <= 4; ++i) AddLaunch(i, 144, &old);
  Write(folder / "old_kernels", old.Do(kEnd).bytes());

  Operations many(kLimitsCalls | kLimitsNodes);
  for (uint32_t i = 1; i <= 20; ++i) {
    AddLaunch(i, 160, &many);
    if (i % 5 == 0) many.Do(kEnd).Do(kWrite);
  }
  Write(folder / "more_than_the_budget", many.bytes());

  Operations stuck(0);
  AddLaunch(1, 160, &stuck);
  Write(folder / "stuck", stuck.Do(kEndStuck).bytes());
  for (const int16_t place : {0, -8, 200, 201, 999}) {
    Operations elsewhere(0);
    AddLaunch(1, 160, &elsewhere);
    elsewhere.Step(kStep, place);
    AddCopies(&elsewhere);
    Write(folder / ("elsewhere" + std::to_string(place)), elsewhere.Do(kEnd).bytes());
  }
  Operations fails(0);
  AddLaunch(1, 160, &fails);
  Write(folder / "fails", fails.Step(kFault, 0).Do(kEnd).bytes());
}

}  // namespace gpuprof::fuzz
