// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Folded stacks as flamegraph.pl, inferno and speedscope read them: lines `frame;frame COUNT` and
// nothing else. See text.h.

#include <algorithm>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/figures.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/text.h"
#include "proto/results/meta.pb.h"
#include "proto/results/stacks.pb.h"

namespace gpuprof::analysis {
namespace {

// Which stacks are shown: with a limit the heaviest, still in the order of their names.
std::vector<int> ShownStacks(const results::Stacks& result, const TextOptions& options) {
  std::vector<int> rows(static_cast<size_t>(result.stacks_size()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  const auto shown = static_cast<size_t>(Shown(result.stacks_size(), options));
  if (shown == rows.size()) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&result](int a, int b) {
    return result.stacks(a).value() > result.stacks(b).value();
  });
  rows.resize(shown);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string LeftOut(const results::Stacks& result, const TextOptions& options) {
  uint64_t weight = result.total();
  const std::vector<int> shown = ShownStacks(result, options);
  for (const int i : shown) weight -= result.stacks(i).value();
  const uint64_t hidden = static_cast<uint64_t>(result.stacks_size()) - shown.size();
  if (hidden == 0) return "";
  return "--limit leaves out " + FormatNumber(hidden) + (hidden == 1 ? " stack" : " stacks") +
         " of " + FormatNumber(weight) + " " + result.unit();
}

std::string Lost(const results::Meta& meta) {
  if (meta.losses().empty()) return "";
  std::string kinds;
  for (const results::Loss& loss : meta.losses()) {
    kinds += (kinds.empty() ? "" : ", ") + loss.name() + " " + FormatNumber(loss.count());
  }
  return "lost: " + FormatNumber(meta.lost_count()) + " records (" + kinds + ")";
}

}  // namespace

void WriteStacks(const results::Stacks& result, const TextOptions& options, Output* out) {
  for (const int i : ShownStacks(result, options)) {
    if (out->is_stopped()) return;
    const results::FoldedStack& stack = result.stacks(i);
    const std::vector<const results::Frame*> frames =
        FramesOf(result.call_stacks(), stack.call_stack());
    std::string line;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      line += (line.empty() ? "" : ";") + (*frame)->name();
    out->Put(PlainLines(line + " " + std::to_string(stack.value()) + "\n"));
  }
}

std::string StacksRemarks(const results::Stacks& result, const TextOptions& options) {
  std::vector<std::string> remarks;
  if (result.by_default()) {
    remarks.push_back("weights are " + result.meaning() + " (" + result.by() +
                      "); --by chooses other weights");
  }
  if (result.stacks().empty()) {
    remarks.push_back("nothing to fold by " + result.by() +
                      ": nothing was recorded, or --trace left it out");
  }
  if (result.estimated()) {
    remarks.push_back("estimated from samples: " + FormatNumber(result.total()) + " " +
                      result.unit() + " in all, with 95 % confidence " +
                      FormatNumber(result.total_low()) + " to " +
                      FormatNumber(result.total_high()));
  }
  if (result.truncated() > 0) {
    remarks.push_back(
        FormatPercent(static_cast<double>(result.truncated()) /
                      static_cast<double>(result.total())) +
        " in stacks that are deeper than the kept depth (record with a larger --stacks)");
  }
  const std::string lost = Lost(result.meta());
  if (!lost.empty()) remarks.push_back(lost);
  const std::string left_out = LeftOut(result, options);
  if (!left_out.empty()) remarks.push_back(left_out);
  if (const int notes = result.meta().notes_size(); notes == 1) {
    remarks.push_back(result.meta().notes(0));
  } else if (notes > 1) {
    remarks.push_back(std::to_string(notes) + " notes on names and stacks in --json");
  }
  std::string line;
  for (const std::string& remark : remarks) line += (line.empty() ? "" : "; ") + remark;
  return line;
}

}  // namespace gpuprof::analysis
