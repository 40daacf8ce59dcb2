// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The documents of a YAML or JSON file with the place of each value in the text, so that the text
// can be changed in a few places and stays as it is in all others. libyaml finds the places.
// Aliases and merge keys stay what they are: nothing is expanded. One thread; no exceptions.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct YamlPair;

struct YamlNode {
  enum class Kind { kScalar, kMapping, kSequence, kAlias };
  Kind kind = Kind::kScalar;
  std::string text;       // of a scalar; of an alias, its name
  std::string anchor;     // other places may mean this value too
  bool is_flow = false;   // written in braces or brackets, as in JSON
  bool is_plain = false;  // a scalar without quotes
  size_t begin = 0;       // offset of the first byte: of a mapping in lines, of its first key
  size_t end = 0;         // offset behind the last byte of a scalar or of what stands in brackets
  size_t column = 0;      // of `begin`
  size_t line = 0;        // of `begin`, from 1 on
  std::vector<YamlPair> pairs;  // of a mapping
  std::vector<YamlNode> items;  // of a sequence

  bool is_mapping() const { return kind == Kind::kMapping; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  // Returns whether nothing was written, or null.
  bool is_null() const;
  // Returns the value of a key; null: the key is missing, or this is no mapping.
  const YamlNode* Find(const std::string& key) const;
  // Returns the text of the value of a key; empty: the key is missing, or no scalar.
  std::string Text(const std::string& key) const;
};

struct YamlPair {
  YamlNode key, value;
};

// Reads all documents. Returns "", or what is wrong and in which line.
std::string ReadYaml(const std::string& text, std::vector<YamlNode>* documents);

}  // namespace gpuprof::launcher
