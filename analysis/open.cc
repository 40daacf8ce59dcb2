// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Open: a bundle's files into one Trace on one time axis. Called by the launcher and the tests;
// starts threads for the duration of the call.

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/memory_limit.h"
#include "analysis/import/chrome_import.h"
#include "analysis/import/chrome_input.h"
#include "analysis/import/known_files.h"
#include "analysis/import/xspace_import.h"
#include "analysis/model/model_builder.h"
#include "analysis/model/trace.h"
#include "analysis/read/event_loader.h"
#include "analysis/read/imported_bundle.h"
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

// Gives an imported bundle the name and the sizes of what it stands for.
void StandFor(const ImportOrigin& origin, Trace* trace) {
  if (origin.path.empty() || !trace->manifest.has_import()) return;
  trace->path = origin.path;
  for (Process& process : trace->processes) {
    const auto found = origin.file_bytes.find(process.file);
    if (found != origin.file_bytes.end()) process.file_bytes = found->second;
  }
}

Error OpenBundle(const InputPath& path, const OpenOptions& options, ModelBuilder* model) {
  Trace* trace = &model->trace();
  trace->tables = options.headers_only ? TableSet() : options.tables;
  PlacedFiles placed;
  if (Error error = PlaceFiles(path, options.recover, options.threads, model, &placed))
    return error;
  const TraceFiles &files = placed.files, &samplers = placed.samplers;
  // An imported trace may tell the shapes of operations: its kernels have rates by them.
  if (trace->manifest.has_import() && trace->tables.Has(proto::ChunkKind::kKernel))
    trace->tables = trace->tables | TableSet{proto::ChunkKind::kOp, proto::ChunkKind::kApi,
                                             proto::ChunkKind::kLaunch};
  if (!options.headers_only) {
    const uint64_t limit =
        options.memory_limit_bytes != 0 ? options.memory_limit_bytes : DefaultMemoryLimit();
    trace->has_sums = options.sums_above_rows != 0 && CountWork(files) > options.sums_above_rows;
    const TableSet rows = trace->has_sums ? trace->tables.Without(SummableTables()) : trace->tables;
    LoadEvents(files, rows, options.threads, limit);
    if (trace->has_sums) LoadWorkSums(files, options.threads, options.trusts_sums);
    LoadEvents(samplers, trace->tables, options.threads, limit);
  }
  TakeProcesses(files, model);
  TakeProcesses(samplers, model);
  TakeImport(trace);
  StandFor(options.origin, trace);
  return {};
}

Error OpenAny(const InputPath& path, const OpenOptions& options, ModelBuilder* model) {
  // A folder of a run may have JSON beside its planes.
  import::XSpaceRun run = import::FindXSpaceRun(path);
  if (run.files.empty()) {
    const std::vector<import::ForeignFile> files = import::ChromeFiles(path);
    if (!files.empty()) return import::ImportChrome(files, options, model);
    run = import::FindXSpaceRunBelow(path);
  }
  if (!run.files.empty()) return import::ImportXSpace(run, options, model);
  Error error = OpenBundle(path, options, model);
  if (!error) return {};
  const std::vector<import::ForeignFile> below = import::ChromeFilesBelow(path);
  if (!below.empty()) return import::ImportChrome(below, options, model);
  return import::NamedError(path, error);
}

}  // namespace

Error Open(const InputPath& input, const OpenOptions& options,
           std::shared_ptr<const Trace>* trace) {
  trace->reset();
  InputPath path = input;
  path.Hold();
  ModelBuilder model(path.path);
  try {
    if (const Error error = OpenAny(path, options, &model)) return error;
    Trace opened = model.Finish();
    for (Process& process : opened.processes) process.kernel_rules = options.kernel_rules;
    *trace = std::make_shared<const Trace>(std::move(opened));
  } catch (const std::bad_alloc&) {
    return Unreadable(path.path +
                      ": not enough memory to read it; open fewer files at once, or use a machine "
                      "with more memory");
  }
  return {};
}

}  // namespace gpuprof::analysis
