// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `overview`: the other passes' main figures, what the run and the recording were like,
// and what to try. See passes.h.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>

#include "analysis/advice/facts/host_facts.h"
#include "analysis/advice/facts/rank_fact_finder.h"
#include "analysis/advice/facts/run_account.h"
#include "analysis/advice/facts/verdict.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/base/enum_word.h"
#include "analysis/derived/input_pipeline.h"
#include "analysis/model/command_line.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/open_launches.h"
#include "analysis/passes/device/overview_devices.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/step_periods.h"
#include "analysis/passes/device/step_rows.h"
#include "analysis/passes/host/call_stacks.h"
#include "analysis/passes/host/function_times.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/passes/host/thread_usage.h"
#include "analysis/passes/host/wall_time.h"
#include "analysis/passes/kernels/op_groups.h"
#include "analysis/passes/main_process.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/recorder_cost.h"
#include "analysis/passes/recorder/unrecorded_programs.h"
#include "analysis/steps/statistics.h"
#include "proto/results/heap.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kTopOps = 10;
constexpr size_t kTopWorkerOps = 3;
constexpr int kTopLocks = 5;

// The greatest by what takes() says of a row, none of which takes nothing.
template <typename Takes>
void AddTop(std::vector<const results::Op*> rows, size_t most, const Takes& takes,
            google::protobuf::RepeatedPtrField<results::Op>* out) {
  std::erase_if(rows, [&](const results::Op* op) { return takes(*op) <= 0; });
  std::stable_sort(rows.begin(), rows.end(), [&](const results::Op* a, const results::Op* b) {
    return takes(*a) > takes(*b);
  });
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    *out->Add() = *rows[i];
    out->rbegin()->clear_median_ns();
  }
}

// Ranges that mark steps are no operations: nothing in them is the range's own work.
bool MarksSteps(PassContext& context, const results::Op& op) {
  if (KindOfName(op.name()) == NameKind::kAnnotation) return true;
  const auto is_marked_by = [&](size_t index) {
    const DetectedSteps& found = context.steps(index).detected;
    return found.method == results::STEP_METHOD_RANGES && !found.marker.empty() &&
           op.name().rfind(found.marker, 0) == 0;
  };
  const bool is_users = op.scope() == "user";
  return is_users &&
         std::any_of(context.selected().begin(), context.selected().end(), is_marked_by);
}

void FillOps(PassContext& context, const results::Ops& ops, results::Overview* out) {
  std::vector<const results::Op*> rows;
  for (const results::Op& op : ops.ops()) {
    if (!MarksSteps(context, op)) rows.push_back(&op);
  }
  const bool steps = ops.has_step_count();
  AddTop(
      rows, kTopOps,
      [&](const results::Op& op) { return steps ? op.step_self_ns() : op.self_ns(); },
      out->mutable_top_ops());

  std::set<std::pair<std::string, int32_t>> workers;  // host, pid
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (context.role(index) == results::PROCESS_ROLE_LOADER_WORKER)
      workers.insert({process.host, process.pid});
  }
  if (workers.empty()) return;
  results::Ops theirs;
  ComputeOps(context, OpGrouping::kProcess, false, &theirs);
  // Rows of one name and scope in several workers become one.
  std::map<std::pair<std::string, std::string>, results::Op> sums;
  int64_t self_ns = 0;
  for (const results::Op& op : theirs.ops()) {
    if (workers.count({op.host(), op.pid()}) == 0) continue;
    results::Op& sum = sums[{op.name(), op.scope()}];
    const bool first = sum.count() == 0;
    sum.set_name(op.name());
    sum.set_scope(op.scope());
    // As in the pass `ops`, the mean is of all spans, and the total leaves out nested ones.
    const double spans_ns = static_cast<double>(sum.mean_ns()) * static_cast<double>(sum.count()) +
                            static_cast<double>(op.mean_ns()) * static_cast<double>(op.count());
    sum.set_count(sum.count() + op.count());
    sum.set_mean_ns(static_cast<int64_t>(spans_ns / static_cast<double>(sum.count())));
    sum.set_total_ns(sum.total_ns() + op.total_ns());
    sum.set_self_ns(sum.self_ns() + op.self_ns());
    sum.set_min_ns(first ? op.min_ns() : std::min(sum.min_ns(), op.min_ns()));
    sum.set_max_ns(std::max(sum.max_ns(), op.max_ns()));
    sum.set_incomplete_count(sum.incomplete_count() + op.incomplete_count());
    sum.set_thread_count(sum.thread_count() + op.thread_count());
    sum.set_process_count(sum.process_count() + 1);
    for (const results::OpPlace& place : op.places()) *sum.add_places() = place;
    self_ns += op.self_ns();
  }
  rows.clear();
  for (auto& [key, sum] : sums) {
    sum.set_self_ratio(Ratio(sum.self_ns(), self_ns));
    rows.push_back(&sum);
  }
  AddTop(
      rows, kTopWorkerOps, [](const results::Op& op) { return op.self_ns(); },
      out->mutable_worker_ops());
}

