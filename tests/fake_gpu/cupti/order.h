// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A buffer's last hour: times of device work become CUPTI's, what has not ended says so, and the
// order is shuffled, for the real one promises none.

#pragma once

#include <cstdint>
#include <span>

namespace fake_gpu_cupti {

void Finish(std::span<uint8_t> records, uint64_t now);

}  // namespace fake_gpu_cupti
