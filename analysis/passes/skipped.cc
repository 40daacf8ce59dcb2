// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See skipped.h.

#include "analysis/passes/skipped.h"

#include <algorithm>
#include <string>

#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

// A kind of event, the tables that have its rows, and the source that makes them.
struct Kind {
  const char* name;  // as in `gpuprof run --trace`
  TableSet tables;
  uint32_t sources;
  const char* option;
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"cuda",
       {ChunkKind::kKernel, ChunkKind::kMemcpy, ChunkKind::kMemset, ChunkKind::kApi,
        ChunkKind::kSync, ChunkKind::kDeviceMemory, ChunkKind::kGraphLaunch, ChunkKind::kOverhead},
       proto::kSourceCuda,
       "--trace cuda"},
      {"launches", {ChunkKind::kLaunch}, proto::kSourceLaunches, "--trace cuda,launches"},
      {"um", {ChunkKind::kUnifiedMemory}, proto::kSourceUnifiedMemory, "--trace cuda,um"},
      {"heap", {ChunkKind::kHeap}, proto::kSourceHeap, "--trace heap"},
      {"mmap", {ChunkKind::kMapping}, proto::kSourceMmap, "--trace mmap"},
      {"locks", {ChunkKind::kWait}, proto::kSourceLocks, "--trace locks"},
      {"threads", {ChunkKind::kThreadEvent}, proto::kSourceThreads, "--trace threads"},
      {"ops", {ChunkKind::kOp}, proto::kSourceOps, "--trace ops"},
      {"tensors", {ChunkKind::kTensor}, proto::kSourceTensors, "--trace tensors"},
      {"nvtx", {ChunkKind::kRange}, proto::kSourceNvtx | proto::kSourceItt, "--trace nvtx,itt"},
  };
  return kinds;
}

bool HasRows(const std::vector<const Process*>& processes, const TableSet& tables) {
  for (const Process* process : processes) {
    for (const Track& track : process->tracks) {
      const bool any = std::any_of(
          track.extents.begin(), track.extents.end(),
          [&](const TableExtent& extent) { return tables.Has(extent.kind) && extent.rows != 0; });
      if (any) return true;
    }
  }
  return false;
}

bool WasLookedFor(const std::vector<const Process*>& processes, uint32_t sources) {
  return std::any_of(processes.begin(), processes.end(), [sources](const Process* process) {
    return (process->sources & sources) != 0;
  });
}

}  // namespace

void FillSkipped(const Trace& trace, const std::vector<const Process*>& processes,
                 const TableSet& tables, results::Meta* meta) {
  if (processes.empty()) return;
  const bool is_imported = !trace.importer.empty();
  for (const Kind& kind : Kinds()) {
    if (!tables.Intersects(kind.tables) || HasRows(processes, kind.tables)) continue;
    if (!is_imported && WasLookedFor(processes, kind.sources)) continue;
    results::Skipped* skipped = meta->add_skipped();
    skipped->set_name(kind.name);
    skipped->set_reason(is_imported ? results::SKIP_NOT_IN_SOURCE : results::SKIP_NOT_ASKED_FOR);
    skipped->set_fix(std::string(is_imported ? "record the program with gpuprof run " : "") +
                     kind.option);
  }
}

}  // namespace gpuprof::analysis
