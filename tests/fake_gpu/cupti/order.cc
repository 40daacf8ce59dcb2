// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/order.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/playback.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/script.h"

namespace fake_gpu_cupti {
namespace {

uint32_t KindAt(const uint8_t* record) {
  uint32_t kind;
  memcpy(&kind, record, sizeof kind);
  return kind;
}

// Where a kind of device work has its start (the end follows it), or 0.
size_t TimesOffset(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return 16;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return 8;
    case kKindHostLaunch:
      return offsetof(HostLaunchRecord, start);
    case kKindGraphHostNode:
      return offsetof(GraphHostNodeRecord, start);
    default:
      return 0;
  }
}

static_assert(offsetof(CUpti_ActivityKernel10, start) == 16 &&
              offsetof(CUpti_ActivityKernel10, end) == 24);
static_assert(offsetof(CUpti_ActivityMemcpy6, start) == 16 &&
              offsetof(CUpti_ActivityMemset4, start) == 16);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, start) == 16);
static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter3, start) == 16);
static_assert(offsetof(CUpti_ActivityGraphTrace2, start) == 8);

void Convert(uint8_t* record, size_t offset, uint64_t now, const DeviceClock& clock) {
  uint64_t times[2];
  memcpy(times, record + offset, sizeof times);
  if (times[1] == 0) return;  // lost
  times[0] = times[0] > now ? 0 : clock.Time(times[0]);
  times[1] = times[1] > now ? 0 : clock.Time(times[1]);
  memcpy(record + offset, times, sizeof times);
  const uint32_t kind = KindAt(record);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    memcpy(record + offsetof(CUpti_ActivityKernel10, completed), &times[1], sizeof times[1]);
  }
}

struct Group {
  size_t begin, size;
};

}  // namespace

void Finish(std::span<uint8_t> records, uint64_t now) {
  std::vector<Group> groups;
  const DeviceClock clock;
  bool open = false;
  for (size_t at = 0; at < records.size();) {
    const uint32_t kind = KindAt(&records[at]);
    const size_t size = SizeOf(kind);
    if (const size_t offset = TimesOffset(kind); offset != 0)
      Convert(&records[at], offset, now, clock);
    if (open) {
      groups.back().size += size;
    } else {
      groups.push_back({at, size});
    }
    // An external id stays right before the call that it belongs to.
    open = kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    at += size;
  }
  if (!fake_gpu::TheScript().shuffle) return;
  static std::mt19937_64 random(fake_gpu::TheScript().seed);
  std::shuffle(groups.begin(), groups.end(), random);
  std::vector<uint8_t> shuffled;
  shuffled.reserve(records.size());
  for (const Group& group : groups) {
    shuffled.insert(shuffled.end(), &records[group.begin], &records[group.begin] + group.size);
  }
  memcpy(records.data(), shuffled.data(), shuffled.size());
}

CUptiResult NextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (CUptiResult result; NextPlayedRecord(buffer, valid, record, &result)) return result;
  size_t at = 0;
  if (*record != nullptr) {
    const auto* now = reinterpret_cast<const uint8_t*>(*record);
    const size_t size = SizeOf(KindAt(now));
    if (size == 0) return CUPTI_ERROR_INVALID_KIND;
    at = static_cast<size_t>(now - buffer) + size;
  }
  if (at + sizeof(uint32_t) > valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (SizeOf(KindAt(buffer + at)) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

}  // namespace fake_gpu_cupti
