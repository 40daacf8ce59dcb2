// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unrecorded_programs.h.

#include "analysis/passes/unrecorded_programs.h"

#include <map>
#include <string>
#include <utility>

#include "analysis/base/units.h"
#include "proto/exec_obstacle.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

std::string ReasonOf(uint64_t obstacle) {
  switch (static_cast<proto::ExecObstacle>(obstacle)) {
    case proto::ExecObstacle::kOtherLibc:
      return "it is linked with another C library than glibc";
    case proto::ExecObstacle::kWordSize:
      return "it is for another processor or another word size";
    case proto::ExecObstacle::kUnreachable:
      return "gpuprof's files are not within its reach";
    default:
      return "it cannot load gpuprof";
  }
}

// 0: the program can load gpuprof, or none was started.
uint64_t ObstacleOf(const ProcessEventTable& table, size_t row) {
  switch (static_cast<proto::ProcessEvent>(table.event[row])) {
    case proto::ProcessEvent::kSpawn:
      return table.b[row];
    case proto::ProcessEvent::kExec:
      return table.b[row] == 0 ? table.a[row] : 0;
    default:
      return 0;
  }
}

}  // namespace

void AddUnrecordedNotes(const PassContext& context, results::Meta* meta) {
  std::map<std::pair<std::string, uint64_t>, uint64_t> programs;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    for (const Track& track : process.tracks) {
      const ProcessEventTable& table = track.process_event;
      for (size_t row = 0; row < table.rows(); ++row) {
        const uint64_t obstacle = ObstacleOf(table, row);
        if (obstacle != 0) ++programs[{process.String(table.text[row]), obstacle}];
      }
    }
  }
  for (const auto& [program, count] : programs) {
    meta->add_notes("not recorded: " + program.first +
                    (count == 1 ? "" : ", " + FormatCount(count) + " times") + ": " +
                    ReasonOf(program.second));
  }
}

}  // namespace gpuprof::analysis
