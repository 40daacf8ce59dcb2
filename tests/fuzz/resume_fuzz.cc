// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The trace that a dead process left beside its ring file: the input is the trace, the ring is
// sound and holds a few records. Recovery must go on where the trace ends, whatever it claims, or
// refuse with a reason; and a trace that it has finished it must find finished.

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/fuzz/temp_files.h"

#include "proto/codec/recover.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"
#include "proto/ring.h"

namespace proto = gpuprof::proto;
using gpuprof::fuzz::Check;

namespace {

constexpr uint32_t kCapacity = 16;
constexpr uint64_t kFirstRing =
    (sizeof(proto::RingFileHeader) + proto::kPageBytes - 1) / proto::kPageBytes * proto::kPageBytes;
constexpr uint64_t kFileBytes =
    kFirstRing + proto::kRingHeaderBytes + kCapacity * proto::kRecordBytes;

// But for a torn end.
bool IsSound(const uint8_t* data, size_t size) {
  gpuprof::codec::TraceScan scan;
  if (!gpuprof::codec::Scan(data, size, &scan)) return false;
  for (const gpuprof::codec::Fault& fault : scan.faults) {
    if (fault.offset < scan.readable_bytes) return false;
  }
  return true;
}

alignas(proto::kPageBytes) char g_image[kFileBytes];

// Track 3 is that of the seeds' rows.
void FillRing() {
  auto* header = reinterpret_cast<proto::RingFileHeader*>(g_image);
  header->magic = proto::kRingFileMagic;
  header->version = proto::kRingFileVersion;
  header->ticks_per_second = 1'000'000'000;
  header->clock_kind = 1;
  header->directory[0].offset.store(kFirstRing);
  header->directory[0].bytes = kFileBytes - kFirstRing;
  auto* ring = reinterpret_cast<proto::RingHeader*>(g_image + kFirstRing);
  ring->magic = proto::kRingMagic;
  ring->capacity = kCapacity;
  ring->track = 3;
  ring->head.store(16);
  ring->tail.store(16);
  for (uint64_t i = 1; i <= 8; ++i) {
    proto::RingWrite(ring, {i, 0, static_cast<uint8_t>(proto::RecordKind::kHeapAlloc), 0, 1, i, i});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuprof::fuzz::Folder folder;
  // No process has this number: pids end well below.
  static const std::string stem = folder / "p2147483645-1";
  if (g_image[0] == 0) FillRing();
  const std::string trace_path = stem + proto::kTraceSuffix;
  const std::string ring_path = stem + proto::kRingSuffix;
  gpuprof::fuzz::WriteFile(trace_path, data, size);
  gpuprof::fuzz::WriteFile(ring_path, g_image, sizeof g_image);
  const gpuprof::codec::RecoverResult result = gpuprof::codec::Recover(stem, -1);
  if (!result.ok) {
    Check(!result.error.empty() && access(ring_path.c_str(), F_OK) == 0);
    return 0;
  }
  Check(access(ring_path.c_str(), F_OK) != 0);
  if (!IsSound(data, size)) return 0;
  const std::vector<uint8_t> file = gpuprof::fuzz::ReadFile(trace_path);
  gpuprof::codec::TraceScan scan;
  Check(gpuprof::codec::Scan(file.data(), file.size(), &scan) && scan.has_end);
  gpuprof::fuzz::WriteFile(ring_path, g_image, sizeof g_image);
  Check(gpuprof::codec::Recover(stem, -1).ok && gpuprof::fuzz::ReadFile(trace_path) == file);
  return 0;
}