// From the first counted step to the last.
Interval StepWindow(const StepAnalysis& steps) {
  const std::vector<Interval> spans = steps.Counted();
  return spans.empty() ? Interval{} : Interval{spans.front().start, spans.back().end};
}

void FillInput(PassContext& context, size_t leading, results::OverviewInput* input) {
  const StepAnalysis& steps = context.steps(leading);
  const Process& process = context.process(leading);
  // Of several loaders the one that was asked last, as in steps.
  for (const auto& [id, text] : process.strings) {
    if (KindOfName(text) == NameKind::kLoaderNext &&
        (input->loader().empty() || text < input->loader())) {
      input->set_loader(text);
    }
  }
  constexpr auto kInput = static_cast<size_t>(Category::kInput);
  const StepTimes& times = steps.summary.categories[kInput];
  input->set_share_ratio(Ratio(times.total_ns, steps.summary.lengths.total_ns));
  input->set_mean_ns(times.mean_ns);
  for (const Step& step : steps.steps) {
    if (step.is_warmup) continue;
    input->set_max_ns(std::max(input->max_ns(), step.times[kInput]));
    if (step.times[kInput] * 100 > steps.summary.lengths.median_ns) {
      input->set_waiting_step_count(input->waiting_step_count() + 1);
    }
  }
  const Interval window = StepWindow(steps);
  double busy = 0, runqueue = 0;
  uint32_t measured = 0;
  std::vector<Interval> lives;
  for (const size_t index : context.selected()) {
    if (context.role(index) != results::PROCESS_ROLE_LOADER_WORKER) continue;
    if (context.process(index).last_ns <= window.start ||
        context.process(index).first_ns >= window.end) {
      continue;
    }
    lives.push_back({context.process(index).LifeStart(), context.process(index).LifeEnd()});
    const auto use = UseOf(context.process(index), window);
    if (!use) continue;
    ++measured;
    busy += use->busy;
    runqueue += use->runqueue;
  }
  input->set_worker_count(MostAtOnce(lives));
  if (measured == 0) return;
  input->set_worker_busy_ratio(busy / measured);
  input->set_worker_runqueue_wait_ratio(runqueue / measured);
  input->set_worker_cpu_per_step_ns(
      static_cast<int64_t>(busy * static_cast<double>(steps.summary.lengths.mean_ns)));
}

