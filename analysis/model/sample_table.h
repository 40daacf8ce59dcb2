// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of what programs say of their operations, and of samples of their threads. See trace.h.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/base/column.h"

namespace gpuprof::analysis {

// What operations of TensorFlow and JAX say of themselves: a value a row. On the track of their
// operation, at its end.
struct OpValueTable {
  Column<int64_t> time_ns;
  Column<uint32_t> name;  // string id
  Column<int64_t> value;  // of a whole number
  Column<uint32_t> text;  // string id of any other value; 0: it is a whole number
  size_t rows() const { return time_ns.size(); }
};

// What threads did, now and then. All rows are on the track of the sampler's own thread.
struct SampleTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;  // the time that the sample stands for
  Column<int32_t> thread;       // the sampled thread
  Column<uint32_t> state;       // proto::SampleState
  Column<uint32_t> stack;       // with frames of Python (proto/named_frame.h); 0: none
  Column<int32_t> holder;       // thread that has what `thread` waits for; 0: not known
  size_t rows() const { return end_ns.size(); }
};

}  // namespace gpuprof::analysis
