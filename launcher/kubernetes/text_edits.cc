// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See text_edits.h.

#include "launcher/kubernetes/text_edits.h"

#include <algorithm>
#include <string_view>

namespace gpuprof::launcher {
namespace {

using Json = nlohmann::ordered_json;

// Returns a text as YAML. JSON's quotes are YAML's too. Words that can mean nothing else need none.
std::string Scalar(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  constexpr std::string_view kWords[] = {"y",   "n",    "yes",   "no",  "on",
                                         "off", "true", "false", "null"};
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  const bool is_word = std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
  const bool begins_well =
      !text.empty() && (lower[0] == '/' || (lower[0] >= 'a' && lower[0] <= 'z'));
  const bool is_safe =
      begins_well && !is_word && text.find_first_not_of(kSafe) == std::string::npos;
  return is_safe ? text : value.dump();
}

// Returns whether a value is written behind its key, in the same line.
bool IsShort(const Json& value) {
  return !value.is_structured() || value.empty() ||
         (value.is_array() && std::none_of(value.begin(), value.end(),
                                           [](const Json& item) { return item.is_structured(); }));
}

void WriteMapping(const Json& value, std::vector<std::string>* lines);

// Writes `- ` in front of the first line of each item.
void WriteItems(const Json& items, std::vector<std::string>* lines) {
  for (const Json& item : items) {
    std::vector<std::string> inner;
    if (item.is_object() && !item.empty()) {
      WriteMapping(item, &inner);
    } else {
      inner.push_back(IsShort(item) && !item.is_structured() ? Scalar(item) : item.dump());
    }
    for (size_t i = 0; i < inner.size(); ++i) lines->push_back((i == 0 ? "- " : "  ") + inner[i]);
  }
}

void WriteMapping(const Json& value, std::vector<std::string>* lines) {
  for (const auto& [key, inner] : value.items()) {
    const std::string name = Scalar(key);
    if (IsShort(inner)) {
      lines->push_back(name + ": " + (inner.is_structured() ? inner.dump() : Scalar(inner)));
      continue;
    }
    lines->push_back(name + ":");
    std::vector<std::string> below;
    if (inner.is_array()) {
      WriteItems(inner, &below);
    } else {
      WriteMapping(inner, &below);
    }
    for (const std::string& line : below) lines->push_back("  " + line);
  }
}

}  // namespace

TextEdits::TextEdits(const std::string& text)
    : text_(text), line_end_(text.find("\r\n") == std::string::npos ? "\n" : "\r\n") {}

void TextEdits::AddToFlow(const YamlNode& node, bool is_empty, const Json& value) {
  const std::string whole = value.dump();
  edits_.push_back({node.begin + 1, 0, whole.substr(1, whole.size() - 2) + (is_empty ? "" : ", ")});
}

void TextEdits::AddLines(const YamlNode& node, const Json& value) {
  std::vector<std::string> lines;
  if (value.is_array()) {
    WriteItems(value, &lines);
  } else {
    WriteMapping(value, &lines);
  }
  std::string added;
  for (const std::string& line : lines) added += line + line_end_ + std::string(node.column, ' ');
  edits_.push_back({node.begin, 0, added});
}

void TextEdits::AddKeys(const YamlNode& mapping, const Json& keys) {
  if (keys.empty()) return;
  if (!mapping.is_mapping()) {
    edits_.push_back({mapping.begin, mapping.end - mapping.begin, " " + keys.dump()});
  } else if (mapping.is_flow) {
    AddToFlow(mapping, mapping.pairs.empty(), keys);
  } else {
    AddLines(mapping, keys);
  }
}

void TextEdits::AddItems(const YamlNode& sequence, const Json& items) {
  if (items.empty()) return;
  if (!sequence.is_sequence()) {
    edits_.push_back({sequence.begin, sequence.end - sequence.begin, " " + items.dump()});
  } else if (sequence.is_flow) {
    AddToFlow(sequence, sequence.items.empty(), items);
  } else {
    AddLines(sequence, items);
  }
}

void TextEdits::Replace(const YamlNode& scalar, const std::string& text) {
  edits_.push_back({scalar.begin, scalar.end - scalar.begin, Json(text).dump()});
}

std::string TextEdits::Apply() const {
  std::vector<Edit> edits = edits_;
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& x, const Edit& y) { return x.at < y.at; });
  std::string changed;
  size_t at = 0;
  for (const Edit& edit : edits) {
    changed.append(text_, at, edit.at - at);
    changed += edit.added;
    at = edit.at + edit.removed;
  }
  return changed.append(text_, at);
}

}  // namespace gpuprof::launcher
