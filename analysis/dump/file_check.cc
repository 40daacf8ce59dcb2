// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See file_check.h.

#include "analysis/dump/file_check.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analysis/model/names.h"
#include "analysis/read/dead_rings.h"
#include "analysis/read/trace_input.h"
#include "proto/codec/index_reader.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"
#include "proto/nvtx_payload.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {
namespace {

using codec::BlockRef;
using codec::EventColumns;
using proto::ChunkKind;

using proto::IsTableKind;

constexpr char kNoEnd[] = "no end marker: the process was killed, or it still runs";

// Ids that events refer to against ids that tables define. Tables may come later in the file than
// rows of another thread, so the two are compared at the end.
class IdCheck {
 public:
  void Define(uint32_t id) { defined_.insert(id); }
  void Refer(const std::vector<uint64_t>& ids, size_t file, uint64_t offset) {
    uint64_t last = 0;
    for (const uint64_t id : ids) {
      if (id == last || id <= kReserved) continue;
      last = id;
      referred_.try_emplace(id, file, offset);
    }
  }
  // The first reference to an id without definition; false: there is none.
  bool FindUndefined(uint64_t* id, size_t* file, uint64_t* offset) const {
    for (const auto& [referred, at] : referred_) {
      if (referred <= UINT32_MAX && defined_.count(static_cast<uint32_t>(referred)) != 0) continue;
      *id = referred;
      *file = at.first;
      *offset = at.second;
      return true;
    }
    return false;
  }

 private:
  static constexpr uint64_t kReserved = 1;  // 0: none, 1: the table was full
  std::unordered_set<uint32_t> defined_;
  // By id: the file and the offset of the first block that names it.
  std::map<uint64_t, std::pair<size_t, uint64_t>> referred_;
};

// A trace, and what belongs behind it.
class Check {
 public:
  Check(codec::InputPath trace, bool is_alive, std::vector<FileReport>* reports)
      : trace_(std::move(trace)), is_alive_(is_alive), reports_(*reports) {}

  void Run() {
    for (; at_ < reports_.size(); ++at_) CheckFile();
    CheckIds();
  }

 private:
  FileReport& report() { return reports_[at_]; }
  bool IsSegment() const { return at_ != 0; }
  void Find(uint64_t offset, std::string what) {
    constexpr size_t kMostFindings = 100;
    if (report().findings.size() >= kMostFindings) {
      ++report().findings_not_told;
    } else {
      report().findings.push_back({offset, std::move(what)});
    }
  }
  void Note(std::string text) { report().notes.push_back(std::move(text)); }

  void CheckFile() {
    const codec::InputPath path = at_ == 0 ? trace_ : trace_.Above().Below(report().name);
    TraceInput input;
    if (const Error error = input.Open(path)) return Find(0, CauseOf(error, path.path));
    input.Show(&view_);
    report().bytes = input.bytes();
    scan_ = {};
    const bool is_trace = codec::Scan(&view_.bytes, &scan_);
    if (const int error = view_.bytes.error()) Find(0, codec::ReadErrorText(error));
    const bool may_be_torn = is_alive_ || (IsSegment() && at_ + 1 == reports_.size());
    for (const codec::Fault& fault : scan_.faults) {
      if (may_be_torn && is_trace && fault.offset >= scan_.readable_bytes) {
        Note("the last block was being written");
      } else {
        Find(fault.offset, fault.what);
      }
    }
    if (!is_trace) return;
    CheckHeader();
    CheckSequence();
    CheckIndex();
    unknown_blocks_ = unknown_rows_ = 0;
    for (const BlockRef& block : scan_.blocks) CheckBlock(block);
    CheckEnd();
  }

  void CheckHeader() {
    Stem stem;
    const std::string& name = report().name;
    if (!ParseStem(name.substr(0, name.find('.')), &stem)) return;
    if (stem.pid != scan_.header.pid || stem.start_id != scan_.header.start_id) {
      Find(0, "the header names process " + std::to_string(scan_.header.pid) +
                  ", but the file name does not");
    }
  }

  void CheckSequence() {
    uint64_t expected = 0;
    for (const BlockRef& block : scan_.blocks) {
      const uint64_t sequence = block.header.sequence;
      if (sequence > expected) {
        Find(block.offset, "blocks " + std::to_string(expected) + " to " +
                               std::to_string(sequence - 1) + " are missing before this one");
      } else if (sequence < expected) {
        Find(block.offset, "block " + std::to_string(sequence) + " comes after block " +
                               std::to_string(expected - 1));
      }
      expected = std::max(expected, sequence + 1);
    }
  }