void FillMemory(PassContext& context, results::Heap& heap, CallStackTable* table,
                results::OverviewMemory* memory) {
  const results::HeapProcess* highest = nullptr;
  for (const results::HeapProcess& process : heap.processes()) {
    memory->set_count(memory->count() + process.count());
    memory->set_allocated_bytes(memory->allocated_bytes() + process.allocated_bytes());
    memory->set_allocated_low_bytes(memory->allocated_low_bytes() + process.allocated_low_bytes());
    memory->set_allocated_high_bytes(memory->allocated_high_bytes() +
                                     process.allocated_high_bytes());
    memory->set_end_bytes(memory->end_bytes() + process.end_bytes());
    if (highest == nullptr || process.peak_bytes() > highest->peak_bytes()) highest = &process;
  }
  for (const results::TensorDevice& device : heap.tensors()) {
    results::OverviewTensor* row = memory->add_tensors();
    row->set_name(device.name());
    row->set_pid(device.pid());
    row->set_host(device.host());
    row->set_count(device.count());
    row->set_allocated_bytes(device.allocated_bytes());
    row->set_peak_bytes(device.peak_bytes());
    if (device.has_reported_peak_bytes()) {
      row->set_reported_peak_bytes(device.reported_peak_bytes());
    }
    for (const results::TensorOp& op : heap.tensor_ops()) {
      if (!AreOfOneProcess(op, device) || op.device() != device.name()) continue;
      if (op.peak_bytes() < row->peak_op_bytes() || op.peak_bytes() == 0) continue;
      row->set_peak_op(op.name());
      row->set_peak_op_bytes(op.peak_bytes());
    }
  }
  std::stable_sort(memory->mutable_tensors()->begin(), memory->mutable_tensors()->end(),
                   [](const auto& a, const auto& b) { return a.peak_bytes() > b.peak_bytes(); });
  for (const results::HeapProcess& process : heap.processes())
    memory->set_lost_count(memory->lost_count() + process.lost_count());
  if (highest == nullptr) return;
  memory->set_heap_mode(WordOf(highest->mode()));
  memory->set_period_bytes(highest->period_bytes());
  memory->set_peak_pid(highest->pid());
  memory->set_peak_bytes(highest->peak_bytes());
  memory->set_peak_low_bytes(highest->peak_low_bytes());
  memory->set_peak_high_bytes(highest->peak_high_bytes());
  memory->set_peak_time_ns(highest->peak_time_ns());
  results::HeapStack* top = nullptr;
  for (results::HeapStack& stack : *heap.mutable_stacks()) {
    if (!AreOfOneProcess(stack, *highest)) continue;
    const bool more =
        top == nullptr || stack.peak_bytes() > top->peak_bytes() ||
        (stack.peak_bytes() == top->peak_bytes() && stack.stack_id() < top->stack_id());
    if (more) top = &stack;
  }
  if (top == nullptr) return;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (process.pid == highest->pid() && process.host == highest->host()) {
      NameHeapStack(index, top, table);
      break;
    }
  }
  memory->set_peak_stack_bytes(top->peak_bytes());
  memory->set_peak_stack_name(top->name());
  // From the frame that gave the name on; the pass `heap` has them all.
  uint32_t stack = top->call_stack();
  const auto is_reached = [&] {
    const std::vector<const results::Frame*> frames = FramesOf(table->stacks(), stack);
    return frames.empty() || frames.front()->name() == top->name();
  };
  while (!is_reached()) stack = table->stacks().caller(static_cast<int>(stack));
  memory->set_peak_call_stack(stack);
}

// From the start of the first process to the end of the last.
int64_t LifeOfAll(PassContext& context) {
  Interval life{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    life.start = std::min(life.start, process.LifeStart());
    life.end = std::max(life.end, process.LifeEnd());
  }
  return life.start < life.end ? life.end - life.start : 0;
}

void FillProcess(PassContext& context, size_t index, results::OverviewProcess* row) {
  const Process& process = context.process(index);
  row->set_pid(process.pid);
  row->set_ppid(process.ppid);
  row->set_name(ProcessName(process));
  row->set_role(context.role(index));
  row->set_start_ns(process.LifeStart());
  row->set_end_ns(process.LifeEnd());
  // Files of other tools do not tell how a process ended.
  if (context.trace().importer.empty()) row->set_ended(EndOf(process));
  row->set_host(process.host);
  row->set_recovered(process.recovered);
  row->set_count(process.rows);
  row->set_step_count(context.steps(index).summary.count);
  for (const auto& [kind, count] : LossesOf(process))
    if (IsLossOfEvents(kind)) row->set_lost_count(row->lost_count() + count);
  row->set_thread_count(process.ProgramThreads());
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  if (const auto use = UseOf(process, {-kFar, kFar})) row->set_cpu_ratio(use->busy);
}

