// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Files that the build puts into the command. Pure; any thread may call.

#pragma once

#include <string_view>

namespace gpuprof::launcher {

// Returns the page that `gpuprof report` puts recordings into; empty if the build had no Node.js.
std::string_view ReportPage();

// Returns the analysis library as WebAssembly, by zstd: a report computes more with it than it
// carries. Empty: this gpuprof was built without Zig.
std::string_view PageEngine();

inline constexpr char kNoReportPage[] =
    "this gpuprof was built without its page, so it shows no report; install Node.js 20 or newer "
    "with npm and build gpuprof again. 'gpuprof stats' prints the same figures";

// Returns NOTICE: whose work the command contains, with the licences (deploy/packages/notices.py).
std::string_view Notice();

}  // namespace gpuprof::launcher
