// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See context.h.

#include "analysis/passes/context.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>

#include "analysis/base/figures.h"
#include "analysis/base/parallel.h"
#include "analysis/base/units.h"
#include "analysis/derived/host_activity.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/launched_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/roles.h"
#include "analysis/derived/row_details.h"
#include "analysis/model/cuda_versions.h"
#include "analysis/model/job.h"
#include "analysis/model/modules.h"
#include "analysis/model/names.h"
#include "analysis/model/process_groups.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/passes/recorder/budget_use.h"
#include "analysis/passes/recorder/skipped.h"
#include "analysis/passes/recorder/unrelated_files.h"
#include "analysis/passes/registry.h"
#include "analysis/steps/function_runs.h"
#include "analysis/steps/numbered_steps.h"
#include "analysis/steps/program_runs.h"
#include "proto/snapshot_request.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kMostNotes = 4;  // of one kind, before they are told together

uint64_t RowsOfAll(const Trace& trace, proto::ChunkKind kind) {
  uint64_t rows = 0;
  for (const Process& process : trace.processes) {
    for (const Track& track : process.tracks) rows += track.Rows(kind);
  }
  return rows;
}

// By the headers: whether the rows were read does not matter.
bool HasSamples(const Trace& trace) {
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds)
      if (totals.kind == static_cast<uint16_t>(proto::ChunkKind::kSample) && totals.rows != 0)
        return true;
  }
  return false;
}

// Of stacks taken, those that end early, by the reasons that health has.
struct CutStacks {
  uint64_t taken = 0;
  uint64_t no_rule = 0;
  uint64_t out_of_bounds = 0;
  uint64_t no_resolver = 0;

  uint64_t cut() const { return no_rule + out_of_bounds + no_resolver; }
  void Add(const proto::Health& health) {
    taken += health.stack_samples();
    no_rule += health.stack_walks().no_rule();
    out_of_bounds += health.stack_walks().out_of_bounds();
    no_resolver += health.stack_walks().no_resolver();
  }
  std::string Text() const {
    std::string reasons;
    const auto add = [&reasons](uint64_t count, std::string_view reason) {
      if (count == 0) return;
      reasons += (reasons.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(reason);
    };
    add(no_rule, "in code without unwind tables or frame pointers");
    add(out_of_bounds, "at a frame outside the stack");
    add(no_resolver, "while the process forked");
    return std::to_string(cut()) + " of " + std::to_string(taken) + " end early: " + reasons;
  }
};

// Stacks that end early make the tables' outermost names wrong: said from one in a hundred on. A
// tree of compilers has hundreds of such processes: beyond a few they are told together.
void AddStackNotes(const std::vector<const Process*>& processes, results::Meta* meta) {
  std::vector<std::pair<const Process*, CutStacks>> affected;
  CutStacks all;
  for (const Process* process : processes) {
    CutStacks stacks;
    stacks.Add(process->health);
    if (stacks.cut() == 0 || stacks.cut() * 100 < stacks.taken) continue;
    affected.emplace_back(process, stacks);
    all.Add(process->health);
  }
  if (affected.size() > kMostNotes) {
    meta->add_notes(std::to_string(affected.size()) + " processes: stacks: " + all.Text());
    return;
  }
  for (const auto& [process, stacks] : affected) {
    meta->add_notes("pid " + std::to_string(process->pid) + ": stacks: " + stacks.Text());
  }
}

// Nothing else in a result shows that the recording began earlier.
void AddWindowNotes(const std::vector<const Process*>& processes, results::Meta* meta) {
  std::vector<const Process*> affected;
  for (const Process* process : processes) {
    if (process->kept_from_ns != INT64_MIN) affected.push_back(process);
  }
  constexpr std::string_view kMeaning =
      "; losses are counted for the whole run, all other figures for the kept part";
  if (affected.size() > kMostNotes) {
    meta->add_notes(std::to_string(affected.size()) +
                    " processes: ring: a flight recorder kept only the newest part of each; the "
                    "older part was discarded (--ring)" +
                    std::string(kMeaning));
    return;
  }
  for (const Process* process : affected) {
    meta->add_notes("pid " + std::to_string(process->pid) +
                    ": ring: a flight recorder kept only the newest part, " +
                    FormatDuration(CapturedTime(*process)) + " of " +
                    FormatDuration(process->recorded_ns) + "; " + WhatWasLetGo(*process) +
                    std::string(kMeaning));
  }
}

// Says which files were found nowhere, and the remedy.
std::string MissingNote(const std::set<std::string>& paths, const std::string& symfs) {
  constexpr size_t kMostNamed = 4;
  const bool one = paths.size() == 1;
  std::string names;
  size_t named = 0;
  for (const std::string& path : paths) {
    if (named++ == kMostNamed) break;
    names += (names.empty() ? "" : ", ") + path;
  }
  if (paths.size() > kMostNamed)
    names += " and " + std::to_string(paths.size() - kMostNamed) + " more";
  return (one ? "a file is" : std::to_string(paths.size()) + " files are") +
         (symfs.empty() ? " not on this machine" : " neither under " + symfs + " nor at the path") +
         ", so functions in " + (one ? "it" : "them") + " have no names: " + names +
         (symfs.empty()
              ? ". With copies in a folder, --symfs DIR finds them under DIR by their paths"
              : "");
}

// Returns the rows of these tables. Others may have been read for other passes.
uint64_t RowsOf(const Process& process, const TableSet& tables) {
  uint64_t rows = 0;
  for (const Track& track : process.tracks) {
    for (const TableExtent& extent : track.extents) {
      if (tables.Has(static_cast<proto::ChunkKind>(extent.kind))) rows += extent.rows;
    }
  }
  return rows;
}

// Returns why a trigger took this snapshot. Empty: this is none, or somebody asked for it.
std::string SnapshotReason(const Process& process) {
  static const std::string begin = std::string(proto::kSnapshotMark) + proto::kReasonMark;
  if (process.captures.empty()) return "";
  const std::string& trigger = process.captures.back().stop_trigger;
  return trigger.starts_with(begin) ? trigger.substr(begin.size()) : "";
}

// Says that tables are not in the figures, and which command reads them.
void AddLeftOutNote(std::string_view pass, const Trace& trace, const PassOptions& options,
                    results::Meta* meta) {
  std::string names;
  uint64_t rows = 0;
  for (const proto::TableSpec& table : proto::kTables) {
    if (!options.left_out.Has(table.kind)) continue;
    names += (names.empty() ? "" : ", ") + std::string(table.name);
    for (const Process& process : trace.processes) {
      for (const KindTotals& totals : process.kinds)
        rows += totals.kind == static_cast<uint16_t>(table.kind) ? totals.rows : 0;
    }
  }
  if (names.empty()) return;
  meta->add_notes(
      FormatNumber(rows) +
      " rows of these tables are not in the figures, as they are too many for a page: " + names +
      ". This command reads all of them: " + CommandOf(pass, options));
}

}  // namespace

