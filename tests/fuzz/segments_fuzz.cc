// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flight recorder's trace and segments as a dead process may have left them: the input is cut
// into three files. What comes out must be one trace that a second run leaves as it is, or a
// refusal with a reason that leaves the segments.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/temp_files.h"

#include "proto/codec/segments.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"

using gpuprof::codec::JoinSegments;
using gpuprof::fuzz::Check;

namespace {

uint64_t Rows(const std::vector<uint8_t>& file) {
  gpuprof::codec::TraceScan scan;
  if (!gpuprof::codec::Scan(file.data(), file.size(), &scan)) return 0;
  uint64_t rows = 0;
  for (const gpuprof::codec::BlockRef& block : scan.blocks) rows += block.header.count;
  return rows;
}

}  // namespace

// Two lengths of 16 bits, then the trace, the first segment and the second.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuprof::fuzz::Folder folder;
  static const std::string stem = folder / "p1-1";
  if (size < 4) return 0;
  const size_t lengths[] = {data[0] | size_t{data[1]} << 8, data[2] | size_t{data[3]} << 8, size};
  const std::string paths[] = {stem + gpuprof::proto::kTraceSuffix, stem + ".00000001.seg",
                               stem + ".0000000a.seg"};
  data += 4;
  size -= 4;
  for (int i = 0; i < 3; ++i) {
    const size_t length = std::min(lengths[i], size);
    unlink(paths[i].c_str());
    if (length != 0) gpuprof::fuzz::WriteFile(paths[i], data, length);
    data += length;
    size -= length;
  }
  const std::vector<uint8_t> before = gpuprof::fuzz::ReadFile(paths[0]);
  std::string error;
  if (!JoinSegments(stem, 0, &error)) {
    Check(!error.empty());
    return 0;
  }
  Check(access(paths[1].c_str(), F_OK) != 0 && access(paths[2].c_str(), F_OK) != 0);
  const std::vector<uint8_t> joined = gpuprof::fuzz::ReadFile(paths[0]);
  Check(Rows(joined) >= Rows(before));
  Check(JoinSegments(stem, 0, &error) && gpuprof::fuzz::ReadFile(paths[0]) == joined);
  return 0;
}
