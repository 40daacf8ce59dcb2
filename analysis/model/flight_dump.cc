// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_dump.h. A dump has results and no events, as a memory snapshot has, so it takes the
// same place in a process.

#include "analysis/model/flight_dump.h"

#include <utility>

#include "analysis/model/memory_snapshot.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

const FlightDump* FlightDumpOf(const Process& process) {
  return process.memory_snapshot == nullptr ? nullptr : process.memory_snapshot->flight_dump.get();
}

void SetFlightDump(std::shared_ptr<const FlightDump> dump, Process* process) {
  auto holder = std::make_shared<MemorySnapshot>();
  holder->flight_dump = std::move(dump);
  process->memory_snapshot = std::move(holder);
}

}  // namespace gpuprof::analysis
