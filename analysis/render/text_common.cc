// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pieces of text that several results share. See text.h.

#include <algorithm>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/locks.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

int Shown(int rows, const TextOptions& options) {
  if (options.limit == 0) return rows;
  return static_cast<int>(std::min<int64_t>(rows, options.limit));
}

std::string MoreLine(int rows, const TextOptions& options) {
  const int hidden = rows - Shown(rows, options);
  if (hidden <= 0) return "";
  return "  ... and " + FormatNumber(static_cast<uint64_t>(hidden)) +
         " more (--limit 0 shows all)\n";
}

std::string Section(const std::string& heading, const TextTable& table, const TextOptions& options,
                    int rows) {
  if (table.empty()) return "";
  return heading + "\n" + table.Render(options.table_width) + MoreLine(rows, options) + "\n";
}

std::string LevelWord(results::Level level) {
  switch (level) {
    case results::LEVEL_HIGH:
      return "high";
    case results::LEVEL_MEDIUM:
      return "medium";
    case results::LEVEL_LOW:
      return "low";
    default:
      return "none";
  }
}

std::string MetaText(const results::Meta& meta, const TextOptions& options) {
  std::string out;
  for (const results::Loss& loss : meta.losses()) {
    out += WrapText("Lost: " + FormatNumber(loss.count()) + " (" + loss.name() + "). " + loss.fix(),
                    "", "  ", options.width);
  }
  for (const results::Input& input : meta.inputs()) {
    if (input.fault().empty()) continue;
    out += WrapText(
        "Damaged: " + input.name() + ": " + input.fault() + ". The readable part was read.", "",
        "  ", options.width);
  }
  if (meta.confidence().level() < results::LEVEL_HIGH) {
    out += WrapText("Confidence: " + LevelWord(meta.confidence().level()) + ": " +
                        meta.confidence().reason() + ".",
                    "", "  ", options.width);
  }
  for (const std::string& note : meta.notes())
    out += WrapText("Note: " + note, "", "  ", options.width);
  return out;
}

std::string StackText(const std::vector<const results::Frame*>& frames, size_t most,
                      const std::string& indent, const TextOptions& options) {
  std::string out;
  size_t shown = 0;
  for (const results::Frame* each : frames) {
    const results::Frame& frame = *each;
    if (shown++ == most) {
      out += indent + "... " + std::to_string(frames.size() - most) + " more frames\n";
      break;
    }
    std::string line = ShownName(frame, options);
    // A name that was not found holds the module already.
    if (!frame.module().empty() && frame.name().find(frame.module()) == std::string::npos) {
      line += "  [" + frame.module() + "]";
    }
    if (!frame.file().empty()) {
      line += "  " + frame.file().substr(frame.file().rfind('/') + 1) + ":" +
              std::to_string(frame.line());
    }
    line = indent + OneLine(line);
    out += (options.width > 0 ? CutTo(line, static_cast<size_t>(options.width)) : line) + "\n";
  }
  return out;
}

std::string Unfinished(uint64_t count) {
  return count == 0 ? "" : " (" + FormatNumber(count) + " unfinished)";
}

