// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_index.h.

#include "analysis/derived/call_index.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

namespace gpuprof::analysis {
namespace {

// A segment that has fewer ids of its range is searched in the list: too many segments would have
// to be searched for an id.
constexpr size_t kMostSparse = 16;
// Calls of one id that follow each other: a runtime call and the driver calls in it.
constexpr size_t kMostEqual = 8;
constexpr size_t kRowsAtOnce = 1024;

// Calls visit(row, id) for the rows of a segment until it returns false.
template <typename Visit>
void ForEachId(const ColumnSegment& segment, const Visit& visit) {
  uint32_t ids[kRowsAtOnce];
  for (size_t row = segment.first; row < segment.end; row += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, segment.end - row);
    segment.Copy(row, count, ids);
    for (size_t i = 0; i < count; ++i) {
      if (!visit(row + i, ids[i])) return;
    }
  }
}

}  // namespace

CallIndex::CallIndex(const Process& process) : process_(&process) {
  if (MakeDirect()) return;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    for (const ColumnSegment& segment : process.tracks[t].api.correlation.segments()) {
      Piece piece;
      if (MakePiece(t, segment, &piece)) {
        pieces_.push_back(piece);
      } else {
        AddEntries(t, segment);
      }
    }
  }
  SortEntries();
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const Piece& x, const Piece& y) { return x.first_id < y.first_id; });
  uint32_t reach = 0;
  for (Piece& piece : pieces_) piece.reach = reach = std::max(reach, piece.last_id);
}

// Makes the table by id if it is small, and not much longer than the list of calls.
bool CallIndex::MakeDirect() {
  constexpr uint64_t kMostIds = 16u << 20, kFewIds = 1u << 12, kMostIdsOfACall = 4;
  uint64_t calls = 0;
  uint32_t first = std::numeric_limits<uint32_t>::max(), last = 0;
  for (const Track& track : process_->tracks) {
    if (track.api.end_ns.size() != track.api.correlation.size()) return false;
    calls += track.api.correlation.size();
    for (const ColumnSegment& segment : track.api.correlation.segments()) {
      ForEachId(segment, [&](size_t, uint32_t id) {
        if (id != 0) first = std::min(first, id);
        last = std::max(last, id);
        return true;
      });
    }
  }
  if (last < first) return true;  // no call has an id
  const uint64_t ids = uint64_t{last} - first + 1;
  if (ids > kMostIds || ids > std::max(kFewIds, kMostIdsOfACall * calls)) return false;
  direct_first_ = first;
  direct_.resize(ids);
  for (uint32_t t = 0; t < process_->tracks.size(); ++t) {
    for (const ColumnSegment& segment : process_->tracks[t].api.correlation.segments()) {
      ForEachId(segment, [&](size_t row, uint32_t id) {
        if (id == 0) return true;
        Place& place = direct_[id - first];
        if (place.track == kNoTrack || BeginsBefore({t, static_cast<uint32_t>(row)}, place))
          place = {t, static_cast<uint32_t>(row)};
        return true;
      });
    }
  }
  return true;
}

// Returns whether a call comes before another one with its id.
bool CallIndex::BeginsBefore(const Place& x, const Place& y) const {
  return std::tuple(CallOf(x.track, x.row).start_ns, x.track, x.row) <
         std::tuple(CallOf(y.track, y.row).start_ns, y.track, y.row);
}

bool CallIndex::MakePiece(uint32_t track, const ColumnSegment& segment, Piece* piece) {
  const auto first = static_cast<uint32_t>(segment.Load(segment.first));
  const auto last = static_cast<uint32_t>(segment.Load(segment.end - 1));
  if (first == 0 || last < first) return false;
  if (last - first > kMostSparse * (segment.end - segment.first)) return false;
  *piece = {first, last, last, track, &segment, false};
  uint32_t before = 0;
  size_t equal = 0;
  bool is_piece = true;
  ForEachId(segment, [&](size_t, uint32_t id) {
    equal = id == before ? equal + 1 : 0;
    is_piece = id >= before && equal < kMostEqual;
    piece->has_equal |= equal != 0;
    before = id;
    return is_piece;
  });
  return is_piece;
}

