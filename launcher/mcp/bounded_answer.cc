// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bounded_answer.h.

#include "launcher/mcp/bounded_answer.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/analysis.h"
#include "proto/secret_words.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostTextBytes = 1'000;

std::string MaskedWord(const std::string& word, proto::SecretMask* mask) {
  std::string masked;
  mask->Next(word.data(), word.size(),
             [&masked](const char* text, size_t bytes) { masked.append(text, bytes); });
  return masked;
}

// Returns the value of a variable, which its name may give away as a secret.
std::string MaskedValue(const std::string& name, const std::string& value) {
  proto::SecretMask mask;
  const std::string pair = MaskedWord(name + "=" + value, &mask);
  return pair.size() > name.size() ? pair.substr(name.size() + 1) : "";
}

bool IsEnvironment(const std::string& name) {
  return name == "environment" || name == "env" || name == "variables";
}

void ShortenPath(const std::string& root, std::string* text) {
  if (root == "/" || !text->starts_with(root)) return;
  if (text->size() == root.size()) {
    *text = ".";
  } else if ((*text)[root.size()] == '/') {
    text->erase(0, root.size() + 1);
  }
}

void MaskIn(const std::string& root, const std::string& name, McpJson* json) {
  if (auto* text = json->get_ptr<McpJson::string_t*>()) {
    proto::SecretMask mask;
    *text = MaskedWord(*text, &mask);
    ShortenPath(root, text);
  } else if (json->is_array()) {
    // Words that follow each other are a command line: the word behind --token is a secret.
    proto::SecretMask mask;
    for (McpJson& each : *json) {
      auto* word = each.get_ptr<McpJson::string_t*>();
      if (word == nullptr) {
        MaskIn(root, name, &each);
        continue;
      }
      *word = MaskedWord(*word, &mask);
      ShortenPath(root, word);
    }
  } else if (json->is_object()) {
    // A variable is a member, or an object with its name and its value.
    const auto variable = json->find("name"), value = json->find("value");
    if (IsEnvironment(name) && variable != json->end() && value != json->end() &&
        variable->is_string() && value->is_string())
      *value = MaskedValue(variable->get<std::string>(), value->get<std::string>());
    for (auto& [member, inner] : json->items()) {
      if (IsEnvironment(name) && inner.is_string())
        inner = MaskedValue(member, inner.get<std::string>());
      MaskIn(root, inner.is_structured() && IsEnvironment(name) ? name : member, &inner);
    }
  }
}

// Shortens texts at a letter's begin. Returns how many.
size_t ShortenTexts(McpJson* json) {
  if (auto* text = json->get_ptr<McpJson::string_t*>()) {
    if (text->size() <= kMostTextBytes) return 0;
    size_t end = kMostTextBytes;
    while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xc0) == 0x80) --end;
    text->resize(end);
    text->append("...");
    return 1;
  }
  size_t count = 0;
  if (json->is_structured())
    for (McpJson& each : *json) count += ShortenTexts(&each);
  return count;
}

struct FoundList {
  std::string path;
  McpJson* list;
  size_t bytes;
};

// Finds the lists that stand in no other list.
void FindLists(const std::string& path, McpJson* json, std::vector<FoundList>* found) {
  if (json->is_array()) {
    found->push_back({path, json, LineOf(*json).size()});
  } else if (json->is_object()) {
    for (auto& [name, inner] : json->items())
      if (name != "truncated") FindLists(path.empty() ? name : path + "." + name, &inner, found);
  }
}

// Removes elements from the end, about `bytes` of them, and leaves `least`.
void CutEnd(size_t bytes, size_t least, McpJson* list) {
  size_t removed = 0;
  while (list->size() > least && removed < bytes) {
    removed += LineOf(list->back()).size() + 1;
    list->erase(list->size() - 1);
  }
}

// Cuts the largest list by about `bytes`. Returns false if no list can be cut.
bool CutLargest(size_t bytes, McpJson* content) {
  std::vector<FoundList> lists;
  FindLists("", content, &lists);
  const auto largest =
      std::max_element(lists.begin(), lists.end(),
                       [](const FoundList& x, const FoundList& y) { return x.bytes < y.bytes; });
  if (largest == lists.end() || largest->list->empty()) return false;
  McpJson* const list = largest->list;
  if (list->size() > 1) {
    CutEnd(bytes, 1, list);
    return true;
  }
  // One element is too large: its own lists are cut, and at last the element goes.
  if (!CutLargest(bytes, &list->front())) list->clear();
  return true;
}

}  // namespace

std::string LineOf(const McpJson& json) {
  return analysis::PlainJson(json.dump(-1, ' ', false, McpJson::error_handler_t::replace));
}

size_t BytesTwice(const McpJson& content) {
  const std::string line = LineOf(content);
  return line.size() + LineOf(McpJson(line)).size();
}

void MaskAnswer(const std::string& root, McpJson* content) { MaskIn(root, "", content); }

bool FitAnswer(const std::string& main, size_t most, McpJson* content) {
  McpJson& truncated = (*content)["truncated"];
  std::vector<FoundList> before;
  FindLists("", content, &before);
  std::map<std::string, size_t> sizes;
  for (const FoundList& each : before) sizes[each.path] = each.list->size();
  const size_t shortened = ShortenTexts(content);
  // What is said of cut lists takes room, too.
  constexpr size_t kRoom = 2'000;
  for (size_t bytes = BytesTwice(*content); bytes + kRoom > most; bytes = BytesTwice(*content)) {
    if (!CutLargest((bytes + kRoom - most) / 2 + 1, content)) return false;
  }
  std::vector<FoundList> after;
  FindLists("", content, &after);
  uint64_t shown = 0, total = 0;
  McpJson lists = McpJson::array();
  for (const FoundList& each : after) {
    const size_t had = sizes[each.path], has = each.list->size();
    if (main.empty() || each.path == main) {
      shown += has;
      total += had;
    }
    if (has < had) lists.push_back({{"list", each.path}, {"shown", has}, {"total", had}});
  }
  if (truncated.is_object() && truncated.contains("total"))
    total = std::max(total, truncated["total"].get<uint64_t>());
  truncated = {{"shown", shown}, {"total", total}};
  if (!lists.empty()) truncated["lists"] = std::move(lists);
  if (shortened != 0) truncated["shortened_texts"] = shortened;
  return true;
}

}  // namespace gpuprof::launcher
