// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tools that change something: add_findings, and those that control processes. See tool.h.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "launcher/base/read_file.h"
#include "launcher/mcp/json_schema.h"
#include "launcher/mcp/tool.h"
#include "launcher/reading/kept_findings.h"
#include "launcher/record/bundle.h"
#include "launcher/serve/folder_processes.h"
#include "proto/codec/input_path.h"
#include "proto/contract.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;
using Limits = FindingLimits;

constexpr size_t kMostAtOnce = 20;

// Returns whether a folder has traces of gpuprof, by the names in it.
bool HasTraces(const std::string& folder) {
  const std::vector<std::string> names = ListFolder(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == proto::kBundleFile || name.ends_with(proto::kTraceSuffix) || IsPartName(name);
  });
}

// Reads one finding of an assistant. Unlike a file, a call with a fault is refused as a whole.
KeptFinding ReadGivenFinding(Arguments* given, size_t number, std::string* fault) {
  KeptFinding finding;
  const auto text = [&](const char* name, size_t most) {
    std::string value = given->Text(name);
    if (value.size() > most) {
      given->Fail("'" + std::string(name) + "' has " + std::to_string(value.size()) +
                  " bytes. Give at most " + std::to_string(most) + ".");
    }
    return value;
  };
  finding.title = text("title", Limits::kMostTitle);
  finding.text = text("text", Limits::kMostText);
  finding.severity = text("severity", 10);
  finding.check = text("check", Limits::kMostCheck);
  finding.evidence = given->Texts("evidence", Limits::kMostEvidences);
  for (const std::string& each : finding.evidence) {
    if (each.size() > Limits::kMostEvidence)
      given->Fail("'evidence' has a text of more than " + std::to_string(Limits::kMostEvidence) +
                  " bytes.");
  }
  finding.window_ns = given->Range("window_ns");
  if (finding.title.empty()) given->Fail("'title' is missing. Give a short sentence.");
  if (finding.severity.empty()) finding.severity = "info";
  if (!IsSeverity(finding.severity))
    given->Fail("'severity' is not one of high, medium, low and info.");
  const std::string what =
      given->Fault({"title", "text", "severity", "check", "evidence", "window_ns"});
  if (!what.empty()) *fault = "Finding " + std::to_string(number) + ": " + what;
  return finding;
}

ToolAnswer AddFindings(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  const std::string author = arguments->Text("author");
  const bool replaces = arguments->Flag("replace");
  const McpJson* const given = arguments->List("findings", kMostAtOnce);
  if (author.size() > Limits::kMostAuthor)
    arguments->Fail("'author' is too long. Give the name of the assistant.");
  ToolAnswer answer;
  if (given == nullptr || author.size() > Limits::kMostAuthor)
    return ToolFault("'findings' is missing. Give a list of findings.");
  analysis::InputPath path;
  std::string name;
  if (std::string fault = context->inputs.Find(input, &path, &name); !fault.empty())
    return ToolFault(std::move(fault));
  struct stat status;
  if (!codec::StatInput(path, &status) || !S_ISDIR(status.st_mode) || !HasTraces(path.path))
    return ToolFault("Findings are kept in bundles of gpuprof, and '" + name +
                     "' is not one. gpuprof import makes a bundle of another tool's trace.");
  std::vector<KeptFinding> findings;
  if (!replaces) {
    if (std::string fault = ReadKeptFindings(path, &findings); !fault.empty())
      return ToolFault(std::move(fault));
  }
  const size_t before = findings.size();
  for (const McpJson& each : *given) {
    std::string fault;
    Arguments one(each);
    findings.push_back(ReadGivenFinding(&one, findings.size() - before + 1, &fault));
    if (!fault.empty()) return ToolFault(std::move(fault));
    findings.back().author = author;
    findings.back().added_s = static_cast<int64_t>(std::time(nullptr));
  }
  if (findings.size() > Limits::kMostFindings)
    return ToolFault("The recording has " + std::to_string(before) +
                     " findings of assistants, and " + std::to_string(Limits::kMostFindings) +
                     " find room. Call add_findings with replace: true.");
  if (std::string fault = WriteKeptFindings(path, findings); !fault.empty())
    return ToolFault(std::move(fault));
  answer.content = {{"input", input},
                    {"added", given->size()},
                    {"kept", findings.size()},
                    {"file", (name == "." ? "" : name + "/") + std::string(kFindingsFile)}};
  return answer;
}

