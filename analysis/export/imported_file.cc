// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See imported_file.h. Rows are written by row_blocks.cc.

#include "analysis/export/imported_file.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "analysis/export/row_blocks.h"
#include "analysis/model/flight_dump.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/container.h"
#include "proto/file_size_signal.h"
#include "proto/ticks.h"

namespace gpuprof::analysis {
namespace {

namespace field = codec::chunk_field;
using proto::ChunkKind;

// Entries, or bytes, that one block of a table holds at most. Readers take 32 MiB.
constexpr int kEntriesPerBlock = 65536;
constexpr size_t kTextPerBlock = 4u << 20;
// Readers keep no more than these: analysis/read/trace_tables.cc, trace_file.cc.
constexpr size_t kMostStrings = 2u << 20, kMostStringBytes = 256u << 20, kMostTextBytes = 16u << 20;
constexpr size_t kMostCounters = 64u << 10, kMostSignatures = 1u << 20, kMostDevices = 1024,
                 kMostTracks = 256u << 10;

class Writer {
 public:
  Writer(const Process& process, const ImportedFile& file) : process_(process), file_(file) {}

  Result<uint64_t> Write() {
    if (const std::string fault = WhyNot(); !fault.empty()) return Refuse(fault);
    proto::FileHeader header = {};
    header.pid = process_.pid;
    header.start_id = file_.start_id;
    header.realtime_ns = Realtime();
    header.ticks_kind = static_cast<uint32_t>(proto::ClockKind::kMonotonic);
    if (!writer_.Create(file_.path.c_str(), header)) return CannotWrite(writer_.last_error());
    WriteMeta();
    WriteClock();
    WriteStrings();
    WriteStacks();
    WriteSignatures();
    WriteFunctions();
    WriteDevices();
    WriteHloModules();
    WriteCounters();
    WriteTracks();
    RowBlocks blocks(process_, &writer_);
    for (const Track& track : process_.tracks) {
      if (const std::string fault = blocks.Write(track); !fault.empty()) return Refuse(fault);
    }
    WriteTable(ChunkKind::kHealth, field::kHealth, process_.health, 1);
    if (error_ == 0) error_ = blocks.error();
    if (error_ == 0 && !writer_.WriteEnd({})) error_ = writer_.last_error();
    if (error_ != 0) return CannotWrite(error_);
    const uint64_t bytes = writer_.file_bytes();
    writer_.Close();
    return bytes;
  }

 private:
  Error Refuse(const std::string& fault) const {
    return Unreadable(process_.file + ": process " + std::to_string(process_.pid) +
                      " does not fit into a bundle: " + fault +
                      "; read the file itself, all passes can");
  }
  Error CannotWrite(int error) const {
    return Unreadable(file_.path + " cannot be written: " + std::strerror(error) +
                      "; free some space, or name another place with -o DIR");
  }

  // Returns why a reader could not give the process back as it is; empty: it can.
  std::string WhyNot() const {
    if (FlightDumpOf(process_) != nullptr) return "it is a dump of PyTorch's flight recorder";
    if (process_.memory_snapshot != nullptr) return "it is a memory snapshot of PyTorch";
    size_t bytes = 0, longest = 0;
    for (const auto& [id, text] : process_.strings) {
      bytes += text.size();
      longest = std::max(longest, text.size());
    }
    if (process_.strings.size() > kMostStrings || bytes > kMostStringBytes)
      return "it has too many different names";
    if (longest > kMostTextBytes) return "it has a name of " + std::to_string(longest) + " bytes";
    if (process_.signatures.size() > kMostSignatures) return "it has too many different launches";
    if (process_.devices.size() > kMostDevices || process_.sampled_devices.size() > kMostDevices)
      return "it has too many devices";
    if (process_.counters.size() > kMostCounters) return "it has too many counters";
    if (process_.tracks.size() > kMostTracks) return "it has too many threads and streams";
    for (size_t i = 0; i < process_.captures.size(); ++i)
      if (process_.captures[i].number != kImportedCapture + i) return "it was recorded by gpuprof";
    if (process_.captures.empty() || !process_.modules.empty() || !process_.contexts.empty())
      return "it was recorded by gpuprof";
    return "";
  }

