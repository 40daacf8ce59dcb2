// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See version.h. The only file that is compiled anew when the version changes.

#include "launcher/base/version.h"

namespace gpuprof::launcher {

const char kVersion[] = GPUPROF_VERSION;

}  // namespace gpuprof::launcher
