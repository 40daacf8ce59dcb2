// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of passes: how each is called, run and shown. To add a pass: a result in
// proto/results/, a function in analysis/passes/, its text in analysis/render/, and one line in
// registry.cc.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/render/text.h"

namespace gpuprof::analysis {

struct PassEntry {
  PassInfo info;
  Error (*run)(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
  // Writes the text. Text that other tools read may be long: its pass writes the text piecewise.
  void (*text)(const google::protobuf::Message& result, const TextOptions& options, Output* out);
  const google::protobuf::Descriptor* (*type)();
  std::string_view main_table;  // path of the field that CSV shows
  TableSet tables;              // what the pass is about
  TableSet also = {};           // further tables whose rows it reads
  // For text that other tools read: complete unless a limit was asked for, and what is to be said
  // goes elsewhere (Remarks).
  std::string (*remarks)(const google::protobuf::Message& result,
                         const TextOptions& options) = nullptr;
  int columns = kTableColumns;  // of the widest text table
};

const std::vector<PassEntry>& PassTable();

// Returns the results that verbs make without a pass. They are shown like results of passes, and
// their entries have no `run` and no tables of a trace.
const std::vector<PassEntry>& PageTable();

// Returns the tables that a pass is about. No pass of this name: none.
TableSet SubjectsOf(std::string_view pass);

// Returns whether a page gets a result from sums of blocks (PageSumsAbove). `trace`: opened in
// whatever way.
bool HasPageSums(std::string_view pass, const Trace& trace, const PassOptions& options);

}  // namespace gpuprof::analysis
