// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See column.h.

#include "analysis/base/column.h"

#include <bit>

namespace gpuprof::analysis {
namespace {

constexpr size_t kLoad = sizeof(uint64_t);
constexpr uint8_t kNothing[kLoad] = {};

uint64_t MaskOf(uint32_t width) {
  return width == kLoad ? ~uint64_t{0} : (uint64_t{1} << 8 * width) - 1;
}

uint32_t WidthOf(uint64_t most) { return (static_cast<uint32_t>(std::bit_width(most)) + 7) / 8; }

// Loads read whole words, also the last one.
size_t RoomOf(size_t count, uint32_t width) { return count * width + kLoad - width; }

template <typename Narrow>
void PackAs(const uint64_t* values, size_t count, uint64_t base, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Narrow>(values[i] - base);
    std::memcpy(to + i * sizeof(Narrow), &value, sizeof value);
  }
}

// Each word also writes bytes behind its value, which the next value overwrites.
void PackWords(const uint64_t* values, size_t count, uint64_t base, uint32_t width, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t distance = values[i] - base;
    std::memcpy(to + i * width, &distance, kLoad);
  }
}

// The lowest bytes of the distances: a value's bits above its type do not reach into them.
void Pack(const uint64_t* values, size_t count, uint64_t base, uint32_t width, uint8_t* to) {
  switch (width) {
    case 1:
      return PackAs<uint8_t>(values, count, base, to);
    case 2:
      return PackAs<uint16_t>(values, count, base, to);
    case 4:
      return PackAs<uint32_t>(values, count, base, to);
    default:
      return PackWords(values, count, base, width, to);
  }
}

}  // namespace

ColumnSegments::ColumnSegments(const ColumnSegments& other)
    : segments_(other.segments()),
      places_(other.places_),
      rows_(other.rows_),
      open_rows_(other.open_rows_),
      open_room_(other.open_room_),
      bytes_(other.bytes_) {
  for (size_t i = 0; i < segments_.size(); ++i) {
    ColumnSegment& segment = segments_[i];
    const size_t taken = RoomOf(segment.end - segment.first, segment.width);
    uint8_t* to = nullptr;
    if (open_rows_ != 0 && i + 1 == segments_.size()) {
      open_memory_ = std::make_unique<uint8_t[]>(RoomOf(open_room_, segment.width));
      to = open_memory_.get();
    } else if (segment.width != 0) {
      to = memory_.Take(taken);
    } else {
      continue;
    }
    std::memcpy(to, segment.bytes, taken);
    segment.bytes = to;
  }
}

void ColumnSegments::Plan(size_t segments) { segments_.resize(segments); }

uint64_t ColumnSegments::Store(size_t number, const uint64_t* values, size_t count, uint64_t base,
                               uint64_t most) {
  ColumnSegment& segment = segments_[number];
  segment.first = 0;
  segment.end = count;  // Finish() moves both
  segment.base = base;
  segment.width = WidthOf(most);
  segment.mask = MaskOf(segment.width);
  segment.most = most;
  segment.bytes = kNothing;
  if (segment.width == 0) return 0;
  const size_t room = RoomOf(count, segment.width);
  uint8_t* const bytes = memory_.Take(room);
  Pack(values, count, base, segment.width, bytes);
  segment.bytes = bytes;
  return room;
}

void ColumnSegments::Note(size_t number) {
  while (places_.size() << kPlaceShift < segments_[number].end)
    places_.push_back(static_cast<uint32_t>(number));
}

void ColumnSegments::Finish() {
  size_t kept = 0;
  rows_ = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    const size_t count = segments_[i].end;
    if (count == 0) continue;
    segments_[kept] = segments_[i];
    segments_[kept].first = rows_;
    rows_ += count;
    segments_[kept].end = rows_;
    if (segments_[kept].width != 0) bytes_ += RoomOf(count, segments_[kept].width);
    Note(kept++);
  }
  segments_.resize(kept);
  segments_.shrink_to_fit();
}

uint8_t* ColumnSegments::Append(uint32_t width) {
  constexpr size_t kFirstRoom = 8;
  if (open_rows_ == 0) {
    ColumnSegment& segment = segments_.emplace_back();
    segment.first = segment.end = rows_;
    segment.width = width;
    segment.mask = MaskOf(width);
    segment.most = ~uint64_t{0};
    if (lazy_ != nullptr) lazy_->slots.emplace_back().used = 1;
    open_room_ = 0;
  }
  ColumnSegment& open = segments_.back();
  if (open_rows_ == open_room_) {
    open_room_ = open_room_ == 0 ? kFirstRoom : open_room_ * 2;
    auto larger = std::make_unique<uint8_t[]>(RoomOf(open_room_, width));
    if (open_rows_ != 0) std::memcpy(larger.get(), open_memory_.get(), open_rows_ * width);
    open_memory_ = std::move(larger);
    open.bytes = open_memory_.get();
  }
  ++open_rows_;
  open.end = ++rows_;
  bytes_ += width;
  Note(segments_.size() - 1);
  return open_memory_.get() + (open_rows_ - 1) * width;
}

