// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See index_reader.h.

#include "proto/codec/index_reader.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "proto/codec/crc32c.h"
#include "proto/codec/pb_reader.h"
#include "proto/codec/tables.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

using proto::SkippableHeader;

// One index in the file: where its frame is, and what its header says.
struct Place {
  uint64_t begin;
  uint64_t end;
  proto::IndexHeader header;
};

template <typename Struct>
bool Copy(TraceBytes* data, uint64_t at, Struct* to) {
  const uint8_t* const from = data->At(at, sizeof(Struct));
  if (from != nullptr) std::memcpy(to, from, sizeof(Struct));
  return from != nullptr;
}

// The end marker must be the last thing in the file.
const char* ReadEnd(TraceBytes* data, uint64_t* at, proto::EndMarker* end) {
  constexpr uint64_t kBytes = sizeof(SkippableHeader) + sizeof(proto::EndMarker);
  if (data->size() < proto::kFirstBlockOffset + kBytes) return "there is no end marker";
  *at = data->size() - kBytes;
  SkippableHeader frame;
  if (!Copy(data, *at, &frame) || !Copy(data, *at + sizeof frame, end) ||
      frame.magic != proto::kSkippableEnd || frame.bytes != sizeof *end ||
      HeaderCrc(*end) != end->crc)
    return "there is no end marker";
  return end->index == 0 ? "there is no index" : nullptr;
}

const char* ReadPlace(TraceBytes* data, uint64_t at, uint64_t limit, Place* place) {
  constexpr uint64_t kFrontBytes = sizeof(SkippableHeader) + sizeof(proto::IndexHeader);
  SkippableHeader frame;
  if (at < proto::kFirstBlockOffset || at >= limit || limit - at < kFrontBytes ||
      !Copy(data, at, &frame) || !Copy(data, at + sizeof frame, &place->header))
    return "the index lies outside of the file";
  if (frame.magic != proto::kSkippableIndex || frame.bytes < sizeof(proto::IndexHeader) ||
      frame.bytes > limit - at - sizeof frame || HeaderCrc(place->header) != place->header.crc)
    return "the index is damaged";
  if (place->header.blocks == 0 || place->header.blocks > proto::kMostBlocksOfAnIndex ||
      place->header.raw_bytes > proto::kMaxRawIndexBytes)
    return "the index is beyond the format's limits";
  place->begin = at;
  place->end = at + sizeof frame + frame.bytes;
  return nullptr;
}

// Follows the indexes from the last one to the first. Each lies before the one that names it, so
// that the walk ends.
const char* FindPlaces(TraceBytes* data, uint64_t end_at, const proto::EndMarker& end,
                       std::vector<Place>* places) {
  // Each block has a header in the file: this bounds the memory.
  if (end.blocks > data->size() / proto::kBlockFrontBytes)
    return "the end marker counts more blocks than the file can hold";
  uint64_t blocks = 0;
  uint64_t limit = end_at;
  for (uint64_t at = end.index; at != 0; at = places->back().header.previous) {
    Place place;
    if (const char* fault = ReadPlace(data, at, limit, &place)) return fault;
    blocks += place.header.blocks;
    if (blocks > end.blocks) return "the index has more blocks than the end marker counts";
    places->push_back(place);
    limit = at;
  }
  if (blocks != end.blocks) return "the index has fewer blocks than the end marker counts";
  std::reverse(places->begin(), places->end());
  return nullptr;
}

// Returns whether a reader steps over a skippable frame with this magic.
bool IsSteppedOver(uint32_t magic) {
  return (magic & 0xfffffff0u) == proto::kSkippableFileHeader &&
         magic != proto::kSkippableFileHeader && magic != proto::kSkippableBlockHeader &&
         magic != proto::kSkippableEnd;
}

// Returns whether nothing but indexes, and frames that are younger than this reader, stands between
// `at` and `until`.
bool IsAllSteppedOver(TraceBytes* data, uint64_t at, uint64_t until) {
  while (at < until) {
    SkippableHeader frame;
    if (until - at < sizeof frame || !Copy(data, at, &frame)) return false;
    if (!IsSteppedOver(frame.magic) || frame.bytes > until - at - sizeof frame) return false;
    at += sizeof frame + frame.bytes;
  }
  return at == until;
}

class Reader {
 public:
  Reader(TraceBytes* data, IndexContents* index) : data_(data), index_(index) {}

  const char* Read();

 private:
  const char* ReadMessage(const Place& place);
  bool TakeColumn(const PbField& field, uint32_t entries);
  const char* AddBlocks(const Place& place);
  uint64_t Value(int field, uint32_t i) const {
    const std::vector<uint64_t>& column = column_[field];
    return column.empty() ? 0 : column[i];
  }
  int64_t Signed(int field, uint32_t i) const {
    return static_cast<int64_t>(UnZigZag(Value(field, i)));
  }

