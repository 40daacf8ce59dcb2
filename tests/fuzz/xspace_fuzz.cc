// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XSpaces: any bytes are read with windows of two sizes and imported. What must hold besides not
// crashing: where windows end makes no difference, every event is told, rows are counted, and all
// names are UTF-8.

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/base/utf8.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"
#include "tests/fuzz/check.h"

using gpuprof::analysis::CodePointBytes;
using gpuprof::analysis::Error;
using gpuprof::analysis::Process;
using gpuprof::analysis::import::HeldBytes;
using gpuprof::analysis::import::LooksLikeXSpace;
using gpuprof::analysis::import::ReadXSpace;
using gpuprof::analysis::import::ReadXStat;
using gpuprof::analysis::import::XEvent;
using gpuprof::analysis::import::XLine;
using gpuprof::analysis::import::XPlaneTables;
using gpuprof::analysis::import::XSpaceFacts;
using gpuprof::analysis::import::XSpaceHandler;
using gpuprof::analysis::import::XSpaceImporter;
using gpuprof::fuzz::Check;

namespace {

// Adds up all that it is handed.
class LookingHandler : public XSpaceHandler {
 public:
  bool OnPlane(XPlaneTables& plane) override {
    Add(plane.plane_name);
    for (uint32_t i = 0; i < plane.events(); ++i) {
      Add(plane.EventName(i));
      Add(plane.DisplayName(i));
      for (const auto& stat : plane.EventStats(i)) Add(stat.text);
    }
    for (uint32_t i = 0; i < plane.stats(); ++i) Add(plane.StatName(i));
    return true;
  }
  bool OnLine(const XLine& line) override {
    Add(line.name);
    sum += static_cast<uint64_t>(line.timestamp_ns) + line.events;
    return true;
  }
  void OnEvent(const XEvent& event) override {
    ++events;
    sum = sum * 31 + static_cast<uint64_t>(event.offset_ps) + event.occurrences;
    for (const std::string_view message : event.stats) Add(ReadXStat(message).text);
  }

  uint64_t events = 0, sum = 0;

 private:
  void Add(std::string_view text) {
    for (const char c : text) sum = sum * 31 + static_cast<unsigned char>(c);
  }
};

void CheckText(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text.substr(at));
    Check(bytes != 0);
    at += bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The last byte chooses the smaller window.
  const size_t window = 20 + size_t{data[size - 1]};
  const HeldBytes file(std::string(reinterpret_cast<const char*>(data), size));
  LookingHandler large, small;
  XSpaceFacts large_facts, small_facts;
  constexpr size_t kLargeWindow = 16 << 10;
  const Error error = ReadXSpace(file, "x", &large, &large_facts, kLargeWindow);
  const Error small_error = ReadXSpace(file, "x", &small, &small_facts, window);
  Check(static_cast<bool>(error) == static_cast<bool>(small_error));
  Check(large.events == small.events && large.sum == small.sum);
  Check(large.events == large_facts.events && large_facts.truncated_at <= size);
  Check(large_facts.broken_parts == small_facts.broken_parts);
  if (LooksLikeXSpace(file)) Check(!error && !large_facts.is_truncated);

  XSpaceImporter importer(size);
  XSpaceFacts facts;
  if (ReadXSpace(file, "x", &importer, &facts, kLargeWindow)) return 0;
  const int64_t first = importer.Close();
  if (!importer.has_rows()) return 0;
  const Process process = importer.Build("x", facts.host, first);
  Check(process.rows <= facts.events * 64 + 64 && process.first_ns == 0);
  for (const auto& [id, text] : process.strings) CheckText(text);
  for (const auto& track : process.tracks) CheckText(track.name);
  for (const auto& device : process.devices) CheckText(device.name());
  return 0;
}
