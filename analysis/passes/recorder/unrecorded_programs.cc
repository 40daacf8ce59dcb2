// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unrecorded_programs.h.

#include "analysis/passes/recorder/unrecorded_programs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/units.h"
#include "proto/exec_obstacle.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

using Programs = std::map<std::pair<std::string, uint64_t>, uint64_t>;

std::string ReasonOf(uint64_t obstacle) {
  switch (static_cast<proto::ExecObstacle>(obstacle)) {
    case proto::ExecObstacle::kOtherLibc:
      return "it is linked with another C library than glibc";
    case proto::ExecObstacle::kWordSize:
      return "it is for another processor or another word size";
    case proto::ExecObstacle::kUnreachable:
      return "gpuprof's files are not within its reach";
    case proto::ExecObstacle::kSanitizer:
      return "it is built with a sanitizer, which would end it or report gpuprof's threads";
    case proto::ExecObstacle::kOtherTool:
      return "another tool watches it, and would report gpuprof's threads";
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

// What the bundle tells of starts by every process.
Programs OfManifest(const proto::Bundle& manifest) {
  Programs programs;
  for (const proto::UnrecordedProgram& entry : manifest.unrecorded_program())
    ++programs[{entry.program(), entry.obstacle()}];
  return programs;
}

// What the selected processes have recorded of their starts.
Programs OfEvents(const PassContext& context) {
  Programs programs;
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
  return programs;
}

std::vector<std::string> WordsOf(const Programs& programs) {
  std::vector<std::string> words;
  for (const auto& [program, count] : programs) {
    words.push_back("not recorded: " + program.first +
                    (count == 1 ? "" : ", " + FormatCount(count) + " times") + ": " +
                    ReasonOf(program.second));
  }
  return words;
}

}  // namespace

std::vector<std::string> UnrecordedWords(const proto::Bundle& manifest) {
  return WordsOf(OfManifest(manifest));
}

void AddUnrecordedNotes(const PassContext& context, results::Meta* meta) {
  // A start by a recorded process is told twice; one by a shell is in the manifest alone. Older
  // bundles have the events alone.
  Programs programs = OfManifest(context.trace().manifest);
  for (const auto& [program, count] : OfEvents(context))
    programs[program] = std::max(programs[program], count);
  for (const std::string& words : WordsOf(programs)) meta->add_notes(words);
}

}  // namespace gpuprof::analysis
