// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The array that rows of events live in: one column of a table. The column is a list of segments.
// A segment keeps its least value once, and each row's distance from it in as many bytes as the
// greatest distance needs. So a value that all rows of a segment share takes no memory per row, and
// a row of GPU work takes about 15 bytes instead of 42.
//
// A column is filled in one of two ways, and then read by any number of threads:
// - push_back(), by one thread;
// - Plan(), then Store() once for each segment from any thread, then Finish().
//
// Copies share their memory until one of them changes. A pick of rows shares the memory of long
// runs of rows too.
//
// The rows of a lazy column come into memory when they are first read, a segment at a time. They
// may be released while no thread reads them, and come again.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/base/column_memory.h"

namespace gpuprof::analysis {

// Rows that follow each other.
struct RowRun {
  size_t first = 0;
  size_t end = 0;  // behind the last
  size_t size() const { return end - first; }
};

// Rows that lie in one piece of memory. `mask` takes one value out of eight loaded bytes.
struct ColumnSegment {
  size_t first = 0;  // row
  size_t end = 0;
  const uint8_t* bytes = nullptr;
  uint64_t base = 0;
  uint64_t mask = 0;
  uint64_t most = 0;  // no value is farther from `base`
  uint32_t width = 0;

  uint64_t Load(size_t row) const {
    uint64_t raw;
    std::memcpy(&raw, bytes + (row - first) * width, sizeof raw);
    return base + (raw & mask);
  }

  // Reads `count` values from `row` on.
  template <typename T>
  void Copy(size_t row, size_t count, T* to) const {
    const uint8_t* const from = bytes + (row - first) * width;
    switch (width) {
      case 0:
        std::fill_n(to, count, static_cast<T>(base));
        return;
      case 1:
        return CopyFrom<uint8_t>(from, count, to);
      case 2:
        return CopyFrom<uint16_t>(from, count, to);
      case 4:
        return CopyFrom<uint32_t>(from, count, to);
      default:
        for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(Load(row + i));
    }
  }

 private:
  template <typename Narrow, typename T>
  void CopyFrom(const uint8_t* from, size_t count, T* to) const {
    for (size_t i = 0; i < count; ++i) {
      Narrow value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      to[i] = static_cast<T>(base + value);
    }
  }
};

// Has the rows of lazy columns.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // Brings a segment of the column with this number, by ColumnSegments::Take(). Any thread.
  virtual void Bring(int column, size_t segment) = 0;
  // Returns a number that rises from question to question. The first is 1.
  uint32_t now() const { return now_->load(std::memory_order_relaxed); }

 protected:
  explicit SegmentSource(const std::atomic<uint32_t>* now) : now_(now) {}

 private:
  const std::atomic<uint32_t>* now_;
};

// The part of a column that does not depend on the type of its values.
class ColumnSegments {
 public:
  ColumnSegments() = default;
  ColumnSegments(const ColumnSegments& other);
  ColumnSegments& operator=(const ColumnSegments&) = delete;

  size_t rows() const { return rows_; }
  uint64_t bytes() const { return bytes_; }
  // Returns all segments. Those of a lazy column come into memory.
  const std::vector<ColumnSegment>& segments() const {
    for (size_t i = 0; lazy_ != nullptr && i < segments_.size(); ++i) Touch(i);
    return segments_;
  }
  // Finds the segment of a row, which must exist.
  const ColumnSegment& Find(size_t row) const {
    const size_t number = NumberOf(row);
    if (lazy_ != nullptr) [[unlikely]]
      Touch(number);
    return segments_[number];
  }
  // Does the same, but the segment need not have its bytes. Then its values are only known to be no
  // less than `base`, and no farther from it than `most`.
  const ColumnSegment& Peek(size_t row) const { return segments_[NumberOf(row)]; }

  bool is_lazy() const { return lazy_ != nullptr; }
  // Makes a lazy column: its number for the source, and how many rows each segment has.
  void PlanLazy(std::shared_ptr<SegmentSource> source, int column, std::span<const uint32_t> rows);
  // Notes the zone of a segment that is not in memory.
  void SetZone(size_t segment, uint64_t base, uint64_t most);
  bool Has(size_t segment) const {
    return lazy_->slots[segment].used.load(std::memory_order_acquire) != 0;
  }
  // Takes the only segment of another column as this one. One thread at a time a segment.
  void Take(size_t segment, std::shared_ptr<const ColumnSegments> from);
  // Returns when a segment was last read, and the memory that it takes. 0: it is not in memory.
  uint32_t LastUse(size_t segment) const { return lazy_->slots[segment].used; }
  uint64_t BytesOf(size_t segment) const;
  // Lets a segment go. No thread may read the column meanwhile, or keep a reader.
  void LetGo(size_t segment);

