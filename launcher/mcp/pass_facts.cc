// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pass_facts.h.

#include "launcher/mcp/pass_facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "launcher/base/nearest.h"
#include "launcher/mcp/json_schema.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

const McpJson& ResultsSchemaJson() {
  static const McpJson results = [] {
    McpJson all = McpJson::parse(analysis::SchemaJson(), nullptr, /*allow_exceptions=*/false);
    return all.is_object() ? all.value("results", McpJson::object()) : McpJson::object();
  }();
  return results;
}

// Rules by the longest begin of their ids.
struct CheckRow {
  const char* rules;
  const char* pass;
  const char* by = "";
};
constexpr CheckRow kChecks[] = {
    {"CO", "communication"},
    {"CO-001", "overlap"},
    {"CO-008", "steps"},
    {"CP", "memcpy"},
    {"CP-003", "overlap"},
    {"CP-007", "unified_memory"},
    {"EN", "overview"},
    {"EN-002", "health"},
    {"GP", "kernels"},
    {"GP-001", "idle"},
    {"GP-002", "idle"},
    {"GP-006", "roofline"},
    {"GP-008", "ops", "shape"},
    {"GP-013", "counters"},
    {"GP-015", "kernels", "family"},
    {"GP-016", "streams"},
    {"GP-017", "roofline"},
    {"HO", "steps"},
    {"IN", "input_pipeline"},
    {"IN-003", "files"},
    {"IN-007", "tf_data"},
    {"IN-008", "files"},
    {"LA", "api"},
    {"LA-001", "idle"},
    {"LA-002", "kernels"},
    {"LA-003", "kernels"},
    {"LA-006", "graphs"},
    {"LA-007", "overhead"},
    {"LA-008", "kernels", "family"},
    {"ME", "device_memory"},
    {"ME-003", "memory_profile"},
    {"ME-006", "heap"},
    {"OP", "ops"},
    {"OV", "steps"},
    {"PY", "python"},
    {"RU", "overview"},
    {"ST", "steps"},
    {"ST-003", "python"},
    {"ST-004", "ops"},
    {"ST-010", "serving"},
    {"SY", "sync"},
    {"SY-002", "device_memory"},
    {"SY-003", "streams"},
    {"SY-004", "locks"},
    {"SY-005", "locks"},
    {"SY-006", "locks"},
    {"SY-007", "locks"},
    {"TH", "threads"},
};

std::string TextOf(const McpJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

const McpJson* FindPassEntry(const std::string& pass) {
  const McpJson& results = ResultsSchemaJson();
  const auto passes = results.find("passes");
  if (passes == results.end()) return nullptr;
  for (const McpJson& entry : *passes)
    if (TextOf(entry, "name") == pass) return &entry;
  return nullptr;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const analysis::PassInfo& pass : analysis::Passes()) names.emplace_back(pass.name);
  return names;
}

const McpJson& FieldsOfMessage(const std::string& message) {
  static const McpJson none = McpJson::array();
  const McpJson& results = ResultsSchemaJson();
  const auto messages = results.find("messages");
  if (messages == results.end()) return none;
  const auto found = messages->find(message);
  return found == messages->end() ? none : *found;
}

CheckingPass PassThatChecks(const std::string& rule) {
  const CheckRow* best = nullptr;
  for (const CheckRow& row : kChecks) {
    const std::string_view rules = row.rules;
    if (!rule.starts_with(rules)) continue;
    if (best == nullptr || rules.size() > std::string_view(best->rules).size()) best = &row;
  }
  if (best == nullptr) return {"overview", ""};
  return {best->pass, best->by};
}

McpJson SelectionArguments() {
  McpJson members;
  members["by"] = schema::Text("The key that joins rows, if the pass has keys (see schema)");
  members["pid"] = schema::WholeFrom(0, INT32_MAX, "Only this process; 0: all");
  members["window_ns"] =
      schema::RangeOf("Only what began in this time of the recording: first and last nanosecond");
  members["steps"] = schema::RangeOf("Only what began in these steps: the first and the last");
  members["device"] = schema::WholeFrom(0, UINT32_MAX, "Only work of this device");
  return members;
}

