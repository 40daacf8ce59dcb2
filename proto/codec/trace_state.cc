// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace_state.h. Tables are read by field number, without libprotobuf.

#include "proto/codec/trace_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "proto/codec/open_regular.h"
#include "proto/codec/pb_reader.h"
#include "proto/codec/trace_reader.h"
#include "proto/obstacle.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

// Numbers of trace.proto's LossKind.
enum : uint64_t {
  kLossRingFull = 1,
  kLossReentered = 2,
  kLossNoRing = 3,
  kLossSampleTableFull = 4,
  kLossStackTableFull = 5,
  kLossStringTableFull = 6,
  kLossWriteError = 7,
  kLossCorruptRecord = 8,
  kLossUnpairedSpan = 9,
  kLossThreadEdge = 11,
  kLossRangeValue = 15,
  kLossSpan = 17,
  kLossKinds = 18,
};
enum : int {
  kHealthLoss = 1,
  kHealthNote = 9,
  kHealthDamagedRings = 19,
  kHealthActivityMissing = 20,
  kHealthRingsOutside = 22,
  kHealthRoomWaits = 23,
  kHealthRoomWaitTicks = 24,
  kHealthNamespaces = 25,
  kHealthBeginEndCpu = 27,
};

constexpr uint64_t kSmallestTrace = sizeof(proto::SkippableHeader) + sizeof(proto::FileHeader);

// The table message inside a serialized Trace; false if it is not there.
bool FindTableMessage(const uint8_t* message, uint64_t bytes, int field_number, PbField* table) {
  PbReader trace(message, bytes);
  PbField chunk;
  if (!trace.Next(&chunk) || chunk.number != chunk_field::kTraceChunk || chunk.wire_type != 2)
    return false;
  PbReader reader(chunk.data, chunk.bytes);
  while (reader.Next(table)) {
    if (table->number == field_number && table->wire_type == 2) return true;
  }
  return false;
}

void TakeStrings(const PbField& strings, TraceState* state) {
  PbReader reader(strings.data, strings.bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.wire_type != 2) continue;
    const uint8_t* at = field.data;
    const uint8_t* end = field.data + field.bytes;
    uint64_t id = 0;
    while (at != end && (at = GetVarint(at, end, &id)) != nullptr) {
      if (id >= state->next_text_id && id < UINT32_MAX / 2)
        state->next_text_id = static_cast<uint32_t>(id) + 1;
    }
  }
}

void TakeStacks(const PbField& stacks, uint32_t count, TraceState* state) {
  PbReader reader(stacks.data, stacks.bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.wire_type != 0) continue;
    const uint64_t next = field.value + count;
    if (field.value < UINT32_MAX / 2 && next < UINT32_MAX && next > state->next_stack_node)
      state->next_stack_node = static_cast<uint32_t>(next);
  }
}

int TableField(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::kStrings:
      return chunk_field::kStrings;
    case ChunkKind::kStacks:
      return chunk_field::kStacks;
    case ChunkKind::kHealth:
      return chunk_field::kHealth;
    default:
      return 0;
  }
}

void TakeBlock(TraceBytes* data, const BlockRef& block, BlockDecoder* decoder, TraceState* state) {
  const proto::BlockHeader& header = block.header;
  const ChunkKind kind = static_cast<ChunkKind>(header.kind);
  state->capture = std::max<uint32_t>(state->capture, header.capture);
  state->next_sequence = header.sequence + 1;
  ++state->blocks;
  if (proto::FindTable(kind) != nullptr) {
    state->rows += header.count;
    uint64_t& end = state->ring_end[{header.track, header.kind}];
    end = std::max(end, header.ring_end);
    return;
  }
  if (kind == ChunkKind::kMeta) state->has_meta = true;
  if (kind == ChunkKind::kClocks) state->has_clocks = true;
  const int field_number = TableField(kind);
  const uint8_t* message = nullptr;
  uint64_t bytes = 0;
  Fault fault;
  PbField table;
  if (field_number == 0 || !decoder->Decompress(data, block, &message, &bytes, &fault)) return;
  if (!FindTableMessage(message, bytes, field_number, &table)) return;
  if (kind == ChunkKind::kStrings) TakeStrings(table, state);
  if (kind == ChunkKind::kStacks) TakeStacks(table, header.count, state);
  if (kind == ChunkKind::kHealth) state->health.assign(table.data, table.data + table.bytes);
}

void PutLoss(uint64_t kind, uint64_t count, PbWriter* writer) {
  if (count == 0) return;
  const uint64_t loss = writer->Begin(kHealthLoss);
  writer->Varint(1, kind);
  writer->Varint(2, count);
  writer->End(loss);
}

void PutNote(const std::string& text, PbWriter* writer) {
  const uint64_t note = writer->Begin(kHealthNote);
  writer->Bytes(1, "recovery", 8);
  writer->Bytes(2, text.data(), text.size());
  writer->End(note);
}

// Adds one Loss message to the counts by kind; false: not to be understood.
bool TakeLoss(const PbField& loss, uint64_t* counts) {
  PbReader reader(loss.data, loss.bytes);
  PbField field;
  uint64_t kind = 0;
  uint64_t count = 0;
  while (reader.Next(&field)) {
    if (field.number == 1) kind = field.value;
    if (field.number == 2) count = field.value;
  }
  if (!reader.ok() || kind >= kLossKinds) return false;
  counts[kind] += count;
  return true;
}

