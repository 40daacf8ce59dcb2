// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the XSpace files that TensorFlow's and JAX's profilers write: one file, or those of a run,
// one for each host. Called by Open(); starts threads for the duration of the call.

#pragma once

#include <string>

#include "analysis/analysis.h"
#include "analysis/import/xspace_input.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis::import {

// Fills the model. What could not be read is in Trace::import_notes; a file that was cut is a
// fault, too. An Error only if nothing could be read.
Error ImportXSpace(const XSpaceRun& run, const OpenOptions& options, ModelBuilder* model);

}  // namespace gpuprof::analysis::import
