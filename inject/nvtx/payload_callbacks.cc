// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/payload_callbacks.h"

#include <atomic>

#include "inject/marked_captures.h"
#include "inject/nvtx/callbacks.h"
#include "inject/nvtx/definitions.h"
#include "inject/nvtx/payloads.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::nvtx {
namespace {

using ranges::kNoTracking;
using ranges::TextOf;

std::atomic<intptr_t> g_chained[kPayloadIds];

// What NVTX would have done had the tool been there alone: its function, or nothing.
template <typename Result, typename... Arguments>
Result CallChained(unsigned id, Result otherwise, Arguments... arguments) {
  const intptr_t slot = g_chained[id].load(std::memory_order_acquire);
  if (slot == kFreshSlot || slot == kDisabledSlot) return otherwise;
  return reinterpret_cast<Result (*)(Arguments...)>(slot)(arguments...);
}
template <typename... Arguments>
void TellChained(unsigned id, Arguments... arguments) {
  const intptr_t slot = g_chained[id].load(std::memory_order_acquire);
  if (slot == kFreshSlot || slot == kDisabledSlot) return;
  reinterpret_cast<void (*)(Arguments...)>(slot)(arguments...);
}

bool IsRecording() { return Recording(proto::kSourceNvtx); }

// An event that is all payload. Its message may be in the payload. Readers of the trace find the
// message there. Captures at ranges do not look for it.
struct PayloadEvent {
  PayloadEvent(const void* domain, const PayloadData* data, size_t count) {
    event.domain = TextOf(domain);
    FindPayloads(event.domain, data, count, &payloads);
    event.payloads = &payloads;
  }
  ranges::Event event;
  ranges::Payloads payloads;
};

uint64_t OnSchemaRegister(const void* domain, const SchemaAttributes* attributes) {
  const auto id = CallChained<uint64_t>(kPayloadSchemaRegister, 0, domain, attributes);
  return DefineSchema(TextOf(domain), attributes, id);
}
uint64_t OnEnumRegister(const void* domain, const EnumAttributes* attributes) {
  const auto id = CallChained<uint64_t>(kPayloadEnumRegister, 0, domain, attributes);
  return DefineEnum(TextOf(domain), attributes, id);
}

void OnMark(const void* domain, const PayloadData* payloads, size_t count) {
  TellChained(kMarkPayload, domain, payloads, count);
  if (IsRecording()) ranges::Mark(PayloadEvent(domain, payloads, count).event);
}

int OnPush(const void* domain, const PayloadData* payloads, size_t count) {
  const int level = CallChained<int>(kRangePushPayload, kNoTracking, domain, payloads, count);
  if (!IsRecording() && !WatchesRanges()) return level;
  const PayloadEvent payload(domain, payloads, count);
  if (WatchesRanges()) RangePushed(payload.event.domain, payload.event.message);
  return IsRecording() ? PushOf(level, payload.event) : level;
}

int OnPop(const void* domain, const PayloadData* payloads, size_t count) {
  const int chained = CallChained<int>(kRangePopPayload, kNoTracking, domain, payloads, count);
  int level = kNoTracking;
  const bool is_recorded = IsRecording();
  if (is_recorded)
    level = ranges::Pop(TextOf(domain), PayloadEvent(domain, payloads, count).event.payloads);
  if (WatchesRanges()) RangePopped(TextOf(domain));
  return is_recorded && !HasTool() ? level : chained;
}

uint64_t OnStart(const void* domain, const PayloadData* payloads, size_t count) {
  const auto id = CallChained<uint64_t>(kRangeStartPayload, 0, domain, payloads, count);
  if (!IsRecording() && !WatchesRanges()) return id;
  const PayloadEvent payload(domain, payloads, count);
  const bool is_mark =
      WatchesRanges() && RangeStarting(payload.event.domain, payload.event.message);
  const uint64_t started = IsRecording() ? StartOf(id, payload.event) : id;
  if (is_mark) RangeStartedAs(started);
  return started;
}

void OnEnd(const void* domain, uint64_t id, const PayloadData* payloads, size_t count) {
  TellChained(kRangeEndPayload, domain, id, payloads, count);
  if (IsRecording()) {
    ranges::End(id, PayloadEvent(domain, payloads, count).event.payloads);
  }
  if (WatchesRanges()) RangeEnded(id);
}

// Programs ask once, when they begin, and never again: the answer is yes wherever a capture may
// come, whatever a tool behind us says of itself.
uint8_t OnDomainIsEnabled(const void*) { return 1; }

}  // namespace

intptr_t PayloadCallback(unsigned id) noexcept {
  switch (id) {
    case kPayloadSchemaRegister:
      return reinterpret_cast<intptr_t>(OnSchemaRegister);
    case kPayloadEnumRegister:
      return reinterpret_cast<intptr_t>(OnEnumRegister);
    case kMarkPayload:
      return reinterpret_cast<intptr_t>(OnMark);
    case kRangePushPayload:
      return reinterpret_cast<intptr_t>(OnPush);
    case kRangePopPayload:
      return reinterpret_cast<intptr_t>(OnPop);
    case kRangeStartPayload:
      return reinterpret_cast<intptr_t>(OnStart);
    case kRangeEndPayload:
      return reinterpret_cast<intptr_t>(OnEnd);
    default:
      return reinterpret_cast<intptr_t>(OnDomainIsEnabled);
  }
}

void SetChainedPayload(unsigned id, intptr_t slot) noexcept {
  g_chained[id].store(slot, std::memory_order_release);
}

}  // namespace gpuprof::inject::nvtx