PassContext::PassContext(Session* session, const PassOptions& options)
    : trace_(&session->trace()),
      options_(&options),
      session_(session),
      choice_(&session->OfChoice(options)),
      symbolizers_(trace_->processes.size()) {}

Error PassContext::Prepare() {
  for (size_t i = 0; i < trace_->processes.size(); ++i) {
    if (options_->pid == 0 || trace_->processes[i].pid == options_->pid) selected_.push_back(i);
  }
  if (selected_.empty() && options_->pid != 0) {
    std::string known;
    for (size_t i = 0; i < trace_->processes.size() && i < 8; ++i) {
      known += (i == 0 ? "" : ", ") + std::to_string(trace_->processes[i].pid);
    }
    return {ErrorKind::kUsage, "No process " + std::to_string(options_->pid) +
                                   " in this trace. Its processes are: " + known + "."};
  }
  if (!options_->step_marker.empty()) {
    std::string reason;
    marker_ = RegularExpression::Of(options_->step_marker, &reason);
    if (marker_ == nullptr)
      return {ErrorKind::kUsage, "The step marker '" + options_->step_marker +
                                     "' is not a regular expression: " + reason + "."};
  }
  return {};
}

size_t PassContext::Owner(size_t index) const {
  const Process& of = process(index);
  size_t owner = 0;
  while (process(owner).pid != of.pid || process(owner).host != of.host) ++owner;
  return owner;
}

ProcessOps& PassContext::ops(size_t index) {
  std::unique_ptr<ProcessOps>& ops = session_->OfProcess(index).ops;
  if (!ops) ops = std::make_unique<ProcessOps>(process(index));
  return *ops;
}

const CallIndex& PassContext::calls(size_t index) {
  DerivedOfProcess& derived = session_->OfProcess(index);
  std::call_once(derived.calls_once,
                 [&] { derived.calls = std::make_unique<CallIndex>(process(index)); });
  return *derived.calls;
}

std::shared_ptr<const ProcessDevices> PassContext::devices(size_t index) {
  auto& devices = choice_->devices;
  if (devices.second == nullptr || devices.first != index)
    devices = {index, std::make_shared<const ProcessDevices>(*this, index)};
  return devices.second;
}

