// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See skipped.h.

#include "analysis/passes/recorder/skipped.h"

#include <algorithm>
#include <string>

#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

// A kind of event, the tables that have its rows, and the source that makes them.
struct Kind {
  std::string names;  // as in `gpuprof run --trace`
  TableSet tables;
  uint32_t sources;
  bool needs_cuda;
  std::string option() const { return (needs_cuda ? "--trace cuda," : "--trace ") + names; }
  std::string name() const { return names.substr(0, names.find(',')); }
};

// Sources of the same table are one kind.
const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = [] {
    using enum ChunkKind;
    std::vector<Kind> all;
    const auto add = [&all](const char* name, uint32_t source, uint32_t needs, TableSet tables) {
      if (all.empty() || !all.back().tables.Intersects(tables)) {
        all.push_back({name, tables, source, needs != 0});
        return;
      }
      all.back().names += std::string(",") + name;
      all.back().sources |= source;
    };
#define GPUPROF_ADD(constant, bit, name, needs, is_default, words, ...) \
  add(name, proto::constant, needs, {__VA_ARGS__});
    GPUPROF_SOURCES(GPUPROF_ADD)
#undef GPUPROF_ADD
    return all;
  }();
  return kinds;
}

bool HasRows(const std::vector<const Process*>& processes, const TableSet& tables) {
  for (const Process* process : processes) {
    if (process->memory_snapshot != nullptr && tables.Has(ChunkKind::kTensor)) return true;
    for (const Track& track : process->tracks) {
      const bool any = std::any_of(
          track.extents.begin(), track.extents.end(),
          [&](const TableExtent& extent) { return tables.Has(extent.kind) && extent.rows != 0; });
      if (any) return true;
    }
    // A part may have none where the recording has some.
    for (const KindTotals& totals : process->kinds) {
      if (tables.Has(static_cast<ChunkKind>(totals.kind)) && totals.rows != 0) return true;
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
    skipped->set_name(kind.name());
    skipped->set_reason(is_imported ? results::SKIP_NOT_IN_SOURCE : results::SKIP_NOT_ASKED_FOR);
    skipped->set_fix(std::string(is_imported ? "record the program with gpuprof run " : "") +
                     kind.option());
  }
}

}  // namespace gpuprof::analysis
