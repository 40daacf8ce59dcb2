// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kept_parts.h.

#include "analysis/export/kept_parts.h"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "analysis/export/report_text.h"
#include "proto/container.h"

namespace gpuprof::analysis {
namespace {

// What a part costs beside its bytes: its place, in digits.
constexpr uint64_t kPartWords = 24;
// Parts that are so near each other are one.
constexpr uint64_t kNearBytes = 16;
// Steps beside the typical one that are kept if there is room.
constexpr size_t kMostNeighbours = 32;
// Without steps, this part of the time comes first. Each further stretch is twice as long.
constexpr int64_t kFirstPart = 4096;

Interval WindowOf(const results::Steps& steps, const results::Step& step) {
  Interval window{step.start_ns(), step.start_ns() + step.duration_ns()};
  // The device does the step's work later.
  for (const results::DeviceStep& device : steps.device_steps()) {
    if (device.pid() != step.pid() || device.host() != step.host() ||
        device.number() != step.number())
      continue;
    window.start = std::min(window.start, device.start_ns());
    window.end = std::max(window.end, device.start_ns() + device.duration_ns());
  }
  return window;
}

}  // namespace

std::vector<Wanted> WantedStretches(const results::Steps& steps, Interval whole) {
  std::vector<Wanted> wanted;
  std::vector<const results::Step*> rows;
  // The first series is that of the leading thread.
  for (const results::Step& step : steps.steps()) {
    const bool leads = !steps.series().empty() && step.pid() == steps.series(0).pid() &&
                       step.tid() == steps.series(0).tid() && step.host() == steps.series(0).host();
    if (leads && !step.warmup()) rows.push_back(&step);
  }
  if (rows.empty()) {
    const int64_t middle = whole.start + (whole.end - whole.start) / 2;
    const int64_t length = std::max<int64_t>(whole.end - whole.start, 1);
    for (int64_t part = kFirstPart; part != 0; part /= 2)
      wanted.push_back({{middle - length / part / 2, middle + length / part / 2 + 1}, ""});
    return wanted;
  }
  std::set<const results::Step*> taken;
  const auto want = [&](const results::Step* step, const std::string& why) {
    if (!taken.insert(step).second) return;
    wanted.push_back({WindowOf(steps, *step), std::to_string(step->number()) + why});
  };
  const int64_t median = steps.series(0).median_ns();
  auto typical = std::min_element(rows.begin(), rows.end(), [&](const auto* x, const auto* y) {
    return std::abs(x->duration_ns() - median) < std::abs(y->duration_ns() - median);
  });
  // The device knows better, and other pages name its step.
  if (!steps.device_series().empty() && steps.device_series(0).pid() == steps.series(0).pid()) {
    const uint64_t number = steps.device_series(0).typical_number();
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const auto* step) { return step->number() == number; });
    if (found != rows.end()) typical = found;
  }
  want(*typical, ", a typical one");
  want(*std::max_element(
           rows.begin(), rows.end(),
           [](const auto* x, const auto* y) { return x->duration_ns() < y->duration_ns(); }),
       ", the longest");
  for (const results::Step* step : rows) {
    if (step->outlier()) want(step, ", an outlier");
  }
  const auto at = static_cast<size_t>(typical - rows.begin());
  for (size_t away = 1; away <= kMostNeighbours; ++away) {
    if (at + away < rows.size()) want(rows[at + away], "");
    if (at >= away) want(rows[at - away], "");
  }
  return wanted;
}

Error KeptParts::Open(const std::string& path, std::unique_ptr<KeptParts>* parts) {
  ModelBuilder model(path);
  PlacedFiles placed;
  try {
    if (Error error = PlaceFiles(path, false, 0, &model, &placed)) return error;
    auto made = std::make_unique<KeptParts>();
    for (const TraceFiles* files : {&placed.files, &placed.samplers}) {
      for (const std::unique_ptr<TraceFile>& file : *files) made->Add(*file);
    }
    *parts = std::move(made);
  } catch (const std::bad_alloc&) {
    return Unreadable(path + ": not enough memory to read it");
  }
  return {};
}

void KeptParts::Add(const TraceFile& file) {
  File& to = files_.emplace_back();
  to.name = file.name();
  to.size = file.input().bytes();
  uint64_t done = 0;
  for (const PlannedBlock& planned : file.Plan()) {
    const codec::BlockRef& block = *planned.block;
    const uint64_t begin = block.offset - proto::kBlockFrontBytes;
    if (begin < done) continue;
    // What comes before is tables and indexes.
    if (begin != done) to.always.push_back({done, begin - done});
    done = block.offset + block.header.compressed_bytes;
    Block& row = to.blocks.emplace_back();
    row.first_ns = planned.first_ns;
    row.last_ns = planned.last_ns;
    row.rows = planned.rows;
    row.part = {begin, done - begin};
    // Without an index, the page walks from header to header.
    if (!file.scan().is_by_index) to.always.push_back({begin, proto::kBlockFrontBytes});
  }
  if (done < to.size) to.always.push_back({done, to.size - done});
}

Interval KeptParts::Whole() const {
  Interval whole{0, 0};
  bool any = false;
  for (const File& file : files_) {
    for (const Block& block : file.blocks) {
      whole.start = any ? std::min(whole.start, block.first_ns) : block.first_ns;
      whole.end = any ? std::max(whole.end, block.last_ns) : block.last_ns;
      any = true;
    }
  }
  return whole;
}

bool KeptParts::Keep(Interval window, uint64_t room) {
  std::vector<Block*> added;
  for (File& file : files_) {
    for (Block& block : file.blocks) {
      if (block.is_kept || block.last_ns < window.start || block.first_ns > window.end) continue;
      block.is_kept = true;
      added.push_back(&block);
    }
  }
  if (TextBytes() <= room) return true;
  for (Block* block : added) block->is_kept = false;
  return false;
}

std::vector<FilePart> KeptParts::PartsOf(const File& file) {
  std::vector<FilePart> parts = file.always;
  for (const Block& block : file.blocks) {
    if (block.is_kept) parts.push_back(block.part);
  }
  std::sort(parts.begin(), parts.end(),
            [](const FilePart& x, const FilePart& y) { return x.offset < y.offset; });
  std::vector<FilePart> joined;
  for (const FilePart& part : parts) {
    const bool is_near =
        !joined.empty() && part.offset <= joined.back().offset + joined.back().bytes + kNearBytes;
    if (is_near) {
      const uint64_t end =
          std::max(joined.back().offset + joined.back().bytes, part.offset + part.bytes);
      joined.back().bytes = end - joined.back().offset;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

std::vector<FilePart> KeptParts::PartsOf(std::string_view name) const {
  for (const File& file : files_) {
    if (file.name == name) return PartsOf(file);
  }
  return {};
}

uint64_t KeptParts::TextBytes() const {
  uint64_t bytes = 0;
  for (const File& file : files_) {
    uint64_t whole = 0;
    for (const FilePart& part : PartsOf(file)) {
      bytes += kPartWords;
      whole += part.bytes;
    }
    bytes += Base64Length(whole);
  }
  return bytes;
}

uint64_t KeptParts::LeftOutRows() const {
  uint64_t rows = 0;
  for (const File& file : files_) {
    for (const Block& block : file.blocks) rows += block.is_kept ? 0 : block.rows;
  }
  return rows;
}

}  // namespace gpuprof::analysis
