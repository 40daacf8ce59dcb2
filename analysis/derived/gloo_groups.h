// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which process group each thread of gloo works for. No trace says it. Three things tell:
// - A process makes its groups one after the other, so the numbers of their threads rise.
// - Each group has two threads, and a thread may have had nothing to do.
// - Ranks of a group are in its collectives at the same moments. See shared_moments.h.
// Pure, any thread.

#pragma once

#include <vector>

#include "analysis/derived/collective_entries.h"

namespace gpuprof::analysis {

// Sets the group of each entry, if a rank has several. If nothing fits, the entries stay without.
void FindGlooGroups(const std::vector<RankEntries*>& ranks);

}  // namespace gpuprof::analysis
