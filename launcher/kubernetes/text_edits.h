// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Changes of a YAML or JSON text that leave all other bytes alone: keys, items and single values.
// What is added is written as the place around it is: in lines, or in braces. One thread.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launcher/kubernetes/yaml_tree.h"

namespace gpuprof::launcher {

class TextEdits {
 public:
  explicit TextEdits(const std::string& text);

  // Adds keys in front of those that a mapping has. A null becomes a mapping.
  void AddKeys(const YamlNode& mapping, const nlohmann::ordered_json& keys);
  // Adds items in front of those that a sequence has. A null becomes a sequence.
  void AddItems(const YamlNode& sequence, const nlohmann::ordered_json& items);
  // Gives a scalar another text.
  void Replace(const YamlNode& scalar, const std::string& text);
  // Returns the changed text.
  std::string Apply() const;

 private:
  struct Edit {
    size_t at;
    size_t removed;
    std::string added;
  };
  void AddToFlow(const YamlNode& node, bool is_empty, const nlohmann::ordered_json& value);
  void AddLines(const YamlNode& node, const nlohmann::ordered_json& value);

  const std::string& text_;
  std::string line_end_;
  std::vector<Edit> edits_;
};

}  // namespace gpuprof::launcher