void CopyField(const PbField& field, PbWriter* writer) {
  if (field.wire_type == 0) writer->Varint(field.number, field.value);
  if (field.wire_type == 1) writer->Fixed64(field.number, field.value);
  if (field.wire_type == 2) writer->Bytes(field.number, field.data, field.bytes);
}

}  // namespace

bool ReadTraceState(const std::string& path, TraceState* state, std::string* error) {
  struct stat status;
  const OwnedFile file(OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW, &status));
  if (file.fd() < 0 && errno == ENOENT) return true;
  if (file.fd() < 0) {
    *error = path + ": " + OpenErrorText(errno);
    return false;
  }
  state->exists = true;
  TraceBytes bytes(file.fd(), static_cast<uint64_t>(status.st_size));
  // Death came while the file header was written: nothing is lost by beginning anew.
  if (bytes.size() < kSmallestTrace) return true;
  TraceScan scan;
  const bool is_trace = Scan(&bytes, &scan);
  if (is_trace) {
    state->has_end = scan.has_end;
    state->readable_bytes = scan.readable_bytes;
    BlockDecoder decoder;
    for (const BlockRef& block : scan.blocks) TakeBlock(&bytes, block, &decoder, state);
    const auto is_damage = [&](const Fault& fault) { return fault.offset < scan.readable_bytes; };
    if (std::none_of(scan.faults.begin(), scan.faults.end(), is_damage))
      state->block = std::move(scan.blocks);
  }
  // What cannot be read now may be read later: recovery would cut it off.
  if (bytes.error() != 0) {
    *error = path + ": " + ReadErrorText(bytes.error());
    return false;
  }
  if (!is_trace) *error = path + ": " + scan.faults[0].what;
  return is_trace;
}

std::vector<uint8_t> MergeHealth(const std::vector<uint8_t>& previous,
                                 const RecoveredLosses& losses) {
  std::vector<uint8_t> merged;
  PbWriter writer(&merged);
  uint64_t counts[kLossKinds] = {};
  PbReader reader(previous.data(), previous.size());
  PbField field;
  while (reader.Next(&field)) {
    const bool is_loss = field.number == kHealthLoss && field.wire_type == 2;
    if (!is_loss || !TakeLoss(field, counts)) CopyField(field, &writer);
  }
  // The ring file's counters run from the start of the process; a ring without a place in it may
  // have dropped more since they were told.
  counts[kLossRingFull] = std::max(counts[kLossRingFull], losses.dropped);
  counts[kLossReentered] = std::max(counts[kLossReentered], losses.reentered);
  counts[kLossNoRing] = std::max(counts[kLossNoRing], losses.no_ring);
  counts[kLossSampleTableFull] = std::max(counts[kLossSampleTableFull], losses.table_full);
  counts[kLossThreadEdge] = std::max(counts[kLossThreadEdge], losses.thread_edges);
  // Of the NVTX ranges alone: those of the ops are in the older count alone.
  counts[kLossUnpairedSpan] = std::max(counts[kLossUnpairedSpan], losses.unpaired);
  counts[kLossSpan] = std::max(counts[kLossSpan], losses.spans);
  counts[kLossRangeValue] = std::max(counts[kLossRangeValue], losses.values_lost);
  counts[kLossStackTableFull] += losses.stacks_refused;
  counts[kLossStringTableFull] =
      std::max(counts[kLossStringTableFull], losses.names_lost) + losses.strings_refused;
  counts[kLossWriteError] = std::max(counts[kLossWriteError], losses.rows_unwritten);
  counts[kLossCorruptRecord] += losses.corrupt;
  for (uint64_t kind = 0; kind < kLossKinds; ++kind) PutLoss(kind, counts[kind], &writer);
  // A later value of a field replaces the earlier.
  if (losses.room_waits != 0) {
    writer.Varint(kHealthRoomWaits, losses.room_waits);
    writer.Varint(kHealthRoomWaitTicks, losses.room_wait_ticks);
  }
  if (losses.namespaces != 0) writer.Varint(kHealthNamespaces, losses.namespaces);
  if (losses.begin_end_cpu_ns != 0) writer.Varint(kHealthBeginEndCpu, losses.begin_end_cpu_ns);
  if (!losses.trouble.empty()) {
    const bool is_write = losses.trouble.starts_with(proto::kCannotWrite);
    PutNote((is_write ? "" : "recording ended before the process did: ") + losses.trouble, &writer);
  }
  if (losses.cut_stacks != 0) {
    PutNote("the outer frames of " + std::to_string(losses.cut_stacks) +
                " stacks are missing: the process died while its ring was being emptied",
            &writer);
  }
  if (losses.damaged_rings != 0) {
    // The ring file goes, and with it what could show the damage: readers tell it by this.
    writer.Varint(kHealthDamagedRings, losses.damaged_rings);
    PutNote("the ring file was damaged: the last records of " +
                std::to_string(losses.damaged_rings) + " threads could not be read",
            &writer);
  }
  if (losses.activity_missing_ns != 0) {
    writer.Varint(kHealthActivityMissing, losses.activity_missing_ns);
  }
  if (losses.rings_outside != 0) {
    writer.Varint(kHealthRingsOutside, losses.rings_outside);
    PutNote("the last records of " + std::to_string(losses.rings_outside) +
                " threads are lost: they were in memory only, as the bundle had no room for them",
            &writer);
  }
  return merged;
}

}  // namespace gpuprof::codec
