// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See arguments.h.

#include "launcher/mcp/arguments.h"

#include <algorithm>
#include <cmath>

#include "launcher/base/nearest.h"

namespace gpuprof::launcher {
namespace {

// Reads a whole number, also one that a client has written with a point.
std::optional<int64_t> WholeNumber(const McpJson& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!(std::abs(number) < 9e18) || std::floor(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

Arguments::Arguments(const McpJson& given) : given_(given) {
  if (!given.is_null() && !given.is_object())
    Fail("The arguments are not an object. Give an object with a member for each argument.");
}

const McpJson* Arguments::Find(const char* name) {
  if (!given_.is_object()) return nullptr;
  const auto found = given_.find(name);
  return found == given_.end() || found->is_null() ? nullptr : &*found;
}

std::string Arguments::Text(const char* name) {
  const McpJson* const value = Find(name);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  Fail("'" + std::string(name) + "' is not a text. Give a string.");
  return "";
}

std::string Arguments::NeededText(const char* name) {
  std::string text = Text(name);
  if (text.empty()) Fail("'" + std::string(name) + "' is missing. Give a string.");
  return text;
}

std::optional<int64_t> Arguments::Number(const char* name, int64_t least, int64_t most) {
  const McpJson* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> number = WholeNumber(*value);
  if (number && *number >= least && *number <= most) return number;
  Fail("'" + std::string(name) + "' is not a whole number from " + std::to_string(least) + " to " +
       std::to_string(most) + ".");
  return std::nullopt;
}

std::optional<std::pair<int64_t, int64_t>> Arguments::Range(const char* name) {
  const McpJson* const value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_array() && value->size() == 2) {
    const std::optional<int64_t> from = WholeNumber((*value)[0]), to = WholeNumber((*value)[1]);
    if (from && to && *from <= *to) return std::pair(*from, *to);
  }
  Fail("'" + std::string(name) +
       "' is not a range. Give two whole numbers, the smaller one first.");
  return std::nullopt;
}

bool Arguments::Flag(const char* name) {
  const McpJson* const value = Find(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  Fail("'" + std::string(name) + "' is neither true nor false.");
  return false;
}

std::vector<std::string> Arguments::Texts(const char* name, size_t most) {
  std::vector<std::string> texts;
  const McpJson* const list = List(name, most);
  if (list == nullptr) return texts;
  for (const McpJson& each : *list) {
    if (!each.is_string()) {
      Fail("'" + std::string(name) + "' has something else than texts. Give strings.");
      return {};
    }
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

const McpJson* Arguments::List(const char* name, size_t most) {
  const McpJson* const value = Find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    Fail("'" + std::string(name) + "' is not a list. Give an array.");
    return nullptr;
  }
  if (value->size() > most) {
    Fail("'" + std::string(name) + "' has " + std::to_string(value->size()) +
         " elements. Give at most " + std::to_string(most) + ".");
    return nullptr;
  }
  return value;
}

void Arguments::Fail(const std::string& what) {
  if (fault_.empty()) fault_ = what;
}

std::string Arguments::Fault(const std::vector<std::string>& known) {
  if (given_.is_object()) {
    for (const auto& [name, value] : given_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string shown = name.substr(0, 60);
      Fail("The tool has no argument '" + shown + "'." + DidYouMean(shown, known));
      break;
    }
  }
  return fault_;
}

}  // namespace gpuprof::launcher
