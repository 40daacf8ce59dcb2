// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pieces of JSON schemas, with which tools describe what they take and answer. Any thread.

#pragma once

#include <string>

#include "launcher/mcp/arguments.h"

namespace gpuprof::launcher::json_schema {

inline McpJson Text(const std::string& what = "") {
  McpJson schema = {{"type", "string"}};
  if (!what.empty()) schema["description"] = what;
  return schema;
}
inline McpJson Whole(const std::string& what = "") {
  McpJson schema = {{"type", "integer"}};
  if (!what.empty()) schema["description"] = what;
  return schema;
}
inline McpJson WholeFrom(int64_t least, int64_t most, const std::string& what) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}, {"description", what}};
}
inline McpJson Real(const std::string& what = "") {
  McpJson schema = {{"type", "number"}};
  if (!what.empty()) schema["description"] = what;
  return schema;
}
inline McpJson Flag(const std::string& what) {
  return {{"type", "boolean"}, {"description", what}};
}
inline McpJson Choice(const McpJson& words, const std::string& what) {
  return {{"type", "string"}, {"enum", words}, {"description", what}};
}
inline McpJson ListOf(McpJson each, const std::string& what = "") {
  McpJson schema = {{"type", "array"}, {"items", std::move(each)}};
  if (!what.empty()) schema["description"] = what;
  return schema;
}
inline McpJson RangeOf(const std::string& what) {
  return {{"type", "array"},
          {"items", {{"type", "integer"}}},
          {"minItems", 2},
          {"maxItems", 2},
          {"description", what}};
}
// An object whose members the command's own results decide.
inline McpJson AnyObject(const std::string& what = "") {
  McpJson schema = {{"type", "object"}};
  if (!what.empty()) schema["description"] = what;
  return schema;
}
// An object with these members alone. All of them are there.
inline McpJson Object(const McpJson& members, const std::string& what = "") {
  McpJson schema = {{"type", "object"}, {"properties", members}, {"additionalProperties", false}};
  McpJson needed = McpJson::array();
  for (const auto& [name, member] : members.items()) needed.push_back(name);
  schema["required"] = std::move(needed);
  if (!what.empty()) schema["description"] = what;
  return schema;
}
inline McpJson OrNull(McpJson schema) {
  schema["type"] = McpJson::array({schema["type"], "null"});
  return schema;
}

}  // namespace gpuprof::launcher::json_schema
