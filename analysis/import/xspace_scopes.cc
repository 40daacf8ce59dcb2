// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_scopes.h.

#include "analysis/import/xspace_scopes.h"

namespace gpuprof::analysis::import {

void XSpaceScopes::Add(int64_t scope, int64_t parent, std::string_view name) {
  if (scopes_.size() == kMostScopes) return;
  Scope& added = scopes_[scope];
  added.parent = parent;
  added.name = name;
}

uint64_t XSpaceScopes::CutCircles() {
  uint64_t circles = 0;
  uint32_t walk = 0;
  for (auto& [id, first] : scopes_) {
    ++walk;
    Scope* at = &first;
    while (at->walk == 0) {
      at->walk = walk;
      const auto parent = at->has_parent ? scopes_.find(at->parent) : scopes_.end();
      if (parent == scopes_.end()) break;
      if (parent->second.walk == walk) {
        at->has_parent = false;
        ++circles;
        break;
      }
      at = &parent->second;
    }
  }
  return circles;
}

std::string XSpaceScopes::PathOf(int64_t scope) const {
  constexpr int kMostDepth = 64;
  std::string path;
  for (int depth = 0; depth < kMostDepth; ++depth) {
    const auto at = scopes_.find(scope);
    if (at == scopes_.end()) break;
    if (!at->second.name.empty())
      path = path.empty() ? at->second.name : at->second.name + "/" + path;
    if (!at->second.has_parent) break;
    scope = at->second.parent;
  }
  return path;
}

}  // namespace gpuprof::analysis::import
