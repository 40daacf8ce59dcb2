// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The operation that only the detail of a kernel names: one of XLA on a device without a host that
// launches, or one of TensorFlow. Or it is the name that a program of PyTorch gave to nodes of a
// CUDA graph. Pure; any thread.

#pragma once

#include <string>

#include "analysis/derived/row_details.h"

namespace gpuprof::analysis {

// Returns the name of the operation. Empty: the detail names none. `kernel`: its recorded name,
// which is that of the operation on TPUs.
inline std::string OpNameOf(const RowDetail& detail, const std::string& kernel) {
  if (!detail.hlo_op.empty()) return detail.hlo_op;
  if (!detail.annotation.empty()) return detail.annotation;
  if (!detail.hlo_category.empty() && !kernel.empty()) return kernel;
  return detail.tf_op.substr(0, detail.tf_op.find(':'));
}

}  // namespace gpuprof::analysis
