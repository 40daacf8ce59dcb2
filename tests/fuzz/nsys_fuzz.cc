// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Exports of Nsight Systems: any bytes are opened as a database of SQLite, and its tables become
// processes. What must hold besides not crashing: the same bytes give the same rows again, and no
// row ends before it begins.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/nsys_importer.h"
#include "analysis/import/sqlite_file.h"
#include "tests/fuzz/check.h"

using gpuprof::analysis::Process;
using gpuprof::analysis::Result;
using gpuprof::analysis::import::HeldBytes;
using gpuprof::analysis::import::ImportMemory;
using gpuprof::analysis::import::IsNsysExport;
using gpuprof::analysis::import::MemoryMeter;
using gpuprof::analysis::import::NsysImporter;
using gpuprof::analysis::import::SqliteFile;
using gpuprof::fuzz::Check;

namespace {

std::string Read(std::string_view bytes) {
  const Result<std::unique_ptr<SqliteFile>> file =
      SqliteFile::Open(std::make_unique<HeldBytes>(std::string(bytes)), "file");
  if (!file.ok()) return file.error().message;
  if (!IsNsysExport(**file)) return "no export";
  ImportMemory memory(uint64_t{64} << 20);
  MemoryMeter meter(&memory, "file", bytes.size());
  NsysImporter importer(file->get(), &meter);
  importer.Read();
  std::string told;
  for (const std::string& fault : importer.faults()) told += fault;
  if (!importer.has_rows()) return told;
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
  Check(Read(bytes) == Read(bytes));
  return 0;
}
