// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/range_value_rows.h"

namespace gpuprof::analysis {
namespace {

bool IsOfRange(const RangeValueTable& values, size_t value, const RangeTable& ranges,
               size_t range) {
  const uint32_t mine = values.operation[value];
  const uint32_t theirs = ranges.operation[range];
  return values.end_ns[value] == ranges.end_ns[range] &&
         values.domain[value] == ranges.domain[range] &&
         proto::RangeKindOf(mine) == proto::RangeKindOf(theirs) &&
         proto::OpDepthOf(mine) == proto::OpDepthOf(theirs);
}

}  // namespace

std::vector<std::pair<size_t, size_t>> ValuesOfRanges(const Track& track) {
  const RangeTable& ranges = track.range;
  const RangeValueTable& values = track.range_value;
  std::vector<std::pair<size_t, size_t>> found(values.rows() != 0 ? ranges.rows() : 0);
  size_t at = 0;
  for (size_t row = 0; row < found.size(); ++row) {
    while (at < values.rows() && values.end_ns[at] < ranges.end_ns[row]) ++at;
    found[row].first = at;
    // The places count up within a range.
    int place = -1;
    while (at < values.rows() && IsOfRange(values, at, ranges, row) &&
           RangeValuePlaceOf(values.operation[at]) > place) {
      place = RangeValuePlaceOf(values.operation[at++]);
    }
    found[row].second = at;
  }
  return found;
}

}  // namespace gpuprof::analysis
