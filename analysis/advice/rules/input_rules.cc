// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the way of data into steps: loaders, their workers, tf.data. See rules.h.

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/base/units.h"
#include "analysis/derived/input_pipeline.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Tells how many workers would hide loading behind the rest of the step, were there processors
// enough.
void AdviseWorkers(const AdviceFacts& facts, int64_t input_ns, Finding* finding) {
  const results::OverviewInput& input = facts.overview->input();
  const int64_t rest = std::max<int64_t>(facts.overview->steps().mean_ns() - input_ns, 1);
  const uint32_t cores = facts.overview->environment().core_count();
  const uint64_t needed = WholeNumber(std::ceil(Ratio(input.worker_cpu_per_step_ns(), rest) * 1.1));
  const bool enough = cores > needed;
  if (cores > 0) {
    finding->Evidence("IN-002.hiding_loading_per_step",
                      {say::Duration(input.worker_cpu_per_step_ns()), say::Duration(rest),
                       say::Plain(needed), say::Plain(cores)});
  }
  if (enough && needed > input.worker_count()) {
    finding->Fix("IN-002.dataloader_num_workers", {say::Plain(needed)});
  }
  finding->Fix("IN-002.make_sample_cheaper_store");
  if (!enough) {
    finding->Caveat("IN-002.caveat");
  }
}

// What the account of the loader says, and the processor time of its workers.
struct InputState {
  const InputAccount* loader = nullptr;  // null: it does not know the stage
  bool is_single = false;                // loaded by the step's own process
  bool is_busy = false;                  // workers that want to run all the time
  bool is_idle = false;                  // workers that have little to do
  bool is_starved = false;               // workers without processors
  bool reads = false;                    // most of the loading is reading of files
  bool is_uneven = false;                // one worker has most of the work
  bool has_too_many = false, has_too_few = false;
};

InputState StateOf(const AdviceFacts& facts) {
  const results::OverviewInput& input = facts.overview->input();
  InputState state;
  const InputAccount* loader = facts.input.loader;
  if (loader != nullptr && loader->has_work && loader->steps != 0) state.loader = loader;
  state.is_single = input.loader().find("SingleProcess") != std::string::npos;
  // A worker that waits for a processor has work to do.
  const double wanted = input.worker_busy_ratio() + input.worker_runqueue_wait_ratio();
  state.is_busy = input.has_worker_busy_ratio() && wanted >= facts.limits("IN-002.min_worker_busy");
  state.is_idle = input.has_worker_busy_ratio() && wanted < facts.limits("IN-001.idle_workers");
  state.is_starved =
      state.is_busy && input.worker_runqueue_wait_ratio() > input.worker_busy_ratio();
  state.reads = facts.input.read_ratio.value_or(0) >= facts.limits("IN-003.min_read");
  state.is_uneven = facts.input.hottest_ratio.value_or(0) >= facts.limits("IN-005.min_ratio");
  const double cores = facts.overview->environment().core_count();
  const double workers = input.worker_count();
  state.has_too_many = state.is_starved && workers > facts.limits("IN-004.max_workers") * cores;
  state.has_too_few =
      state.is_busy && !state.is_starved && workers < facts.limits("IN-004.min_workers") * cores;
  return state;
}

// Returns whether more workers are the remedy: they read samples, and wait for what serves many.
bool WantsWorkers(const InputState& state) {
  return state.loader != nullptr && state.loader->suffice && !state.is_busy && !state.is_single &&
         *state.loader->suffice > state.loader->worker_count;
}

// Returns the cause that the loader's account tells, apart from slow samples. Null: there is none.
const char* StageCause(const InputState& state) {
  if (state.loader == nullptr) return nullptr;
  switch (state.loader->stage) {
    case InputStage::kSource:
      return "IN-001.name_source";
    case InputStage::kLock:
      return "IN-001.name_lock";
    case InputStage::kCollate:
      return "IN-001.name_collate";
    case InputStage::kOrder:
      return "IN-001.name_order";
    case InputStage::kTransfer:
      return "IN-001.name_transfer";
    default:
      return nullptr;
  }
}

