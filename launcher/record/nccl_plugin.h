// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which profiler plugin the NCCL of a program would load. NCCL calls one only, so a plugin that
// somebody chose stays. Any thread.

#pragma once

#include <string>

namespace gpuprof::launcher {

// What NCCL looks for in the process itself: the exports of the injected object.
inline constexpr char kNcclPluginVariable[] = "NCCL_PROFILER_PLUGIN";
inline constexpr char kNcclStaticPlugin[] = "STATIC_PLUGIN";

// Returns what names a plugin: the variable, a file of NCCL's settings, or the path of the library
// that NCCL loads without a name. Empty: none does.
std::string ChosenNcclPlugin();

}  // namespace gpuprof::launcher