  // Readers that go by the index see what those see that go by the headers.
  void CheckIndex() {
    if (!scan_.has_end || scan_.end.index == 0 || !scan_.faults.empty()) return;
    codec::IndexContents index;
    if (const char* fault = codec::ReadIndex(&view_.bytes, &index)) {
      return Find(scan_.end.index, fault);
    }
    for (size_t i = 0; i < scan_.blocks.size(); ++i) {
      const BlockRef& block = scan_.blocks[i];
      const BlockRef& entry = index.blocks[i];
      proto::BlockHeader header = entry.header;
      header.ring_end = block.header.ring_end;
      header.reserved = block.header.reserved;
      header.crc = block.header.crc;
      if (entry.offset != block.offset || std::memcmp(&header, &block.header, sizeof header) != 0)
        return Find(block.offset, "the index says something else of this block than its header");
    }
  }

  void CheckBlock(const BlockRef& block) {
    ++report().blocks;
    const uint16_t kind = block.header.kind;
    if (IsTableKind(kind)) return CheckTable(block);
    if (proto::FindTable(static_cast<ChunkKind>(kind)) != nullptr) return CheckEvents(block);
    const uint8_t* message = nullptr;
    uint64_t bytes = 0;
    codec::Fault fault;
    if (!decoder_.Decompress(&view_.bytes, block, &message, &bytes, &fault)) {
      Find(fault.offset, fault.what);
    }
    ++unknown_blocks_;
    unknown_rows_ += block.header.count;
  }

  void CheckTable(const BlockRef& block) {
    const uint8_t* message = nullptr;
    uint64_t bytes = 0;
    codec::Fault fault;
    if (!decoder_.Decompress(&view_.bytes, block, &message, &bytes, &fault)) {
      return Find(fault.offset, fault.what);
    }
    proto::Trace trace;
    if (!trace.ParseFromArray(message, static_cast<int>(bytes)) || trace.chunk_size() != 1) {
      return Find(block.offset, "table is not a protobuf message Trace with one chunk");
    }
    const proto::Chunk& chunk = trace.chunk(0);
    if (chunk.kind() != block.header.kind || chunk.track() != block.header.track) {
      return Find(block.offset, "table has another kind or track than its header says");
    }
    for (const uint32_t id : chunk.strings().id()) strings_.Define(id);
    if (chunk.strings().id_size() != chunk.strings().text_size()) {
      Find(block.offset, "string table has columns of different length");
    }
    for (const auto& signature : chunk.signatures().signature()) {
      signatures_.Define(signature.id());
      strings_.Refer({signature.name()}, at_, block.offset);
    }
    CheckStacks(chunk.stacks(), block.offset);
    if (chunk.health().damaged_rings() != 0) {
      Find(block.offset, DamagedRingsText(chunk.health().damaged_rings()));
    }
  }

  void CheckStacks(const proto::Stacks& stacks, uint64_t offset) {
    if (stacks.parent_back_size() != stacks.pc_delta_size()) {
      Find(offset, "stack table has columns of different length");
    }
    for (int i = 0; i < stacks.parent_back_size(); ++i) {
      const uint64_t id = uint64_t{stacks.first_id()} + static_cast<uint64_t>(i);
      if (id > UINT32_MAX) return Find(offset, "stack ids overflow");
      const uint64_t back = stacks.parent_back(i);
      if (back > id || (back == id && back != 0)) {
        return Find(offset,
                    "call stack " + std::to_string(id) + " has a parent that does not exist");
      }
      if (back != 0) stacks_.Refer({id - back}, at_, offset);
      stacks_.Define(static_cast<uint32_t>(id));
    }
  }

  void CheckEvents(const BlockRef& block) {
    const proto::BlockHeader& header = block.header;
    codec::Fault fault;
    if (!decoder_.DecodeEvents(&view_.bytes, block, &columns_, &fault)) {
      return Find(fault.offset, fault.what);
    }
    report().rows += columns_.count;
    if (columns_.count != header.count || columns_.track != header.track ||
        static_cast<uint16_t>(columns_.kind) != header.kind || columns_.capture != header.capture ||
        columns_.dropped_before != header.dropped_before) {
      Find(block.offset, "count, track, kind, capture or losses differ between header and content");
    }
    CheckTimes(block);
    CheckReferences(block);
    if (columns_.kind == ChunkKind::kRangePayload) CheckPayloads(block);
  }

  // What the rows refer to by id.
  void CheckReferences(const BlockRef& block) {
    const proto::TableSpec* table = proto::FindTable(columns_.kind);
    for (int i = 0; i < table->columns; ++i) {
      const std::vector<uint64_t>& ids = columns_.column[i];
      switch (table->column[i].type) {
        case proto::ColumnType::kString:
          strings_.Refer(ids, at_, block.offset);
          break;
        case proto::ColumnType::kStack:
          stacks_.Refer(ids, at_, block.offset);
          break;
        case proto::ColumnType::kSignature:
          signatures_.Refer(ids, at_, block.offset);
          break;
        default:
          break;
      }
    }
  }