// Returns why steps wait for data: the most specific cause that the recording shows.
const char* CauseOf(const InputState& state) {
  if (const char* cause = StageCause(state)) return cause;
  if (state.reads) return "IN-003.name";
  if (state.is_uneven) return "IN-005.name";
  if (state.has_too_many) return "IN-004.name_too_many";
  if (state.has_too_few) return "IN-004.name_too_few";
  if (state.is_starved) return "IN-002.name_starved";
  if (state.is_busy) return "IN-002.name_busy";
  if (state.is_single) return "IN-001.name_single";
  if (WantsWorkers(state)) return "IN-001.name_few";
  if (state.loader != nullptr) return "IN-001.name";
  return state.is_idle ? "IN-001.name_idle" : "IN-001.name";
}

// Tells what the account of the loader knows of the stage.
void AddStage(const InputAccount& loader, Finding* finding) {
  const auto of = [&](LoaderWork work) {
    return say::Duration(loader.work_ns[static_cast<size_t>(work)]);
  };
  const auto steps = static_cast<int64_t>(loader.steps);
  switch (loader.stage) {
    case InputStage::kSource:
      finding->Evidence("IN-001.source_serves_one",
                        {say::Duration(loader.source_ns), say::Real(loader.source.outstanding)});
      return;
    case InputStage::kLock:
      finding->Evidence("IN-001.workers_share_lock", {of(LoaderWork::kSample)});
      return;
    case InputStage::kOrder:
      finding->Evidence("IN-001.late_batch",
                        {say::Duration(loader.order_ns / steps), say::Duration(loader.wait_ns)});
      if (loader.long_count != 0)
        finding->Evidence("IN-001.few_long_waits",
                          {say::Count(loader.long_count), say::Count(loader.steps)});
      return;
    case InputStage::kTransfer:
      return;
    case InputStage::kCollate:
      finding->Evidence("IN-001.collate_takes",
                        {of(LoaderWork::kCollate), say::Duration(loader.service_ns)});
      break;
    default:
      break;
  }
  if (loader.suffice && !loader.limited_by_processors)
    finding->Evidence("IN-001.number_that_suffices",
                      {say::Duration(loader.service_ns), say::Duration(loader.rest_ns),
                       say::Plain(*loader.suffice)});
}

// Says what to do about the stage. False: the account does not tell.
bool AddStageFixes(const InputState& state, Finding* finding) {
  if (state.loader == nullptr) return false;
  const InputAccount& loader = *state.loader;
  switch (loader.stage) {
    case InputStage::kSource:
      finding->Fix("IN-001.ask_for_larger_pieces");
      finding->Caveat("IN-001.number_changes_nothing");
      return true;
    case InputStage::kLock:
      finding->Fix("IN-001.share_no_lock");
      finding->Caveat("IN-001.number_changes_nothing");
      return true;
    case InputStage::kOrder:
      finding->Fix("IN-001.take_what_is_ready");
      finding->Fix("IN-001.find_slow_samples");
      return true;
    case InputStage::kTransfer:
      finding->Fix("IN-001.pass_fewer_tensors");
      return true;
    case InputStage::kCollate:
      finding->Fix("IN-001.make_collate_cheaper");
      break;
    default:
      break;
  }
  if (WantsWorkers(state)) {
    finding->Fix("IN-001.raise_num_workers",
                 {say::Plain(loader.worker_count), say::Plain(*loader.suffice)});
    return true;
  }
  if (state.is_single && loader.suffice) {
    finding->Fix("IN-001.load_in_workers", {say::Plain(*loader.suffice)});
    return true;
  }
  return loader.stage == InputStage::kCollate;
}

