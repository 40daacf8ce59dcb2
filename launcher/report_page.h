// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The built page of viewer/, which is inside the command. Called by `gpuprof report`.

#pragma once

#include <string_view>

namespace gpuprof::launcher {

// Returns the page as one HTML file. Empty: this gpuprof was built without Node.js.
std::string_view ReportPage();

}  // namespace gpuprof::launcher
