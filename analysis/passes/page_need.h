// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the result of a page takes if it is computed of all rows, and how it is computed so. A
// server needs this for large recordings, so it belongs to the library's interface. Any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// What a page's result takes if it is computed of all rows, as `gpuprof stats` does it.
struct PageNeed {
  uint64_t rows = 0;  // that the pass reads
  uint64_t recording_rows = 0;
  uint64_t memory_bytes = 0;   // an estimate of the peak
  uint64_t bytes_at_once = 0;  // an estimate of what RunForPage would take
  double seconds = 0;          // an estimate
  bool has_less = false;       // RunForPage has a result of fewer rows, which says so
};
// Returns what a result takes. `trace`: opened in whatever way.
PageNeed NeedOf(const Trace& trace, std::string_view pass, const PassOptions& options);
// Does the same for an input. Reads headers alone.
Error NeedOfPage(const PageInput& input, std::string_view pass, const PassOptions& options,
                 PageNeed* need);
// Opens an input for one pass and runs it. `open`: without tables, which follow from the pass.
Error RunOnAll(const InputPath& path, OpenOptions open, std::string_view pass,
               const PassOptions& options, std::unique_ptr<google::protobuf::Message>* result);
// Opens an input for its steps, finds them, and packs them (steps/step_marks.h). `open`: without
// tables.
Error PackedSteps(const InputPath& path, OpenOptions open, std::string* packed);
// Returns whether the trace has a memory snapshot of PyTorch: its page has results, and no events.
bool HasMemorySnapshot(const Trace& trace);
// Returns the bytes that a further program could take now: of the machine's memory, and of what
// this program's control group allows. Memory of files that can be read again counts as free.
uint64_t FreeMemory();

// Returns the rows of these tables in all processes, by a trace that was opened in whatever way.
uint64_t RowsIn(const Trace& trace, const TableSet& tables);

}  // namespace gpuprof::analysis