void AddState(const AdviceFacts& facts, const InputState& state, Finding* finding) {
  const results::OverviewInput& input = facts.overview->input();
  if (input.has_worker_busy_ratio()) {
    const Argument count = say::Plain(input.worker_count());
    const Argument busy = say::Percent(input.worker_busy_ratio());
    if (input.has_worker_runqueue_wait_ratio())
      finding->Evidence("IN-001.workers_wait",
                        {count, busy, say::Percent(input.worker_runqueue_wait_ratio())});
    else
      finding->Evidence("IN-001.workers", {count, busy});
  }
  if (state.loader != nullptr) AddStage(*state.loader, finding);
  if (state.is_single)
    finding->Evidence("IN-001.loader_runs_training_process", {say::Name(input.loader())});
  if (state.reads) {
    finding->Evidence("IN-001.loading_time_passed_reads", {say::Percent(*facts.input.read_ratio),
                                                           InstanceText(facts.input.longest_read)});
  }
  if (state.is_uneven) {
    finding->Evidence("IN-001.busiest_worker_pid_used",
                      {say::Plain(facts.input.hottest_pid), say::Real(*facts.input.hottest_ratio)});
  }
}

void AddInputFixes(const AdviceFacts& facts, const InputState& state, Finding* finding) {
  const bool is_stage = StageCause(state) != nullptr;
  if (is_stage && AddStageFixes(state, finding)) {
    return;
  } else if (state.reads) {
    finding->Fix("IN-001.read_fewer_larger_files");
  } else if (FrameworkOf(facts) == Framework::kTensorFlow) {
    finding->Fix("IN-007.let_tf_data_work");
    finding->Fix("IN-007.make_element_cheaper_or_cache");
  } else if (state.is_uneven) {
    finding->Fix("IN-001.give_worker_equal_share");
  } else if (state.has_too_many) {
    finding->Fix("IN-001.use_worker_free_processor",
                 {say::Plain(facts.overview->environment().core_count())});
  } else if (state.is_starved) {
    finding->Fix("IN-001.give_job_processors_let");
  } else if (state.is_busy) {
    AdviseWorkers(facts, facts.overview->input().mean_ns(), finding);
  } else if (AddStageFixes(state, finding)) {
    return;
  } else if (state.is_single) {
    finding->Fix("IN-001.dataloader_num_workers_persistent_workers_true");
  } else if (state.is_idle) {
    finding->Fix("IN-001.find_where_workers_wait");
    finding->Fix("IN-001.set_persistent_workers_true_waits");
  } else {
    finding->Fix("IN-001.try_workers_num_workers_larger");
  }
}

// Returns the gain of a step that does not wait for data. `sure_ns` is what the replay of the
// batches wins of a step without device (SureGainNs()).
GainRange InputGain(const AdviceFacts& facts, int64_t ns, int64_t sure_ns) {
  const bool is_replayed = HasWholeSteps(facts) && !facts.device->path.what_ifs().empty();
  if (is_replayed) return Replayed(ns, "IN-001.gain_replayed");
  if (sure_ns <= 0) return Bound(ns, "IN-001.gain_bound");
  GainRange gain = Replayed(std::min(sure_ns, ns), "IN-001.gain_replayed");
  gain.high_ns = ns;
  return gain;
}

// Says what to do about a loader that is waited for at the start of each epoch alone.
void AddEpochs(const InputAccount& loader, Finding* finding) {
  finding->Evidence("IN-001.first_batch_takes",
                    {say::Duration(Samples(loader.firsts_ns).max()), say::Duration(loader.wait_ns),
                     say::Count(loader.epochs)});
  finding->Fix("IN-001.go_on_with_workers");
  finding->Fix("IN-001.make_start_cheaper");
}

// Says what to do about a shuffle that fills its buffer at the start of each epoch.
void AddFilling(const IteratorFacts& data, Finding* finding) {
  finding->Evidence(
      "IN-007.first_batch_takes",
      {say::Duration(data.first_ns), say::Duration(data.other_ns), say::Name(data.filled)});
  finding->Fix("IN-007.shuffle_fewer");
  finding->Fix("IN-007.shuffle_names");
  finding->Fix("IN-007.repeat_before_shuffle");
}