  void Plan(size_t segments);
  // Fills a segment. The greatest distance of a value from `base` is `most`. Bits of values above
  // those of the column's type do not count. Returns the memory that the segment takes.
  uint64_t Store(size_t segment, const uint64_t* values, size_t count, uint64_t base,
                 uint64_t most);
  void Finish();

  // Appends rows behind the last segment; they can be read at once. Returns the place of a new row
  // for a value of `width` bytes.
  uint8_t* Append(uint32_t width);
  // Returns how many rows Append() has added since the last segment was closed.
  size_t open_rows() const { return open_rows_; }
  // Replaces the open rows by a segment like those of Store().
  void Close(const uint64_t* values, uint64_t base, uint64_t most);

  // Appends rows of another column. They stay in its memory, which lives as long as this object.
  void Share(const std::shared_ptr<const ColumnSegments>& whole, RowRun rows);
  // Appends a segment like those of Store(). No rows may be open.
  void Add(const uint64_t* values, size_t count, uint64_t base, uint64_t most);

  static constexpr size_t kMostOpenRows = 4096;

 private:
  static constexpr size_t kPlaceShift = 12;
  struct Slot {
    std::atomic<uint32_t> used{0};  // when it was last; 0: the segment is not in memory
    std::shared_ptr<const ColumnSegments> memory;
    size_t whole_row = 0;  // of `whole_`, that the segment begins with
  };
  struct Lazy {
    std::shared_ptr<SegmentSource> source;
    int column = kOfOther;
    std::deque<Slot> slots;  // by segment
    std::mutex mutex;        // of segments that are another column's
  };
  static constexpr int kOfOther = -1;

  void Note(size_t segment);
  size_t NumberOf(size_t row) const {
    size_t number = places_[row >> kPlaceShift];
    while (row >= segments_[number].end) ++number;
    return number;
  }
  void Touch(size_t segment) const {
    std::atomic<uint32_t>& used = lazy_->slots[segment].used;
    const uint32_t before = used.load(std::memory_order_acquire), now = lazy_->source->now();
    if (before == 0) return Bring(segment);
    if (before != now) used.store(now, std::memory_order_release);
  }
  void Bring(size_t segment) const;

  mutable std::vector<ColumnSegment> segments_;  // those of a lazy column change when they come
  std::unique_ptr<Lazy> lazy_;                   // null: all is in memory
  ColumnMemory memory_;
  std::unique_ptr<uint8_t[]> open_memory_;       // of the open rows
  std::shared_ptr<const ColumnSegments> whole_;  // whose memory this one shares
  std::vector<uint32_t> places_;                 // the segment of each 4096th row
  size_t rows_ = 0;
  size_t open_rows_ = 0;
  size_t open_room_ = 0;
  uint64_t bytes_ = 0;
};

template <typename T>
class Column {
  static_assert(std::is_integral_v<T>);

 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name

  Column() = default;
  Column(std::initializer_list<T> values) {
    for (const T value : values) push_back(value);
  }
  Column(const Column&) = default;
  Column& operator=(const Column&) = default;
  Column(Column&&) noexcept = default;
  Column& operator=(Column&&) noexcept = default;
  ~Column() = default;