RowDetails& PassContext::details(size_t index) {
  return kept(index).Get<RowDetails>([&] { return RowDetails(process(index)); });
}

KernelFamilies& PassContext::families(size_t index) {
  return kept(index).Get<KernelFamilies>([&] { return KernelFamilies(process(index)); });
}

KernelClasses& PassContext::classes(size_t index) {
  return kept(index).Get<KernelClasses>(
      [&] { return KernelClasses(&ops(index), &calls(index), &details(index), &families(index)); });
}

Origin& PassContext::origin(size_t index) {
  return kept(index).Get<Origin>([&] { return Origin(&ops(index), calls(index)); });
}

HostActivity& PassContext::host(size_t index) {
  return kept(index).Get<HostActivity>([&] { return HostActivity(&ops(index)); });
}

const LaunchedWork& PassContext::launched(size_t index) {
  return kept(index).Get<LaunchedWork>(
      [&] { return LaunchedWork(&ops(index), &origin(index), &details(index)); });
}

const std::vector<StepAnalysis>& PassContext::all_steps(size_t index) {
  std::vector<StepAnalysis>& steps = choice_->of_processes[index].steps;
  if (!steps.empty()) return steps;
  steps = NumberedSteps(*trace_, ops(index), marker_.get());
  for (StepAnalysis& each : steps) {
    results::Confidence confidence;
    confidence.set_level(each.summary.confidence.level);
    confidence.set_reason(each.summary.confidence.reason);
    LimitToEvents(&confidence);
    each.summary.confidence = {confidence.level(), confidence.reason()};
  }
  return steps;
}

results::ProcessRole PassContext::role(size_t index) {
  std::optional<results::ProcessRole>& role = choice_->of_processes[index].role;
  if (role) return *role;
  const StepAnalysis& own = steps(index);
  const RoleFacts facts = {own.found(), own.detected.trains, [this](size_t process) {
                             return ops(process).has(NameKind::kLoaderNext);
                           }};
  role = RoleOf(*trace_, index, facts);
  return *role;
}

std::optional<size_t> PassContext::Leading() {
  // Several threads find the steps of several processes. They read what this call keeps.
  results::Confidence unused;
  LimitToEvents(&unused);
  ParallelFor(selected_.size(), 0, [this](size_t i, int) { all_steps(selected_[i]); });
  std::optional<size_t> best;
  auto trains = [&](size_t i) { return steps(i).detected.trains; };
  for (const size_t i : selected_) {
    if (!steps(i).found()) continue;
    const bool better =
        !best || (trains(i) != trains(*best)
                      ? trains(i)
                      : steps(i).summary.lengths.total_ns > steps(*best).summary.lengths.total_ns);
    if (better) best = i;
  }
  return best;
}

std::string PassContext::NoStepsAdvice() const {
  bool framework = false, pytorch = false, tensorflow = false, jax = false;
  for (const size_t i : selected_) {
    for (const std::string& name : process(i).frameworks) {
      framework = true;
      pytorch = pytorch || name.starts_with("torch");
      tensorflow = tensorflow || name.starts_with("TensorFlow");
      jax = jax || name.starts_with("JAX");
    }
  }
  const bool has_marks = marker_ == nullptr && trace_->importer.empty() &&
                         RowsOfAll(*trace_, proto::ChunkKind::kOp) != 0;
  if (jax && has_marks) return NoStepsOfJax();
  if (tensorflow && has_marks) return NoStepsOfTensorFlow();
  return analysis::NoStepsAdvice({.op_rows = RowsOfAll(*trace_, proto::ChunkKind::kOp),
                                  .marker_given = marker_ != nullptr,
                                  .framework_seen = framework,
                                  .pytorch_seen = pytorch,
                                  .is_window = IsWindow(),
                                  .is_xspace = trace_->importer == kXSpaceImporter,
                                  .has_samples = HasSamples(*trace_)});
}

void PassContext::Resolve(size_t index, uint64_t pc, PcKind kind, results::Frame* frame) {
  if (IsNamedFrame(pc)) {
    frame->set_name(process(index).String(NameOfFrame(pc)));
    return;
  }
  frame->set_pc(TrueAddress(pc));
  if (!options_->symbolize) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%" PRIx64, TrueAddress(pc));
    frame->set_name(text);
    return;
  }
  std::unique_ptr<Symbolizer>& symbolizer = symbolizers_[index];
  if (!symbolizer)
    symbolizer = std::make_unique<Symbolizer>(process(index),
                                              PlacesOf(*trace_, process(index), options_->symfs));
  const Frame& found = symbolizer->Resolve(pc, kind);
  frame->set_name(found.function);
  frame->set_module(found.module);
  frame->set_offset(found.offset);
  frame->set_file(found.file);
  frame->set_line(found.line);
}