// Says what to do about what works longest in the pipeline.
void AddIteratorFixes(const IteratorFacts& data, Finding* finding) {
  const bool is_python = data.busiest.ends_with("PyFunc") || data.busiest == "PyFuncStateless";
  const bool is_iterator = data.busiest.find("::") != std::string::npos;
  const auto reads = [&](const char* word) { return data.busiest.find(word) != std::string::npos; };
  if (is_python) {
    finding->Fix("IN-007.replace_tf_py_function_tf");
  } else if (is_iterator && (reads("TFRecord") || reads("File") || reads("TextLine") ||
                             reads("FixedLength") || reads("Interleave"))) {
    finding->Fix("IN-007.read_several_files_once");
  } else if (!is_iterator && !data.busiest.empty()) {
    finding->Fix("IN-007.function_map_runs_make", {say::Name(data.busiest)});
  }
  if (data.has_serial_map) finding->Fix("IN-007.run_map_parallel_num_parallel_calls");
  if (!data.has_prefetch) {
    finding->Fix("IN-007.end_dataset_prefetch_tf");
  } else if (finding->fixes.empty()) {
    finding->Fix("IN-007.make_element_cheaper_store");
  }
}

}  // namespace

std::optional<Finding> InputBound(const AdviceFacts& facts) {
  const results::StepCategory* category = FindCategory(facts, "input");
  if (category == nullptr || category->share_ratio() < facts.limits("IN-001.min_share"))
    return std::nullopt;
  const InputState state = StateOf(facts);
  const InputAccount* loader = facts.input.loader;
  const bool is_for_epochs = loader != nullptr && WaitsForEpochs(*loader);
  // What is left is the passing on of batches: more workers do not help.
  if (!is_for_epochs && state.loader != nullptr && !state.loader->is_bound && state.is_idle)
    return std::nullopt;
  if (state.loader == nullptr && state.is_idle &&
      category->share_ratio() < facts.limits("IN-001.min_share_idle"))
    return std::nullopt;
  Finding finding = Make(is_for_epochs ? "IN-001.name_epochs" : CauseOf(state), results::LEVEL_HIGH,
                         "IN-001.reason");
  finding.Evidence("IN-001.spent_waiting_next_batch",
                   {PartOfStep(facts, category->mean_ns()),
                    say::Count(facts.overview->input().waiting_step_count()),
                    say::Count(facts.overview->steps().count())});
  // A device that has work meanwhile loses less.
  int64_t gain = category->mean_ns();
  if (HasWholeSteps(facts) && !facts.device->path.what_ifs().empty())
    gain = std::min(gain, facts.device->SavedPerStep(results::WHAT_IF_INPUT));
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("all.min_gain"))
    return std::nullopt;
  const int64_t sure_ns = loader == nullptr ? 0 : SureGainNs(*loader);
  SetGain(facts, InputGain(facts, gain, sure_ns), &finding);
  if (is_for_epochs) {
    AddEpochs(*loader, &finding);
    return finding;
  }
  AddState(facts, state, &finding);
  AddInputFixes(facts, state, &finding);
  if (finding.caveat.code.empty()) {
    finding.Caveat("IN-001.caveat");
  }
  return finding;
}

std::optional<Finding> BatchesOnMainThread(const AdviceFacts& facts) {
  if (!facts.input.main_thread_ns) return std::nullopt;
  // Batches that are not ready yet cost more than passing them on.
  const InputAccount* loader = facts.input.loader;
  if (loader != nullptr && loader->has_work && loader->is_bound &&
      loader->stage != InputStage::kTransfer)
    return std::nullopt;
  int64_t gain = *facts.input.main_thread_ns;
  if (HasWholeSteps(facts) && !facts.device->path.what_ifs().empty())
    gain = std::min(gain, facts.device->SavedPerStep(results::WHAT_IF_INPUT));
  const double part = Ratio(gain, facts.overview->steps().mean_ns());
  if (part < facts.limits("IN-006.min_share")) return std::nullopt;
  Finding finding = Make("IN-006.name", results::LEVEL_MEDIUM, {"IN-006.reason"});
  SetGain(facts, InputGain(facts, gain, 0), &finding);
  finding.Evidence("IN-006.thread_loader_next_batch",
                   {PartOfStep(facts, *facts.input.main_thread_ns)});
  finding.Fix("IN-006.let_workers_put_collation");
  finding.Fix("IN-006.prefetch_device_copy_next");
  return finding;
}

