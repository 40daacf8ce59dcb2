// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Dumps of PyTorch's flight recorder: any bytes are read as a pickle or as JSON, in pieces of two
// sizes. What must hold besides not crashing: where pieces end makes no difference, memory stays in
// proportion, and every number that names a text or a group names one.

#include <cstdint>

#include "analysis/import/flight_reader.h"
#include "tests/fuzz/dump_in_pieces.h"

using gpuprof::analysis::FlightDump;
using gpuprof::analysis::FlightEntry;
using gpuprof::analysis::import::MemorySource;
using gpuprof::analysis::import::ReadFlightDump;
using gpuprof::fuzz::Check;
using gpuprof::fuzz::ReadInPieces;
using gpuprof::fuzz::Sums;

namespace {

template <typename Meter>
Sums Read(MemorySource* source, const Meter& check) {
  FlightDump dump;
  Sums sums;
  sums.error = ReadFlightDump(source, "file", check, &dump);
  if (sums.error) return sums;
  for (const FlightEntry& entry : dump.entries) {
    Check(entry.group < dump.groups.size());
    for (const uint32_t text : {entry.operation, entry.input_sizes, entry.output_sizes,
                                entry.input_types, entry.output_types, entry.place, entry.function})
      Check(text < dump.texts.size());
    Check((entry.from < 0) == (entry.to < 0));
    sums.sum = sums.sum * 31 + static_cast<uint64_t>(entry.sequence) + entry.operation;
  }
  for (const auto& group : dump.groups)
    for (const int32_t rank : group.ranks) Check(rank >= 0);
  return sums;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ReadInPieces(data, size, 1000,
               [](MemorySource* source, const auto& check) { return Read(source, check); });
  return 0;
}
