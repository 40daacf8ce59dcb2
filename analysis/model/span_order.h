// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The order of spans that lie in each other, and how deep each lies. Rows of an importer come in
// nearly any order, and there may be millions: the order is found without moving the rows. Pure;
// any thread.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

struct SpanNs {
  int64_t start = 0;
  int64_t end = 0;
};

// Returns the places of the spans, by their start; of spans with one start, the longer first. Equal
// spans keep their order. So a span comes before the spans that lie in it.
std::vector<uint32_t> OutermostFirst(const std::vector<SpanNs>& spans);

struct SpanNesting {
  // By the place of a span: how many of the spans that come before it are open at its start.
  std::vector<uint32_t> depths;
  // The places in the order of ends: the deeper span first if both end at one moment.
  std::vector<uint32_t> by_end;
};

// Finds the nesting of spans.
SpanNesting NestingOf(const std::vector<SpanNs>& spans);

}  // namespace gpuprof::analysis