void FillMain(PassContext& context, size_t main, results::OverviewMain* out) {
  SetProcess(context.process(main), out);
  out->set_name(ProcessName(context.process(main)));
  out->set_process_count(static_cast<uint32_t>(context.selected().size()));
}

void FillMachine(const Process& process, results::OverviewEnvironment* environment) {
  environment->set_host(process.host);
  environment->set_core_count(process.cores);
  environment->set_memory_bytes(process.memory_bytes);
  environment->set_writer_version(process.writer_version);
  for (const std::string& framework : process.frameworks) environment->add_frameworks(framework);
  for (const auto& [name, value] : process.environment) {
    results::EnvironmentVariable* variable = environment->add_variables();
    variable->set_name(name);
    variable->set_value(value);
  }
  environment->set_command(CommandLine(process.argv));
}

// What the command's starter wrote down: there even when no process was recorded.
void FillCommand(const proto::Bundle& manifest, results::OverviewEnvironment* environment) {
  if (environment->host().empty()) environment->set_host(manifest.host());
  if (manifest.command_size() > 0) environment->set_command(CommandLine(manifest.command()));
  environment->set_kernel(manifest.kernel());
  environment->set_cpu_model(manifest.cpu_model());
  environment->set_gpu_driver(manifest.gpu_driver());
  for (const std::string& setting : manifest.setting()) environment->add_settings(setting);
  if (manifest.has_attachment()) {
    const proto::Attachment& attachment = manifest.attachment();
    const uint64_t started = attachment.process_started_realtime_ns();
    environment->set_attached_after_ns(
        static_cast<int64_t>(attachment.attached_realtime_ns() - started));
    for (const std::string& line : attachment.unseen()) environment->add_unseen(line);
    if (manifest.ended_realtime_ns() != 0)
      environment->set_wall_ns(static_cast<int64_t>(manifest.ended_realtime_ns() - started));
    return;
  }
  if (manifest.ended_realtime_ns() == 0) return;
  environment->set_exit_status(manifest.exit_status());
  environment->set_wall_ns(
      static_cast<int64_t>(manifest.ended_realtime_ns() - manifest.started_realtime_ns()));
}

// Adds the steps for a graph. Of neighbours that share a point, the longest is shown.
void FillStepPoints(const Process& process, const StepAnalysis& found, results::Overview* out) {
  const std::vector<Step>& steps = found.steps;
  constexpr size_t kMostPoints = 1000;
  const size_t each = (steps.size() + kMostPoints - 1) / kMostPoints;
  for (size_t first = 0; first < steps.size(); first += each) {
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(each, steps.size() - first));
    const auto longest = std::max_element(
        begin, end, [](const Step& x, const Step& y) { return x.span.length() < y.span.length(); });
    *out->add_step_points() = StepRow(process, found, *longest);
  }
}

void FillSteps(PassContext& context, std::optional<size_t> leading, results::Overview* out) {
  if (!leading) {
    out->set_steps_advice(context.NoStepsAdvice());
    return;
  }
  const Process& process = context.process(*leading);
  *out->mutable_steps() = SeriesRow(process, context.steps(*leading));
  FillStepPoints(process, context.steps(*leading), out);
  FillInput(context, *leading, out->mutable_input());
  for (const size_t index : context.selected()) {
    for (const StepAnalysis& steps : context.all_steps(index)) {
      const bool is_leading = index == *leading && &steps == &context.steps(index);
      if (!is_leading && steps.found())
        *out->add_more_steps() = SeriesRow(context.process(index), steps);
    }
  }
}

// Fills the step of a program whose steps have no work of a device.
void FillHostStep(const std::vector<Step>& steps, results::Overview* out) {
  const std::vector<Interval> periods = HostPeriods(steps);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < steps.size(); ++i)
    if (!steps[i].is_warmup) lengths.push_back(periods[i].length());
  SetStepPeriod(lengths, out);
}

