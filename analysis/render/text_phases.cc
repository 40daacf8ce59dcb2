// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the overview's phases: what the run spent its time on. See text.h.

#include <array>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/text.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

struct PhaseWords {
  const char* name = "";
  const char* meaning = "";
};

constexpr std::array<PhaseWords, results::Phase_ARRAYSIZE> MakeWords() {
  std::array<PhaseWords, results::Phase_ARRAYSIZE> words{};
  words[results::PHASE_UNRECORDED] = {"not recorded", "no process was recorded"};
  words[results::PHASE_OTHERS] = {"other processes",
                                  "they were recorded, and the main one was not"};
  words[results::PHASE_START_UP] = {"start-up", "before the first operation, range or CUDA call"};
  words[results::PHASE_BEFORE_STEPS] = {"before the steps", "the rest of the time up to step 0"};
  words[results::PHASE_CUDA_SETUP] = {"CUDA setup", "long calls: contexts, first allocations"};
  words[results::PHASE_COMPILE] = {"compiling", "compiling and loading code"};
  words[results::PHASE_GRAPH_CAPTURE] = {"graph capture", "capture of work into CUDA graphs"};
  words[results::PHASE_WARM_UP] = {"warm-up steps", "steps left out of the figures"};
  words[results::PHASE_STEPS] = {"steps", ""};
  words[results::PHASE_BETWEEN_STEPS] = {"between steps", "the rest of the time among the steps"};
  words[results::PHASE_EVALUATION] = {"evaluation", "ranges named so, outside of steps"};
  words[results::PHASE_CHECKPOINT] = {"checkpoints", "ranges named so, outside of steps"};
  words[results::PHASE_WAITING] = {"waiting", "long waits of the leading thread"};
  words[results::PHASE_RUN] = {"the run", "no steps were found"};
  words[results::PHASE_AFTER_STEPS] = {"after the steps", "the rest of the time to the end"};
  return words;
}

}  // namespace

std::string PhasesText(const results::Overview& result, const TextOptions& options) {
  static constexpr std::array kWords = MakeWords();
  if (result.phases().empty()) return "";
  TextTable table;
  table.AddColumn("phase", Align::kLeft);
  table.AddColumn("time", Align::kRight);
  table.AddColumn("share", Align::kRight);
  table.AddColumn("meaning", Align::kLeft, true);
  table.AddColumn("largest", Align::kLeft, true);
  for (const results::PhaseTime& phase : result.phases()) {
    const PhaseWords& words = kWords[static_cast<size_t>(phase.phase())];
    table.AddRow({words.name, FormatDuration(phase.total_ns()), FormatPercent(phase.total_ratio()),
                  words.meaning, phase.largest()});
  }
  std::string title = "Time of the run";
  if (result.main().process_count() > 1) {
    title += ": " + FormatDuration(result.run_ns()) + "; the phases are those of " +
             OneLine(result.main().name()) + " (" + std::to_string(result.main().pid()) +
             "), one of " + std::to_string(result.main().process_count()) + " processes";
  }
  return WrapText(title, "", "  ", options.width) + table.Render(options.table_width) + "\n";
}

}  // namespace gpuprof::analysis