std::vector<uint64_t> PassContext::StackPcs(size_t index, uint32_t stack) const {
  std::vector<uint64_t> pcs;
  const StackTree& nodes = process(index).stacks;
  StackNode node;
  for (int i = 0; stack > 1 && i < kMostFrames && nodes.Find(stack, &node); ++i) {
    pcs.push_back(node.pc);
    stack = node.parent;
  }
  return pcs;
}

void PassContext::AddNameNotes(bool of_all_files, results::Meta* meta) {
  if (!options_->symbolize) return;
  std::set<std::string> missing;
  for (const size_t i : selected_) {
    const Symbolizer* symbolizer = symbolizers_[i].get();
    if (of_all_files) {
      const SymbolPlaces places = PlacesOf(*trace_, process(i), options_->symfs);
      for (std::string& path : MissingFiles(process(i), places)) missing.insert(std::move(path));
    }
    if (symbolizer == nullptr) continue;
    for (std::string& path : symbolizer->Missing()) missing.insert(std::move(path));
    for (const std::string& note : symbolizer->Notes()) {
      const auto& notes = meta->notes();
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) meta->add_notes(note);
    }
  }
  if (!missing.empty()) meta->add_notes(MissingNote(missing, options_->symfs));
}

void PassContext::FillMeta(std::string_view pass, results::Meta* meta) {
  meta->set_pass(std::string(pass));
  meta->set_schema_version(kResultSchema);
  meta->set_path(trace_->path);
  meta->set_origin_realtime_ns(trace_->origin_realtime_ns);
  if (!selection_note_.empty()) meta->add_notes(selection_note_);
  AddLeftOutNote(pass, *trace_, *options_, meta);
  for (const ImportNote& note : trace_->import_notes)
    meta->add_notes(trace_->importer + ": " + ImportNoteText(note));
  if (const std::string note = UnrelatedFilesNote(*trace_, selected_); !note.empty())
    meta->add_notes(note);
  if (const std::string note = MissingRanksNote(trace_->manifest); !note.empty())
    meta->add_notes(note);
  std::map<int, uint64_t> losses;
  std::vector<const Process*> processes;
  bool waits = true;  // the threads of each process with a ring that was full
  bool first = true;
  for (const size_t i : selected_) {
    const Process& p = process(i);
    results::Input* input = meta->add_inputs();
    input->set_name(p.file);
    input->set_pid(p.pid);
    input->set_count(selection_note_.empty() ? p.rows : RowsOf(p, TablesOf(pass, *options_)));
    input->set_size_bytes(p.file_bytes);
    input->set_recovered(p.recovered);
    for (const InputFault& fault : trace_->faults) {
      if (fault.file == p.file && input->fault().empty()) {
        input->set_fault(fault.what + " at offset " + std::to_string(fault.offset));
      }
    }
    for (const auto& [kind, count] : LossesOf(p)) {
      losses[kind] += count;
      if (kind == proto::LOSS_RING_FULL) waits &= WaitsForRoom(p);
    }
    processes.push_back(&p);
    if (const std::string note = BudgetNote(p); !note.empty()) meta->add_notes(note);
    for (const proto::Note& note : p.health.note()) {
      // What was used, not what was in the way.
      if (note.source() == kVersionSource || note.source() == kGroupNoteSource) continue;
      meta->add_notes("pid " + std::to_string(p.pid) + ": " + note.source() + ": " + note.text());
    }
    if (p.in_segments) {
      const std::string pid = std::to_string(p.pid);
      meta->add_notes("pid " + pid +
                      " still runs as a flight recorder (--ring), so its events are not in its "
                      "trace yet. `gpuprof ctl snapshot " +
                      pid +
                      "` writes them into a folder snapshot-* of the bundle. Read that folder");
    } else if (p.alive) {
      meta->add_notes("pid " + std::to_string(p.pid) + " still runs: more events may come");
    }
    if (const std::string reason = SnapshotReason(p); !reason.empty())
      meta->add_notes("pid " + std::to_string(p.pid) + ": this snapshot was taken because " +
                      reason);
    if (p.lacks_end()) {
      meta->add_notes("pid " + std::to_string(p.pid) +
                      ": its trace has no end: the last records are missing. If its ring file "
                      "exists, `gpuprof recover` completes the trace when the disk has free space");
    }
    if (const uint32_t count = p.health.namespaces(); count != 0) {
      meta->add_notes("pid " + std::to_string(p.pid) + ": the program made " +
                      std::to_string(count) + (count == 1 ? " namespace" : " namespaces") +
                      " of libraries with dlmopen. Allocations, locks and threads there are not "
                      "recorded, because each namespace has its own C library");
    }
    if (const uint64_t ns = p.health.activity_missing_ns(); ns != 0) {
      meta->add_notes(
          "pid " + std::to_string(p.pid) + ": cuda: the CUPTI records of " + FormatLastTime(ns) +
          " before its end are missing: " +
          (p.recovered ? "they were lost with the process" : "CUPTI did not deliver them"));
    }
    if (p.cupti_clock.is_lost) {
      meta->add_notes("pid " + std::to_string(p.pid) + ": cuda: CUPTI's clock was set back by " +
                      FormatDuration(-p.cupti_clock.step_ns) +
                      ", to before its last reading. From then on, times on the GPU and figures "
                      "made from these times are wrong; durations are right");
    }
    meta->set_window_start_ns(first ? p.first_ns : std::min(meta->window_start_ns(), p.first_ns));
    meta->set_window_end_ns(first ? p.last_ns : std::max(meta->window_end_ns(), p.last_ns));
    first = false;
  }
  FillSkipped(*trace_, processes, SubjectsOf(pass), meta);
  AddNameNotes(pass == "overview" || pass == "health", meta);
  AddWindowNotes(processes, meta);
  AddStackNotes(processes, meta);
  for (const auto& [kind, count] : losses) {
    results::Loss* loss = meta->add_losses();
    loss->set_name(std::string(LossKindName(static_cast<uint32_t>(kind))));
    loss->set_count(count);
    loss->set_fix(std::string(LossFix(static_cast<proto::LossKind>(kind), waits)));
    if (IsLossOfEvents(static_cast<proto::LossKind>(kind)))
      meta->set_lost_count(meta->lost_count() + count);
  }
}