void ReadSelectionArguments(Arguments* arguments, analysis::PassOptions* options) {
  options->by = arguments->Text("by");
  options->pid = static_cast<int32_t>(arguments->Number("pid", 0, INT32_MAX).value_or(0));
  options->window = arguments->Range("window_ns");
  if (options->window && options->window->first == options->window->second)
    arguments->Fail("'window_ns' is empty. Give a last nanosecond behind the first one.");
  if (const auto steps = arguments->Range("steps")) {
    if (steps->first < 0) arguments->Fail("'steps' has a number below 0.");
    options->steps = {static_cast<uint64_t>(steps->first), static_cast<uint64_t>(steps->second)};
  }
  if (const auto device = arguments->Number("device", 0, UINT32_MAX))
    options->devices = {static_cast<uint32_t>(*device)};
}

std::string RunPass(ToolContext* context, const std::string& input, const std::string& pass,
                    const analysis::PassOptions& options,
                    std::unique_ptr<google::protobuf::Message>* result) {
  const McpJson* const entry = FindPassEntry(pass);
  if (entry == nullptr) {
    const std::string shown = pass.substr(0, 60);
    return "There is no pass '" + shown + "'." + DidYouMean(shown, PassNames()) +
           " The tool schema names all.";
  }
  const McpJson keys = entry->value("keys", McpJson::array());
  if (!options.by.empty() &&
      std::find(keys.begin(), keys.end(), McpJson(options.by)) == keys.end()) {
    std::string known;
    for (const McpJson& key : keys) known += (known.empty() ? "" : ", ") + key.get<std::string>();
    return "The pass " + pass + " cannot join rows by '" + options.by.substr(0, 60) + "'. " +
           (known.empty() ? "It has no keys: leave 'by' out." : "Its keys are " + known + ".");
  }
  OpenedInput* opened = nullptr;
  if (std::string fault = context->inputs.Open(input, &opened); !fault.empty()) return fault;
  const analysis::Error error = analysis::RunForPage(opened->results.get(), pass, options, result);
  return error ? error.message : "";
}

McpJson JsonOf(const google::protobuf::Message& message) {
  const std::string text = analysis::Render(message, analysis::Format::kJson, {}, 0);
  McpJson json = McpJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? McpJson() : json;
}

McpJson SkippedOf(const McpJson& meta) {
  McpJson skipped = McpJson::array();
  for (const McpJson& each : meta.value("skipped", McpJson::array())) {
    skipped.push_back({{"name", TextOf(each, "name")},
                       {"reason", TextOf(each, "reason")},
                       {"fix", TextOf(each, "fix")}});
  }
  for (const McpJson& input : meta.value("inputs", McpJson::array())) {
    const std::string fault = TextOf(input, "fault");
    if (!fault.empty())
      skipped.push_back({{"name", TextOf(input, "name")},
                         {"reason", fault},
                         {"fix", "gpuprof verify lists all faults; what could be read is here"}});
  }
  return skipped;
}

McpJson QualityOf(const McpJson& meta) {
  const McpJson confidence = meta.value("confidence", McpJson::object());
  return {{"confidence", TextOf(confidence, "level")},
          {"reason", TextOf(confidence, "reason")},
          {"losses", meta.value("losses", McpJson::array())},
          {"notes", meta.value("notes", McpJson::array())}};
}

McpJson QualitySchema() {
  return schema::Object({{"confidence", schema::Text()},
                         {"reason", schema::Text()},
                         {"losses", schema::ListOf(schema::AnyObject())},
                         {"notes", schema::ListOf(schema::Text())}},
                        "How reliable the figures are, and what was lost");
}

}  // namespace gpuprof::launcher