  // What time 0 is, as far as a reader without bundle.pb is concerned.
  uint64_t Realtime() const {
    return static_cast<uint64_t>(
        std::clamp<int64_t>(file_.origin_realtime_ns, 0, int64_t{1} << 61));
  }

  void WriteTable(ChunkKind kind, int number, const google::protobuf::Message& message,
                  size_t entries) {
    const std::string bytes = message.SerializeAsString();
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    if (error_ != 0 || entries == 0) return;
    if (!writer_.WriteTable(kind, kImportedCapture, number, data, bytes.size(),
                            static_cast<uint32_t>(entries)))
      error_ = writer_.last_error();
  }

  void WriteCounters() {
    proto::Counters table;
    for (const auto& [id, counter] : process_.counters) *table.add_counter() = counter;
    std::sort(table.mutable_counter()->pointer_begin(), table.mutable_counter()->pointer_end(),
              [](const proto::Counter* x, const proto::Counter* y) { return x->id() < y->id(); });
    for (const auto& [track, device] : process_.sampled_devices) *table.add_device() = device;
    WriteTable(ChunkKind::kCounters, field::kCounters, table,
               process_.counters.size() + process_.sampled_devices.size());
  }

  void WriteMeta() {
    proto::Meta meta;
    meta.set_pid(process_.pid);
    meta.set_ppid(process_.ppid);
    meta.set_start_id(file_.start_id);
    meta.set_host(process_.host);
    meta.set_executable(process_.executable);
    meta.set_title(process_.title);
    for (const std::string& word : process_.argv) meta.add_argv(word);
    for (const auto& [name, value] : process_.environment) {
      proto::EnvironmentEntry* entry = meta.add_environment();
      entry->set_name(name);
      entry->set_value(value);
    }
    for (const std::string& framework : process_.frameworks) meta.add_framework(framework);
    meta.set_clock_kind(static_cast<uint32_t>(proto::ClockKind::kMonotonic));
    meta.set_ticks_per_second(1'000'000'000);
    meta.set_imported_from(process_.file.empty() ? "trace.json" : process_.file);
    for (const CaptureWindow& window : process_.captures) {
      for (const bool is_start : {true, false}) {
        proto::CaptureMark* mark = meta.add_capture_mark();
        mark->set_capture(window.number);
        mark->set_start(is_start);
        mark->set_ticks(ImportedTick(is_start ? window.start_ns : window.end_ns));
      }
    }
    WriteTable(ChunkKind::kMeta, field::kMeta, meta, 1);
  }

  // Readers without bundle.pb find the wall clock by it.
  void WriteClock() {
    proto::Clocks clocks;
    proto::ClockSnapshot* snapshot = clocks.add_snapshot();
    snapshot->set_ticks(proto::kImportedZeroTick);
    snapshot->set_monotonic_ns(proto::kImportedZeroTick);
    snapshot->set_realtime_ns(Realtime());
    WriteTable(ChunkKind::kClocks, field::kClocks, clocks, 1);
  }

  void WriteStrings() {
    std::vector<uint32_t> ids;
    for (const auto& [id, text] : process_.strings) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    proto::Strings strings;
    size_t bytes = 0;
    const auto flush = [&] {
      WriteTable(ChunkKind::kStrings, field::kStrings, strings,
                 static_cast<size_t>(strings.id_size()));
      strings.Clear();
      bytes = 0;
    };
    for (const uint32_t id : ids) {
      const std::string& text = process_.strings.at(id);
      strings.add_id(id);
      strings.add_text(text);
      bytes += text.size();
      if (bytes > kTextPerBlock || strings.id_size() == kEntriesPerBlock) flush();
    }
    flush();
  }

  // The stacks of an importer have the ids from 2 on.
  void WriteStacks() {
    constexpr uint32_t kFirst = 2;
    proto::Stacks stacks;
    uint64_t pc = 0;
    const auto flush = [&] {
      WriteTable(ChunkKind::kStacks, field::kStacks, stacks,
                 static_cast<size_t>(stacks.pc_delta_size()));
      stacks.Clear();
      pc = 0;
    };
    StackNode node;
    for (uint32_t id = kFirst; process_.stacks.Find(id, &node); ++id) {
      if (stacks.pc_delta_size() == 0) stacks.set_first_id(id);
      stacks.add_parent_back(node.parent == 0 ? 0 : id - node.parent);
      stacks.add_pc_delta(static_cast<int64_t>(node.pc - std::exchange(pc, node.pc)));
      if (stacks.pc_delta_size() == kEntriesPerBlock) flush();
    }
    flush();
  }

  void WriteSignatures() {
    std::vector<const proto::Signature*> sorted;
    for (const auto& [id, signature] : process_.signatures) sorted.push_back(&signature);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* x, const auto* y) { return x->id() < y->id(); });
    proto::Signatures table;
    const auto flush = [&] {
      WriteTable(ChunkKind::kSignatures, field::kSignatures, table,
                 static_cast<size_t>(table.signature_size()));
      table.Clear();
    };
    for (const proto::Signature* signature : sorted) {
      *table.add_signature() = *signature;
      if (table.signature_size() == kEntriesPerBlock) flush();
    }
    flush();
  }

