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
#include "analysis/import/chrome_import.h"
#include "analysis/import/chrome_input.h"
#include "analysis/import/known_files.h"
#include "analysis/import/xspace_import.h"
#include "analysis/model/model_builder.h"
#include "analysis/model/trace.h"
#include "analysis/read/open_bundle.h"

namespace gpuprof::analysis {
namespace {

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