// Names the waits that steps spend most time in: findings tell of them.
void NameStepWaits(PassContext& context, const std::vector<size_t>& processes,
                   const std::vector<uint32_t>& stacks, CallStackTable* table,
                   results::Locks* locks) {
  constexpr size_t kNamed = 3;
  std::vector<int> waits;
  for (int i = 0; i < locks->locks_size(); ++i)
    if (!locks->locks(i).contended() && locks->locks(i).step_ns() > 0) waits.push_back(i);
  std::stable_sort(waits.begin(), waits.end(), [&](int a, int b) {
    return locks->locks(a).step_ns() > locks->locks(b).step_ns();
  });
  if (waits.size() > kNamed) waits.resize(kNamed);
  for (const int i : waits) {
    const auto at = static_cast<size_t>(i);
    NameLock(context, processes[at], stacks[at], locks->mutable_locks(i), table);
  }
}

std::vector<Finding> FindAll(PassContext& context, std::optional<size_t> leading,
                             const results::Ops& ops, const results::Locks& locks,
                             const results::Heap& heap, std::optional<DeviceFacts> device,
                             const results::Overview& overview) {
  AdviceFacts facts;
  facts.limits = Thresholds(context.options().thresholds);
  facts.device = std::move(device);
  facts.overview = &overview;
  facts.ops = &ops;
  facts.locks = &locks;
  if (leading) {
    const Process& process = context.process(*leading);
    for (const results::HeapProcess& row : heap.processes()) {
      if (row.pid() == process.pid && row.host() == process.host) facts.heap = &row;
    }
    const StepAnalysis& steps = context.steps(*leading);
    const Interval window = StepWindow(steps);
    const auto count = static_cast<int64_t>(std::max<uint64_t>(steps.summary.count, 1));
    facts.bare_step_ns = steps.bare_ns / count;
    facts.optimizer_python_ns = steps.optimizer_python_ns / count;
    const Track& track = process.tracks[steps.detected.track];
    if (const auto usage = UsageWithin(track, LifeOf(track), window)) {
      facts.step_runqueue_wait_ns = usage->runqueue_wait_ns;
      facts.step_measured_ns = usage->runqueue_covered_ns;
    }
    double busy = 0;
    for (const size_t index : context.selected()) {
      if (const auto use = UseOf(context.process(index), window)) busy += use->busy;
    }
    if (busy > 0) facts.busy_cores = busy;
  } else {
    facts.run = AccountForRun(context);
    facts.samples = FindSampleFacts(context, facts.limits);
  }
  FillHostFacts(context, leading, &facts);
  ArrivalWindows windows;
  if (leading) {
    const std::vector<Interval> steps = context.steps(*leading).Counted();
    if (!steps.empty()) windows.of_calls = {steps.front().start, steps.back().end};
  }
  if (facts.device)
    windows.of_kernels = {facts.device->series.start_ns(), facts.device->series.end_ns()};
  facts.late_rank = FindLateRank(context, windows, facts.limits);
  std::vector<Finding> findings = Advise(facts);
  for (Finding& finding : findings) {
    // Losses are what the one tells, and the other tells of waits that were recorded.
    if (finding.id == "EN-002" || finding.id == "SY-006") continue;
    results::Confidence confidence;
    confidence.set_level(finding.level);
    context.LimitToEvents(&confidence);
    if (confidence.level() == finding.level) continue;
    finding.level = confidence.level();
    finding.reason = {"all.given", {say::Name(confidence.reason())}};
  }
  return findings;
}

// An overview with its findings, and the options of the question.
struct KeptOverview {
  std::optional<PassOptions> options;  // none: there is no overview yet
  results::Overview overview;
  std::vector<Finding> findings;
};

