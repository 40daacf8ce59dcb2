// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See spans_import.h.

#include "analysis/import/spans_import.h"

#include <sstream>
#include <string>

#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kMostBytes = 64 << 20;

Error ImportSpans(const ForeignFile& file, ModelBuilder* model) {
  Error error;
  std::istringstream lines(BeginningOf(file, kMostBytes, &error));
  if (error) return error;
  ProcessBuilder builder(1, "");
  const uint32_t thread = builder.Thread(1);
  RangeRow row;
  for (std::string name; lines >> row.span.start >> row.span.end >> name;) {
    row.name = builder.Intern(name);
    builder.Add(thread, row);
  }
  model->trace().importer = kSpansImporter;
  model->AddProcess(builder.Finish(0));
  return {};
}

}  // namespace

Recording FindSpans(const codec::InputPath& path) {
  Recording found;
  if (!path.path.ends_with(".spans")) return found;
  found.files.push_back(FileAt(path));
  found.import = [file = found.files.front()](const OpenOptions&, ModelBuilder* model) {
    return ImportSpans(file, model);
  };
  return found;
}

Recording FindSpansBelow(const codec::InputPath&) { return {}; }

}  // namespace gpuprof::analysis::import
