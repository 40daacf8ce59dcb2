// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See open_bundle.h.

#include "analysis/read/open_bundle.h"

#include <algorithm>
#include <utility>

#include "analysis/base/memory_limit.h"
#include "analysis/model/trace.h"
#include "analysis/model/windowed_inputs.h"
#include "analysis/read/event_loader.h"
#include "analysis/read/imported_bundle.h"
#include "analysis/read/lazy_rows.h"
#include "analysis/read/placed_files.h"
#include "analysis/read/work_sums.h"

namespace gpuprof::analysis {
namespace {

void TakeProcesses(const TraceFiles& files, ModelBuilder* model) {
  for (const std::unique_ptr<TraceFile>& file : files) {
    model->AddFaults(file->faults());
    model->AddProcess(std::move(file->process()));
  }
}

// Returns whether operations may tell shapes: kernels have rates by them. An imported trace may
// have those of all operations, and a recording those of some.
bool MayHaveShapes(const Trace& trace, const TraceFiles& files) {
  if (trace.manifest.has_import()) return true;
  // For the few that the windows covered, each kernel's operation is looked for.
  constexpr uint64_t kMostWork = 2'000'000;
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return WindowedInputsName(file->process()) != 0; }) &&
         CountWork(files) <= kMostWork;
}

// Gives an imported bundle the name and the sizes of what it stands for.
void StandFor(const ImportOrigin& origin, Trace* trace) {
  if (origin.path.empty() || !trace->manifest.has_import()) return;
  trace->path = origin.path;
  for (Process& process : trace->processes) {
    const auto found = origin.file_bytes.find(process.file);
    if (found != origin.file_bytes.end()) process.file_bytes = found->second;
  }
}

}  // namespace

Error OpenBundle(const InputPath& path, const OpenOptions& options, ModelBuilder* model) {
  Trace* trace = &model->trace();
  trace->tables = options.headers_only ? TableSet() : options.tables;
  PlacedFiles placed;
  if (Error error =
          PlaceFiles(path, options.recover, options.threads, model, &placed, options.parts))
    return error;
  std::shared_ptr<LazyRows> lazy;
  const TraceFiles &files = placed.files, &samplers = placed.samplers;
  if (trace->tables.Has(proto::ChunkKind::kKernel) && MayHaveShapes(*trace, files))
    trace->tables = trace->tables | TableSet{proto::ChunkKind::kOp, proto::ChunkKind::kApi,
                                             proto::ChunkKind::kLaunch};
  // What operations say of themselves tells which of them are steps.
  if (trace->tables.Has(proto::ChunkKind::kOp))
    trace->tables = trace->tables | TableSet{proto::ChunkKind::kOpValue};
  if (!options.headers_only) {
    const uint64_t limit =
        options.memory_limit_bytes != 0 ? options.memory_limit_bytes : DefaultMemoryLimit();
    trace->has_sums = options.sums_above_rows != 0 && CountWork(files) > options.sums_above_rows;
    const TableSet rows = trace->has_sums ? trace->tables.Without(SummableTables()) : trace->tables;
    if (options.lazy && !trace->manifest.has_import()) lazy = std::make_shared<LazyRows>();
    LoadEvents(files, rows, options.threads, limit, lazy.get(), options.eager);
    if (trace->has_sums) LoadWorkSums(files, options.threads, options.trusts_sums);
    LoadEvents(samplers, trace->tables, options.threads, limit, lazy.get(), options.eager);
  }
  TakeProcesses(files, model);
  TakeProcesses(samplers, model);
  if (lazy != nullptr) {
    lazy->Keep(std::move(placed.files));
    lazy->Keep(std::move(placed.samplers));
    trace->row_store = std::move(lazy);
  }
  TakeImport(trace);
  StandFor(options.origin, trace);
  return {};
}

}  // namespace gpuprof::analysis
