// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What tools know of passes: names, lists and columns (`gpuprof schema --json`), and which pass
// shows the figures of a finding. Any thread.

#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/mcp/arguments.h"
#include "launcher/mcp/tool.h"

namespace gpuprof::launcher {

// Returns the entry of a pass in `gpuprof schema --json`, or null.
const McpJson* FindPassEntry(const std::string& pass);
// Returns the names of all passes.
std::vector<std::string> PassNames();
// Returns the fields of a message of results, by its name in the schema.
const McpJson& FieldsOfMessage(const std::string& message);

// A pass that shows the figures of a rule, with its key.
struct CheckingPass {
  std::string pass;
  std::string by;
};
// Returns the pass for a rule by its id.
CheckingPass PassThatChecks(const std::string& rule);

// The arguments that choose a part of a recording: their schemas, and their values.
McpJson SelectionArguments();
void ReadSelectionArguments(Arguments* arguments, analysis::PassOptions* options);

// Runs a pass on an input that is kept open. Returns "", or cause and fix.
std::string RunPass(ToolContext* context, const std::string& input, const std::string& pass,
                    const analysis::PassOptions& options,
                    std::unique_ptr<google::protobuf::Message>* result);

// Returns a result, or a row of a result, as JSON.
McpJson JsonOf(const google::protobuf::Message& message);

// Returns what an answer says of the recording: what was skipped, and faults of its files. `meta`
// is that of a result.
McpJson SkippedOf(const McpJson& meta);
// Returns how reliable a result is: confidence, losses and notes. Its schema is that below.
McpJson QualityOf(const McpJson& meta);
McpJson QualitySchema();

}  // namespace gpuprof::launcher