std::optional<Finding> SlowIterator(const AdviceFacts& facts) {
  const IteratorFacts& data = facts.input.iterators;
  if (data.count == 0 || data.mean_ns < facts.limits.Whole("IN-007.min_call")) return std::nullopt;
  const int64_t step = facts.device ? facts.device->StepNs() : facts.overview->steps().mean_ns();
  // What of the calls holds up the device, where there is one; or the steps of the host.
  const results::StepCategory* input = FindCategory(facts, "input");
  int64_t gain = 0;
  if (HasWholeSteps(facts))
    gain = facts.device->SavedPerStep(results::WHAT_IF_INPUT);
  else if (HasSteps(facts) && input != nullptr)
    gain = input->mean_ns();
  const double part =
      gain != 0 || HasWholeSteps(facts) ? Ratio(gain, step) : Ratio(data.total_ns, data.window_ns);
  if (part < facts.limits("IN-007.min_share")) return std::nullopt;
  const bool is_for_epochs = !data.filled.empty();
  Finding finding = Make(is_for_epochs ? "IN-007.name_epochs" : "IN-007.name", results::LEVEL_HIGH,
                         {"IN-007.reason"});
  if (gain != 0)
    SetGain(facts, InputGain(facts, gain, data.sure_gain_ns), &finding);
  else
    finding.severity = part >= facts.limits("IN-007.medium_share") ? results::SEVERITY_MEDIUM
                                                                   : results::SEVERITY_LOW;
  finding.Evidence("IN-007.calls_took_mean",
                   {say::Count(data.count), say::Name(data.root), say::Duration(data.mean_ns),
                    say::Duration(data.total_ns)});
  if (is_for_epochs) {
    AddFilling(data, &finding);
    return finding;
  }
  finding.Evidence("IN-007.most_for", {say::Percent(data.blamed_ratio), say::Name(data.blamed)});
  if (!data.busiest.empty()) {
    finding.Evidence("IN-007.meanwhile_worked_longest_summed",
                     {say::Name(data.busiest), say::Duration(data.busiest_ns)});
  }
  AddIteratorFixes(data, &finding);
  return finding;
}

std::optional<Finding> ColdFiles(const AdviceFacts& facts) {
  const ReadFacts& reads = facts.input.reads;
  const results::StepSeries& steps = facts.overview->steps();
  if (reads.first_ns_per_mib == 0 || reads.last_ns_per_mib == 0) return std::nullopt;
  const double ratio = reads.first_ns_per_mib / reads.last_ns_per_mib;
  const int64_t gain = steps.mean_ns() - reads.last_step_ns;
  if (ratio < facts.limits("IN-008.min_ratio")) return std::nullopt;
  if (Ratio(gain, steps.mean_ns()) < facts.limits("IN-001.min_share")) return std::nullopt;
  Finding finding = Make("IN-008.name", results::LEVEL_MEDIUM, {"IN-008.reason"});
  SetGain(facts, Bound(gain, "IN-008.gain"), &finding);
  finding.Evidence("IN-008.reads_took_mib_first",
                   {say::Duration(static_cast<int64_t>(reads.first_ns_per_mib)),
                    say::Duration(static_cast<int64_t>(reads.last_ns_per_mib)),
                    say::Duration(reads.last_step_ns), say::Duration(steps.mean_ns())});
  finding.Fix("IN-008.copy_data_local_disk");
  finding.Caveat("IN-008.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
