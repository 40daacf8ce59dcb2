// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One .gpt file on its way into the model: first its tables and the totals of its headers
// (LoadTables), then, once all files of the bundle are on one axis, its place there (Place), then
// its events (event_loader.h).
//
// LoadTables of different files may run at once. Bytes are hostile: every table is bounded, a fault
// is noted and the rest read.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/builder.h"
#include "analysis/model/file_parts.h"
#include "analysis/model/trace.h"
#include "analysis/read/clock_map.h"
#include "analysis/read/trace_input.h"
#include "proto/codec/trace_reader.h"

namespace gpuprof::analysis {

// A module from when it was first seen until it was seen to be gone; in ticks.
struct ModuleLife {
  size_t module;  // index into the process's modules
  uint64_t first_seen;
  uint64_t last_seen;  // 0: never gone
};

// A block of events, known from its header alone: what is in it, and when.
struct PlannedBlock {
  const codec::BlockRef* block;
  proto::ChunkKind kind;
  uint32_t track;
  uint32_t rows;
  // Bundle time. All rows lie between the two.
  int64_t first_ns;
  int64_t last_ns;
};

// Reads blocks of one file.
struct BlockReader {
  InputView view;
  codec::BlockDecoder decoder;

  bool Decompress(const codec::BlockRef& block, const uint8_t** message, uint64_t* bytes,
                  codec::Fault* fault) {
    return decoder.Decompress(&view.bytes, block, message, bytes, fault);
  }
};

class TraceFile {
 public:
  // Takes what is there of the file in `parts`. Null: all.
  TraceFile(codec::InputPath path, std::string name,
            std::shared_ptr<const FileParts> parts = nullptr)
      : path_(std::move(path)), name_(std::move(name)), parts_(std::move(parts)) {}

  // Reads the file, its headers and its tables. `is_alive`: its process still runs, so that a cut
  // end is no fault.
  void LoadTables(bool is_alive);
  // Nothing could be read: faults() says why.
  bool is_unreadable() const { return is_unreadable_; }

  // Times of header and tables on the clock as it is (before Place: by CLOCK_MONOTONIC); false: it
  // has no times.
  bool EarliestNs(int64_t* time_ns) const;
  // Converts the tables' times; `shift` makes CLOCK_MONOTONIC ns of this process bundle time.
  void Place(int64_t shift);

  const std::string& name() const { return name_; }
  const TraceInput& input() const { return input_; }
  const codec::TraceScan& scan() const { return scan_; }
  const ClockMap& clock() const { return clock_; }
  // That times of this kind of event are on.
  const ClockMap& clock_of(proto::ChunkKind kind) const {
    return proto::HasCuptiClock(kind) ? cupti_clock_ : clock_;
  }
  // Returns whether the trace was made of another tool's file. Call it after LoadTables.
  bool is_imported() const { return !meta_.imported_from().empty(); }
  Process& process() { return builder_.process(); }
  const Process& process() const { return builder_.process(); }
  ProcessBuilder& builder() { return builder_; }
  std::vector<InputFault>& faults() { return faults_; }
  // The track of that number, made when it is new; null beyond the limit of threads.
  Track* TrackOf(uint32_t id, int32_t tid);
  // Each module once for every time that it was loaded, in the order of the file.
  const std::vector<ModuleLife>& lives() const { return lives_; }
  // Whether modules and their lives are those of the process that made this one.
  bool has_modules_of_parent() const { return has_modules_of_parent_; }
  void TakeModulesOf(const TraceFile& parent);
  // Returns the blocks with rows, in the order of the file. Nothing is decoded. After Place.
  std::vector<PlannedBlock> Plan() const;
  // Returns whether the rows of a block are to be read.
  bool HasRows(const codec::BlockRef& block) const {
    return parts_ == nullptr || (!parts_->has_no_rows && IsThere(block));
  }
  // A time of a table, as rows have it: as coarse.
  int64_t RowTime(uint64_t ticks) const { return clock_.Convert(ticks & ~time_mask_); }

 private:
  struct RawSample {
    size_t track;  // index into tracks
    uint64_t ticks;
    uint64_t cpu_ns;
    uint64_t runqueue_wait_ns;
  };

