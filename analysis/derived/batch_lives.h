// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The life of each batch: which worker made it, when it was begun and when it was ready. A worker
// hands a batch to a thread that waits for it; the end of that wait is when the batch is ready. The
// loader deals batches out to its workers in turn, so the n-th batch of a worker is known. Pure,
// any thread.

#pragma once

#include <vector>

#include "analysis/derived/input_pipeline.h"

namespace gpuprof::analysis {

// Returns the lives that are known, in the order of batches. Nothing is known of a worker whose
// waits do not fit its batches: waits were lost, or batches were not taken in order.
std::vector<BatchLife> LivesOf(const LoaderRecord& record);

}  // namespace gpuprof::analysis
