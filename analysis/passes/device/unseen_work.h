// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device may have had work that is not in the recording, because it was launched before a
// capture or ended after the capture. Programs run ahead of the GPU. So a capture that begins in
// the middle of a program begins with unknown work. Nanoseconds; one thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Returns the times of possible unseen work of a process's device, sorted and disjoint. One part
// reaches from a capture's start to the first work of a stream that waited longer than a launch
// takes. The other part reaches from the first launch without work to the capture's end. The first
// part is empty if the capture had CUDA from its beginning.
const std::vector<Interval>& UnseenWork(PassContext& context, size_t index, uint32_t device);

// Makes the text of a note: "<whose>: in ... of the idle time, ...".
std::string UnseenNote(const std::string& whose, int64_t unseen_ns);

}  // namespace gpuprof::analysis