  void AddFault(uint64_t offset, std::string what) {
    faults_.push_back({name_, offset, std::move(what)});
  }
  // Returns whether the bytes of a block are there.
  bool IsThere(const codec::BlockRef& block) const {
    return parts_ == nullptr ||
           parts_->Has(name_, block.offset - proto::kBlockFrontBytes,
                       proto::kBlockFrontBytes + block.header.compressed_bytes);
  }
  void SumHeaders();
  void ReadTable(const codec::BlockRef& block, BlockReader* reader);
  void AddStrings(const proto::Strings& strings, uint64_t offset);
  void AddStacks(const proto::Stacks& stacks, uint64_t offset);
  void AddModules(const proto::Modules& modules);
  void AddThreads(const proto::Threads& threads);
  // Threads seen before they had an event have no track yet: what was seen goes to the track that
  // the same thread has later. Where several have its tid, they stay apart.
  void JoinSightings();
  void AddMeta(const proto::Meta& meta);
  std::optional<uint64_t> ScalarOf(BlockReader* reader, const codec::BlockRef& block, int number);
  void FindQuantum(BlockReader* reader);
  void FindGpuTick(BlockReader* reader);
  // Rows tell times rounded down, headers tell them whole. These are the first and the last time
  // that the block's rows can have.
  uint64_t FirstTime(const codec::BlockRef& block) const {
    return AsInRows(block, block.header.first_time);
  }
  uint64_t LastTime(const codec::BlockRef& block) const {
    return AsInRows(block, block.header.last_time);
  }
  uint64_t AsInRows(const codec::BlockRef& block, uint64_t ticks) const {
    const bool is_whole = proto::HasCuptiClock(static_cast<proto::ChunkKind>(block.header.kind));
    return is_whole ? ticks : ticks & ~time_mask_;
  }
  void BuildClock();
  void BuildCuptiClock();
  void TakeImported();
  void AddStreams(const proto::Streams& streams);
  void AddDevices(const proto::Devices& devices, uint32_t capture);
  void AddCounters(const proto::Counters& counters);
  void AddHloModules(const proto::HloModules& modules, uint64_t offset);
  void AddGraphs(const proto::GraphNodes& table, uint32_t capture, uint64_t offset);
  // A block's time range on the clock as it is.
  std::pair<int64_t, int64_t> RangeOf(const codec::BlockRef& block) const;
  void TakeMeta();
  void PlaceSamples(ClockMap::Cursor* cursor);
  void PlaceLife(ClockMap::Cursor* cursor);
  void PlaceCaptures(ClockMap::Cursor* cursor);
  void PlaceGraphMarks(ClockMap::Cursor* cursor);
  void PlaceHandles(ClockMap::Cursor* cursor);
  void PlaceContexts(ClockMap::Cursor* cursor);

  codec::InputPath path_;
  std::string name_;
  std::shared_ptr<const FileParts> parts_;
  TraceInput input_;
  codec::TraceScan scan_;
  ClockMap clock_;
  ClockMap cupti_clock_;
  ProcessBuilder builder_;
  std::vector<InputFault> faults_;
  bool is_unreadable_ = false;

  std::map<std::pair<uint32_t, int32_t>, size_t> track_index_;  // by (id, tid where id is 0)
  std::map<std::tuple<uint64_t, uint64_t, std::string>, size_t>
      module_index_;  // by start, end, path and build id
  std::vector<ModuleLife> lives_;
  std::map<size_t, size_t> last_life_;  // by module
  bool has_modules_of_parent_ = false;
  bool told_too_many_threads_ = false;
  std::vector<RawSample> samples_;
  std::vector<proto::ClockSnapshot> snapshots_;
  std::vector<proto::ClockSnapshot> cupti_snapshots_;
  std::vector<std::pair<uint32_t, proto::GraphModeMark>> graph_marks_;  // with their capture
  std::map<uint64_t, uint64_t> node_ticks_;  // when nodes of graphs were made
  std::shared_ptr<HloModule> hlo_open_;      // the last one, which may go on
  uint64_t hlo_bytes_ = 0;
  std::map<uint32_t, uint64_t> handle_ticks_;  // since when a stream has its handle, by track
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> context_ticks_;  // begin and end, by id
  proto::Meta meta_;
  std::set<uint32_t> captures_after_cuda_;
  uint64_t string_bytes_ = 0;
  uint64_t time_mask_ = 0;  // the bits that times of rows lack
};

}  // namespace gpuprof::analysis