namespace {

std::string MethodWords(const results::StepSeries& series) {
  switch (series.method()) {
    case results::STEP_METHOD_MARKER:
      return "the given marker, first match \"" + series.marker() + "\"";
    case results::STEP_METHOD_RANGES:
      return "the program's own ranges \"" + series.marker() + "\"";
    case results::STEP_METHOD_OPTIMIZER:
      return "optimizer steps \"" + series.marker() + "\"";
    case results::STEP_METHOD_LOADER:
      return "loader batches \"" + series.marker() + "\"";
    case results::STEP_METHOD_BACKWARD:
      return "backward passes";
    default:
      return "nothing";
  }
}

// Returns whether only operations of a framework make the category.
bool IsPhase(const results::StepCategory& category) {
  return category.name() == "input" || category.name() == "forward" ||
         category.name() == "backward" || category.name() == "optimizer";
}

// Returns whether the steps hold operations. Steps of ranges may hold none.
bool HasPhases(const results::StepSeries& series) {
  return series.method() != results::STEP_METHOD_RANGES ||
         std::any_of(series.categories().begin(), series.categories().end(),
                     [](const results::StepCategory& category) {
                       return IsPhase(category) && category.total_ns() != 0;
                     });
}

std::string Plural(uint64_t count, const std::string& noun) {
  return FormatNumber(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string SeriesText(const results::StepSeries& series, const TextOptions& options) {
  std::string out =
      Plural(series.count(), "step") + " of " + OneLine(series.name()) + " (pid " +
      std::to_string(series.pid()) +
      (series.tid() == series.pid() ? "" : ", thread " + std::to_string(series.tid())) +
      "): median " + FormatDuration(series.median_ns()) + ", p10 " +
      FormatDuration(series.p10_ns()) + ", p90 " + FormatDuration(series.p90_ns()) + ", spread " +
      FormatPercent(series.spread_ratio()) + "\n";
  out += WrapText("found by " + MethodWords(series) + "; confidence " +
                      LevelWord(series.confidence().level()) + ": " + series.confidence().reason(),
                  "  ", "  ", options.width);
  std::string words = FormatPercent(series.coverage_ratio()) + " of the capture of " +
                      FormatDuration(series.captured_ns()) + " lies in steps";
  if (series.warmup_count() > 0) {
    words += "; " + Plural(series.warmup_count(), "warm-up step") + " (" +
             FormatDuration(series.warmup_ns()) + ") left out";
  }
  if (series.outlier_count() > 0) words += "; " + Plural(series.outlier_count(), "outlier");
  if (series.partial_count() > 0)
    words +=
        "; " + FormatNumber(series.partial_count()) + " without a begin or an end in the capture";
  if (series.other_batch_count() > 0) {
    words += "; " + FormatNumber(series.other_batch_count()) +
             (series.other_batch_count() == 1 ? " call" : " calls") +
             " of the loader outside steps (at the end of an epoch it has no more batches)";
  }
  if (series.batches_per_step() > 1.001) {
    words += "; " + FormatReal(series.batches_per_step()) + " batches per step";
  }
  out += WrapText(words, "  ", "  ", options.width);
  TextTable table;
  using Align = TextTable::Align;
  table.AddColumn("category", Align::kLeft);
  for (const char* header : {"share", "mean", "p10", "median", "p90"}) {
    table.AddColumn(header, Align::kRight);
  }
  table.AddColumn("meaning", Align::kLeft, true);
  const bool has_phases = HasPhases(series);
  for (const results::StepCategory& c : series.categories()) {
    if (!has_phases && IsPhase(c)) continue;
    table.AddRow({c.name(), FormatPercent(c.share_ratio()), FormatDuration(c.mean_ns()),
                  FormatDuration(c.p10_ns()), FormatDuration(c.median_ns()),
                  FormatDuration(c.p90_ns()), c.meaning()});
  }
  return out + "\n" + table.Render(options.table_width) + "\n";
}

TextTable OpRows(const google::protobuf::RepeatedPtrField<results::Op>& ops, int most,
                 const TextOptions& options) {
  using Align = TextTable::Align;
  TextTable table;
  const bool stepped = !ops.empty() && ops[0].has_step_ratio();
  const bool split = !ops.empty() && ops[0].has_pid();
  table.AddColumn("operation", Align::kLeft, true);
  table.AddColumn("scope", Align::kLeft);
  const bool by_shape =
      std::any_of(ops.begin(), ops.end(), [](const auto& op) { return op.has_shapes(); });
  if (by_shape) table.AddColumn("shapes of inputs", Align::kLeft);
  if (split) table.AddColumn("pid", Align::kRight);
  if (split && ops[0].has_tid()) table.AddColumn("tid", Align::kRight);
  table.AddColumn("self", Align::kRight);
  table.AddColumn("of all", Align::kRight);
  if (stepped) table.AddColumn("of steps", Align::kRight);
  table.AddColumn("count", Align::kRight);
  if (stepped) table.AddColumn("a step", Align::kRight);
  for (const char* header : {"total", "mean", "max"}) table.AddColumn(header, Align::kRight);
  const bool on_device = !ops.empty() && ops[0].has_device_ns();
  if (on_device) table.AddColumn("on GPU", Align::kRight);
  if (on_device) table.AddColumn("GPU self", Align::kRight);
  const Pids pid(ops);
  for (int i = 0; i < std::min(most, ops.size()); ++i) {
    const results::Op& op = ops[i];
    std::vector<std::string> cells = {ShownName(op, options) + Unfinished(op.incomplete_count()),
                                      op.scope()};
    if (by_shape) cells.push_back(op.has_shapes() ? op.shapes() : "-");
    if (split) cells.push_back(pid(op));
    if (split && ops[0].has_tid()) cells.push_back(std::to_string(op.tid()));
    cells.push_back(FormatDuration(op.self_ns()));
    cells.push_back(FormatPercent(op.self_ratio()));
    if (stepped) cells.push_back(FormatPercent(op.step_ratio()));
    cells.push_back(FormatNumber(op.count()));
    if (stepped) cells.push_back(FormatReal(op.count_per_step()));
    cells.push_back(FormatDuration(op.total_ns()));
    cells.push_back(FormatDuration(op.mean_ns()));
    cells.push_back(FormatDuration(op.max_ns()));
    if (on_device) cells.push_back(FormatDuration(op.device_ns()));
    if (on_device) cells.push_back(FormatDuration(op.device_self_ns()));
    table.AddRow(std::move(cells));
  }
  return table;
}

TextTable LockRows(const google::protobuf::RepeatedPtrField<results::Lock>& locks, int most,
                   const TextOptions& options) {
  using Align = TextTable::Align;
  TextTable table;
  table.AddColumn("waited for in", Align::kLeft, true);
  table.AddColumn("kind", Align::kLeft);
  for (const char* header : {"count", "total", "mean", "max"})
    table.AddColumn(header, Align::kRight);
  table.AddColumn("in steps", Align::kRight);
  table.AddColumn("object", Align::kRight);
  table.AddColumn("pid", Align::kRight);
  table.AddColumn("threads", Align::kLeft, true);
  const Pids pid(locks);
  for (int i = 0; i < std::min(most, locks.size()); ++i) {
    const results::Lock& lock = locks[i];
    std::string threads;
    for (const std::string& name : lock.threads()) threads += (threads.empty() ? "" : ", ") + name;
    const std::string name = ShownName(lock, options) + Unfinished(lock.incomplete_count());
    table.AddRow({name, lock.kind(), FormatNumber(lock.count()), FormatDuration(lock.total_ns()),
                  FormatDuration(lock.mean_ns()), FormatDuration(lock.max_ns()),
                  lock.has_step_ns() ? FormatDuration(lock.step_ns()) : "",
                  FormatAddress(lock.object()), pid(lock), threads});
  }
  return table;
}

}  // namespace gpuprof::analysis
