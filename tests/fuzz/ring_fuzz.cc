// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ring files of dead processes: the input is laid over a sound ring file's header page, ring header
// and records, and recovery runs on it. What comes out must be a whole trace that the reader has no
// fault to find with, or a refusal with a reason.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/fuzz/temp_files.h"

#include "proto/codec/recover.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"
#include "proto/ring.h"

namespace proto = gpuprof::proto;
using gpuprof::fuzz::Check;
using gpuprof::fuzz::Folder;
using gpuprof::fuzz::ReadFile;
using gpuprof::fuzz::WriteFile;

namespace {

constexpr uint32_t kCapacity = 64;
constexpr uint64_t kFirstRing =
    (sizeof(proto::RingFileHeader) + proto::kPageBytes - 1) / proto::kPageBytes * proto::kPageBytes;
constexpr uint64_t kRingBytes = proto::kRingHeaderBytes + kCapacity * proto::kRecordBytes;
constexpr uint64_t kRings = 2;
constexpr uint64_t kFileBytes = kFirstRing + kRings * kRingBytes;

const std::string& Stem() {
  static const Folder folder;
  // No process has this number: pids end well below.
  static const std::string stem = folder / "p2147483646-1";
  return stem;
}

// A ring file without records, to be overlaid.
void FillSound(char* image) {
  auto* header = reinterpret_cast<proto::RingFileHeader*>(image);
  header->magic = proto::kRingFileMagic;
  header->version = proto::kRingFileVersion;
  header->ticks_per_second = 1'000'000'000;
  header->clock_kind = 1;
  for (uint64_t i = 0; i < kRings; ++i) {
    const uint64_t offset = kFirstRing + i * kRingBytes;
    header->directory[i].offset.store(offset);
    header->directory[i].bytes = kRingBytes;
    auto* ring = reinterpret_cast<proto::RingHeader*>(image + offset);
    ring->magic = proto::kRingMagic;
    ring->capacity = kCapacity;
    ring->track = static_cast<uint32_t>(i + 1);
    ring->head.store(kCapacity);
  }
}

// The input is a run of (place, length, bytes): where nothing in the file is out of reach, most
// bytes are records.
void Overlay(const uint8_t* data, size_t size, char* image) {
  constexpr uint64_t kPlaces[] = {kFirstRing + proto::kRingHeaderBytes,
                                  kFirstRing,
                                  0,
                                  kFirstRing + kRingBytes + proto::kRingHeaderBytes,
                                  kFirstRing + kRingBytes,
                                  offsetof(proto::RingFileHeader, directory)};
  while (size > 3) {
    const uint64_t place = kPlaces[data[0] % std::size(kPlaces)] + data[1] * uint64_t{8};
    const uint64_t length = std::min<uint64_t>(data[2] * uint64_t{8} + 8, size - 3);
    if (place < kFileBytes)
      std::memcpy(image + place, data + 3, std::min(length, kFileBytes - place));
    data += 3 + length;
    size -= 3 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string trace_path = Stem() + proto::kTraceSuffix;
  const std::string ring_path = Stem() + proto::kRingSuffix;
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  const std::unique_ptr<char, Free> image(
      static_cast<char*>(std::aligned_alloc(proto::kPageBytes, kFileBytes)));
  std::memset(image.get(), 0, kFileBytes);
  FillSound(image.get());
  Overlay(data, size, image.get());
  WriteFile(ring_path, image.get(), kFileBytes);
  unlink(trace_path.c_str());
  const gpuprof::codec::RecoverResult result = gpuprof::codec::Recover(Stem(), -1);
  if (!result.ok) {
    Check(!result.error.empty());
    return 0;
  }
  const std::vector<uint8_t> file = ReadFile(trace_path);
  if (result.nothing_to_do) {
    Check(file.empty());
    return 0;
  }
  gpuprof::codec::TraceScan scan;
  Check(gpuprof::codec::Scan(file.data(), file.size(), &scan));
  Check(scan.faults.empty() && scan.has_end);
  gpuprof::codec::BlockDecoder decoder;
  gpuprof::codec::EventColumns columns;
  gpuprof::codec::Fault fault;
  uint64_t rows = 0;
  for (const gpuprof::codec::BlockRef& block : scan.blocks) {
    if (proto::FindTable(static_cast<proto::ChunkKind>(block.header.kind)) == nullptr) continue;
    Check(decoder.DecodeEvents(file.data(), block, &columns, &fault));
    rows += columns.count;
  }
  Check(rows == result.rows_added && rows == scan.end.rows);
  return 0;
}
