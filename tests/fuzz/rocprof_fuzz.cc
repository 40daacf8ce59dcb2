// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// JSON of rocprofv3: any bytes are read, in pieces of two sizes, and become processes. What must
// hold besides not crashing: where pieces end makes no difference, and no row ends before it
// begins.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/rocprof_importer.h"
#include "analysis/import/rocprof_reader.h"
#include "tests/fuzz/check.h"

using gpuprof::analysis::Error;
using gpuprof::analysis::Process;
using gpuprof::analysis::import::ImportMemory;
using gpuprof::analysis::import::MemoryMeter;
using gpuprof::analysis::import::MemorySource;
using gpuprof::analysis::import::ReadRocprof;
using gpuprof::analysis::import::RocprofImporter;
using gpuprof::analysis::import::RocprofText;
using gpuprof::fuzz::Check;

namespace {

std::string Read(std::string_view bytes, size_t piece) {
  MemorySource source(bytes, piece);
  ImportMemory memory(uint64_t{64} << 20);
  MemoryMeter meter(&memory, "file", bytes.size());
  RocprofImporter importer(&meter);
  RocprofText text;
  const Error error = ReadRocprof(&source, "file", &importer, &text);
  std::string told = error.message;
  for (const Process& process : importer.Build("file", importer.first_ns())) {
    told += ' ' + std::to_string(process.pid) + ' ' + std::to_string(process.rows);
    for (const auto& track : process.tracks) {
      for (size_t row = 0; row < track.kernel.rows(); ++row)
        Check(track.kernel.duration_ns[row] >= 0);
      for (size_t row = 0; row < track.memcpy.rows(); ++row)
        Check(track.memcpy.duration_ns[row] >= 0);
    }
  }
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check(Read(bytes, SIZE_MAX) == Read(bytes, 7));
  return 0;
}
