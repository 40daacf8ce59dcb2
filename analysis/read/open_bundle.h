// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the files of a bundle on one time axis. Starts threads for the duration of the call.

#pragma once

#include "analysis/analysis.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis {

// Reads a bundle directory or one .gpt file into a model. The errors are those of Open.
Error OpenBundle(const InputPath& path, const OpenOptions& options, ModelBuilder* model);

}  // namespace gpuprof::analysis
