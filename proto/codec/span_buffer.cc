// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_buffer.h.

#include "proto/codec/span_buffer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpuprof::codec {
namespace {

constexpr int kEnd = 0, kDuration = 1;
constexpr uint64_t kMostTick = 1'000'000;  // a millisecond; clocks step by less
// What an emptied buffer keeps in any case; more only while it is needed.
constexpr uint64_t kKeptValues = 8192;
// From how many rows on sorting digit by digit is faster than by comparison.
constexpr uint32_t kManyRows = 1024;
constexpr int kDigitBits = 11;
constexpr uint64_t kDigits = 1 << kDigitBits;
// How far ahead of the row that is encoded: rows lie in the order in which they came.
constexpr uint32_t kAhead = 8;

uint32_t IndexIn(uint64_t ordered) { return static_cast<uint32_t>(ordered); }

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
  return (rows_.capacity() + order_.capacity() + sorted_.capacity()) * sizeof(uint64_t) +
         builder_.memory_bytes();
}

// By the ends; rows with the same end stay in the order in which they came.
void SpanBuffer::Sort() {
  order_.resize(count_);
  if (is_sorted_) return std::iota(order_.begin(), order_.end(), uint64_t{0});
  uint64_t first = ~uint64_t{0}, last = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    const uint64_t end = Row(i)[kEnd];
    first = std::min(first, end);
    last = std::max(last, end);
  }
  if (last - first > UINT32_MAX) {
    std::iota(order_.begin(), order_.end(), uint64_t{0});
    return std::sort(order_.begin(), order_.end(), [this](uint64_t x, uint64_t y) {
      const uint64_t end_x = Row(IndexIn(x))[kEnd], end_y = Row(IndexIn(y))[kEnd];
      return end_x != end_y ? end_x < end_y : x < y;
    });
  }
  for (uint32_t i = 0; i < count_; ++i) order_[i] = (Row(i)[kEnd] - first) << 32 | i;
  if (count_ < kManyRows) return std::sort(order_.begin(), order_.end());
  SortByDigits(last - first);
}

// The lowest digit first, each time keeping the order among equals.
void SpanBuffer::SortByDigits(uint64_t range) {
  sorted_.resize(count_);
  for (int shift = 32; range != 0; shift += kDigitBits, range >>= kDigitBits) {
    uint32_t place[kDigits] = {};
    for (const uint64_t value : order_) ++place[value >> shift & (kDigits - 1)];
    uint32_t before = 0;
    for (uint32_t& at : place) at = std::exchange(before, before + at);
    for (const uint64_t value : order_) sorted_[place[value >> shift & (kDigits - 1)]++] = value;
    order_.swap(sorted_);
  }
}

// The greatest step that all starts and ends are whole numbers of away from one start.
uint64_t SpanBuffer::FindTick() const {
  const uint64_t base = StartOf(Row(0));
  uint64_t tick = 0;
  for (uint32_t i = 0; i < count_ && tick != 1; ++i) {
    const uint64_t* row = Row(i);
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
  builder_.SetSampledOneIn(sampled_one_in_);
  for (uint32_t i = 0; i < count_; ++i) {
    if (i + kAhead < count_) __builtin_prefetch(Row(IndexIn(order_[i + kAhead])));
    const uint64_t* row = Row(IndexIn(order_[i]));
    builder_.Append(row, StartOf(row));
  }
  const bool is_needed = rows_.size() * 4 > rows_.capacity();
  count_ = 0;
  is_sorted_ = true;
  rows_.clear();
  if (!is_needed) GiveMemoryBack();
  return &builder_;
}

void SpanBuffer::GiveMemoryBack() {
  if (count_ != 0 || rows_.capacity() <= kKeptValues) return;
  std::vector<uint64_t>().swap(rows_);
  std::vector<uint64_t>().swap(order_);
  std::vector<uint64_t>().swap(sorted_);
}

}  // namespace gpuprof::codec
