// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tool compare: what `gpuprof diff` says of two recordings. See tool.h.

#include <utility>

#include "launcher/mcp/json_schema.h"
#include "launcher/mcp/pass_facts.h"
#include "launcher/mcp/tool.h"
#include "launcher/reading/comparison.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

constexpr int64_t kMostCompareTop = 200;

// Returns the first elements of a list, and counts all.
McpJson FirstOf(const McpJson& all, const char* name, size_t top, uint64_t* total) {
  McpJson list = all.value(name, McpJson::array()), first = McpJson::array();
  *total += list.size();
  for (McpJson& each : list) {
    if (first.size() == top) break;
    first.push_back(std::move(each));
  }
  return first;
}

// Says whose the faults and gaps are.
void AddSkipped(const McpJson& meta, const std::string& input, McpJson* skipped) {
  for (McpJson& each : SkippedOf(meta)) {
    each["name"] = input + ": " + each.value("name", "");
    skipped->push_back(std::move(each));
  }
}

ToolAnswer Compare(ToolContext* context, Arguments* arguments) {
  const std::string before = arguments->NeededText("before");
  const std::string after = arguments->NeededText("after");
  const auto top = static_cast<size_t>(arguments->Number("top", 1, kMostCompareTop).value_or(20));
  ToolAnswer answer;
  PlacedInput of_before, of_after;
  std::string name;
  for (const auto& [given, input] :
       {std::pair(&before, &of_before), std::pair(&after, &of_after)}) {
    if (std::string fault = context->inputs.Find(*given, &input->path, &name); !fault.empty())
      return ToolFault(std::move(fault));
  }
  std::string json;
  if (const analysis::Error error = CompareAsJson(of_before, of_after, &json))
    return ToolFault(error.message);
  const McpJson all = McpJson::parse(json, nullptr, /*allow_exceptions=*/false);
  McpJson skipped = McpJson::array();
  AddSkipped(all.value("before", McpJson::object()), before, &skipped);
  AddSkipped(all.value("after", McpJson::object()), after, &skipped);
  uint64_t total = 0, ops_total = 0;
  McpJson kernels = FirstOf(all, "kernels", top, &total);
  McpJson ops = FirstOf(all, "ops", top, &ops_total);
  answer.content = {
      {"before", before},
      {"after", after},
      {"verdict", all.value("verdict", McpJson())},
      {"comparability", all.value("comparability", McpJson())},
      {"steps", all.value("steps", McpJson())},
      {"categories", all.value("categories", McpJson::array())},
      {"kernels", std::move(kernels)},
      {"ops", std::move(ops)},
      {"kernels_total", total},
      {"ops_total", ops_total},
      {"command", "gpuprof diff " + analysis::ShellWord(before) + " " + analysis::ShellWord(after)},
      {"skipped", std::move(skipped)},
      {"truncated", {{"total", total}}}};
  return answer;
}

}  // namespace

Tool CompareTool() {
  return {
      .name = "compare",
      .title = "Compare two recordings",
      .description =
          "Says whether the second recording is slower or faster than the first, and "
          "by what. Look at comparability first: a low score says that the two are "
          "not of the same program. An interval is of 95 %.",
      .arguments = {{"before", schema::Text("The first input, by its name in list_bundles")},
                    {"after", schema::Text("The second input")},
                    {"top", schema::WholeFrom(1, kMostCompareTop,
                                              "Most kernels and most operations; default: 20")}},
      .needed = {"before", "after"},
      .results = {{"before", schema::Text()},
                  {"after", schema::Text()},
                  {"verdict", schema::OrNull(schema::Text(
                                  "regression, improvement, neutral or inconclusive"))},
                  {"comparability", schema::OrNull(schema::AnyObject())},
                  {"steps", schema::OrNull(schema::AnyObject())},
                  {"categories", schema::ListOf(schema::AnyObject())},
                  {"kernels", schema::ListOf(schema::AnyObject(), "The greatest change first")},
                  {"ops", schema::ListOf(schema::AnyObject(), "The greatest change first")},
                  {"kernels_total", schema::Whole()},
                  {"ops_total", schema::Whole()},
                  {"command", schema::Text("Prints the same")}},
      .main = "kernels",
      .call = Compare};
}

}  // namespace gpuprof::launcher
