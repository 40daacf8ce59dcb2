// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where managed memory is: at the host at first, then where it was asked to be. A kernel misses all
// that is not on its device, as which memory it touches is not known here. Blocks move as wholes,
// and kernels do not take longer for it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

void AddManaged(uint64_t address, size_t bytes);
void RemoveManaged(uint64_t address);

constexpr int kHost = -1;
// To a device or kHost, in the stream.
CUresult PrefetchManaged(uint64_t address, int to, CUstream stream);
// A kernel begins on the device.
void TouchManaged(int device, uint64_t start);

}  // namespace fake_gpu
