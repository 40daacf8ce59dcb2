// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording of activity buffers (recorder/buffer_file.h) in memory. All of it is checked: what
// was cut or damaged is refused.

#pragma once

#include "tests/fake_gpu/device/playback.h"

namespace fake_gpu_replay {

// Null, or what is wrong with the file.
const char* ReadBuffers(const char* path, fake_gpu::Playback* playback);

}  // namespace fake_gpu_replay
