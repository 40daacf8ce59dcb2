// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What `info` says in words and in JSON, in the same terms. Any thread.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// "python3 train.py --epochs 3 ..." cut to `most` characters; the executable's name where no argv
// was recorded.
std::string ShortCommand(const Process& process, size_t most);

// "exited 1", "killed (no exit was seen)", "still running", "became another program (exec)" ...
std::string HowItEnded(const Process& process);

// Events lost of that process, over all kinds of loss but ends without a begin: most of these are
// of spans from before the capture.
uint64_t LostRecords(const Process& process);

}  // namespace gpuprof::analysis