void CallIndex::AddEntries(uint32_t track, const ColumnSegment& segment) {
  ForEachId(segment, [&](size_t row, uint32_t id) {
    if (id != 0) entries_.push_back({id, track, static_cast<uint32_t>(row)});
    return true;
  });
}

// The earliest call of an id comes first: the runtime call contains its driver calls.
void CallIndex::SortEntries() {
  const auto before = [this](const Entry& a, const Entry& b) {
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    return CallOf(a.track, a.row).start_ns < CallOf(b.track, b.row).start_ns;
  };
  if (!std::is_sorted(entries_.begin(), entries_.end(), before))
    std::stable_sort(entries_.begin(), entries_.end(), before);
  const auto same = [](const Entry& a, const Entry& b) { return a.correlation == b.correlation; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

Call CallIndex::CallOf(uint32_t track, size_t row) const {
  const ApiTable& calls = process_->tracks[track].api;
  const int64_t end = calls.end_ns[row];
  return {end - calls.duration_ns[row], end, track, static_cast<uint32_t>(row)};
}

std::optional<Call> CallIndex::Find(uint32_t correlation) const {
  std::optional<Call> best;
  if (correlation == 0) return best;
  if (correlation - direct_first_ < direct_.size()) {
    const Place& place = direct_[correlation - direct_first_];
    return place.track == kNoTrack ? best : CallOf(place.track, place.row);
  }
  FindEntry(correlation, &best);
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), correlation,
                                [](uint32_t id, const Piece& each) { return id < each.first_id; });
  while (piece != pieces_.begin() && (--piece)->reach >= correlation) {
    if (piece->last_id >= correlation) FindInPiece(*piece, correlation, &best);
  }
  return best;
}

void CallIndex::Offer(uint32_t track, size_t row, std::optional<Call>* best) const {
  const Call call = CallOf(track, row);
  if (!*best || std::tie(call.start_ns, call.track, call.row) <
                    std::tie((*best)->start_ns, (*best)->track, (*best)->row))
    *best = call;
}

// Ids are different numbers that rise. So the distance to the first id and to the last id limits
// the place of an id. The ids of most programs have few gaps, so few places remain.
void CallIndex::FindEntry(uint32_t correlation, std::optional<Call>* best) const {
  if (entries_.empty()) return;
  const uint32_t first = entries_.front().correlation;
  const uint32_t last = entries_.back().correlation;
  if (correlation < first || correlation > last) return;
  const size_t most = std::min<size_t>(entries_.size() - 1, correlation - first);
  const size_t behind = last - correlation;
  const size_t least = entries_.size() - 1 > behind ? entries_.size() - 1 - behind : 0;
  const auto begin = entries_.begin() + static_cast<ptrdiff_t>(least);
  const auto end = entries_.begin() + static_cast<ptrdiff_t>(most) + 1;
  const auto at = std::lower_bound(begin, end, correlation, [](const Entry& entry, uint32_t id) {
    return entry.correlation < id;
  });
  if (at != end && at->correlation == correlation) Offer(at->track, at->row, best);
}

void CallIndex::FindInPiece(const Piece& piece, uint32_t correlation,
                            std::optional<Call>* best) const {
  const ColumnSegment& ids = *piece.segment;
  size_t first = ids.first, end = ids.end;
  if (!piece.has_equal) {
    const size_t behind = piece.last_id - correlation;
    end = std::min<size_t>(end, first + (correlation - piece.first_id) + 1);
    if (ids.end - ids.first > behind + 1) first = std::max(first, ids.end - 1 - behind);
  }
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (static_cast<uint32_t>(ids.Load(middle)) < correlation) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; first < ids.end && static_cast<uint32_t>(ids.Load(first)) == correlation; ++first)
    Offer(piece.track, first, best);
}

}  // namespace gpuprof::analysis
