// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes .gpt files and bundles for tests of the analysis, through the writer that the recorder
// uses. One thread. Every failure to write ends the test program: a test must not go on without its
// input.

#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/bundle.pb.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_writer.h"
#include "proto/record.h"
#include "proto/ticks.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {

// A directory that is removed, with what is in it, at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);
void WriteManifest(const std::string& directory, const proto::Bundle& manifest);

// One process's file. Ticks are 0.5 ns (2 GHz TSC) unless the test says otherwise.
class TraceMaker {
 public:
  TraceMaker(const std::string& directory, int32_t pid, uint64_t start_id,
             proto::ClockKind clock = proto::ClockKind::kTsc, uint32_t time_shift = 0);
  ~TraceMaker();

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }

  void Meta(const proto::Meta& meta);
  // Identity with what most tests need; `mutate` may add.
  proto::Meta Identity(int32_t ppid) const;
  void Clock(uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns, uint32_t bracket = 50);
  void Strings(const std::vector<std::pair<uint32_t, std::string>>& strings);
  void Thread(uint64_t ticks, uint32_t track, int32_t tid, const std::string& name,
              uint64_t cpu_ns = 0, uint64_t dropped = 0);
  void Table(proto::ChunkKind kind, int field, const google::protobuf::MessageLite& message,
             uint32_t entries);

  // A row by column, as proto/schema.h orders them.
  void Row(proto::ChunkKind kind, uint32_t track, std::initializer_list<uint64_t> columns);
  void Row(proto::ChunkKind kind, uint32_t track, std::span<const uint64_t> columns);
  void Op(uint32_t track, uint64_t end, uint64_t duration, uint32_t name, uint32_t depth = 0);
  void Dropped(proto::ChunkKind kind, uint32_t track, uint64_t records);
  // Writes the rows so far, one block a kind and track.
  void Flush(uint32_t capture = 1);

  void End(proto::ExitWay way = proto::ExitWay::kReturn, int32_t status = 0);
  void Close();

 private:
  codec::ChunkBuilder* BuilderOf(proto::ChunkKind kind, uint32_t track);

  int32_t pid_;
  uint64_t start_id_;
  proto::ClockKind clock_;
  uint32_t time_shift_;
  std::string name_;
  std::string path_;
  codec::TraceWriter writer_;
  std::map<std::pair<uint32_t, uint16_t>, std::unique_ptr<codec::ChunkBuilder>> builders_;
};

}  // namespace gpuprof::analysis