  // Numbers below are no strings: they name types.
  void CheckPayloads(const BlockRef& block) {
    namespace c = proto::range_payload_column;
    std::vector<uint64_t> definitions = columns_.column[c::kDefinition];
    std::erase_if(definitions, [](uint64_t id) { return id < proto::nvtx::kFirstSchemaId; });
    strings_.Refer(definitions, at_, block.offset);
  }

  // Every table begins with its time.
  void CheckTimes(const BlockRef& block) {
    const std::vector<uint64_t>& times = columns_.column[0];
    if (times.empty()) return;
    // Rows that come from no ring have an order of their own: they come in windows.
    const bool is_late = block.header.ring_end == 0;
    uint64_t& last = last_time_[{block.header.track, block.header.kind, is_late}];
    uint64_t previous = last;
    uint64_t farthest = 0;
    for (const uint64_t time : times) {
      if (time < previous) farthest = std::max(farthest, previous - time);
      previous = std::max(previous, time);
    }
    last = previous;
    const proto::TableSpec* table = proto::FindTable(static_cast<ChunkKind>(block.header.kind));
    if (farthest != 0 && table->order == proto::RowOrder::kByTime) {
      Find(block.offset, "time goes back by " + std::to_string(farthest) + " ticks on track " +
                             std::to_string(block.header.track));
    }
    const uint64_t newest = *std::max_element(times.begin(), times.end());
    if (newest > block.header.last_time || block.header.first_time > block.header.last_time) {
      Find(block.offset, "rows are outside the times in the header");
    }
  }

  void CheckIds() {
    uint64_t id = 0;
    uint64_t offset = 0;
    if (strings_.FindUndefined(&id, &at_, &offset)) {
      Find(offset, "rows name string " + std::to_string(id) + ", which no table defines");
    }
    if (stacks_.FindUndefined(&id, &at_, &offset)) {
      Find(offset, "rows name call stack " + std::to_string(id) + ", which no table defines");
    }
    if (signatures_.FindUndefined(&id, &at_, &offset)) {
      Find(offset,
           "kernels name launch signature " + std::to_string(id) + ", which no table defines");
    }
  }

  void CheckEnd() {
    if (unknown_blocks_ != 0) {
      Note(std::to_string(unknown_blocks_) + " blocks with " + std::to_string(unknown_rows_) +
           " rows have kinds that this gpuprof does not know: a newer gpuprof wrote them");
    }
    if (!scan_.has_end && IsSegment()) return;
    if (!scan_.has_end) {
      report().lacks_end = !is_alive_ && scan_.faults.empty();
      Note(is_alive_ ? "its process still runs" : kNoEnd);
      return;
    }
    if (scan_.end.recovered != 0) Note("completed after its process had ended");
    if (scan_.end.blocks != scan_.blocks.size()) {
      Find(scan_.readable_bytes, "the end marker counts " + std::to_string(scan_.end.blocks) +
                                     " blocks, the file has " +
                                     std::to_string(scan_.blocks.size()));
    }
    // Whether blocks of unknown kinds hold rows or table entries only their writer knows.
    const uint64_t rows = scan_.end.rows;
    if (rows < report().rows || rows > report().rows + unknown_rows_) {
      Find(scan_.readable_bytes, "the end marker counts " + std::to_string(rows) +
                                     " rows, the file has " + std::to_string(report().rows));
    }
  }

  codec::InputPath trace_;
  bool is_alive_;
  std::vector<FileReport>& reports_;
  size_t at_ = 0;  // the trace, then the segments
  InputView view_;
  codec::TraceScan scan_;
  codec::BlockDecoder decoder_;
  EventColumns columns_;
  IdCheck strings_;
  IdCheck stacks_;
  IdCheck signatures_;
  // By track, kind, and whether rows come late.
  std::map<std::tuple<uint32_t, uint16_t, bool>, uint64_t> last_time_;
  uint64_t unknown_blocks_ = 0;
  uint64_t unknown_rows_ = 0;
};

}  // namespace

std::vector<FileReport> CheckTrace(const codec::InputPath& path, const std::string& name,
                                   const std::vector<std::string>& segments, bool is_alive) {
  std::vector<FileReport> reports(1 + segments.size());
  reports[0].name = name;
  for (size_t i = 0; i < segments.size(); ++i) reports[1 + i].name = segments[i];
  Check(path, is_alive, &reports).Run();
  return reports;
}

void FindWithoutEnd(FileReport* report) {
  std::erase(report->notes, kNoEnd);
  report->findings.push_back({report->bytes, kWithoutEnd});
}

}  // namespace gpuprof::analysis
