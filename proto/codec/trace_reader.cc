// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One block's frame to columns. Each size is checked against the block header and the format's
// limits before memory is taken; a block that is not what its header says is refused whole. One
// decoder a thread.

#include "proto/codec/trace_reader.h"

#include <cstring>
#include <new>

#include <zstd.h>

#include "proto/codec/column_decoder.h"
#include "proto/codec/crc32c.h"
#include "proto/codec/pb_reader.h"
#include "proto/codec/rounding_errors.h"
#include "proto/codec/span_decoder.h"
#include "proto/codec/tables.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

constexpr uint32_t kMostTimeShift = 32;
constexpr uint64_t kMostTick = 1'000'000'000;  // a second

// The fields of Chunk that event tables use.
struct ChunkFields {
  uint64_t kind = 0;
  uint64_t track = 0;
  uint64_t base_time = 0;
  uint64_t count = 0;
  uint64_t time_shift = 0;
  uint64_t tick = 1;
  uint64_t dropped_before = 0;
  uint64_t capture = 0;
  uint64_t sampled_one_in = 0;
  uint64_t tick_fraction = 0;  // zigzag
  uint64_t gaps_predicted = 0;
  const uint8_t* column[proto::kWidestTable] = {};
  uint64_t column_bytes[proto::kWidestTable] = {};
  const uint8_t* rounding_errors = nullptr;
  uint64_t rounding_errors_bytes = 0;
};

const char* ReadScalar(const PbField& field, ChunkFields* chunk) {
  uint64_t* to = nullptr;
  switch (field.number) {
    case chunk_field::kKind:
      to = &chunk->kind;
      break;
    case chunk_field::kTrack:
      to = &chunk->track;
      break;
    case chunk_field::kBaseTime:
      to = &chunk->base_time;
      break;
    case chunk_field::kCount:
      to = &chunk->count;
      break;
    case chunk_field::kTimeShift:
      to = &chunk->time_shift;
      break;
    case chunk_field::kTick:
      to = &chunk->tick;
      break;
    case chunk_field::kDroppedBefore:
      to = &chunk->dropped_before;
      break;
    case chunk_field::kCapture:
      to = &chunk->capture;
      break;
    case chunk_field::kSampledOneIn:
      to = &chunk->sampled_one_in;
      break;
    case chunk_field::kTickFraction:
      to = &chunk->tick_fraction;
      break;
    case chunk_field::kGapsPredicted:
      to = &chunk->gaps_predicted;
      break;
    default:
      return nullptr;  // newer than this reader
  }
  const int wanted = field.number == chunk_field::kBaseTime ? 1 : 0;
  if (field.wire_type != wanted) return "field of another type than it should be";
  *to = field.value;
  return nullptr;
}

const char* TakePacked(const PbField& field, const uint8_t** data, uint64_t* bytes) {
  if (field.wire_type != 2) return "column is not packed";
  if (*data != nullptr) return "column is there twice";
  *data = field.data;
  *bytes = field.bytes;
  return nullptr;
}

// Returns null, or what is wrong.
const char* ReadChunk(const uint8_t* data, uint64_t bytes, ChunkFields* chunk) {
  PbReader reader(data, bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number == chunk_field::kRoundingErrors) {
      const char* fault = TakePacked(field, &chunk->rounding_errors, &chunk->rounding_errors_bytes);
      if (fault != nullptr) return fault;
      continue;
    }
    const int column = field.number - proto::kFirstColumnField;
    if (column < 0 || column >= proto::kWidestTable) {
      const char* fault = ReadScalar(field, chunk);
      if (fault != nullptr) return fault;
      continue;
    }
    const char* fault = TakePacked(field, &chunk->column[column], &chunk->column_bytes[column]);
    if (fault != nullptr) return fault;
  }
  return reader.ok() ? nullptr : "chunk is no valid message";
}

const char* CheckAgainstHeader(const ChunkFields& chunk, const proto::BlockHeader& header) {
  if (chunk.kind != header.kind || chunk.track != header.track || chunk.count != header.count ||
      chunk.capture != header.capture || chunk.dropped_before != header.dropped_before)
    return "chunk is not what its block header says";
  if (chunk.count > proto::kMaxRowsPerChunk) return "more rows than a chunk may have";
  if (chunk.tick == 0 || chunk.tick > kMostTick) return "tick makes no sense";
  const int64_t fraction = static_cast<int64_t>(UnZigZag(chunk.tick_fraction));
  if (fraction >= kMostTickFraction || fraction <= -kMostTickFraction) return "tick makes no sense";
  if (chunk.sampled_one_in > proto::kMostSampledOneIn) return "sampling factor makes no sense";
  if (chunk.time_shift > kMostTimeShift || header.first_time > header.last_time)
    return "times make no sense";
  return nullptr;
}

