// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_buffer.h.

#include "proto/codec/span_buffer.h"

#include <algorithm>
#include <numeric>

namespace gpuprof::codec {
namespace {

constexpr int kEnd = 0, kDuration = 1;
constexpr uint64_t kMostTick = 1'000'000;  // a millisecond; clocks step by less
// What an emptied buffer may keep.
constexpr uint64_t kKeptValues = 8192;

}  // namespace

SpanBuffer::SpanBuffer(proto::ChunkKind kind, uint32_t track)
    : is_chained_(proto::FindTable(kind)->column[0].encoding == proto::Encoding::kGap),
      columns_(static_cast<uint32_t>(proto::FindTable(kind)->columns)),
      builder_(kind, track, 0) {}

uint64_t SpanBuffer::StartOf(const uint64_t* row) const {
  if (!is_chained_) return row[kEnd];
  return row[kDuration] <= row[kEnd] ? row[kEnd] - row[kDuration] : 0;
}

void SpanBuffer::Append(const uint64_t* row) {
  if (count_ != 0 && row[kEnd] < Row(count_ - 1)[kEnd]) is_sorted_ = false;
  rows_.insert(rows_.end(), row, row + columns_);
  ++count_;
}

uint64_t SpanBuffer::memory_bytes() const {
  return rows_.capacity() * sizeof(uint64_t) + order_.capacity() * sizeof(uint32_t) +
         builder_.memory_bytes();
}

void SpanBuffer::Sort() {
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (is_sorted_) return;
  std::sort(order_.begin(), order_.end(), [this](uint32_t x, uint32_t y) {
    const uint64_t end_x = Row(x)[kEnd], end_y = Row(y)[kEnd];
    return end_x != end_y ? end_x < end_y : x < y;
  });
}

// The greatest step that all starts and ends are whole numbers of away from the first start.
uint64_t SpanBuffer::FindTick() const {
  const uint64_t base = StartOf(Row(order_[0]));
  uint64_t tick = 0;
  for (uint32_t i = 0; i < count_ && tick != 1; ++i) {
    const uint64_t* row = Row(order_[i]);
    const uint64_t start = StartOf(row);
    tick = std::gcd(tick, start > base ? start - base : base - start);
    tick = std::gcd(tick, row[kEnd] - start);
  }
  return tick == 0 || tick > kMostTick ? 1 : tick;
}

ChunkBuilder* SpanBuffer::Encode() {
  if (count_ == 0) return &builder_;
  Sort();
  if (is_chained_) builder_.SetTick(FindTick());
  for (const uint32_t index : order_) builder_.Append(Row(index), StartOf(Row(index)));
  count_ = 0;
  is_sorted_ = true;
  rows_.clear();
  if (rows_.capacity() > kKeptValues) {
    std::vector<uint64_t>().swap(rows_);
    std::vector<uint32_t>().swap(order_);
  }
  return &builder_;
}

}  // namespace gpuprof::codec
