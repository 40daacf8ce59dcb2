// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Activity buffers that were recorded elsewhere, for the double of CUPTI to hand out. While there
// is one it writes no records of its own, has the recording's version, and its clock goes on from
// where the recording ended.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fake_gpu {

// In place of an address of the process that was recorded.
struct PlayedPointer {
  uint32_t offset = 0;    // in the buffer
  uint32_t data = 0;      // index in Playback::data
  bool is_owned = false;  // by whoever gets the record: a block of malloc's
};

struct PlayedBuffer {
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> lengths;        // of the records; together all bytes
  std::vector<PlayedPointer> pointers;  // by their offsets
};

struct Playback {
  uint32_t version = 0;   // cuptiGetVersion
  uint64_t end_time = 0;  // what CUPTI's clock said when the recording ended
  uint64_t dropped = 0;   // records, while it was made
  std::vector<std::string> data;
  std::vector<PlayedBuffer> buffers;
};

// Before the driver is initialised, and for good: tools keep addresses of what is in it.
void SetPlayback(const Playback* playback);
// Null: the simulation is recorded.
const Playback* ThePlayback();

// CUPTI's clock now, while there is a playback.
uint64_t PlaybackTime();

}  // namespace fake_gpu
