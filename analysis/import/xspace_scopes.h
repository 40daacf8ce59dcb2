// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The scopes of an XSpace: each may lie in another. Files of strangers may have circles.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::analysis::import {

class XSpaceScopes {
 public:
  // No file has more: further ones are not kept.
  static constexpr size_t kMostScopes = 1 << 18;

  // Adds a scope and the one in which it lies. Its name may be empty.
  void Add(int64_t scope, int64_t parent, std::string_view name);
  // Cuts circles, once, when all scopes are there. Returns how many there were.
  uint64_t CutCircles();
  // Returns "outer/inner" for a scope; empty: no scope has a name.
  std::string PathOf(int64_t scope) const;

 private:
  struct Scope {
    int64_t parent = 0;
    bool has_parent = true;
    uint32_t walk = 0;  // in which it was met
    std::string name;
  };

  std::unordered_map<int64_t, Scope> scopes_;
};

}  // namespace gpuprof::analysis::import