// Decodes column `i` of a table that has it. All residuals of a column that was left out are zero.
const char* DecodeOneColumn(const ChunkFields& chunk, proto::Encoding encoding,
                            const ColumnFrame& frame, int i, uint32_t count,
                            std::vector<uint64_t>* values) {
  // Cheap to ask, and keeps a lie about the row count from taking memory.
  if (chunk.column[i] != nullptr) {
    if (chunk.column_bytes[i] < count) return "column is shorter than the chunk";
    values->resize(count);
    return DecodeColumn(encoding, frame, chunk.column[i], chunk.column_bytes[i], values->data(),
                        count);
  }
  if (encoding == proto::Encoding::kTime) {
    if (frame.base_time < frame.first_time || frame.base_time > frame.last_time)
      return "base time outside the range that the block header gives";
    values->assign(count, frame.base_time << frame.time_shift);
    return nullptr;
  }
  values->clear();
  return nullptr;
}

bool Has(ColumnMask mask, int column) { return (mask >> column & 1) != 0; }

const char* DecodeColumns(const ChunkFields& chunk, const proto::TableSpec& table,
                          ColumnFrame frame, ColumnMask wanted, EventColumns* out) {
  // A span's duration lies within its end.
  if (Has(wanted, 1)) wanted |= 1;
  for (int i = 0; i < proto::kWidestTable; ++i) {
    std::vector<uint64_t>& values = out->column[i];
    if (i >= table.columns || !Has(wanted, i)) {
      values.clear();
      continue;
    }
    const char* fault =
        DecodeOneColumn(chunk, table.column[i].encoding, frame, i, out->count, &values);
    if (fault != nullptr) return fault;
    if (i == 0) frame.end = values.data();
  }
  return nullptr;
}

// Turns the residuals in the columns of a chained table's ends and durations into times.
const char* DecodeTimes(const ChunkFields& chunk, const ColumnFrame& frame, EventColumns* out) {
  constexpr int kEnd = 0, kDuration = 1;
  std::vector<uint64_t> errors;
  if (chunk.rounding_errors != nullptr) {
    errors.resize(out->count);
    if (!DecodeRoundingErrors(chunk.rounding_errors, chunk.rounding_errors_bytes, chunk.tick,
                              errors.data(), out->count))
      return "rounding errors make no sense";
  }
  SpanFrame spans;
  spans.base_time = frame.base_time;
  spans.first_time = frame.first_time;
  spans.last_time = frame.last_time;
  spans.time_shift = frame.time_shift;
  spans.tick.tick = chunk.tick;
  spans.tick.fraction = static_cast<int64_t>(UnZigZag(chunk.tick_fraction));
  spans.are_gaps_predicted = chunk.gaps_predicted != 0;
  const bool is_fine =
      DecodeSpans(spans, frame.key, errors.empty() ? nullptr : errors.data(),
                  out->column[kEnd].data(), out->column[kDuration].data(), out->count);
  return is_fine ? nullptr : "time outside the range that the block header gives";
}

// What must be decoded for the wanted columns of a chained table: its times need both of them and
// the keys.
ColumnMask WithNeeded(const proto::TableSpec& table, ColumnMask wanted) {
  constexpr ColumnMask kTimes = 3, kKeys = 4;
  if ((wanted & kTimes) != 0) wanted |= kTimes | kKeys;
  for (int i = 0; i < table.columns; ++i) {
    if (Has(wanted, i) && table.column[i].encoding == proto::Encoding::kKeyed) wanted |= kKeys;
  }
  return wanted;
}

// Decodes spans that follow each other: first their keys and residuals, then their times.
const char* DecodeChained(const ChunkFields& chunk, const proto::TableSpec& table,
                          ColumnFrame frame, ColumnMask wanted, EventColumns* out) {
  constexpr int kEnd = 0, kDuration = 1, kKey = 2;
  wanted = WithNeeded(table, wanted);
  for (const int i : {kEnd, kDuration, kKey}) {
    if (!Has(wanted, i)) {
      out->column[i].clear();
      continue;
    }
    const char* fault =
        DecodeOneColumn(chunk, table.column[i].encoding, frame, i, out->count, &out->column[i]);
    if (fault != nullptr) return fault;
    if (chunk.column[i] == nullptr) out->column[i].assign(out->count, 0);
  }
  frame.key = out->column[kKey].data();
  const char* fault = Has(wanted, kEnd) ? DecodeTimes(chunk, frame, out) : nullptr;
  for (int i = kKey + 1; i < proto::kWidestTable && fault == nullptr; ++i) {
    out->column[i].clear();
    if (i < table.columns && Has(wanted, i))
      fault =
          DecodeOneColumn(chunk, table.column[i].encoding, frame, i, out->count, &out->column[i]);
  }
  return fault;
}

const char* DecodeRows(const ChunkFields& chunk, const proto::TableSpec& table,
                       const proto::BlockHeader& header, ColumnMask wanted, EventColumns* out) {
  ColumnFrame frame;
  frame.time_shift = static_cast<uint32_t>(chunk.time_shift);
  frame.base_time = chunk.base_time;
  frame.first_time = header.first_time >> frame.time_shift;
  frame.last_time = header.last_time >> frame.time_shift;
  const bool is_chained = table.column[0].encoding == proto::Encoding::kGap;
  return is_chained ? DecodeChained(chunk, table, frame, wanted, out)
                    : DecodeColumns(chunk, table, frame, wanted, out);
}

