// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The version of the command, from the build. For bundle.pb, `version` and `doctor`.

#pragma once

namespace gpuprof::launcher {

extern const char kVersion[];

}  // namespace gpuprof::launcher
