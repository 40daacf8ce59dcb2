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
    : segments_(other.segments_),
      memory_(other.memory_.size()),
      places_(other.places_),
      rows_(other.rows_),
      open_rows_(other.open_rows_),
      open_room_(other.open_room_),
      bytes_(other.bytes_) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (other.memory_[i] == nullptr) continue;
    ColumnSegment& segment = segments_[i];
    const bool is_open = open_rows_ != 0 && i + 1 == memory_.size();
    const size_t rows = segment.end - segment.first;
    memory_[i] = std::make_unique<uint8_t[]>(RoomOf(is_open ? open_room_ : rows, segment.width));
    std::memcpy(memory_[i].get(), other.memory_[i].get(), RoomOf(rows, segment.width));
    segment.bytes = memory_[i].get();
  }
}

void ColumnSegments::Plan(size_t segments) {
  segments_.resize(segments);
  memory_.resize(segments);
}

uint64_t ColumnSegments::Store(size_t number, const uint64_t* values, size_t count, uint64_t base,
                               uint64_t most) {
  ColumnSegment& segment = segments_[number];
  segment.first = 0;
  segment.end = count;  // Finish() moves both
  segment.base = base;
  segment.width = WidthOf(most);
  segment.mask = MaskOf(segment.width);
  segment.bytes = kNothing;
  if (segment.width == 0) return 0;
  const size_t room = RoomOf(count, segment.width);
  memory_[number] = std::make_unique_for_overwrite<uint8_t[]>(room);
  Pack(values, count, base, segment.width, memory_[number].get());
  segment.bytes = memory_[number].get();
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
    memory_[kept] = std::move(memory_[i]);
    segments_[kept].first = rows_;
    rows_ += count;
    segments_[kept].end = rows_;
    if (segments_[kept].width != 0) bytes_ += RoomOf(count, segments_[kept].width);
    Note(kept++);
  }
  segments_.resize(kept);
  segments_.shrink_to_fit();
  memory_.resize(kept);
  memory_.shrink_to_fit();
}

uint8_t* ColumnSegments::Append(uint32_t width) {
  constexpr size_t kFirstRoom = 8;
  if (open_rows_ == 0) {
    ColumnSegment& segment = segments_.emplace_back();
    segment.first = segment.end = rows_;
    segment.width = width;
    segment.mask = MaskOf(width);
    memory_.emplace_back();
    open_room_ = 0;
  }
  ColumnSegment& open = segments_.back();
  if (open_rows_ == open_room_) {
    open_room_ = open_room_ == 0 ? kFirstRoom : open_room_ * 2;
    auto larger = std::make_unique<uint8_t[]>(RoomOf(open_room_, width));
    if (open_rows_ != 0) std::memcpy(larger.get(), memory_.back().get(), open_rows_ * width);
    memory_.back() = std::move(larger);
    open.bytes = memory_.back().get();
  }
  ++open_rows_;
  open.end = ++rows_;
  bytes_ += width;
  Note(segments_.size() - 1);
  return memory_.back().get() + (open_rows_ - 1) * width;
}

void ColumnSegments::Close(const uint64_t* values, uint64_t base, uint64_t most) {
  const ColumnSegment open = segments_.back();
  bytes_ -= open_rows_ * open.width;
  memory_.back().reset();
  Store(segments_.size() - 1, values, open_rows_, base, most);
  ColumnSegment& closed = segments_.back();
  closed.first = open.first;
  closed.end = open.end;
  if (closed.width != 0) bytes_ += RoomOf(open_rows_, closed.width);
  open_rows_ = 0;
}

}  // namespace gpuprof::analysis
