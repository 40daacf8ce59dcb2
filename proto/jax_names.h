// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names that recorder and analysis share for what JAX's profiler recorded.

#pragma once

namespace gpuprof::proto {

// The domain of ranges that the recorder itself writes.
inline constexpr char kRecorderDomain[] = "gpuprof";
// JAX's marks of this time are missing: between two windows, or while the program's own session of
// the profiler ran.
inline constexpr char kJaxGap[] = "JAX was not recorded";

}  // namespace gpuprof::proto
