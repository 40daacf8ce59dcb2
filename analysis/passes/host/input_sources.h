// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Accounts of the loaders and datasets of a process, made once for all questions. For passes and
// for the facts of advice; one thread.

#pragma once

#include <cstddef>
#include <optional>

#include "analysis/derived/input_pipeline.h"
#include "analysis/derived/tf_data.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the account of a process's DataLoader. Null: it asked none for a batch.
const InputAccount* LoaderAccount(PassContext& context, size_t index);

// Makes the account of a pipeline of tf.data: its waits, and how many calls at a time would
// suffice. The calls are of the iterator that is waited for. The stage is kUnknown or kNone.
InputAccount DatasetAccount(const DataPipeline& pipeline);

}  // namespace gpuprof::analysis
