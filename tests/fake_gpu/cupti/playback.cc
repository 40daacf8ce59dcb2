// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/playback.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/sink.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/playback.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu_cupti {
namespace {

using fake_gpu::PlayedBuffer;

// Of ten milliseconds each, for a client without buffers.
constexpr int kMostWaits = 1000;

// Where each record begins in the buffers that are with a client, and behind them where the last
// one ends.
struct Layouts {
  std::mutex mutex;
  std::map<const uint8_t*, std::vector<size_t>> of;
};
Layouts& TheLayouts() {
  static Layouts* const layouts = new Layouts;
  return *layouts;
}

// How far a recorded buffer has been handed out.
struct Position {
  const PlayedBuffer& buffer;
  size_t record = 0, byte = 0, pointer = 0;
  bool is_stuck = false;  // the next record is larger than a whole buffer of the client's

  bool done() const { return record == buffer.lengths.size() || is_stuck; }
};

void Relocate(const fake_gpu::PlayedPointer& pointer, uint8_t* to) {
  const std::string& data = fake_gpu::ThePlayback()->data[pointer.data];
  const void* address = data.c_str();
  if (pointer.is_owned) {
    void* block = malloc(std::max(data.size(), size_t{1}));
    if (block != nullptr) memcpy(block, data.data(), data.size());
    address = block;
  }
  memcpy(to, &address, sizeof address);
}

// As many records as there is room for.
size_t Fill(const Room& room, Position* position) {
  const PlayedBuffer& buffer = position->buffer;
  std::vector<size_t> begins = {0};
  const size_t first = position->byte;
  while (!position->done()) {
    const size_t length = buffer.lengths[position->record];
    const bool is_full = begins.back() + length > room.count ||
                         (room.most_records != 0 && begins.size() > room.most_records);
    if (is_full) break;
    begins.push_back(begins.back() + length);
    position->byte += length;
    ++position->record;
  }
  const size_t valid = begins.back();
  position->is_stuck = valid == 0;
  memcpy(room.bytes, buffer.bytes.data() + first, valid);
  for (; position->pointer < buffer.pointers.size(); ++position->pointer) {
    const fake_gpu::PlayedPointer& pointer = buffer.pointers[position->pointer];
    if (pointer.offset >= position->byte) break;
    Relocate(pointer, room.bytes + (pointer.offset - first));
  }
  const std::lock_guard lock(TheLayouts().mutex);
  TheLayouts().of[room.bytes] = std::move(begins);
  return valid;
}

// The real one drops what there is no buffer for; here the client gets some time to return one, so
// that a recording is played whole. False: it did not.
bool PlayBuffer(size_t client, const PlayedBuffer& buffer, int* waits) {
  Position position{buffer};
  while (!position.done()) {
    if (HandOver(client, [&](const Room& room) { return Fill(room, &position); })) continue;
    if (--*waits < 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const size_t left = buffer.lengths.size() - position.record;
  if (left != 0) AddDropped(client, left);
  return left == 0;
}

uint32_t KindAt(const uint8_t* record) {
  uint32_t kind;
  memcpy(&kind, record, sizeof kind);
  return kind;
}

void TellTruth(const fake_gpu::Playback& playback) {
  std::map<uint32_t, size_t> records;
  for (const PlayedBuffer& buffer : playback.buffers) {
    size_t at = 0;
    for (const uint32_t length : buffer.lengths) {
      ++records[KindAt(&buffer.bytes[at])];
      at += length;
    }
  }
  for (const auto& [kind, count] : records)
    fake_gpu::TruthLine("{\"t\":\"played\",\"kind\":%u,\"records\":%zu}", kind, count);
}

uint32_t MajorOf(uint32_t version) {
  return version >= 130000 ? version / 10000 : version >= 19 ? 12 : 11;
}

}  // namespace

bool NextPlayedRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record, CUptiResult* result) {
  if (fake_gpu::ThePlayback() == nullptr) return false;
  const std::lock_guard lock(TheLayouts().mutex);
  const auto layout = TheLayouts().of.find(buffer);
  if (layout == TheLayouts().of.end()) return false;
  const std::vector<size_t>& begins = layout->second;
  auto at = begins.begin();
  if (*record != nullptr) {
    const auto now = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer);
    at = std::upper_bound(begins.begin(), begins.end(), now);
  }
  *result = CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (at == begins.end() || at + 1 == begins.end() || *at >= valid) return true;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + *at);
  *result = CUPTI_SUCCESS;
  return true;
}

const char* CuptiSink::PlayBuffers() {
  const fake_gpu::Playback* playback = fake_gpu::ThePlayback();
  if (playback == nullptr) return "there is nothing to play";
  if (MajorOf(playback->version) != kMajor) return "it is of another CUPTI than is loaded";
  TellTruth(*playback);
  bool is_whole = true;
  EachClient([&](const Client& client, size_t i) {
    if (client.kinds.load() == 0) return;
    int waits = kMostWaits;
    for (const PlayedBuffer& buffer : playback->buffers)
      is_whole = PlayBuffer(i, buffer, &waits) && is_whole;
    AddDropped(i, playback->dropped);
  });
  return is_whole ? nullptr : "a tool did not take all of it";
}

}  // namespace fake_gpu_cupti
