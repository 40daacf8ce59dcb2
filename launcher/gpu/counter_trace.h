// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The sampler's own trace file in the bundle, gpu-<pid>-<start>.gpt: a track per device, its ticks
// CLOCK_MONOTONIC, which programs' files are placed by as well. Written like any other trace, a
// block of each device a second, so that a kill loses a second at most. One thread.
//
// It is no process of the program: its Meta says so, and readers keep it apart.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launcher/gpu/counters.h"
#include "launcher/gpu/device_reader.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_writer.h"
#include "proto/trace.pb.h"

namespace gpuprof::launcher {

class CounterTrace {
 public:
  // Empty, or cause and fix.
  std::string Create(const std::string& bundle);
  // Before the device's first row. Its track is its index and one.
  void AddDevice(const DeviceIdentity& device);
  // The same device as PM sampling knows it: its rows are on a track of their own, for they come
  // later than the others and each track is in the order of time.
  void AddPmDevice(const DeviceIdentity& device);
  // `time_ns`: CLOCK_MONOTONIC.
  void AddRows(unsigned device, uint64_t time_ns, const std::vector<Reading>& readings);
  void AddPmRows(unsigned device, uint64_t time_ns, const std::vector<Reading>& readings);
  // The id for the memory of one process.
  uint32_t CounterOfProcess(int32_t pid);
  // Kept in the trace's health, with what was said there before.
  void AddNote(const std::string& source, const std::string& text);
  // Adds to what was lost of this kind.
  void AddLoss(proto::LossKind kind, uint64_t count);
  // Everything so far into the file.
  void Flush();
  void Finish();
  bool is_open() const { return writer_.is_open(); }

 private:
  void WriteTable(proto::ChunkKind kind, int field, const google::protobuf::Message& message,
                  uint32_t entries);
  void WriteClocks();
  void AddTo(uint32_t track, uint32_t time_shift, uint64_t time_ns,
             const std::vector<Reading>& readings);

  codec::TraceWriter writer_;
  std::map<uint32_t, std::unique_ptr<codec::ChunkBuilder>> builders_;  // by track
  std::map<uint32_t, bool> described_;                                 // counters in the table
  std::map<int32_t, uint32_t> processes_;
  proto::Counters fresh_;  // table entries to be written
  proto::Health health_;
  bool is_health_fresh_ = false;
};

}  // namespace gpuprof::launcher