// Vectors keep their size from block to block where they can: growing one again would zero it
// first.
void Empty(EventColumns* columns) {
  columns->count = 0;
  for (std::vector<uint64_t>& column : columns->column) column.clear();
}

bool Refuse(const BlockRef& block, const char* what, Fault* fault) {
  fault->offset = block.offset;
  fault->what = what;
  return false;
}

}  // namespace

BlockDecoder::BlockDecoder() : decompressor_(ZSTD_createDCtx()) {
  if (decompressor_ == nullptr) throw std::bad_alloc();
}

BlockDecoder::~BlockDecoder() { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(decompressor_)); }

// A block that was found by the index must have the header that the index tells of. Returns null,
// or what is wrong.
const char* BlockDecoder::CheckIndexed(TraceBytes* data, const BlockRef& block) {
  struct {
    proto::SkippableHeader frame;
    proto::BlockHeader header;
  } front;
  static_assert(sizeof front == proto::kBlockFrontBytes);
  const uint64_t bytes = sizeof front + block.header.compressed_bytes;
  const uint8_t* const from = data->At(block.offset - sizeof front, bytes);
  if (from == nullptr) return "block cut while it was read";
  std::memcpy(&front, from, sizeof front);
  if (front.frame.magic != proto::kSkippableBlockHeader ||
      HeaderCrc(front.header) != front.header.crc)
    return "header checksum differs";
  proto::BlockHeader told = block.header;
  told.ring_end = front.header.ring_end;
  told.reserved = front.header.reserved;
  return HeaderCrc(told) == front.header.crc
             ? nullptr
             : "the index says something else of this block than its header";
}

bool BlockDecoder::Decompress(TraceBytes* data, const BlockRef& block, const uint8_t** message,
                              uint64_t* bytes, Fault* fault) {
  if (block.is_from_index) {
    if (const char* what = CheckIndexed(data, block)) return Refuse(block, what, fault);
  }
  const uint64_t compressed = block.header.compressed_bytes;
  const uint8_t* const frame = data->At(block.offset, compressed);
  if (frame == nullptr) return Refuse(block, "block cut while it was read", fault);
  const uint64_t raw = block.header.raw_bytes;
  uint32_t magic = 0;
  if (compressed >= sizeof magic) std::memcpy(&magic, frame, sizeof magic);
  if (raw > proto::kMaxRawChunkBytes || magic != proto::kZstdFrameMagic ||
      ZSTD_getFrameContentSize(frame, compressed) != raw ||
      ZSTD_findFrameCompressedSize(frame, compressed) != compressed)
    return Refuse(block, "compressed block is not what its header says", fault);
  if (raw_.size() < raw + kReadAhead) raw_.resize(raw + kReadAhead);
  const size_t size = ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompressor_), raw_.data(), raw,
                                          frame, compressed);
  if (ZSTD_isError(size)) {
    fault->offset = block.offset;
    fault->what = std::string("block does not decompress: ") + ZSTD_getErrorName(size);
    return false;
  }
  if (size != raw) return Refuse(block, "compressed block is not what its header says", fault);
  *message = raw_.data();
  *bytes = raw;
  return true;
}

bool BlockDecoder::DecodeEvents(TraceBytes* data, const BlockRef& block, EventColumns* out,
                                Fault* fault, ColumnMask wanted) {
  const proto::TableSpec* table =
      proto::FindTable(static_cast<proto::ChunkKind>(block.header.kind));
  if (table == nullptr) return Refuse(block, "not a kind of event that this reader knows", fault);
  const uint8_t* message = nullptr;
  uint64_t bytes = 0;
  if (!Decompress(data, block, &message, &bytes, fault)) return false;
  PbReader reader(message, bytes);
  PbField field;
  if (!reader.Next(&field) || field.number != chunk_field::kTraceChunk || field.wire_type != 2 ||
      field.data + field.bytes != message + bytes)
    return Refuse(block, "block does not hold one chunk", fault);
  ChunkFields chunk;
  const char* what = ReadChunk(field.data, field.bytes, &chunk);
  if (what == nullptr) what = CheckAgainstHeader(chunk, block.header);
  if (what != nullptr) return Refuse(block, what, fault);
  out->kind = table->kind;
  out->track = block.header.track;
  out->capture = block.header.capture;
  out->count = block.header.count;
  out->dropped_before = block.header.dropped_before;
  out->sampled_one_in = chunk.sampled_one_in == 0 ? 1 : static_cast<uint32_t>(chunk.sampled_one_in);
  what = DecodeRows(chunk, *table, block.header, wanted, out);
  if (what == nullptr) return true;
  Empty(out);
  return Refuse(block, what, fault);
}

}  // namespace gpuprof::codec
