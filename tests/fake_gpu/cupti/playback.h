// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hands out what was recorded (device/playback.h), whatever kinds a client enabled: the bytes are
// the recording's, but for addresses. A buffer that is larger than the client's is split between
// records. Lengths of records are the recording's too, so kinds that this double does not know pass
// through it.

#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace fake_gpu_cupti {

// The answer of cuptiActivityGetNextRecord in a buffer that was handed out here; false: it was not.
bool NextPlayedRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record, CUptiResult* result);

}  // namespace fake_gpu_cupti
