// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See yaml_tree.h.

#include "launcher/kubernetes/yaml_tree.h"

#include <yaml.h>

#include <algorithm>

namespace gpuprof::launcher {
namespace {

// No manifest comes near. Each level takes a frame of the stack.
constexpr int kMostLevels = 200;

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {
    // libyaml counts characters.
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
    if (!is_plain) {
      for (size_t i = 0; i < text.size(); ++i) {
        if ((text[i] & 0xc0) != 0x80) offsets_.push_back(i);
      }
      offsets_.push_back(text.size());
    }
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::string Read(std::vector<YamlNode>* documents) {
    for (;;) {
      if (!Next()) return error_;
      if (event_.type == YAML_STREAM_END_EVENT) break;
      if (event_.type != YAML_DOCUMENT_START_EVENT) continue;
      YamlNode node;
      if (!Next() || !Build(0, &node)) return error_;
      documents->push_back(std::move(node));
    }
    Drop();
    return "";
  }

 private:
  void Drop() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }

  bool Next() {
    Drop();
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      const size_t line = std::max(parser_.problem_mark.line, parser_.context_mark.line) + 1;
      error_ = "line " + std::to_string(line) + ": " +
               (parser_.problem == nullptr ? "the text is not YAML" : parser_.problem);
      return false;
    }
    has_event_ = true;
    return true;
  }

  size_t OffsetOf(const yaml_mark_t& mark) const {
    if (offsets_.empty()) return std::min(mark.index, text_.size());
    return offsets_[std::min(mark.index, offsets_.size() - 1)];
  }

  void Place(YamlNode* node) const {
    node->begin = OffsetOf(event_.start_mark);
    node->end = OffsetOf(event_.end_mark);
    node->column = event_.start_mark.column;
    node->line = event_.start_mark.line + 1;
  }

  static std::string Word(const yaml_char_t* text) {
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

  bool Build(int level, YamlNode* node) {
    if (level > kMostLevels) {
      error_ = "line " + std::to_string(event_.start_mark.line + 1) + ": more than " +
               std::to_string(kMostLevels) + " levels";
      return false;
    }
    Place(node);
    switch (event_.type) {
      case YAML_ALIAS_EVENT:
        node->kind = YamlNode::Kind::kAlias;
        node->text = Word(event_.data.alias.anchor);
        return true;
      case YAML_SCALAR_EVENT:
        node->text.assign(reinterpret_cast<const char*>(event_.data.scalar.value),
                          event_.data.scalar.length);
        node->anchor = Word(event_.data.scalar.anchor);
        node->is_plain = event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return true;
      case YAML_MAPPING_START_EVENT:
        node->kind = YamlNode::Kind::kMapping;
        node->anchor = Word(event_.data.mapping_start.anchor);
        node->is_flow = event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        return BuildMapping(level, node);
      case YAML_SEQUENCE_START_EVENT:
        node->kind = YamlNode::Kind::kSequence;
        node->anchor = Word(event_.data.sequence_start.anchor);
        node->is_flow = event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        return BuildSequence(level, node);
      default:
        error_ = "a value is missing";
        return false;
    }
  }

  bool BuildMapping(int level, YamlNode* node) {
    for (;;) {
      if (!Next()) return false;
      if (event_.type == YAML_MAPPING_END_EVENT) break;
      auto& [key, value] = node->pairs.emplace_back();
      if (!Build(level + 1, &key) || !Next() || !Build(level + 1, &value)) return false;
    }
    if (node->is_flow) node->end = OffsetOf(event_.end_mark);
    // An anchor in front is no part of the first line's column.
    if (!node->is_flow && !node->pairs.empty()) {
      node->begin = node->pairs.front().key.begin;
      node->column = node->pairs.front().key.column;
    }
    return true;
  }

  bool BuildSequence(int level, YamlNode* node) {
    for (;;) {
      if (!Next()) return false;
      if (event_.type == YAML_SEQUENCE_END_EVENT) break;
      if (!Build(level + 1, &node->items.emplace_back())) return false;
    }
    if (node->is_flow) node->end = OffsetOf(event_.end_mark);
    return true;
  }

  const std::string& text_;
  std::vector<size_t> offsets_;  // of each character, if some have several bytes
  yaml_parser_t parser_;
  yaml_event_t event_;
  bool has_event_ = false;
  std::string error_;
};

}  // namespace

bool YamlNode::is_null() const {
  return kind == Kind::kScalar && is_plain &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

const YamlNode* YamlNode::Find(const std::string& key) const {
  for (const auto& [name, value] : pairs) {
    if (name.kind == Kind::kScalar && name.text == key) return &value;
  }
  return nullptr;
}

std::string YamlNode::Text(const std::string& key) const {
  const YamlNode* const found = Find(key);
  return found == nullptr || found->kind != Kind::kScalar ? "" : found->text;
}

std::string ReadYaml(const std::string& text, std::vector<YamlNode>* documents) {
  return Reader(text).Read(documents);
}

}  // namespace gpuprof::launcher
