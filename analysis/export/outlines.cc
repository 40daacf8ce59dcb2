// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Outlines of tracks as bytes for the page. The bytes are arrays of little-endian numbers. Each
// begins with two 32-bit numbers: the bytes of an element (4: unsigned, 8: double), and how many
// there are. The next array begins at a multiple of 8. viewer/src/trace/outline.ts reads them in
// this order.

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "analysis/analysis.h"
#include "analysis/base/result.h"
#include "analysis/read/placed_files.h"
#include "analysis/read/track_outline.h"

namespace gpuprof::analysis {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kOutlineVersion = 1;

class Arrays {
 public:
  explicit Arrays(std::string* bytes) : bytes_(bytes) {}

  void Words(std::initializer_list<uint64_t> values) {
    Words(std::vector<uint64_t>(values), [](uint64_t value) { return value; });
  }
  template <typename List, typename Of>
  void Words(const List& list, const Of& of) {
    Put<uint32_t>(list, of);
  }
  template <typename List, typename Of>
  void Doubles(const List& list, const Of& of) {
    Put<double>(list, of);
  }

 private:
  template <typename Number, typename List, typename Of>
  void Put(const List& list, const Of& of) {
    PutOne(static_cast<uint32_t>(sizeof(Number)));
    PutOne(static_cast<uint32_t>(list.size()));
    for (const auto& each : list) PutOne(static_cast<Number>(of(each)));
    bytes_->resize((bytes_->size() + 7) / 8 * 8);
  }
  template <typename Number>
  void PutOne(Number number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    bytes_->append(bytes, sizeof bytes);
  }

  std::string* const bytes_;
};

// The first and the last stretch have no border of their own.
double BorderOf(int64_t time) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (time == kBeforeAll) return -kInfinity;
  return time == kAfterAll ? kInfinity : static_cast<double>(time);
}

void PutOpen(const std::vector<OpenSpan>& spans, Arrays* to) {
  to->Doubles(spans, [](const OpenSpan& each) { return each.span.start; });
  to->Doubles(spans, [](const OpenSpan& each) { return each.span.end; });
  to->Words(spans, [](const OpenSpan& each) { return each.span.name; });
  to->Words(spans, [](const OpenSpan& each) { return each.span.row; });
  to->Words(spans, [](const OpenSpan& each) { return each.lane; });
  to->Words(spans, [](const OpenSpan& each) { return each.span.weight; });
}

void PutStretches(const std::vector<OutlineStretch>& stretches, Arrays* to) {
  to->Doubles(stretches, [](const OutlineStretch& each) { return BorderOf(each.from); });
  to->Doubles(stretches, [](const OutlineStretch& each) { return BorderOf(each.to); });
  to->Doubles(stretches, [](const OutlineStretch& each) { return each.busy; });
  to->Words(stretches, [](const OutlineStretch& each) { return each.sums.size(); });
  to->Words(stretches, [](const OutlineStretch& each) { return each.open.size(); });
  std::vector<OutlineSums> sums;
  std::vector<OpenSpan> open;
  for (const OutlineStretch& each : stretches) {
    sums.insert(sums.end(), each.sums.begin(), each.sums.end());
    open.insert(open.end(), each.open.begin(), each.open.end());
  }
  to->Words(sums, [](const OutlineSums& each) { return each.name; });
  to->Doubles(sums, [](const OutlineSums& each) { return each.count; });
  to->Doubles(sums, [](const OutlineSums& each) { return each.total; });
  to->Doubles(sums, [](const OutlineSums& each) { return each.least; });
  to->Doubles(sums, [](const OutlineSums& each) { return each.most; });
  PutOpen(open, to);
}

void PutLane(const OutlineLane& lane, Arrays* to) {
  const auto& columns = lane.columns;
  to->Doubles(columns, [](const OutlineColumn& each) { return each.place; });
  to->Doubles(columns, [](const OutlineColumn& each) { return each.first; });
  to->Doubles(columns, [](const OutlineColumn& each) { return each.last; });
  to->Doubles(columns, [](const OutlineColumn& each) { return each.busy; });
  to->Words(columns, [](const OutlineColumn& each) { return each.count; });
  to->Words(columns, [](const OutlineColumn& each) { return each.name; });
  to->Words(columns, [](const OutlineColumn& each) { return each.row; });
  to->Words(columns, [](const OutlineColumn& each) { return each.last_class; });
  to->Words(columns, [](const OutlineColumn& each) { return each.classes; });
  to->Words(lane.times, [](const ClassTime& each) { return each.cls; });
  to->Doubles(lane.times, [](const ClassTime& each) { return each.busy; });
}

void PutOutline(const TrackOutline& made, Arrays* to) {
  const Outline& outline = made.outline;
  to->Words({kOutlineVersion, static_cast<uint64_t>(outline.bits), outline.depth,
             outline.lanes.size(), made.rows, outline.most_weight});
  to->Words(made.names, [](const OutlineName& each) { return each.kind; });
  to->Words(made.names, [](const OutlineName& each) { return each.key; });
  PutStretches(outline.stretches, to);
  for (const OutlineLane& lane : outline.lanes) PutLane(lane, to);
  PutOpen(outline.longs, to);
}

}  // namespace

uint8_t OutlineRequest::ClassOf(uint32_t kind, uint32_t key) const {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const OutlineTable& each) { return each.kind == kind; });
  if (table == tables.end()) return 0;
  const auto found = table->classes.find(key);
  return found == table->classes.end() ? table->cls : found->second;
}

struct Outlines::Files {
  PlacedFiles placed;
};

Outlines::Outlines(std::unique_ptr<Files> files) : files_(std::move(files)) {}
Outlines::~Outlines() = default;

Error Outlines::Open(const InputPath& path, std::unique_ptr<Outlines>* outlines) {
  ModelBuilder model(path.path);
  auto files = std::make_unique<Files>();
  try {
    if (Error error = PlaceFiles(path, false, 0, &model, &files->placed)) return error;
  } catch (const std::bad_alloc&) {
    return Unreadable(path.path + ": not enough memory to read it");
  }
  outlines->reset(new Outlines(std::move(files)));
  return {};
}

Error Outlines::Make(const OutlineRequest& request, std::string* bytes) const {
  for (const TraceFiles* files : {&files_->placed.files, &files_->placed.samplers}) {
    for (const std::unique_ptr<TraceFile>& file : *files) {
      if (file->name() != request.file) continue;
      try {
        TrackOutline made;
        if (Error error = MakeTrackOutline(*file, request, &made)) return error;
        Arrays arrays(bytes);
        PutOutline(made, &arrays);
      } catch (const std::bad_alloc&) {
        return Unreadable("there was not enough memory for the track");
      }
      return {};
    }
  }
  return Unreadable("the bundle has no file of this name");
}

}  // namespace gpuprof::analysis