  TraceBytes* data_;
  IndexContents* index_;
  uint64_t at_ = proto::kFirstBlockOffset;  // the end of the last block
  std::vector<uint8_t> raw_;
  std::vector<uint64_t> column_[index_field::kDroppedBefore + 1];
};

bool Reader::TakeColumn(const PbField& field, uint32_t entries) {
  if (field.number >= static_cast<int>(std::size(column_))) return true;  // newer than this reader
  std::vector<uint64_t>& column = column_[field.number];
  if (field.wire_type != 2 || !column.empty() || field.bytes < entries) return false;
  column.resize(entries);
  const uint8_t* at = field.data;
  const uint8_t* const end = field.data + field.bytes;
  for (uint64_t& value : column) {
    at = GetVarint(at, end, &value);
    if (at == nullptr) return false;
  }
  return at == end;
}

const char* Reader::ReadMessage(const Place& place) {
  constexpr uint64_t kFrontBytes = sizeof(SkippableHeader) + sizeof(proto::IndexHeader);
  const uint64_t compressed = place.end - place.begin - kFrontBytes;
  const uint8_t* const frame = data_->At(place.begin + kFrontBytes, compressed);
  raw_.resize(place.header.raw_bytes);
  if (frame == nullptr || ZSTD_getFrameContentSize(frame, compressed) != raw_.size() ||
      ZSTD_findFrameCompressedSize(frame, compressed) != compressed ||
      ZSTD_decompress(raw_.data(), raw_.size(), frame, compressed) != raw_.size())
    return "the index does not decompress";
  for (std::vector<uint64_t>& column : column_) column.clear();
  PbReader reader(raw_.data(), raw_.size());
  PbField field;
  while (reader.Next(&field)) {
    if (!TakeColumn(field, place.header.blocks)) return "the index is no valid message";
  }
  return reader.ok() ? nullptr : "the index is no valid message";
}

const char* Reader::AddBlocks(const Place& place) {
  namespace f = index_field;
  proto::BlockHeader before = {};
  for (uint32_t i = 0; i < place.header.blocks; ++i) {
    const uint64_t skipped = Value(f::kSkipped, i);
    BlockRef block = {};
    block.is_from_index = true;
    proto::BlockHeader& header = block.header;
    header.compressed_bytes = static_cast<uint32_t>(Value(f::kCompressedBytes, i));
    header.raw_bytes = static_cast<uint32_t>(Value(f::kRawBytes, i));
    header.kind = static_cast<uint16_t>(Value(f::kKind, i));
    header.capture = static_cast<uint16_t>(before.capture + Signed(f::kCapture, i));
    header.track = static_cast<uint32_t>(before.track + Signed(f::kTrack, i));
    header.count = static_cast<uint32_t>(Value(f::kCount, i));
    header.sequence = static_cast<uint32_t>(before.sequence + 1 + Signed(f::kSequence, i));
    header.first_time = before.first_time + UnZigZag(Value(f::kFirstTime, i));
    header.last_time = header.first_time + Value(f::kLastTime, i);
    header.dropped_before = Value(f::kDroppedBefore, i);
    if (!proto::IsWithinLimits(header)) return "the index is beyond the format's limits";
    const uint64_t bytes = proto::kBlockFrontBytes + header.compressed_bytes;
    if (skipped > place.begin - at_ || bytes > place.begin - at_ - skipped)
      return "the index names blocks outside of the file";
    if (!IsAllSteppedOver(data_, at_, at_ + skipped))
      return "the index leaves out bytes of the file";
    block.offset = at_ + skipped + proto::kBlockFrontBytes;
    at_ += skipped + bytes;
    index_->blocks.push_back(block);
    before = header;
  }
  return nullptr;
}

const char* Reader::Read() {
  uint64_t end_at = 0;
  std::vector<Place> places;
  if (const char* fault = ReadEnd(data_, &end_at, &index_->end)) return fault;
  if (const char* fault = FindPlaces(data_, end_at, index_->end, &places)) return fault;
  index_->blocks.reserve(index_->end.blocks);
  for (const Place& place : places) {
    if (const char* fault = ReadMessage(place)) return fault;
    if (const char* fault = AddBlocks(place)) return fault;
  }
  return IsAllSteppedOver(data_, at_, end_at) ? nullptr : "the index leaves out bytes of the file";
}

}  // namespace

const char* ReadIndex(TraceBytes* data, IndexContents* index) {
  *index = IndexContents();
  const char* const fault = Reader(data, index).Read();
  if (fault != nullptr) index->blocks.clear();
  return fault;
}

}  // namespace gpuprof::codec
