// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace_maker.h.

#include "tests/unit/analysis/read/trace_maker.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "trace maker: cannot %s: %s\n", what, std::strerror(errno));
  std::abort();
}

std::string Serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  Require(message.SerializeToString(&bytes), "serialize a table");
  return bytes;
}

bool IsSpan(proto::ChunkKind kind) {
  return kind == proto::ChunkKind::kWait || kind == proto::ChunkKind::kOp;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = std::filesystem::temp_directory_path() / "gpuprof-test-XXXXXX";
  Require(mkdtemp(pattern.data()) != nullptr, "make a directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Require(file.good(), "open a file");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteText(const std::string& path, const std::string& text) {
  // Some file systems write a file to the disk when it is cut to nothing and written anew.
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.flush();
  Require(file.good(), "write a file");
}

void WriteManifest(const std::string& directory, const proto::Bundle& manifest) {
  WriteText(directory + "/" + proto::kBundleFile, Serialized(manifest));
}

TraceMaker::TraceMaker(const std::string& directory, int32_t pid, uint64_t start_id,
                       proto::ClockKind clock, uint32_t time_shift)
    : pid_(pid), start_id_(start_id), clock_(clock), time_shift_(time_shift) {
  char name[64];
  std::snprintf(name, sizeof(name), "p%d-%llx%s", pid, static_cast<unsigned long long>(start_id),
                proto::kTraceSuffix);
  name_ = name;
  path_ = directory + "/" + name_;
  proto::FileHeader header = {};
  header.pid = pid;
  header.start_id = start_id;
  header.realtime_ns = start_id * 1000;
  header.ticks_kind = static_cast<uint32_t>(clock);
  Require(writer_.Create(path_.c_str(), header), "create a trace");
}

TraceMaker::~TraceMaker() { Close(); }

proto::Meta TraceMaker::Identity(int32_t ppid) const {
  proto::Meta meta;
  meta.set_pid(pid_);
  meta.set_ppid(ppid);
  meta.set_start_id(start_id_);
  meta.set_host("testhost");
  meta.set_executable("/usr/bin/python3");
  meta.add_argv("python3");
  meta.add_argv("train.py");
  meta.set_clock_kind(static_cast<uint32_t>(clock_));
  meta.set_ticks_per_second(clock_ == proto::ClockKind::kTsc ? 2'000'000'000 : 1'000'000'000);
  return meta;
}

void TraceMaker::Meta(const proto::Meta& meta) { Table(proto::ChunkKind::kMeta, 13, meta, 1); }

void TraceMaker::Clock(uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns,
                       uint32_t bracket) {
  proto::Clocks clocks;
  proto::ClockSnapshot* snapshot = clocks.add_snapshot();
  snapshot->set_ticks(ticks);
  snapshot->set_monotonic_ns(monotonic_ns);
  snapshot->set_realtime_ns(realtime_ns);
  snapshot->set_bracket_ticks(bracket);
  Table(proto::ChunkKind::kClocks, 11, clocks, 1);
}

void TraceMaker::Strings(const std::vector<std::pair<uint32_t, std::string>>& strings) {
  proto::Strings table;
  for (const auto& [id, text] : strings) {
    table.add_id(id);
    table.add_text(text);
  }
  Table(proto::ChunkKind::kStrings, 8, table, static_cast<uint32_t>(strings.size()));
}

void TraceMaker::Thread(uint64_t ticks, uint32_t track, int32_t tid, const std::string& name,
                        uint64_t cpu_ns, uint64_t dropped) {
  proto::Threads threads;
  threads.set_time(ticks);
  proto::Thread* thread = threads.add_thread();
  thread->set_track(track);
  thread->set_tid(tid);
  thread->set_name(name);
  thread->set_cpu_ns(cpu_ns);
  thread->set_dropped(dropped);
  Table(proto::ChunkKind::kThreads, 12, threads, 1);
}

void TraceMaker::Table(proto::ChunkKind kind, int field,
                       const google::protobuf::MessageLite& message, uint32_t entries) {
  const std::string bytes = Serialized(message);
  Require(writer_.WriteTable(kind, 1, field, reinterpret_cast<const uint8_t*>(bytes.data()),
                             bytes.size(), entries),
          "write a table");
}

codec::ChunkBuilder* TraceMaker::BuilderOf(proto::ChunkKind kind, uint32_t track) {
  std::unique_ptr<codec::ChunkBuilder>& builder = builders_[{track, static_cast<uint16_t>(kind)}];
  if (builder == nullptr) builder = std::make_unique<codec::ChunkBuilder>(kind, track, time_shift_);
  return builder.get();
}

void TraceMaker::Row(proto::ChunkKind kind, uint32_t track,
                     std::initializer_list<uint64_t> columns) {
  Row(kind, track, std::span(columns.begin(), columns.end()));
}

void TraceMaker::Row(proto::ChunkKind kind, uint32_t track, std::span<const uint64_t> columns) {
  BuilderOf(kind, track)->Append(columns, IsSpan(kind) ? columns[0] - columns[1] : columns[0]);
}

void TraceMaker::Op(uint32_t track, uint64_t end, uint64_t duration, uint32_t name,
                    uint32_t depth) {
  Row(proto::ChunkKind::kOp, track, {end, duration, name, uint64_t{depth} << 16});
}

void TraceMaker::Dropped(proto::ChunkKind kind, uint32_t track, uint64_t records) {
  BuilderOf(kind, track)->AddDropped(records);
}

void TraceMaker::Flush(uint32_t capture) {
  for (auto& [slot, builder] : builders_) {
    if (builder->count() == 0) continue;
    Require(writer_.WriteEvents(builder.get(), capture, 0), "write events");
  }
}

void TraceMaker::End(proto::ExitWay way, int32_t status) {
  Flush();
  proto::EndMarker marker = {};
  marker.exit_way = static_cast<uint32_t>(way);
  marker.exit_status = status;
  Require(writer_.WriteEnd(marker), "write the end");
}

void TraceMaker::Close() { writer_.Close(); }

}  // namespace gpuprof::analysis
