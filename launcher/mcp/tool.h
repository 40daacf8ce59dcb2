// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A tool of `gpuprof mcp`, and the table of all tools. A tool is a row: what assistants read about
// it, what it takes, what it answers, and its function. One thread.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launcher/mcp/arguments.h"
#include "launcher/mcp/mcp_inputs.h"

namespace gpuprof::launcher {

class FolderProcessList;
class CaptureList;

// What the tools share.
struct ToolContext {
  McpInputs inputs;
  std::unique_ptr<CaptureList> captures;
  std::unique_ptr<FolderProcessList> processes;
  bool allows_control = false;
};

// What a tool answers. It has `skipped` and `truncated` when it leaves the server.
struct ToolAnswer {
  McpJson content = McpJson::object();
  std::string fault;  // cause and fix; not empty: there is no content
};
inline ToolAnswer ToolFault(std::string fault) {
  ToolAnswer answer;
  answer.fault = std::move(fault);
  return answer;
}

struct Tool {
  const char* name;
  const char* title;
  const char* description;  // for assistants
  McpJson arguments;        // properties of inputSchema
  std::vector<std::string> needed;
  McpJson results;   // properties of outputSchema, without those that every answer has
  std::string main;  // the list that `truncated` counts; "": all lists
  ToolAnswer (*call)(ToolContext* context, Arguments* arguments);
  bool is_reading = true;  // changes nothing
  bool is_control = false;
};

// Returns the tools that the server offers.
std::vector<const Tool*> OfferedTools(const ToolContext& context);

// Returns a tool as tools/list shows it.
McpJson DescribeTool(const Tool& tool);

// Calls a tool. The content fits an answer of `most` bytes, and so does a fault.
ToolAnswer CallTool(const Tool& tool, ToolContext* context, const McpJson& given, size_t most);

// The tools, in files of their own.
Tool ListBundlesTool();
Tool OverviewTool();
Tool FindingsTool();
Tool TableTool();
Tool TimelineTool();
Tool StacksTool();
Tool CompareTool();
Tool SchemaTool();
Tool AddFindingsTool();
std::vector<Tool> ControlTools();

}  // namespace gpuprof::launcher
