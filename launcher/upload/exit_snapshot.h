// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The snapshot of --trigger=exit: a flight recorder's traces, once they are finished, in a folder
// of their own, which says by its name how the command failed. Hard links: no data is copied.

#pragma once

#include <string>

#include "launcher/base/trusted_folder.h"

namespace gpuprof::launcher {

// Makes the snapshot in the bundle, whose traces are finished. `exit_status` as in a shell. Returns
// the folder's name, or "" and what went wrong.
std::string MakeExitSnapshot(const TrustedFolder& bundle, int exit_status, std::string* error);

}  // namespace gpuprof::launcher
