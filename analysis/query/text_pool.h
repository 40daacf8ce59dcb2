// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The texts of all processes of a trace, each once, under numbers that all tables share. One thread
// fills them; then any thread reads.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

// Turns the ids of one process into other numbers. Ids may be huge, and few.
class IdMap {
 public:
  // Makes a map of pairs: an id, and its number.
  explicit IdMap(const std::vector<std::pair<uint32_t, uint32_t>>& pairs = {});
  // Returns the number of an id, or 0.
  uint32_t Find(uint32_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto at = sparse_.find(id);
    return at == sparse_.end() ? 0 : at->second;
  }

 private:
  std::vector<uint32_t> dense_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

class TextPool {
 public:
  TextPool() { Intern(""); }  // number 0: no text
  // Returns the number of a text, in UTF-8.
  uint32_t Intern(std::string_view text);
  std::string_view At(uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace gpuprof::analysis
