// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells two commands of the name `gpuprof` apart: two installations of this one, or this one and
// the package `gpuprof` of another project on PyPI. Called by doctor; looks only. One thread.

#pragma once

#include <string>

#include "launcher/doctor/doctor_checks.h"

namespace gpuprof::launcher {

// Checks which command the word `gpuprof` starts. `own` is the path of this command, without links.
// `path` is the variable PATH.
Check CheckInstallation(const std::string& own, const std::string& path);

}  // namespace gpuprof::launcher
