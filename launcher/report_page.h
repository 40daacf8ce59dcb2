// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The built page of viewer/, which is inside the command. Called by `gpuprof report` and
// `gpuprof serve`.

#pragma once

#include <string_view>

namespace gpuprof::launcher {

// Returns the page as one HTML file. Empty: this gpuprof was built without Node.js.
std::string_view ReportPage();

// Returns the analysis library as WebAssembly, by gzip: a report computes more with it than it
// carries. Empty: this gpuprof was built without Zig.
std::string_view PageEngine();

inline constexpr char kNoReportPage[] =
    "this gpuprof was built without its page, so it shows no report; install Node.js 20 or newer "
    "with npm and build gpuprof again. 'gpuprof stats' prints the same figures";

}  // namespace gpuprof::launcher
