// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tool's buffers: asked for on the thread that writes the first record, handed back from a
// thread of our own once all that is in them has ended, or at once by force. Records of device work
// carry the device's times until then.

#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tests/fake_gpu/cupti/v2.h"

namespace fake_gpu_cupti {

// What the tool is asked for buffers with, of either generation.
struct BufferCallbacks {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  RequestV2 request_v2 = nullptr;
  CompleteV2 complete_v2 = nullptr;
};

void SetBufferCallbacks(size_t client, const BufferCallbacks& callbacks);
bool HasBufferCallbacks();

struct Piece {
  const void* record;
  // Of the structure that was filled.
  size_t size;
};

// Writes the record to each client that wants it, cut to the release's length. `end` is the
// device's time when it will be complete. Device records have buffers of their own unless the
// script mixes them.
void Append(const Piece& piece, bool device, uint64_t end);
// Two that stay together, the first right before the second.
void AppendPair(const Piece& first, const Piece& second);

// Returns when all that is due was handed back.
void Flush(bool forced);
void SetFlushPeriod(uint32_t milliseconds);
void SetPerThread(bool per_thread);
bool PerThread();

// What the client gave.
struct Room {
  uint8_t* bytes;
  size_t count;
  size_t most_records;  // 0: any number
};
// Fills it, returns how many bytes are valid.
using FillBuffer = std::function<size_t(const Room& room)>;

// Asks this client for a buffer and hands it back as `fill` leaves it, after all that were closed
// before. False: none was given.
bool HandOver(size_t client, const FillBuffer& fill);

// Forgets what was not handed back; for cuptiFinalize.
void AbandonBuffers();

void AddDropped(size_t client, size_t records);
// Of this client, counted since the last question.
size_t TakeDropped(size_t client);

CUptiResult NextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record);

}  // namespace fake_gpu_cupti
