// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See index_builder.h. trace.proto says what each column holds.

#include "proto/codec/index_builder.h"

#include <algorithm>

#include "proto/codec/tables.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {

void IndexBuilder::Add(const proto::BlockHeader& header, uint64_t offset) {
  Entry& entry = entries_.emplace_back();
  entry.skipped = offset - proto::kBlockFrontBytes - end_;
  entry.first_time = header.first_time;
  entry.last_time = header.last_time;
  entry.dropped_before = header.dropped_before;
  entry.compressed_bytes = header.compressed_bytes;
  entry.raw_bytes = header.raw_bytes;
  entry.track = header.track;
  entry.count = header.count;
  entry.sequence = header.sequence;
  entry.kind = header.kind;
  entry.capture = header.capture;
  end_ = offset + header.compressed_bytes;
}

uint32_t IndexBuilder::Take(uint32_t most, std::vector<uint8_t>* out) {
  const size_t count = std::min<size_t>(most, entries_.size());
  PbWriter writer(out);
  // Calls value(entry, the entry before) for each entry.
  const auto column = [&](int field, const auto& value) {
    static constexpr Entry kNone = {};
    bool any = false;
    for (size_t i = 0; i < count && !any; ++i) {
      any = value(entries_[i], i == 0 ? kNone : entries_[i - 1]) != 0;
    }
    if (!any) return;
    const uint64_t packed = writer.Begin(field);
    for (size_t i = 0; i < count; ++i) {
      writer.RawVarint(value(entries_[i], i == 0 ? kNone : entries_[i - 1]));
    }
    writer.End(packed);
  };
  namespace f = index_field;
  using E = Entry;
  column(f::kSkipped, [](const E& e, const E&) { return e.skipped; });
  column(f::kCompressedBytes, [](const E& e, const E&) { return e.compressed_bytes; });
  column(f::kRawBytes, [](const E& e, const E&) { return e.raw_bytes; });
  column(f::kKind, [](const E& e, const E&) { return e.kind; });
  column(f::kCapture,
         [](const E& e, const E& b) { return ZigZag(uint64_t{e.capture} - b.capture); });
  column(f::kTrack, [](const E& e, const E& b) { return ZigZag(uint64_t{e.track} - b.track); });
  column(f::kCount, [](const E& e, const E&) { return e.count; });
  column(f::kSequence,
         [](const E& e, const E& b) { return ZigZag(uint64_t{e.sequence} - b.sequence - 1); });
  column(f::kFirstTime, [](const E& e, const E& b) { return ZigZag(e.first_time - b.first_time); });
  column(f::kLastTime, [](const E& e, const E&) { return e.last_time - e.first_time; });
  column(f::kDroppedBefore, [](const E& e, const E&) { return e.dropped_before; });
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(count));
  return static_cast<uint32_t>(count);
}

void IndexBuilder::Clear() {
  std::vector<Entry>().swap(entries_);
  end_ = proto::kFirstBlockOffset;
}

}  // namespace gpuprof::codec
