// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A parallel for over an index range, for the reader and for passes. Blocks until every index was
// done; threads live for the one call. Where a thread cannot be started the others (at least the
// caller) do its share.

#pragma once

#include <cstddef>
#include <functional>

namespace gpuprof::analysis {

// Threads to use for a wish: 0 means as many as this process may run on.
int ThreadCount(int wanted);

// Calls work(index, worker) once for every index in [0, count), with worker in [0, threads): a
// worker never runs two indices at once, so that state kept by worker needs no lock. Indices are
// handed out in ascending order. The first exception (no memory) ends the loop and is thrown again
// in the caller.
void ParallelFor(size_t count, int threads,
                 const std::function<void(size_t index, int worker)>& work);

}  // namespace gpuprof::analysis