  size_t size() const { return data_ == nullptr ? 0 : data_->rows(); }
  bool empty() const { return size() == 0; }
  // Returns the memory that the values take.
  uint64_t bytes() const { return data_ == nullptr ? 0 : data_->bytes(); }
  T operator[](size_t row) const { return static_cast<T>(data_->Find(row).Load(row)); }
  // Fills `to` with `count` rows from row `first` on. This is the fastest way to read many rows.
  void Copy(size_t first, size_t count, T* to) const {
    while (count != 0) {
      const ColumnSegment& segment = data_->Find(first);
      const size_t part = std::min(count, segment.end - first);
      segment.Copy(first, part, to);
      first += part;
      to += part;
      count -= part;
    }
  }
  // Returns whether these rows are known to have one value without looking at them: this one.
  bool IsAll(size_t first, size_t count, T value) const {
    if (count == 0) return true;
    const ColumnSegment& segment = data_->Find(first);
    return segment.width == 0 && first + count <= segment.end &&
           static_cast<T>(segment.base) == value;
  }
  // Returns the rows of the segment that this row is in, from this row on. Brings nothing into
  // memory.
  RowRun RunFrom(size_t row) const { return {row, data_->Peek(row).end}; }
  bool IsLazy() const { return data_ != nullptr && data_->is_lazy(); }
  // Returns the segments in the order of their rows. Those of a lazy column come into memory.
  std::span<const ColumnSegment> segments() const {
    if (data_ == nullptr) return {};
    return data_->segments();
  }
  // Bounds that no value of some rows exceeds.
  struct Zone {
    T least = std::numeric_limits<T>::max();
    T most = std::numeric_limits<T>::min();
  };
  // Returns the zone of rows without a look at them. It may be too wide.
  Zone ZoneOf(RowRun rows) const {
    Zone zone;
    while (rows.first < rows.end) {
      const ColumnSegment& segment = data_->Peek(rows.first);
      const T least = static_cast<T>(segment.base);
      const bool is_known = segment.most <= static_cast<uint64_t>(std::numeric_limits<T>::max()) -
                                                static_cast<uint64_t>(least);
      if (!is_known) return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
      zone.least = std::min(zone.least, least);
      zone.most = std::max(zone.most, static_cast<T>(segment.base + segment.most));
      rows.first = segment.end;
    }
    return zone;
  }
  // Returns the rows of runs that ascend. Long runs share the memory of this column.
  Column Pick(std::span<const RowRun> runs) const {
    constexpr size_t kLeastShared = 256, kMost = ColumnSegments::kMostOpenRows;
    Column result;
    result.data_ = std::make_shared<ColumnSegments>();
    std::vector<uint64_t> values;
    const auto pack = [&] {
      if (!values.empty()) result.Add(values);
      values.clear();
    };
    const Reader from(*this);
    for (const RowRun& run : runs) {
      if (run.size() >= kLeastShared) {
        pack();
        result.data_->Share(data_, run);
        continue;
      }
      for (size_t row = run.first; row < run.end; ++row) {
        values.push_back(static_cast<uint64_t>(from[row]));
        if (values.size() == kMost) pack();
      }
    }
    pack();
    return result;
  }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }

  // Reads rows one after the other, faster than the column itself. One thread.
  class Reader {
   public:
    Reader() = default;
    explicit Reader(const Column& column) : data_(column.data_.get()) {}
    T operator[](size_t row) const {
      if (row - segment_.first >= rows_) [[unlikely]] {
        segment_ = data_->Find(row);
        rows_ = segment_.end - segment_.first;
      }
      return static_cast<T>(segment_.Load(row));
    }

   private:
    const ColumnSegments* data_ = nullptr;
    mutable ColumnSegment segment_;
    mutable size_t rows_ = 0;
  };

  class Iterator {
   public:
    // NOLINTBEGIN(readability-identifier-naming): the standard's names
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;
    // NOLINTEND(readability-identifier-naming)

    Iterator() = default;
    Iterator(const Column& column, size_t row) : reader_(column), row_(row) {}
    T operator*() const { return reader_[row_]; }
    T operator[](std::ptrdiff_t distance) const { return *(*this + distance); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) {
      Iterator before = *this;
      ++row_;
      return before;
    }
    Iterator operator--(int) {
      Iterator before = *this;
      --row_;
      return before;
    }
    Iterator& operator+=(std::ptrdiff_t distance) {
      row_ += static_cast<size_t>(distance);
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t distance) { return *this += -distance; }
    friend Iterator operator+(Iterator at, std::ptrdiff_t distance) { return at += distance; }
    friend Iterator operator+(std::ptrdiff_t distance, Iterator at) { return at += distance; }
    friend Iterator operator-(Iterator at, std::ptrdiff_t distance) { return at -= distance; }
    friend std::ptrdiff_t operator-(const Iterator& x, const Iterator& y) {
      return static_cast<std::ptrdiff_t>(x.row_) - static_cast<std::ptrdiff_t>(y.row_);
    }
    friend bool operator==(const Iterator& x, const Iterator& y) { return x.row_ == y.row_; }
    friend auto operator<=>(const Iterator& x, const Iterator& y) { return x.row_ <=> y.row_; }

   private:
    Reader reader_;
    size_t row_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  void push_back(T value) {  // NOLINT(readability-identifier-naming): as a vector's
    if (data_ == nullptr) data_ = std::make_shared<ColumnSegments>();
    // The memory may be shared.
    if (data_.use_count() != 1) data_ = std::make_shared<ColumnSegments>(*data_);
    if (data_->open_rows() == ColumnSegments::kMostOpenRows) Close();
    std::memcpy(data_->Append(sizeof(T)), &value, sizeof value);
  }

  // Makes a lazy column, which must be empty (ColumnSegments::PlanLazy).
  std::weak_ptr<ColumnSegments> PlanLazy(std::shared_ptr<SegmentSource> source, int number,
                                         std::span<const uint32_t> rows) {
    data_ = std::make_shared<ColumnSegments>();
    data_->PlanLazy(std::move(source), number, rows);
    return data_;
  }
  // Gives the only segment of this column to a lazy one.
  void GiveTo(ColumnSegments* lazy, size_t segment) const { lazy->Take(segment, data_); }
  // Makes room for so many segments, in which Store() puts rows. The column must be empty.
  void Plan(size_t segments) {
    data_ = std::make_shared<ColumnSegments>();
    data_->Plan(segments);
  }
  // Fills a segment with `count` values. Returns the memory that the segment takes.
  uint64_t Store(size_t segment, const uint64_t* values, size_t count) {
    if (count == 0) return 0;
    const auto [base, most] = RangeOf(values, count);
    return data_->Store(segment, values, count, base, most);
  }
  // Fills a segment with one value.
  void StoreOne(size_t segment, T value, size_t count) {
    if (count != 0) data_->Store(segment, nullptr, count, static_cast<uint64_t>(value), 0);
  }
  // Ends what Plan() began. Segments that Store() did not fill have no rows.
  void Finish() { data_->Finish(); }

  // Replaces each value by change(row, value). For the time before other threads read the column.
  template <typename Change>
  void Rewrite(const Change& change) {
    if (empty()) return;
    Column result;
    result.Plan(segments().size());
    std::vector<uint64_t> values;
    const std::span<const ColumnSegment> all = segments();
    for (size_t s = 0; s < all.size(); ++s) {
      const ColumnSegment& segment = all[s];
      values.clear();
      for (size_t row = segment.first; row < segment.end; ++row) {
        values.push_back(static_cast<uint64_t>(change(row, static_cast<T>(segment.Load(row)))));
      }
      result.Store(s, values.data(), values.size());
    }
    result.Finish();
    *this = std::move(result);
  }
  // Puts the rows into this order: row i becomes what row order[i] was. Rows that the order does
  // not name are gone.
  void Reorder(const std::vector<uint32_t>& order) {
    Column result;
    result.Plan((order.size() + ColumnSegments::kMostOpenRows - 1) / ColumnSegments::kMostOpenRows);
    std::vector<uint64_t> values;
    size_t segment = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      values.push_back(static_cast<uint64_t>((*this)[order[i]]));
      if (values.size() < ColumnSegments::kMostOpenRows && i + 1 < order.size()) continue;
      result.Store(segment++, values.data(), values.size());
      values.clear();
    }
    result.Finish();
    *this = std::move(result);
  }

  friend bool operator==(const Column& x, const Column& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  // Returns the least value, and the distance of the greatest one from it.
  static std::pair<uint64_t, uint64_t> RangeOf(const uint64_t* values, size_t count) {
    T least = static_cast<T>(values[0]);
    T most = least;
    for (size_t i = 0; i < count; ++i) {
      const T value = static_cast<T>(values[i]);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const auto base = static_cast<uint64_t>(least);
    return {base, static_cast<uint64_t>(most) - base};
  }
  void Add(const std::vector<uint64_t>& values) {
    const auto [base, most] = RangeOf(values.data(), values.size());
    data_->Add(values.data(), values.size(), base, most);
  }

  void Close() {
    uint64_t values[ColumnSegments::kMostOpenRows];
    const size_t count = data_->open_rows();
    const ColumnSegment& open = data_->segments().back();
    T least = static_cast<T>(open.Load(open.first));
    T most = least;
    for (size_t i = 0; i < count; ++i) {
      const T value = static_cast<T>(open.Load(open.first + i));
      least = std::min(least, value);
      most = std::max(most, value);
      values[i] = static_cast<uint64_t>(value);
    }
    const auto base = static_cast<uint64_t>(least);
    data_->Close(values, base, static_cast<uint64_t>(most) - base);
  }

  std::shared_ptr<ColumnSegments> data_;
};

}  // namespace gpuprof::analysis
