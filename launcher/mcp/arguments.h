// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The arguments of one call of a tool, read member by member. The first fault is kept, in a
// sentence that names the argument and what to give. Any thread.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::launcher {

using McpJson = nlohmann::ordered_json;

class Arguments {
 public:
  // `given` outlives this object. It is null, or should be an object.
  explicit Arguments(const McpJson& given);

  // Returns a text, or "" if it is not there.
  std::string Text(const char* name);
  // Returns a text that must be there.
  std::string NeededText(const char* name);
  // Returns a whole number from `least` to `most`.
  std::optional<int64_t> Number(const char* name, int64_t least, int64_t most);
  // Returns two whole numbers, the second not below the first.
  std::optional<std::pair<int64_t, int64_t>> Range(const char* name);
  bool Flag(const char* name);
  // Returns the texts of a list of at most `most`.
  std::vector<std::string> Texts(const char* name, size_t most);
  // Returns a list as it is, or null if it is not there.
  const McpJson* List(const char* name, size_t most);

  // Keeps a fault that somebody else has found.
  void Fail(const std::string& what);
  // Returns the first fault, also of an argument that nobody has asked for; "": there is none.
  // `known` are the names of all arguments.
  std::string Fault(const std::vector<std::string>& known);

 private:
  const McpJson* Find(const char* name);

  const McpJson& given_;
  std::string fault_;
};

}  // namespace gpuprof::launcher