void ColumnSegments::Close(const uint64_t* values, uint64_t base, uint64_t most) {
  const ColumnSegment open = segments_.back();
  bytes_ -= open_rows_ * open.width;
  open_memory_.reset();
  Store(segments_.size() - 1, values, open_rows_, base, most);
  ColumnSegment& closed = segments_.back();
  closed.first = open.first;
  closed.end = open.end;
  if (closed.width != 0) bytes_ += RoomOf(open_rows_, closed.width);
  open_rows_ = 0;
}

void ColumnSegments::Share(const std::shared_ptr<const ColumnSegments>& whole, RowRun rows) {
  whole_ = whole;
  if (whole->lazy_ != nullptr && lazy_ == nullptr) {
    lazy_ = std::make_unique<Lazy>();
    lazy_->source = whole->lazy_->source;
    for (size_t i = 0; i < segments_.size(); ++i) lazy_->slots.emplace_back().used = 1;
  }
  while (rows.first < rows.end) {
    ColumnSegment part = whole->Peek(rows.first);
    const size_t end = std::min(rows.end, part.end);
    if (lazy_ != nullptr) {
      lazy_->slots.emplace_back().whole_row = rows.first;
      part.bytes = nullptr;
    } else {
      part.bytes += (rows.first - part.first) * part.width;
    }
    part.first = rows_;
    rows_ += end - rows.first;
    part.end = rows_;
    rows.first = end;
    segments_.push_back(part);
    Note(segments_.size() - 1);
  }
}

void ColumnSegments::Add(const uint64_t* values, size_t count, uint64_t base, uint64_t most) {
  segments_.emplace_back();
  bytes_ += Store(segments_.size() - 1, values, count, base, most);
  if (lazy_ != nullptr) lazy_->slots.emplace_back().used = 1;
  ColumnSegment& added = segments_.back();
  added.first = rows_;
  rows_ += count;
  added.end = rows_;
  Note(segments_.size() - 1);
}

void ColumnSegments::PlanLazy(std::shared_ptr<SegmentSource> source, int column,
                              std::span<const uint32_t> rows) {
  lazy_ = std::make_unique<Lazy>();
  lazy_->source = std::move(source);
  lazy_->column = column;
  for (const uint32_t count : rows) {
    if (count == 0) continue;
    lazy_->slots.emplace_back();
    ColumnSegment& segment = segments_.emplace_back();
    segment.first = rows_;
    segment.end = rows_ += count;
    segment.most = ~uint64_t{0};
    Note(segments_.size() - 1);
  }
}

void ColumnSegments::SetZone(size_t segment, uint64_t base, uint64_t most) {
  segments_[segment].base = base;
  segments_[segment].most = most;
}

void ColumnSegments::Take(size_t number, std::shared_ptr<const ColumnSegments> from) {
  ColumnSegment& segment = segments_[number];
  const ColumnSegment& taken = from->segments_.front();
  segment.bytes = taken.bytes;
  segment.base = taken.base;
  segment.mask = taken.mask;
  segment.most = taken.most;
  segment.width = taken.width;
  Slot& slot = lazy_->slots[number];
  slot.memory = std::move(from);
  slot.used.store(lazy_->source->now(), std::memory_order_release);
}

// Rows of another column come to that one first. Its memory lives as long as one of both has it.
void ColumnSegments::Bring(size_t number) const {
  if (lazy_->column != kOfOther) return lazy_->source->Bring(lazy_->column, number);
  Slot& slot = lazy_->slots[number];
  const size_t whole_number = whole_->NumberOf(slot.whole_row);
  whole_->Touch(whole_number);
  const ColumnSegment& from = whole_->segments_[whole_number];
  std::lock_guard<std::mutex> lock(lazy_->mutex);
  if (slot.used.load(std::memory_order_acquire) != 0) return;
  ColumnSegment& segment = segments_[number];
  segment.bytes = from.bytes + (slot.whole_row - from.first) * from.width;
  segment.base = from.base;
  segment.mask = from.mask;
  segment.most = from.most;
  segment.width = from.width;
  slot.memory = whole_->lazy_->slots[whole_number].memory;
  slot.used.store(lazy_->source->now(), std::memory_order_release);
}

uint64_t ColumnSegments::BytesOf(size_t segment) const {
  const std::shared_ptr<const ColumnSegments>& memory = lazy_->slots[segment].memory;
  return memory == nullptr ? 0 : sizeof(ColumnSegments) + memory->bytes();
}

void ColumnSegments::LetGo(size_t number) {
  Slot& slot = lazy_->slots[number];
  slot.used.store(0, std::memory_order_release);
  segments_[number].bytes = nullptr;
  slot.memory = nullptr;
}

}  // namespace gpuprof::analysis
