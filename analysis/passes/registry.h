// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of passes: how each is called and run. A pass has a result in proto/results/, a
// function in analysis/passes/, and a line in registry.cc. Its text is in analysis/render/, with a
// line in render.cc.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

struct PassEntry {
  PassInfo info;
  Error (*run)(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
  const google::protobuf::Descriptor* (*type)();
  std::string_view main_table;  // path of the field that CSV shows
  TableSet tables;              // what the pass is about
  TableSet also = {};           // further tables whose rows it reads
};

const std::vector<PassEntry>& PassTable();

// Returns the results that verbs make without a pass. They are shown like results of passes, and
// their entries have no `run` and no tables of a trace.
const std::vector<PassEntry>& PageTable();

// Finds a pass by its name. Null: no pass has it.
const PassEntry* FindPass(std::string_view name);

// Returns the tables that a pass is about. No pass of this name: none.
TableSet SubjectsOf(std::string_view pass);

// Returns whether a page gets a result from sums of blocks (PageSumsAbove). `trace`: opened in
// whatever way.
bool HasPageSums(std::string_view pass, const Trace& trace, const PassOptions& options);

}  // namespace gpuprof::analysis
