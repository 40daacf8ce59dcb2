// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes a MemorySnapshot of a pickle of torch.cuda.memory._dump_snapshot(). Each entry is taken as
// soon as it is complete, so that little more than the columns is in memory. One thread.

#pragma once

#include <functional>
#include <string>

#include "analysis/import/byte_source.h"
#include "analysis/model/memory_snapshot.h"

namespace gpuprof::analysis::import {

// Reads a snapshot. `name` is for errors.
// `check` is asked now and then whether the memory, which is given, is too much; may be null.
Error ReadSnapshot(ByteSource* source, const std::string& name,
                   const std::function<Error(uint64_t held_bytes)>& check, MemorySnapshot* out);

}  // namespace gpuprof::analysis::import