  void WriteFunctions() {
    std::vector<std::pair<uint32_t, uint32_t>> sorted(process_.functions.begin(),
                                                      process_.functions.end());
    std::sort(sorted.begin(), sorted.end());
    proto::Functions table;
    for (const auto& [function, name] : sorted) {
      table.add_function(function);
      table.add_name(name);
    }
    WriteTable(ChunkKind::kFunctions, field::kFunctions, table, sorted.size());
  }

  // A block holds so much of the modules that readers need little memory for it.
  void WriteHloModules() {
    constexpr size_t kPartBytes = 1 << 20;
    for (const std::shared_ptr<const HloModule>& module : process_.hlo_modules) {
      size_t at = 0;
      do {
        proto::HloModules table;
        proto::HloModule* part = table.add_module();
        part->set_program_id(module->program_id);
        part->set_name(module->name);
        part->set_proto(module->proto.substr(at, kPartBytes));
        at += kPartBytes;
        WriteTable(ChunkKind::kHloModules, field::kHloModules, table, 1);
      } while (at < module->proto.size());
    }
  }

  void WriteDevices() {
    proto::Devices table;
    for (const proto::Device& device : process_.devices) *table.add_device() = device;
    WriteTable(ChunkKind::kDevices, field::kDevices, table, process_.devices.size());
  }

  void WriteTracks() {
    proto::Threads threads;
    proto::Streams streams;
    for (const Track& track : process_.tracks) {
      if (track.is_stream) {
        proto::Stream* stream = streams.add_stream();
        stream->set_track(track.id);
        stream->set_device(track.device);
        stream->set_context(track.context);
        stream->set_stream(track.stream);
      }
      if (track.is_stream && track.name.empty()) continue;
      proto::Thread* thread = threads.add_thread();
      thread->set_track(track.id);
      thread->set_tid(track.tid);
      thread->set_name(track.name);
    }
    WriteTable(ChunkKind::kThreads, field::kThreads, threads,
               static_cast<size_t>(threads.thread_size()));
    WriteTable(ChunkKind::kStreams, field::kStreams, streams,
               static_cast<size_t>(streams.stream_size()));
  }

  const Process& process_;
  const ImportedFile& file_;
  codec::TraceWriter writer_;
  int error_ = 0;  // the first errno
};

}  // namespace

Result<uint64_t> WriteImportedFile(const Process& process, const ImportedFile& file) {
  const proto::NoFileSizeSignal quiet;
  return Writer(process, file).Write();
}

}  // namespace gpuprof::analysis