void ComputeOverview(PassContext& context, KeptOverview* kept) {
  kept->overview.Clear();
  results::Overview* const out = &kept->overview;
  const std::optional<size_t> leading = context.Leading();
  FillSteps(context, leading, out);

  const results::Ops& ops = OpsByName(context);
  FillOps(context, ops, out);

  results::Locks locks;
  std::vector<size_t> lock_processes;
  std::vector<uint32_t> lock_stacks;
  ComputeLocks(context, &locks, &lock_processes, &lock_stacks);
  CallStackTable table(&context, out->mutable_call_stacks());
  FillDeadlocks(context, &locks, &table);
  for (int i = 0; i < std::min(kTopLocks, locks.locks_size()) && locks.locks(i).contended(); ++i) {
    const auto at = static_cast<size_t>(i);
    NameLock(context, lock_processes[at], lock_stacks[at], locks.mutable_locks(i), &table);
    *out->add_top_locks() = locks.locks(i);
  }

  NameStepWaits(context, lock_processes, lock_stacks, &table, &locks);

  results::Heap heap;
  for (const size_t index : context.selected()) {
    ComputeHeap(context, index, &heap);
    ComputeTensors(context, index, &heap);
  }
  FillMemory(context, heap, &table, out->mutable_memory());
  if (!FillTopFunctions(context, out->mutable_functions())) out->clear_functions();
  FillOverviewGpu(context, out);
  std::optional<DeviceFacts> device = FillVerdict(context, out);
  if (out->has_verdict()) FillActivity(context, out->mutable_verdict());
  if (leading && !out->has_step()) FillHostStep(context.steps(*leading).steps, out);
  for (const size_t index : context.selected()) FillProcess(context, index, out->add_processes());
  context.FillMeta("overview", out->mutable_meta());
  AddUnrecordedNotes(context, out->mutable_meta());
  if (!context.selected().empty()) {
    const size_t main = MainProcess(context).value_or(context.selected().front());
    FillMain(context, main, out->mutable_main());
    if (context.trace().importer.empty()) {
      FillRecorderCost(context, main, out->mutable_cost());
      FillCaptured(context, out->mutable_cost());
    }
    FillMachine(context.process(main), out->mutable_environment());
    FillWallTime(context, main, out);
  }
  FillDevices(context, out->mutable_environment());
  out->mutable_environment()->set_wall_ns(LifeOfAll(context));
  if (context.trace().has_manifest)
    FillCommand(context.trace().manifest, out->mutable_environment());
  results::Confidence* confidence = out->mutable_meta()->mutable_confidence();
  context.FillCountConfidence(out->meta(), confidence);
  if (leading && out->steps().confidence().level() < confidence->level()) {
    *confidence = out->steps().confidence();
  }
  // Its figures of memory need what came before.
  if (heap.processes_size() > 0 || heap.tensors_size() > 0 || out->gpu().has_memory_peak_bytes())
    context.LimitToWindow(confidence);
  if (out->has_gpu()) AddSampledNote(context, "", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  for (const size_t index : context.selected())
    AddOpenLaunchNotes(context, index, out->mutable_meta());
  kept->findings = FindAll(context, leading, ops, locks, heap, std::move(device), *out);
}

// Returns whether questions of one choice have the same overview.
bool HaveOneOverview(const PassOptions& x, const PassOptions& y) {
  return x.symbolize == y.symbolize && x.symfs == y.symfs && x.thresholds == y.thresholds &&
         x.named_rows == y.named_rows && x.left_out.Contains(y.left_out) &&
         y.left_out.Contains(x.left_out);
}

const KeptOverview& KeptOf(PassContext& context) {
  const PassOptions& options = context.options();
  KeptOverview& kept = context.kept_of_all().Get<KeptOverview>([] { return KeptOverview(); });
  if (!kept.options || !HaveOneOverview(*kept.options, options)) {
    kept.options.reset();
    ComputeOverview(context, &kept);
    kept.options = options;
  }
  return kept;
}

}  // namespace

const results::Overview& OverviewOf(PassContext& context) { return KeptOf(context).overview; }

const std::vector<Finding>& FindingsOf(PassContext& context) { return KeptOf(context).findings; }

Error RunOverview(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  *result = std::make_unique<results::Overview>(OverviewOf(context));
  return {};
}

}  // namespace gpuprof::analysis
