// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the XSpace files that TensorFlow's and JAX's profilers write: one file, or those of a run,
// one for each host. Called by Open(); starts threads for the duration of the call.

#pragma once

#include <string>

#include "analysis/analysis.h"
#include "analysis/import/xspace_input.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis::import {

// Fills `trace`. What could not be read is in Trace::import_notes; a file that was cut is a fault,
// too. An Error only if nothing could be read. `path`: what the user named.
Error ImportXSpace(const std::string& path, const XSpaceRun& run, const OpenOptions& options,
                   Trace* trace);

}  // namespace gpuprof::analysis::import
