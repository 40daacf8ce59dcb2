// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outline of a track, for a timeline that cannot keep all spans. It has sums by name for each
// stretch of time, and the spans that are open where a stretch begins. Its columns say what ran
// when. viewer/src/trace/span_track.ts makes the same in the
// page for small tracks, and uses this one in its place for large tracks.
//
// Spans take lanes: each takes the first lane that is free, in the order of starts; of spans that
// begin together the longest comes first. Spans shorter than a column are summed in the column in
// which they begin; longer ones are kept. Times are nanoseconds of the bundle's time.
//
// One thread. Memory grows with columns, stretches and names, not with spans.

#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace gpuprof::analysis {

inline constexpr int64_t kBeforeAll = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kAfterAll = std::numeric_limits<int64_t>::max();
// The page draws no more lanes; further spans share the last one.
inline constexpr uint32_t kMostLanes = 256;
// The page has fewer classes.
inline constexpr uint32_t kMostClasses = 32;

struct OutlineSpan {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t name = 0;    // number of its name in the track
  uint32_t row = 0;     // in the track
  uint32_t weight = 1;  // how many events it stands for
};

// Count and total are of all that the spans stand for.
struct OutlineSums {
  uint32_t name = 0;
  uint64_t count = 0;
  int64_t total = 0;
  int64_t least = 0;
  int64_t most = 0;
};

struct OpenSpan {
  OutlineSpan span;
  uint32_t lane = 0;
};

struct OutlineStretch {
  int64_t from = kBeforeAll;
  int64_t to = kAfterAll;
  int64_t busy = 0;  // the time in it in which a span ran
  std::vector<OutlineSums> sums;
  std::vector<OpenSpan> open;
};

struct ClassTime {
  uint8_t cls = 0;
  int64_t busy = 0;
};

// What begins in one column, of one lane.
struct OutlineColumn {
  int64_t place = 0;  // its start divided by the width
  int64_t first = 0;  // start of its first span
  int64_t last = 0;   // the latest end
  int64_t busy = 0;
  uint32_t count = 0;
  uint32_t name = 0;  // of its first span, as is the row
  uint32_t row = 0;
  uint32_t classes = 0;    // how many there are in OutlineLane::times
  uint8_t last_class = 0;  // of the span that ends last: it may reach into the next column
};

struct OutlineLane {
  std::vector<OutlineColumn> columns;  // by place
  std::vector<ClassTime> times;        // of one column after the other
};

struct Outline {
  int bits = 0;  // a column is 2^bits nanoseconds wide
  uint32_t depth = 1;
  uint32_t most_weight = 1;
  std::vector<OutlineStretch> stretches;
  std::vector<OutlineLane> lanes;
  std::vector<OpenSpan> longs;  // in the order of their starts
};

class OutlineBuilder {
 public:
  // Makes room for a track whose spans all lie between `first` and `last`. It has at least
  // `columns` columns.
  OutlineBuilder(int64_t first, int64_t last, uint32_t columns);

  // Adds the spans that begin in [from, to), in any order: they are sorted here. Stretches come in
  // their order. `classes`: by name.
  void AddStretch(int64_t from, int64_t to, std::vector<OutlineSpan>* spans,
                  const std::vector<uint8_t>& classes);
  // Returns the outline. Call it once.
  Outline Finish();

 private:
  struct OpenColumn {
    OutlineColumn column;
    int64_t by_class[kMostClasses] = {};
  };

  void Sort(std::vector<OutlineSpan>* spans);
  std::vector<OpenSpan> OpenAt(int64_t time) const;
  uint32_t TakeLane(const OutlineSpan& span);
  void Draw(const OutlineSpan& span, uint32_t lane, uint8_t cls);
  void Flush(uint32_t lane);
  void Sum(const std::vector<OutlineSpan>& spans, OutlineStretch* stretch);

  Outline made_;
  std::vector<int64_t> ends_;        // of lanes
  std::vector<OutlineSpan> last_;    // of lanes
  uint32_t top_ = 0, most_ = 0;      // lanes that are taken, and were ever taken
  std::vector<OpenColumn> open_;     // of lanes
  std::vector<OutlineSums> sums_;    // by name
  std::vector<uint32_t> named_;      // names with sums
  std::vector<OutlineSpan> sorted_;  // work space
  std::vector<uint32_t> places_;     // work space
};

}  // namespace gpuprof::analysis
