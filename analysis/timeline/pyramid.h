// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The picture of a long track from afar. Spans shorter than a column are summed, column by column.
// Longer ones are kept. Columns of each further level are twice as wide, and take the spans that
// are short there. A query looks at one level, so its work depends on the pixels alone. The
// picture is the one that the spans themselves would give.
//
// One thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/timeline/fold.h"
#include "analysis/timeline/span_rows.h"

namespace gpuprof::analysis::timeline {

class Pyramid {
 public:
  // Makes an empty pyramid whose finest columns are 2^bits ns wide. `names` must outlive it.
  Pyramid(int bits, const NameTable& names) : bits_(bits), names_(&names), levels_(1) {}

  // Takes a span. Spans come by their start.
  void Add(const Span& span);
  // Call after the last Add().
  void Finish();

  int bits() const { return bits_; }
  // Returns the memory that it takes, about.
  size_t bytes() const;

  // Hands everything that begins in [from, to), or is long and reaches into it, to a folder.
  void Draw(const Zoom& zoom, double from, double to, Folder* folder);

 private:
  // Columns of one lane, by time. There may be hundreds of thousands.
  class Columns {
   public:
    size_t size() const { return first_.size(); }
    double first(size_t i) const { return first_[i]; }
    size_t LowerBound(double time) const;
    // Adds spans that begin at `first` or behind it, within one column of that width.
    void Add(double width, const GatheredSpans& spans);
    // Ends the last column.
    void Finish();
    void Read(size_t i, GatheredSpans* to) const;
    size_t bytes() const;

   private:
    std::vector<double> first_, last_;
    std::vector<uint32_t> count_, name_, row_;
    std::vector<uint8_t> last_cls_;
    std::vector<uint32_t> times_from_;  // where a column's times begin
    std::vector<double> time_;          // of the classes that are there
    std::vector<uint8_t> time_cls_;
    std::array<double, kSpanClasses> open_{};  // times of the last column
  };
  using Level = std::vector<Columns>;  // by lane

  void AddTo(Level* level, double width, const Span& span) const;
  Level& LevelOf(int bits);

  int bits_;
  const NameTable* names_;
  std::vector<Level> levels_;              // from the finest on; made on first use
  std::map<int, std::vector<Span>> long_;  // by the exponent of their durations, by start
};

}  // namespace gpuprof::analysis::timeline
