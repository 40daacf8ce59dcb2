// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See graphs.h.

#include "analysis/model/graphs.h"

namespace gpuprof::analysis {
namespace {

constexpr int kMostClones = 64;  // a longer chain is a damaged table

}  // namespace

uint64_t Graphs::RootOf(uint64_t node) const {
  for (int i = 0; i < kMostClones; ++i) {
    const auto found = nodes.find(node);
    if (found == nodes.end() || found->second.source == 0) break;
    node = found->second.source;
  }
  return node;
}

uint32_t Graphs::SourceOf(uint32_t graph) const {
  uint32_t source = 0;
  for (int i = 0; i < kMostClones; ++i) {
    const auto found = made.find(graph);
    if (found == made.end() || found->second.source == 0) break;
    source = graph = found->second.source;
  }
  return source;
}

}  // namespace gpuprof::analysis