void PassContext::FillCountMeta(std::string_view pass, results::Meta* meta) {
  FillMeta(pass, meta);
  FillCountConfidence(*meta, meta->mutable_confidence());
}

void PassContext::FillCountConfidence(const results::Meta& meta,
                                      results::Confidence* confidence) const {
  uint64_t rows = 0;
  for (const results::Input& input : meta.inputs()) rows += input.count();
  uint64_t written = 0;
  for (const size_t i : selected_) written += WrittenRecords(process(i));
  if (rows == 0) {
    confidence->set_level(results::LEVEL_NONE);
    confidence->set_reason(trace_->faults.empty()
                               ? "no event was recorded"
                               : "no event could be read: files are damaged or not readable");
  } else if (!trace_->faults.empty()) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("files are damaged, cut, or not readable: their events are missing");
  } else if (AnyLacksEnd()) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("a trace has no end: its last records are missing");
  } else if (AnyLostThread()) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("a process died, and its last records were only in memory");
  } else if (AnyLacksActivity()) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("the last CUPTI records of a process are missing");
  } else if (AnyLostClock()) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("the clock of the times on the GPU was set back too far");
  } else if (meta.lost_count() * 100 > written) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("more than 1 % of the records were lost");
  } else if (meta.lost_count() > 0) {
    confidence->set_level(results::LEVEL_MEDIUM);
    confidence->set_reason("some records were lost");
  } else {
    confidence->set_level(results::LEVEL_HIGH);
    confidence->set_reason(IsWindow()
                               ? "every record of the part that the flight recorder kept is present"
                               : "every record is present");
  }
}

bool PassContext::IsWindow() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [&](size_t i) { return process(i).kept_from_ns != INT64_MIN; });
}

bool PassContext::AnyLostThread() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [&](size_t i) { return LostThreads(process(i)) != 0; });
}

bool PassContext::AnyLacksActivity() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [&](size_t i) { return process(i).health.activity_missing_ns() != 0; });
}

bool PassContext::AnyLostClock() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [&](size_t i) { return process(i).cupti_clock.is_lost; });
}

bool PassContext::AnyLacksEnd() const {
  return std::any_of(selected_.begin(), selected_.end(),
                     [&](size_t i) { return process(i).lacks_end(); });
}

void PassContext::LimitToWindow(results::Confidence* confidence) const {
  if (!IsWindow() || confidence->level() <= results::LEVEL_LOW) return;
  confidence->set_level(results::LEVEL_LOW);
  confidence->set_reason(
      "a flight recorder discarded the older part (--ring): memory allocated then is not counted");
}

}  // namespace gpuprof::analysis