McpJson GivenFindingSchema() {
  const auto text = [](size_t most, const char* what) {
    return McpJson({{"type", "string"}, {"maxLength", most}, {"description", what}});
  };
  McpJson finding = schema::Object({{"title", text(Limits::kMostTitle, "One short sentence")}});
  finding["properties"]["text"] = text(Limits::kMostText, "The meaning, and what to do");
  finding["properties"]["severity"] =
      schema::Choice({"high", "medium", "low", "info"}, "Default: info");
  finding["properties"]["evidence"] = schema::ListOf(schema::Text(), "Figures, at most ten");
  finding["properties"]["check"] =
      text(Limits::kMostCheck, "A command or a call that shows the figures");
  finding["properties"]["window_ns"] = schema::RangeOf("The part of the recording that shows it");
  return finding;
}

ToolAnswer Processes(ToolContext* context, Arguments*) {
  ToolAnswer answer;
  McpJson processes = McpJson::array();
  for (const FolderProcess& each : *context->processes->Look()) {
    processes.push_back({{"pid", each.pid},
                         {"command", each.command},
                         {"state", each.state},
                         {"input", each.title}});
  }
  answer.content["processes"] = std::move(processes);
  return answer;
}

template <const char* kAction>
ToolAnswer Control(ToolContext* context, Arguments* arguments) {
  const auto pid = arguments->Number("pid", 1, INT32_MAX);
  ToolAnswer answer;
  if (!pid) return ToolFault("'pid' is missing. The tool ps names the processes.");
  const Change change = context->processes->Do(kAction, static_cast<int32_t>(*pid));
  if (change.kind != Change::Kind::kDone)
    return ToolFault("Process " + std::to_string(*pid) + ": " + change.message + ".");
  answer.content = {{"pid", *pid}, {"state", change.message}};
  return answer;
}

constexpr char kStartAction[] = "start";
constexpr char kStopAction[] = "stop";
constexpr char kSnapshotAction[] = "snapshot";

Tool ControlTool(const char* name, const char* title, const char* description,
                 ToolAnswer (*call)(ToolContext*, Arguments*)) {
  return {.name = name,
          .title = title,
          .description = description,
          .arguments = {{"pid", schema::WholeFrom(1, INT32_MAX, "A process that ps names")}},
          .needed = {"pid"},
          .results = {{"pid", schema::Whole()}, {"state", schema::Text("The new state, in words")}},
          .main = "",
          .call = call,
          .is_reading = false,
          .is_control = true};
}

}  // namespace

Tool AddFindingsTool() {
  return {.name = "add_findings",
          .title = "Keep findings with a recording",
          .description =
              "Writes findings of yours into the bundle, as findings.json. The page of "
              "gpuprof report and serve shows them as an assistant's, apart from "
              "gpuprof's own. They are added to earlier ones unless replace is true.",
          .arguments = {{"input", schema::Text("A bundle, by its name in list_bundles")},
                        {"findings", schema::ListOf(GivenFindingSchema(), "At most 20 findings")},
                        {"author", schema::Text("Which assistant you are")},
                        {"replace", schema::Flag("Removes earlier findings of assistants")}},
          .needed = {"input", "findings"},
          .results = {{"input", schema::Text()},
                      {"added", schema::Whole()},
                      {"kept", schema::Whole("Findings in the file now")},
                      {"file", schema::Text()}},
          .main = "",
          .call = AddFindings,
          .is_reading = false};
}

std::vector<Tool> ControlTools() {
  return {
      {.name = "ps",
       .title = "Running processes",
       .description = "Lists running processes of this user that record into the folder of "
                      "this server, with their state.",
       .arguments = McpJson::object(),
       .needed = {},
       .results = {{"processes", schema::ListOf(schema::Object({{"pid", schema::Whole()},
                                                                {"command", schema::Text()},
                                                                {"state", schema::Text()},
                                                                {"input", schema::Text()}}))}},
       .main = "processes",
       .call = Processes,
       .is_control = true},
      ControlTool("start", "Begin recording", "Begins a recording of a running process.",
                  Control<kStartAction>),
      ControlTool("stop", "End recording", "Ends the recording of a process. The process goes on.",
                  Control<kStopAction>),
      ControlTool("snapshot", "Take a snapshot",
                  "Writes what the flight recorder of a process holds into a snapshot.",
                  Control<kSnapshotAction>)};
}

}  // namespace gpuprof::launcher
