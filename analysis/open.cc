// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Open: a bundle's files into one Trace on one time axis. Called by the launcher and the tests;
// starts threads for the duration of the call.

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/import/importers.h"
#include "analysis/import/known_files.h"
#include "analysis/model/model_builder.h"
#include "analysis/model/trace.h"
#include "analysis/read/open_bundle.h"

namespace gpuprof::analysis {
namespace {

// Asks the importers for a recording below a folder, either those that come before bundles or the
// others. Without files: there is none.
import::Recording FindBelow(const InputPath& path, bool is_first){
    for (const import::Importer& importer:import::Importers()){
        if (importer.is_below_first != is_first) continue;
import::Recording found = importer.find_below(path);
if (!found.files.empty()) return found;
}  // namespace
return {};
}  // namespace gpuprof::analysis

Error OpenAny(const InputPath& path, const OpenOptions& options, ModelBuilder* model) {
  for (const import::Importer& importer : import::Importers()) {
    const import::Recording found = importer.find(path);
    if (!found.files.empty()) return found.import(options, model);
  }
  const import::Recording first = FindBelow(path, true);
  if (!first.files.empty()) return first.import(options, model);
  Error error = OpenBundle(path, options, model);
  if (!error) return {};
  const import::Recording below = FindBelow(path, false);
  if (!below.files.empty()) return below.import(options, model);
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
