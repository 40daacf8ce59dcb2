// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tool.h.

#include "launcher/mcp/tool.h"

#include <utility>

#include "launcher/mcp/bounded_answer.h"
#include "launcher/mcp/json_schema.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

const std::vector<Tool>& AllTools() {
  static const std::vector<Tool> tools = [] {
    std::vector<Tool> all = {ListBundlesTool(), OverviewTool(), FindingsTool(),
                             TableTool(),       TimelineTool(), StacksTool(),
                             CompareTool(),     SchemaTool(),   AddFindingsTool()};
    for (Tool& tool : ControlTools()) all.push_back(std::move(tool));
    return all;
  }();
  return tools;
}

McpJson SkippedSchema() {
  return schema::ListOf(
      schema::Object(
          {{"name", schema::Text()}, {"reason", schema::Text()}, {"fix", schema::Text()}}),
      "What could not be looked at, why, and what to do about it. Its figures are missing, not 0.");
}

McpJson TruncatedSchema() {
  McpJson truncated = schema::Object(
      {{"shown", schema::Whole("Rows in this answer")}, {"total", schema::Whole("Rows in all")}},
      "Whether the answer was cut: shown is below total.");
  truncated["properties"]["lists"] = schema::ListOf(
      schema::Object(
          {{"list", schema::Text()}, {"shown", schema::Whole()}, {"total", schema::Whole()}}),
      "The lists that were cut so that the answer fits");
  truncated["properties"]["shortened_texts"] =
      schema::Whole("Texts that were shortened. They end with three dots.");
  return truncated;
}

// An answer has the results of the tool, or a fault.
McpJson OutputSchema(const Tool& tool) {
  McpJson properties = tool.results, needed = McpJson::array();
  for (const auto& [name, member] : tool.results.items()) needed.push_back(name);
  properties["error"] = schema::Object({{"message", schema::Text("Cause and fix")}});
  properties["skipped"] = SkippedSchema();
  properties["truncated"] = TruncatedSchema();
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"skipped", "truncated"}},
          {"anyOf", McpJson::array({{{"required", std::move(needed)}},
                                    {{"required", McpJson::array({"error"})}}})},
          {"additionalProperties", false}};
}

std::vector<std::string> NamesOf(const McpJson& members) {
  std::vector<std::string> names;
  for (const auto& [name, member] : members.items()) names.push_back(name);
  return names;
}

ToolAnswer Faulty(std::string fault) {
  constexpr size_t kMost = 2'000;
  if (fault.size() > kMost) fault.resize(kMost);
  ToolAnswer answer;
  answer.content = {{"error", {{"message", fault}}},
                    {"skipped", McpJson::array()},
                    {"truncated", {{"shown", 0}, {"total", 0}}}};
  answer.fault = std::move(fault);
  return answer;
}

}  // namespace

std::vector<const Tool*> OfferedTools(const ToolContext& context) {
  std::vector<const Tool*> offered;
  for (const Tool& tool : AllTools())
    if (!tool.is_control || context.allows_control) offered.push_back(&tool);
  return offered;
}

McpJson DescribeTool(const Tool& tool) {
  McpJson input = {
      {"type", "object"}, {"properties", tool.arguments}, {"additionalProperties", false}};
  if (!tool.needed.empty()) input["required"] = tool.needed;
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", std::move(input)},
          {"outputSchema", OutputSchema(tool)},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", tool.is_reading},
            {"destructiveHint", false},
            {"idempotentHint", tool.is_reading},
            {"openWorldHint", false}}}};
}

ToolAnswer CallTool(const Tool& tool, ToolContext* context, const McpJson& given, size_t most) {
  Arguments arguments(given);
  const std::vector<std::string> known = NamesOf(tool.arguments);
  for (const std::string& name : tool.needed) {
    if (given.is_null() || (given.is_object() && !given.contains(name)))
      arguments.Fail("'" + name + "' is missing. The tool needs it.");
  }
  std::string fault = arguments.Fault(known);
  ToolAnswer answer;
  if (fault.empty()) answer = tool.call(context, &arguments);
  if (fault.empty()) fault = arguments.Fault(known);
  if (fault.empty()) fault = answer.fault;
  if (fault.empty()) {
    if (!answer.content.contains("skipped")) answer.content["skipped"] = McpJson::array();
    MaskAnswer(context->inputs.root(), &answer.content);
    if (!FitAnswer(tool.main, most, &answer.content))
      fault = "The answer is too large, also without its lists. Ask for a part.";
  }
  if (fault.empty()) return answer;
  answer = Faulty(std::move(fault));
  MaskAnswer(context->inputs.root(), &answer.content);
  answer.fault = answer.content["error"]["message"].get<std::string>();
  return answer;
}

}  // namespace gpuprof::launcher
