// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/payloads.h"

#include <string.h>

#include "inject/ranges/definitions.h"
#include "inject/ranges/ranges.h"
#include "inject/recorder.h"
#include "proto/nvtx_payload.h"
#include "proto/schema.h"

namespace gpuprof::inject::ranges {
namespace {

using proto::Record;
using proto::RingHeader;
using proto::nvtx::HandleText;

constexpr uint32_t kMostHandles = 16;
constexpr uint32_t kMostDataBytes = proto::kMaxPayloadBytes - kMostHandles * sizeof(HandleText);

uint32_t WholeWords(uint32_t bytes) { return (bytes + 7) & ~7u; }

// A payload as it is written: its bytes, zeros up to a whole word, the texts of its handles.
struct Item {
  uint32_t bytes;
  uint32_t first_handle;
  uint32_t handles;
  // Returns the bytes of all parts.
  uint32_t written() const {
    return WholeWords(bytes) + handles * static_cast<uint32_t>(sizeof(HandleText));
  }
};

// Finds handles at any place, because structures can be packed.
uint32_t FindHandles(RingHeader* ring, const char* data, uint32_t bytes, HandleText* to,
                     uint32_t room) {
  uint32_t count = 0;
  for (uint32_t at = 0; at + sizeof(uint64_t) <= bytes && count < room; ++at) {
    uint64_t word;
    memcpy(&word, data + at, sizeof(word));
    Text* text = RegisteredText(reinterpret_cast<const void*>(word));
    if (text != nullptr) to[count++] = {word, IdOf(ring, text)};
  }
  return count;
}

// Copies into the slots from `at` on, behind their first `skipped` bytes.
void Put(RingHeader* ring, uint64_t at, uint32_t skipped, const void* from, uint32_t bytes) {
  const auto* left = static_cast<const char*>(from);
  while (bytes != 0) {
    char* slot = reinterpret_cast<char*>(proto::RingSlot(ring, at + skipped / proto::kRecordBytes));
    const uint32_t inside = skipped % proto::kRecordBytes;
    const uint32_t room = proto::kRecordBytes - inside;
    const uint32_t part = bytes < room ? bytes : room;
    memcpy(slot + inside, left, part);
    left += part;
    skipped += part;
    bytes -= part;
  }
}

// Puts a payload without its time, and returns the position behind the payload.
uint64_t PutPayload(RingHeader* ring, uint64_t at, const Payload& payload, const Item& item,
                    const HandleText* handles, const PayloadPlace& place, bool is_first) {
  const uint32_t whole = WholeWords(item.bytes), written = item.written();
  const auto detail = static_cast<uint16_t>(proto::PayloadOperation(
      place.kind, place.is_end, whole - item.bytes, item.handles, is_first));
  const uint32_t definition = payload.definition != nullptr ? payload.definition->id : payload.type;
  *proto::RingSlot(ring, at++) = {
      0,      place.depth, static_cast<uint8_t>(proto::RecordKind::kRangePayload),
      0,      detail,      uint64_t{place.domain} << 32 | definition,
      written};
  const uint32_t slots = proto::PayloadSlots(written);
  // No stray bytes behind any part.
  for (uint32_t i = 0; i < slots; ++i) *proto::RingSlot(ring, at + i) = {};
  Put(ring, at, 0, payload.data, item.bytes);
  Put(ring, at, whole, handles + item.first_handle, written - whole);
  return at + slots;
}

}  // namespace

uint64_t WritePayloads(RingHeader* ring, const Payloads& payloads, const PayloadPlace& place,
                       uint64_t time) noexcept {
  if (payloads.lost != 0) CountValuesLost(payloads.lost);
  ReportDefinitions(place.capture, ring);
  Item items[Payloads::kMost];
  HandleText handles[kMostHandles];
  uint32_t found = 0, left = kMostDataBytes, slots = 0;
  for (uint32_t i = 0; i < payloads.count; ++i) {
    const Payload& payload = payloads.payload[i];
    if (payload.definition != nullptr) IdOf(ring, payload.definition);
    // Readers count the values whose bytes are cut off here.
    const uint32_t bytes = payload.bytes < left ? payload.bytes : left;
    left -= bytes;
    items[i] = {bytes, found, 0};
    if (payload.has_handles)
      items[i].handles =
          FindHandles(ring, payload.data, bytes, handles + found, kMostHandles - found);
    found += items[i].handles;
    slots += 1 + proto::PayloadSlots(items[i].written());
  }
  const uint64_t begin = slots != 0
                             ? proto::RingReserve(ring, ring->last_time, slots, 1, WakeDrain())
                             : proto::kNoRoom;
  if (begin == proto::kNoRoom) return time != 0 ? time : proto::ReadTicks(g_process.clock);
  uint64_t end = begin;
  for (uint32_t i = 0; i < payloads.count; ++i)
    end = PutPayload(ring, end, payloads.payload[i], items[i], handles, place, i == 0);
  if (time == 0) time = proto::ReadTicks(g_process.clock);
  for (uint64_t at = begin; at < end;) {
    Record* record = proto::RingSlot(ring, at);
    record->time = time;
    at += 1 + proto::PayloadSlots(record->b);
  }
  ring->last_time = time;
  proto::RingPublish(ring, end);
  return time;
}

}  // namespace gpuprof::inject::ranges
