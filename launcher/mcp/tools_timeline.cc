// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tool timeline: sums of what ran in a range, and never single events. See tool.h.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "launcher/mcp/json_schema.h"
#include "launcher/mcp/tool.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

constexpr int64_t kMostTimelineTop = 200;
constexpr size_t kMostGapsShown = 5;

// Asks the timeline. Returns "", or cause and fix.
std::string AskTimeline(analysis::PageTimeline* timeline, const McpJson& question,
                        McpJson* answer) {
  std::string bytes;
  const analysis::Error error = timeline->Answer(question.dump(), &bytes);
  if (error) return error.message;
  *answer = McpJson::parse(bytes, nullptr, /*allow_exceptions=*/false);
  return answer->is_discarded() ? "The timeline gave no answer. Try gpuprof verify." : "";
}

// Kinds that have sums: steps and counters are told by passes.
std::set<std::string> KindsWithSums(const McpJson& info) {
  std::set<std::string> kinds;
  for (const McpJson& track : info.value("tracks", McpJson::array())) {
    const std::string kind = track.value("kind", "");
    if (kind != "counter" && kind != "memory" && kind != "queue") kinds.insert(kind);
  }
  return kinds;
}

McpJson DeviceJson(const McpJson& info, McpJson device) {
  const auto process = device.value("process", size_t{0});
  const McpJson processes = info.value("processes", McpJson::array());
  device["pid"] = process < processes.size() ? processes[process].value("pid", 0) : 0;
  device.erase("process");
  McpJson longest = McpJson::array();
  for (const McpJson& gap : device.value("gaps", McpJson::array())) {
    if (longest.size() == kMostGapsShown) break;
    longest.push_back(gap);
  }
  device.erase("gaps");
  device["longest_gaps"] = std::move(longest);
  return device;
}

ToolAnswer Timeline(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  const auto range = arguments->Range("window_ns");
  const std::string kind = arguments->Text("kind");
  const auto top = static_cast<size_t>(arguments->Number("top", 1, kMostTimelineTop).value_or(40));
  ToolAnswer answer;
  OpenedInput* opened = nullptr;
  if (std::string fault = context->inputs.Open(input, &opened); !fault.empty())
    return ToolFault(std::move(fault));
  McpJson info;
  if (std::string fault = AskTimeline(opened->timeline.get(), {{"ask", "info"}}, &info);
      !fault.empty())
    return ToolFault(std::move(fault));
  std::set<std::string> kinds = KindsWithSums(info);
  if (!kind.empty() && !kinds.contains(kind)) {
    std::string known;
    for (const std::string& each : kinds) known += (known.empty() ? "" : ", ") + each;
    return ToolFault("The recording has no rows of the kind '" + kind.substr(0, 60) + "'. " +
                     (known.empty() ? "It has no rows of any kind." : "It has: " + known + "."));
  }
  if (!kind.empty()) kinds = {kind};
  McpJson question = {{"start_ns", info.value("start_ns", 0.0)},
                      {"end_ns", info.value("end_ns", 0.0)}};
  if (range) question = {{"start_ns", range->first}, {"end_ns", range->second}};
  McpJson rows = McpJson::array();
  uint64_t left_out = 0, total = 0;
  for (const std::string& each : kinds) {
    McpJson sums;
    question["ask"] = "range";
    question["kind"] = each;
    if (std::string fault = AskTimeline(opened->timeline.get(), question, &sums); !fault.empty())
      return ToolFault(std::move(fault));
    left_out += sums.value("left_out", uint64_t{0});
    // They come with the most time first, and there may be a million.
    total += sums["rows"].size();
    size_t taken = 0;
    for (McpJson& row : sums["rows"]) {
      if (++taken > top) break;
      row.erase("full_name");
      McpJson with_kind = {{"kind", each}};
      with_kind.update(row);
      rows.push_back(std::move(with_kind));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const McpJson& x, const McpJson& y) {
    return x.value("total_ns", 0.0) > y.value("total_ns", 0.0);
  });
  while (rows.size() > top) rows.erase(rows.size() - 1);
  McpJson gaps, devices = McpJson::array();
  question["ask"] = "gaps";
  if (std::string fault = AskTimeline(opened->timeline.get(), question, &gaps); !fault.empty())
    return ToolFault(std::move(fault));
  for (McpJson& device : gaps["devices"]) devices.push_back(DeviceJson(info, std::move(device)));
  McpJson skipped = McpJson::array();
  for (const McpJson& fault : info.value("faults", McpJson::array())) {
    skipped.push_back({{"name", input},
                       {"reason", fault.is_string() ? fault.get<std::string>() : fault.dump()},
                       {"fix", "gpuprof verify lists all faults"}});
  }
  if (left_out != 0) {
    skipped.push_back({{"name", "events"},
                       {"reason", std::to_string(left_out) + " events could not be read"},
                       {"fix", "ask for a smaller window_ns"}});
  }
  answer.content = {{"input", input},
                    {"recording_ns", {info["start_ns"], info["end_ns"]}},
                    {"window_ns", {question["start_ns"], question["end_ns"]}},
                    {"rows", std::move(rows)},
                    {"devices", std::move(devices)},
                    {"skipped", std::move(skipped)},
                    {"truncated", {{"total", total}}}};
  return answer;
}

}  // namespace

Tool TimelineTool() {
  McpJson number = schema::Real(), row;
  row = schema::AnyObject();
  McpJson pair = {{"type", "array"}, {"items", schema::Real()}, {"minItems", 2}, {"maxItems", 2}};
  return {.name = "timeline",
          .title = "Sums of a range of time",
          .description =
              "Sums what ran in a range of the recording, by name: count, total, mean, "
              "least and most. Says how long each device had no work in it. Single "
              "events are never listed.",
          .arguments = {{"input", schema::Text("The input, by its name in list_bundles")},
                        {"window_ns", schema::RangeOf("First and last nanosecond; default: all")},
                        {"kind", schema::Text("Only rows of this kind: stream, op, api, python, "
                                              "range, wait, sync and others")},
                        {"top", schema::WholeFrom(1, kMostTimelineTop, "Most rows; default: 40")}},
          .needed = {"input"},
          .results = {{"input", schema::Text()},
                      {"recording_ns", pair},
                      {"window_ns", pair},
                      {"rows", schema::ListOf(std::move(row), "The most time first")},
                      {"devices", schema::ListOf(schema::AnyObject(), "Time without work")}},
          .main = "rows",
          .call = Timeline};
}

}  // namespace gpuprof::launcher
