// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See imported_bundle.h. TraceFile::TakeImported is here, too.

#include "analysis/read/imported_bundle.h"

#include <algorithm>
#include <vector>

#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

void TakeImport(Trace* trace) {
  if (!trace->manifest.has_import()) return;
  const proto::Import& import = trace->manifest.import();
  trace->importer = import.importer().empty() ? "another tool's file" : import.importer();
  for (const proto::ImportNote& note : import.note()) {
    for (int i = 0; i < kImportNoteKinds; ++i) {
      const auto kind = static_cast<ImportNoteKind>(i);
      if (note.kind() == ImportNoteName(kind))
        trace->import_notes.push_back({kind, note.count(), note.example()});
    }
  }
  for (const proto::ImportFault& fault : import.fault())
    trace->faults.push_back({fault.file(), fault.offset(), fault.what()});
  // There was no run that it could describe.
  trace->has_manifest = false;
}

// An imported process has the facts that its importer gives: no clock of a recorder, and no rows
// that only belong to others. Its times may lie years apart, if the file has times of two clocks.
void TraceFile::TakeImported() {
  constexpr uint64_t kLongestLine = uint64_t{1} << 50;
  constexpr uint64_t kLatest = uint64_t{1} << 62;
  uint64_t last = 0;
  for (const codec::BlockRef& block : scan_.blocks) last = std::max(last, block.header.last_time);
  std::vector<ClockMap::Point> points;
  uint64_t at = proto::kImportedZeroTick;
  do {
    points.push_back({at, static_cast<int64_t>(at), 1.0});
    at += kLongestLine;
  } while (at <= std::min(last, kLatest));
  clock_.Build(points);
  cupti_clock_ = clock_;
  process().file = meta_.imported_from();
  process().clock_kind = 0;
  process().ticks_per_second = 0;
  process().gpu_tick_ns = 0;
  const auto is_of_others = [](const KindTotals& totals) {
    return totals.kind == static_cast<uint16_t>(proto::ChunkKind::kRowDetail) ||
           totals.kind == static_cast<uint16_t>(proto::ChunkKind::kLaunch);
  };
  for (const KindTotals& totals : process().kinds)
    if (is_of_others(totals)) process().rows -= totals.rows;
  std::erase_if(process().kinds, is_of_others);
}

}  // namespace gpuprof::analysis
