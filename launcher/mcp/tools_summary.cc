// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tools that an assistant begins with: list_bundles, overview, findings, schema. See tool.h.

#include <sys/stat.h>

#include <initializer_list>
#include <set>
#include <utility>

#include "launcher/base/read_file.h"
#include "launcher/mcp/json_schema.h"
#include "launcher/mcp/pass_facts.h"
#include "launcher/mcp/tool.h"
#include "launcher/serve/capture_list.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

constexpr char kInputHelp[] = "The input, by its name in list_bundles";
constexpr size_t kMostListRows = 10;

McpJson BundleJson(const std::string& name, const ServedCapture& capture) {
  return {{"input", name},
          {"format", capture.foreign.importer.empty() ? "gpuprof" : capture.foreign.importer},
          {"is_folder", capture.is_folder},
          {"size_bytes", capture.bytes},
          {"modified_s", capture.modified_ns / 1'000'000'000}};
}

// Returns the folders in a folder that are no recordings: recordings may lie below.
McpJson OtherFolders(const analysis::InputPath& folder, const std::set<std::string>& recordings) {
  McpJson folders = McpJson::array();
  for (const std::string& name : ListFolder(folder.path + "/")) {
    struct stat status;
    if (name[0] == '.' || recordings.contains(name) ||
        !codec::StatInput(folder.Below(name), &status) || !S_ISDIR(status.st_mode))
      continue;
    folders.push_back(name);
  }
  return folders;
}

ToolAnswer ListBundles(ToolContext* context, Arguments* arguments) {
  const std::string given = arguments->Text("folder");
  ToolAnswer answer;
  analysis::InputPath path;
  std::string folder;
  if (std::string fault = context->inputs.Find(given, &path, &folder); !fault.empty())
    return ToolFault(std::move(fault));
  struct stat status;
  if (!codec::StatInput(path, &status) || !S_ISDIR(status.st_mode))
    return ToolFault("'" + folder + "' is not a folder. Name it as an input of another tool.");
  McpJson bundles = McpJson::array(), skipped = McpJson::array();
  const std::string prefix = folder == "." ? "" : folder + "/";
  if (IsOneBundle(path.path) || IsLogFolder(path.path)) {
    ServedCapture whole;
    whole.is_folder = true;
    bundles.push_back(BundleJson(folder, whole));
  }
  // The list of the server's own folder remembers what it has looked at.
  CaptureList other(path.path);
  std::set<std::string> recordings;
  for (const ServedCapture& capture : *(folder == "." ? *context->captures : other).Look()) {
    const bool is_whole = capture.path.path == path.path;
    const std::string name = is_whole ? folder : prefix + capture.title;
    recordings.insert(capture.title);
    if (capture.fault.empty()) {
      bundles.push_back(BundleJson(name, capture));
    } else {
      skipped.push_back(
          {{"name", name}, {"reason", capture.fault}, {"fix", "the other recordings can be read"}});
    }
  }
  answer.content["folder"] = folder;
  answer.content["bundles"] = std::move(bundles);
  answer.content["folders"] = OtherFolders(path, recordings);
  answer.content["skipped"] = std::move(skipped);
  return answer;
}

// Leaves the first elements of a list, whose rest a table has.
void KeepFirst(size_t most, const char* name, McpJson* json) {
  const auto list = json->find(name);
  if (list == json->end() || !list->is_array()) return;
  while (list->size() > most) list->erase(list->size() - 1);
}

void Remove(std::initializer_list<const char*> names, McpJson* json) {
  if (!json->is_object()) return;
  for (const char* name : names) json->erase(name);
}

// Returns a finding without what the tool `findings` has.
McpJson FindingHead(const McpJson& finding) {
  McpJson head;
  for (const char* name : {"id", "name", "severity", "gain"})
    head[name] = finding.value(name, McpJson());
  return head;
}

ToolAnswer Overview(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  ToolAnswer answer;
  std::unique_ptr<google::protobuf::Message> result;
  if (std::string fault = RunPass(context, input, "overview", {}, &result); !fault.empty())
    return ToolFault(std::move(fault));
  McpJson all = JsonOf(*result);
  const McpJson meta = all.value("meta", McpJson::object());
  McpJson findings = McpJson::array();
  for (const McpJson& finding : all.value("findings", McpJson::array()))
    findings.push_back(FindingHead(finding));
  // Points of graphs, and what other passes list.
  Remove({"meta", "findings", "step_points", "call_stacks", "device_series", "more_steps"}, &all);
  for (const char* name : {"steps", "input", "memory"}) {
    const auto part = all.find(name);
    if (part != all.end()) Remove({"meta", "steps", "points"}, &*part);
  }
  for (const char* name : {"top_ops", "worker_ops", "top_locks", "processes"})
    KeepFirst(kMostListRows, name, &all);
  const auto functions = all.find("functions");
  if (functions != all.end() && functions->is_object())
    KeepFirst(kMostListRows, "functions", &*functions);
  answer.content = {{"input", input},
                    {"overview", std::move(all)},
                    {"findings", std::move(findings)},
                    {"quality", QualityOf(meta)},
                    {"skipped", SkippedOf(meta)}};
  return answer;
}

// Returns how somebody finds the figures of a finding again.
McpJson CheckOf(const std::string& rule, const std::string& input, const std::string& path) {
  const CheckingPass check = PassThatChecks(rule);
  std::string command = "gpuprof stats " + check.pass + " " + analysis::ShellWord(path);
  McpJson given = {{"input", input}, {"pass", check.pass}};
  if (!check.by.empty()) {
    command += " --by " + check.by;
    given["by"] = check.by;
  }
  return {{"command", std::move(command)}, {"tool", "table"}, {"arguments", std::move(given)}};
}

ToolAnswer Findings(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  const auto pid = arguments->Number("pid", 0, INT32_MAX);
  analysis::PassOptions options;
  options.pid = static_cast<int32_t>(pid.value_or(0));
  ToolAnswer answer;
  std::unique_ptr<google::protobuf::Message> result;
  if (std::string fault = RunPass(context, input, "advise", options, &result); !fault.empty())
    return ToolFault(std::move(fault));
  OpenedInput* opened = nullptr;
  if (std::string fault = context->inputs.Open(input, &opened); !fault.empty())
    return ToolFault(std::move(fault));
  McpJson all = JsonOf(*result);
  const McpJson meta = all.value("meta", McpJson::object());
  McpJson findings = McpJson::array();
  for (McpJson& finding : all["findings"]) {
    const std::string id = finding.value("id", "");
    finding["check"] = CheckOf(id, opened->name, opened->name);
    findings.push_back(std::move(finding));
  }
  answer.content = {{"input", input},
                    {"verdict", all.value("verdict", McpJson())},
                    {"findings", std::move(findings)},
                    {"not_checked", all.value("not_checked", McpJson::array())},
                    {"quality", QualityOf(meta)},
                    {"skipped", SkippedOf(meta)}};
  return answer;
}

McpJson ColumnsOf(const std::string& message) {
  McpJson columns = McpJson::array();
  for (const McpJson& field : FieldsOfMessage(message)) {
    McpJson column = {{"name", field.value("name", "")},
                      {"type", field.value("type", "")},
                      {"unit", field.value("unit", "")},
                      {"is_list", field.value("list", false)}};
    if (field.contains("message")) column["of"] = field["message"];
    if (field.contains("values")) column["values"] = field["values"];
    columns.push_back(std::move(column));
  }
  return columns;
}

ToolAnswer Schema(ToolContext*, Arguments* arguments) {
  const std::string wanted = arguments->Text("pass");
  ToolAnswer answer;
  McpJson passes = McpJson::array();
  for (const std::string& name : PassNames()) {
    if (!wanted.empty() && wanted != name) continue;
    const McpJson* const entry = FindPassEntry(name);
    if (entry == nullptr) continue;
    McpJson pass = {{"name", name},
                    {"summary", entry->value("summary", "")},
                    {"keys", entry->value("keys", McpJson::array())},
                    {"main_list", entry->value("main_table", "")},
                    {"lists", McpJson::array()}};
    for (const McpJson& table : entry->value("tables", McpJson::array())) {
      McpJson list = {{"list", table.value("rows", "")}, {"columns", McpJson::array()}};
      if (!wanted.empty()) list["columns"] = ColumnsOf(table.value("message", ""));
      pass["lists"].push_back(std::move(list));
    }
    passes.push_back(std::move(pass));
  }
  if (passes.empty())
    return ToolFault("There is no pass '" + wanted.substr(0, 60) +
                     "'. Call schema without arguments: it names all.");
  answer.content["passes"] = std::move(passes);
  return answer;
}

McpJson CheckSchema() {
  return schema::Object(
      {{"command", schema::Text("Prints the figures, run in the folder of this server")},
       {"tool", schema::Text("The tool that answers the same")},
       {"arguments", schema::AnyObject()}},
      "How the figures are found again");
}

McpJson FindingSchema() {
  McpJson finding = schema::Object(
      {{"id", schema::Text()},
       {"name", schema::Text()},
       {"severity", schema::Text()},
       {"gain", schema::OrNull(schema::AnyObject("What a step gains. null: it is not about time"))},
       {"evidence", schema::ListOf(schema::Text())},
       {"fix", schema::ListOf(schema::Text())},
       {"caveat", schema::Text()},
       {"check", CheckSchema()}});
  finding.erase("additionalProperties");
  return finding;
}

}  // namespace

Tool ListBundlesTool() {
  return {.name = "list_bundles",
          .title = "List recordings",
          .description =
              "Lists the recordings below the folder of this server: bundles of gpuprof, "
              "and traces of torch.profiler, TensorFlow, JAX, Nsight Systems and "
              "rocprofv3. Begin here.",
          .arguments = {{"folder", schema::Text("A folder below that of this server; default: its "
                                                "own")}},
          .needed = {},
          .results = {{"folder", schema::Text("The folder; .: that of this server")},
                      {"bundles",
                       schema::ListOf(schema::Object(
                           {{"input", schema::Text("Its name for the other tools")},
                            {"format", schema::Text()},
                            {"is_folder", schema::Flag("It is a folder")},
                            {"size_bytes", schema::Whole()},
                            {"modified_s", schema::Whole("Seconds since 1970; 0: not known")}}))},
                      {"folders", schema::ListOf(schema::Text(),
                                                 "Other folders in it, for the argument folder")}},
          .main = "bundles",
          .call = ListBundles};
}

Tool OverviewTool() {
  return {.name = "overview",
          .title = "Overview of a recording",
          .description =
              "Tells where the time of a recording went: phases, steps, and what bounds the "
              "program. Also memory, the machine, the operations with most time, and findings by "
              "name. Lists have ten rows; table has all.",
          .arguments = {{"input", schema::Text(kInputHelp)}},
          .needed = {"input"},
          .results = {{"input", schema::Text()},
                      {"overview", schema::AnyObject("The result of the pass overview")},
                      {"findings", schema::ListOf(schema::AnyObject())},
                      {"quality", QualitySchema()}},
          .main = "",
          .call = Overview};
}

Tool FindingsTool() {
  return {.name = "findings",
          .title = "Findings of a recording",
          .description =
              "Tells what slows the program and what to try, the greatest gain first. "
              "Each finding has its evidence, a fix, and a check that finds its figures "
              "again. not_checked lists rules that could not look, and why.",
          .arguments = {{"input", schema::Text(kInputHelp)},
                        {"pid", schema::WholeFrom(0, INT32_MAX, "Only this process; 0: all")}},
          .needed = {"input"},
          .results = {{"input", schema::Text()},
                      {"verdict", schema::OrNull(schema::AnyObject("What bounds the program"))},
                      {"findings", schema::ListOf(FindingSchema())},
                      {"not_checked", schema::ListOf(schema::AnyObject())},
                      {"quality", QualitySchema()}},
          .main = "findings",
          .call = Findings};
}

Tool SchemaTool() {
  return {
      .name = "schema",
      .title = "Passes, lists and columns",
      .description =
          "Names the passes that table runs. With a pass, it describes the columns "
          "of the lists of its result, with types and units.",
      .arguments = {{"pass", schema::Text("Only this pass, with its columns")}},
      .needed = {},
      .results = {{"passes",
                   schema::ListOf(schema::Object(
                       {{"name", schema::Text()},
                        {"summary", schema::Text()},
                        {"keys", schema::ListOf(schema::Text(), "Values of 'by'")},
                        {"main_list", schema::Text("What table shows by default")},
                        {"lists", schema::ListOf(schema::Object(
                                      {{"list", schema::Text()},
                                       {"columns", schema::ListOf(schema::AnyObject())}}))}}))}},
      .main = "passes",
      .call = Schema};
}

}  // namespace gpuprof::launcher
