// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/playback.h"

#include <atomic>

#include "tests/fake_gpu/device/clock.h"

namespace fake_gpu {
namespace {

std::atomic<const Playback*> the_playback{nullptr};
uint64_t set_at = 0;

}  // namespace

void SetPlayback(const Playback* playback) {
  set_at = Monotonic();
  the_playback.store(playback, std::memory_order_release);
}

const Playback* ThePlayback() { return the_playback.load(std::memory_order_acquire); }

uint64_t PlaybackTime() { return ThePlayback()->end_time + (Monotonic() - set_at); }

}  // namespace fake_gpu
