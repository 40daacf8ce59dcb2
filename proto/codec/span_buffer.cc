// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_buffer.h.

#include "proto/codec/span_buffer.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "proto/codec/exact_tick.h"
#include "proto/codec/rounded_tick.h"

namespace gpuprof::codec {
namespace {

constexpr int kEnd = 0, kDuration = 1;
constexpr uint64_t kMostTick = 1'000'000;  // a millisecond; clocks step by less
// Spans of a chunk that a rounded tick is looked for in.
constexpr size_t kMostTellingSpans = 8192;
// What a buffer keeps for the next rows in any case; more only while it is needed.
constexpr uint64_t kKeptValues = 8192;
// Up to so many rows in a chunk, to make what encodes them anew is little beside their own cost.
constexpr uint32_t kFewRows = 512;
// From how many rows on sorting digit by digit is faster than by comparison.
constexpr uint32_t kManyRows = 1024;
constexpr int kMostDigitBits = 11, kMostTurns = 3;
static_assert(kMostDigitBits * kMostTurns >= 32);
// Rows that the builder is given at once.
constexpr uint32_t kAtOnce = 64;

uint32_t IndexIn(uint64_t ordered) { return static_cast<uint32_t>(ordered); }

}  // namespace

SpanBuffer::SpanBuffer(proto::ChunkKind kind, uint32_t track)
    : kind_(kind),
      is_chained_(proto::FindTable(kind)->column[0].encoding == proto::Encoding::kGap),
      track_(track),
      columns_(static_cast<uint32_t>(proto::FindTable(kind)->columns)) {}

uint64_t SpanBuffer::StartOf(const uint64_t* row) const {
  if (!is_chained_) return row[kEnd];
  return row[kDuration] <= row[kEnd] ? row[kEnd] - row[kDuration] : 0;
}

void SpanBuffer::MakeRoom() {
  const size_t room = room_ != 0 ? 2 * room_ : columns_;
  auto rows = std::make_unique_for_overwrite<uint64_t[]>(room);
  if (used_ != 0) std::memcpy(rows.get(), rows_.get(), used_ * sizeof(rows[0]));
  rows_ = std::move(rows);
  room_ = room;
}

uint64_t SpanBuffer::memory_bytes() const {
  return sizeof(*this) + (room_ + order_.capacity() + sorted_.capacity()) * sizeof(uint64_t) +
         (builder_ != nullptr ? builder_->memory_bytes() : 0);
}

// By the ends; rows with the same end stay in the order in which they came.
void SpanBuffer::Sort() {
  order_.resize(count_);
  if (is_sorted_) return std::iota(order_.begin(), order_.end(), uint64_t{0});
  const uint64_t range = most_end_ - least_end_;
  if (range > UINT32_MAX) {
    std::iota(order_.begin(), order_.end(), uint64_t{0});
    return std::sort(order_.begin(), order_.end(), [this](uint64_t x, uint64_t y) {
      const uint64_t end_x = Row(IndexIn(x))[kEnd], end_y = Row(IndexIn(y))[kEnd];
      return end_x != end_y ? end_x < end_y : x < y;
    });
  }
  if (count_ >= kManyRows) return SortByDigits(static_cast<uint32_t>(range));
  for (uint32_t i = 0; i < count_; ++i) order_[i] = (Row(i)[kEnd] - least_end_) << 32 | i;
  std::sort(order_.begin(), order_.end());
}

// The lowest digit first, each time keeping the order among equals. How often each digit comes in
// each place is counted once.
void SpanBuffer::SortByDigits(uint32_t range) {
  const int bits = std::bit_width(range);
  const int turns = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const int digit_bits = turns != 0 ? (bits + turns - 1) / turns : 1;
  const uint64_t mask = (uint64_t{1} << digit_bits) - 1;
  uint32_t place[kMostTurns][1 << kMostDigitBits];
  for (int turn = 0; turn < turns; ++turn) std::fill_n(place[turn], mask + 1, 0);
  for (uint32_t i = 0; i < count_; ++i) {
    const uint64_t time = Row(i)[kEnd] - least_end_;
    order_[i] = time << 32 | i;
    for (int turn = 0; turn < turns; ++turn) ++place[turn][time >> turn * digit_bits & mask];
  }
  sorted_.resize(count_);
  for (int turn = 0; turn < turns; ++turn) {
    uint32_t* const at = place[turn];
    uint32_t before = 0;
    for (uint64_t digit = 0; digit <= mask; ++digit) {
      at[digit] = std::exchange(before, before + at[digit]);
    }
    const int shift = 32 + turn * digit_bits;
    for (const uint64_t value : order_) sorted_[at[value >> shift & mask]++] = value;
    order_.swap(sorted_);
  }
}

// Durations and pauses, in order.
std::vector<uint32_t> SpanBuffer::TellingSpans() const {
  std::vector<uint32_t> spans;
  spans.reserve(std::min<size_t>(uint64_t{2} * count_, kMostTellingSpans));
  uint64_t before = Row(IndexIn(order_[0]))[kEnd];
  for (uint32_t i = 0; i < count_ && spans.size() + 2 <= kMostTellingSpans; ++i) {
    const uint64_t* row = Row(IndexIn(order_[i]));
    const uint64_t start = StartOf(row);
    for (const uint64_t span : {start - before, row[kEnd] - start}) {
      if (span != 0 && span <= kLongestTellingSpan) spans.push_back(static_cast<uint32_t>(span));
    }
    before = row[kEnd];
  }
  return spans;
}

// The greatest step that all starts and ends are whole numbers of away from one start; else one
// that shines through.
SpanTick SpanBuffer::FindTick() const {
  const uint64_t base = StartOf(Row(0));
  uint64_t tick = 0;
  ExactTick exact;
  const auto fit = [&](uint64_t span) {
    if (span == 0 || (tick != 0 && exact.Divides(span))) return;
    tick = std::gcd(tick, span);
    exact = ExactTick(tick);
  };
  for (uint32_t i = 0; i < count_ && tick != 1; ++i) {
    const uint64_t* row = Row(i);
    const uint64_t start = StartOf(row);
    fit(start > base ? start - base : base - start);
    fit(row[kEnd] - start);
  }
  if (tick == 0 || tick > kMostTick) return {};
  if (tick != 1) return {tick, 0, true};
  const SpanTick rounded = FindRoundedTick(TellingSpans());
  if (rounded.is_exact) return rounded;
  uint64_t first = base;
  for (uint32_t i = 0; i < count_; ++i) first = std::min(first, StartOf(Row(i)));
  return most_end_ - first < kFarthestRounded ? rounded : SpanTick();
}

ChunkBuilder* SpanBuffer::Encode() {
  if (builder_ == nullptr) builder_ = std::make_unique<ChunkBuilder>(kind_, track_, 0);
  ChunkBuilder* const builder = builder_.get();
  encoded_ = count_;
  if (count_ == 0) return builder;
  Sort();
  if (is_chained_) builder->SetTick(FindTick());
  builder->SetSampledOneIn(sampled_one_in_);
  const uint64_t* rows[kAtOnce];
  for (uint32_t done = 0; done < count_;) {
    const uint32_t some = std::min(count_ - done, kAtOnce);
    for (uint32_t i = 0; i < some; ++i) {
      rows[i] = Row(IndexIn(order_[done + i]));
      if (done + i + kAtOnce < count_) __builtin_prefetch(Row(IndexIn(order_[done + i + kAtOnce])));
    }
    builder->AppendRows(rows, some);
    done += some;
  }
  const bool is_needed = used_ * 4 > room_;
  count_ = 0;
  used_ = 0;
  last_end_ = 0;
  least_end_ = ~uint64_t{0};
  most_end_ = 0;
  is_sorted_ = true;
  if (!is_needed && room_ > kKeptValues) GiveRowsBack();
  return builder;
}

void SpanBuffer::GiveRowsBack() {
  rows_.reset();
  room_ = 0;
  std::vector<uint64_t>().swap(order_);
  std::vector<uint64_t>().swap(sorted_);
}

void SpanBuffer::RowsAreWritten() {
  if (encoded_ > kFewRows || builder_ == nullptr || builder_->count() != 0) return;
  builder_.reset();
  std::vector<uint64_t>().swap(order_);
  std::vector<uint64_t>().swap(sorted_);
}

void SpanBuffer::GiveMemoryBack() {
  if (count_ != 0) return;
  GiveRowsBack();
  if (builder_ != nullptr && builder_->count() == 0) builder_.reset();
}

}  // namespace gpuprof::codec
