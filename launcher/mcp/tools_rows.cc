// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tools that show rows of results: table and stacks. See tool.h.

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "launcher/base/nearest.h"
#include "launcher/mcp/json_schema.h"
#include "launcher/mcp/pass_facts.h"
#include "launcher/mcp/result_rows.h"
#include "launcher/mcp/tool.h"

namespace gpuprof::launcher {
namespace {

namespace schema = json_schema;

constexpr int64_t kMostTop = 200;
constexpr int64_t kUsualTop = 20;
constexpr size_t kMostConditions = 10;
constexpr size_t kMostColumns = 60;
constexpr const char* kRelations[] = {"=", "!=", "<", "<=", ">", ">=", "contains"};

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Finds a column, or says which there are.
std::string ColumnFault(const google::protobuf::Descriptor* row, const std::string& name,
                        ResultColumn* column) {
  if (FindColumn(row, name, column)) return "";
  const std::vector<std::string> known = ColumnNames(row);
  const std::string shown = name.substr(0, 60);
  return "The rows have no column '" + shown + "'." + DidYouMean(shown, known) +
         " They have: " + Listed(known) + ".";
}

std::string ReadCondition(const google::protobuf::Descriptor* row, const McpJson& given,
                          RowCondition* condition) {
  const auto text = [&given](const char* name) {
    const auto found = given.is_object() ? given.find(name) : given.end();
    return given.is_object() && found != given.end() && found->is_string()
               ? found->get<std::string>()
               : std::string();
  };
  const std::string column = text("column");
  condition->relation = text("relation");
  if (column.empty() || !given.contains("value"))
    return "A condition in 'where' is an object with the members column, relation and value.";
  if (condition->relation.empty()) condition->relation = "=";
  if (std::find(std::begin(kRelations), std::end(kRelations), condition->relation) ==
      std::end(kRelations))
    return "'" + condition->relation.substr(0, 20) +
           "' is not a relation. Choose from =, !=, <, <=, >, >= and contains.";
  condition->value = given["value"];
  if (condition->value.is_structured() || condition->value.is_null())
    return "The value of a condition is a text, a number, true or false.";
  if (condition->relation == "contains" && !condition->value.is_string())
    return "The relation contains needs a text as its value.";
  return ColumnFault(row, column, &condition->column);
}

// Reads what rows are wanted. Returns "", or cause and fix.
std::string ReadQuery(const google::protobuf::Descriptor* row, Arguments* arguments,
                      RowQuery* query) {
  query->top = static_cast<size_t>(arguments->Number("top", 1, kMostTop).value_or(kUsualTop));
  for (const std::string& name : arguments->Texts("columns", kMostColumns)) {
    ResultColumn column;
    if (std::string fault = ColumnFault(row, name, &column); !fault.empty()) return fault;
    query->columns.push_back(std::move(column));
  }
  if (const McpJson* const where = arguments->List("where", kMostConditions)) {
    for (const McpJson& given : *where) {
      RowCondition condition;
      if (std::string fault = ReadCondition(row, given, &condition); !fault.empty()) return fault;
      query->where.push_back(std::move(condition));
    }
  }
  query->is_ascending = arguments->Flag("ascending");
  const std::string order = arguments->Text("order_by");
  if (order.empty()) return "";
  query->order_by.emplace();
  return ColumnFault(row, order, &*query->order_by);
}

std::vector<std::string> ListsOf(const McpJson& entry) {
  std::vector<std::string> lists;
  for (const McpJson& table : entry.value("tables", McpJson::array()))
    lists.push_back(table.value("rows", ""));
  return lists;
}

ToolAnswer Table(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  const std::string pass = arguments->NeededText("pass");
  std::string list = arguments->Text("list");
  analysis::PassOptions options;
  ReadSelectionArguments(arguments, &options);
  options.step_marker = arguments->Text("step_marker");
  if (!analysis::RegularExpressionFault(options.step_marker).empty())
    arguments->Fail("'step_marker' is not a regular expression: " +
                    analysis::RegularExpressionFault(options.step_marker));
  ToolAnswer answer;
  std::unique_ptr<google::protobuf::Message> result;
  if (std::string fault = RunPass(context, input, pass, options, &result); !fault.empty())
    return ToolFault(std::move(fault));
  const McpJson& entry = *FindPassEntry(pass);
  if (list.empty()) list = entry.value("main_table", "");
  const google::protobuf::Descriptor* const row = RowTypeAt(result->GetDescriptor(), list);
  if (row == nullptr) {
    const std::vector<std::string> known = ListsOf(entry);
    return ToolFault("The pass " + pass + " has no list '" + list.substr(0, 60) + "'. " +
                     (known.empty() ? "Leave 'list' out." : "It has: " + Listed(known) + "."));
  }
  RowQuery query;
  if (std::string fault = ReadQuery(row, arguments, &query); !fault.empty())
    return ToolFault(std::move(fault));
  QueriedRows queried = QueryRows(*result, list, query);
  const McpJson meta = JsonOf(result->GetReflection()->GetMessage(
      *result, result->GetDescriptor()->FindFieldByName("meta")));
  answer.content = {{"input", input},
                    {"pass", pass},
                    {"list", list},
                    {"rows", std::move(queried.rows)},
                    {"quality", QualityOf(meta)},
                    {"skipped", SkippedOf(meta)},
                    {"truncated", {{"total", queried.total}}}};
  return answer;
}

ToolAnswer Stacks(ToolContext* context, Arguments* arguments) {
  const std::string input = arguments->NeededText("input");
  const std::string frame = arguments->Text("frame");
  const auto top = static_cast<size_t>(arguments->Number("top", 1, kMostTop).value_or(kUsualTop));
  analysis::PassOptions options;
  ReadSelectionArguments(arguments, &options);
  ToolAnswer answer;
  std::unique_ptr<google::protobuf::Message> result;
  if (std::string fault = RunPass(context, input, "stacks", options, &result); !fault.empty())
    return ToolFault(std::move(fault));
  RowQuery query;
  query.top = SIZE_MAX;
  query.order_by.emplace();
  FindColumn(RowTypeAt(result->GetDescriptor(), "stacks"), "value", &*query.order_by);
  if (frame.empty()) query.top = top;
  QueriedRows queried = QueryRows(*result, "stacks", query);
  if (!frame.empty()) {
    McpJson found = McpJson::array();
    uint64_t total = 0;
    for (McpJson& row : queried.rows) {
      const McpJson& frames = row["frames"];
      const bool has_it = std::any_of(frames.begin(), frames.end(), [&](const McpJson& name) {
        return name.get_ref<const std::string&>().find(frame) != std::string::npos;
      });
      if (!has_it) continue;
      if (++total <= top) found.push_back(std::move(row));
    }
    queried.rows = std::move(found);
    queried.total = total;
  }
  const auto* const reflection = result->GetReflection();
  const auto* const type = result->GetDescriptor();
  const McpJson meta = JsonOf(reflection->GetMessage(*result, type->FindFieldByName("meta")));
  const auto text = [&](const char* name) {
    return reflection->GetString(*result, type->FindFieldByName(name));
  };
  answer.content = {{"input", input},
                    {"by", text("by")},
                    {"unit", text("unit")},
                    {"meaning", text("meaning")},
                    {"total", reflection->GetUInt64(*result, type->FindFieldByName("total"))},
                    {"stacks", std::move(queried.rows)},
                    {"quality", QualityOf(meta)},
                    {"skipped", SkippedOf(meta)},
                    {"truncated", {{"total", queried.total}}}};
  return answer;
}

McpJson ConditionSchema() {
  McpJson condition = schema::Object(
      {{"column", schema::Text("As schema names it; a part of a message as caller.module")},
       {"value", {{"type", {"string", "number", "boolean"}}}}});
  condition["properties"]["relation"] = schema::Choice(
      McpJson(std::vector<std::string>(std::begin(kRelations), std::end(kRelations))),
      "Default: =");
  return condition;
}

}  // namespace

Tool TableTool() {
  McpJson arguments = {{"input", schema::Text("The input, by its name in list_bundles")},
                       {"pass", schema::Text("A pass that schema names, such as kernels or ops")},
                       {"list", schema::Text("A list of the result; default: its main list")}};
  arguments["columns"] = schema::ListOf(schema::Text(), "Only these columns; default: all");
  arguments["where"] = schema::ListOf(ConditionSchema(), "Conditions that all must hold");
  arguments["order_by"] =
      schema::Text("A column; the greatest first. Default: the order of the pass");
  arguments["ascending"] = schema::Flag("With order_by: the smallest first");
  arguments["top"] = schema::WholeFrom(1, kMostTop, "Most rows of the answer; default: 20");
  arguments["step_marker"] =
      schema::Text("A regular expression: operations of these names begin a step");
  arguments.update(SelectionArguments());
  return {.name = "table",
          .title = "Rows of a pass",
          .description =
              "Runs a pass and shows rows of a list of its result: kernels, ops, steps, "
              "memcpy, idle, locks and more. truncated.total counts the rows that "
              "fulfil the conditions.",
          .arguments = std::move(arguments),
          .needed = {"input", "pass"},
          .results = {{"input", schema::Text()},
                      {"pass", schema::Text()},
                      {"list", schema::Text()},
                      {"rows", schema::ListOf(schema::AnyObject())},
                      {"quality", QualitySchema()}},
          .main = "rows",
          .call = Table};
}

Tool StacksTool() {
  McpJson arguments = {{"input", schema::Text("The input, by its name in list_bundles")},
                       {"frame", schema::Text("Only stacks with this text in a frame")},
                       {"top", schema::WholeFrom(1, kMostTop, "Most stacks; default: 20")}};
  arguments.update(SelectionArguments());
  arguments["by"] =
      schema::Text("The weight: cpu, wait, heap_alloc, kernel and others (see schema of stacks)");
  return {.name = "stacks",
          .title = "Call stacks",
          .description =
              "Sums call stacks by a weight: processor time, waiting, memory, kernels. "
              "The heaviest stack comes first. Frames are innermost first.",
          .arguments = std::move(arguments),
          .needed = {"input"},
          .results = {{"input", schema::Text()},
                      {"by", schema::Text()},
                      {"unit", schema::Text()},
                      {"meaning", schema::Text()},
                      {"total", schema::Whole("The weight of all stacks")},
                      {"stacks", schema::ListOf(schema::AnyObject())},
                      {"quality", QualitySchema()}},
          .main = "stacks",
          .call = Stacks};
}

}  // namespace gpuprof::launcher
