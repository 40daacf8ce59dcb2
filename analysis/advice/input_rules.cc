// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the way of data into steps: loaders, their workers, tf.data. See rules.h.

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

// Tells how many workers would hide loading behind the rest of the step, were there processors
// enough.
void AdviseWorkers(const AdviceFacts& facts, int64_t input_ns, Finding* finding) {
  const results::OverviewInput& input = facts.overview->input();
  const int64_t rest = std::max<int64_t>(facts.overview->steps().mean_ns() - input_ns, 1);
  const uint32_t cores = facts.overview->environment().core_count();
  const uint64_t needed = WholeNumber(std::ceil(Ratio(input.worker_cpu_per_step_ns(), rest) * 1.1));
  const bool enough = cores > needed;
  if (cores > 0) {
    finding->add_evidence("Hiding " + FormatDuration(input.worker_cpu_per_step_ns()) +
                          " of loading per step behind the " + FormatDuration(rest) +
                          " of other work takes about " + std::to_string(needed) +
                          " workers; this " + "machine has " + std::to_string(cores) +
                          " processors.");
  }
  if (enough && needed > input.worker_count()) {
    finding->add_fix("DataLoader(num_workers=" + std::to_string(needed) + ")");
  }
  finding->add_fix(
      "Make each sample cheaper: store decoded or smaller images, cache what does not change, use "
      "a "
      "faster decoder, or augment whole batches as tensors.");
  if (!enough) {
    finding->set_caveat(
        "More workers alone do not help, because there are not enough processors. The gain assumes "
        "that samples become cheap enough to be hidden.");
  }
}

// Why steps wait for data: the most specific cause that the recording shows.
struct Cause {
  const char* id;
  const char* name;
};

struct InputState {
  bool is_single = false;   // loaded by the step's own process
  bool is_busy = false;     // workers that want to run all the time
  bool is_idle = false;     // workers that have little to do
  bool is_starved = false;  // workers without processors
  bool reads = false;       // most of the loading is reading of files
  bool is_uneven = false;   // one worker has most of the work
  bool has_too_many = false, has_too_few = false;
};

InputState StateOf(const AdviceFacts& facts) {
  const results::OverviewInput& input = facts.overview->input();
  InputState state;
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

Cause CauseOf(const InputState& state) {
  if (state.reads) return {"IN-003", "The loader waits for its files most of the time"};
  if (state.is_uneven) return {"IN-005", "One of the loader's workers has most of the work"};
  if (state.has_too_many) return {"IN-004", "The loader has far more workers than processors"};
  if (state.has_too_few) return {"IN-004", "The loader has too few workers: processors are free"};
  if (state.is_starved) return {"IN-002", "The loader's workers have no processors to run on"};
  if (state.is_busy) return {"IN-002", "The loader's workers cannot keep up"};
  if (state.is_single) return {"IN-001", "Data is loaded between the steps, not alongside them"};
  if (state.is_idle)
    return {"IN-001", "Steps wait for data although the loader's workers are not busy"};
  return {"IN-001", "Steps wait for data"};
}

void AddState(const AdviceFacts& facts, const InputState& state, Finding* finding) {
  const results::OverviewInput& input = facts.overview->input();
  if (input.has_worker_busy_ratio()) {
    std::string words = std::to_string(input.worker_count()) + " workers were busy " +
                        FormatPercent(input.worker_busy_ratio()) + " of the time each";
    if (input.has_worker_runqueue_wait_ratio()) {
      words += ", and waited " + FormatPercent(input.worker_runqueue_wait_ratio()) +
               " of the time for a processor";
    }
    finding->add_evidence(words + ".");
  }
  if (state.is_single)
    finding->add_evidence("The loader runs in the training process (" + input.loader() + ").");
  if (state.reads) {
    finding->add_evidence(FormatPercent(*facts.input.read_ratio) +
                          " of the loading time passed in reads of files. The longest: " +
                          InstanceText(facts.input.longest_read) + ".");
  }
  if (state.is_uneven) {
    finding->add_evidence("The busiest worker (pid " + std::to_string(facts.input.hottest_pid) +
                          ") used " + FormatReal(*facts.input.hottest_ratio) +
                          " times the processor time of the mean worker.");
  }
}

void AddInputFixes(const AdviceFacts& facts, const InputState& state, Finding* finding) {
  if (state.reads) {
    finding->add_fix(
        "Read fewer, larger files (shards of samples) from a local disk, and keep what is read "
        "often in memory. `gpuprof stats files` lists the files.");
  } else if (state.is_uneven) {
    finding->add_fix(
        "Give each worker an equal share: equal shards, shuffled samples, and large samples spread "
        "over all workers.");
  } else if (state.has_too_many) {
    finding->add_fix("Use one worker for each free processor: DataLoader(num_workers=" +
                     std::to_string(facts.overview->environment().core_count()) + ") or fewer.");
  } else if (state.is_starved) {
    finding->add_fix(
        "Give the job more processors, or let fewer threads compete for them: use "
        "torch.set_num_threads(N), and run nothing else on the machine.");
  } else if (state.is_busy) {
    AdviseWorkers(facts, facts.overview->input().mean_ns(), finding);
  } else if (state.is_single) {
    finding->add_fix(
        "DataLoader(num_workers=N, persistent_workers=True): loading then runs alongside the step, "
        "in N processes.");
  } else if (state.is_idle) {
    finding->add_fix(
        "Find where the workers wait. For storage: read larger files from a local disk. For "
        "passing batches on: use fewer, larger tensors and a prefetch_factor above 2.");
    finding->add_fix("Set persistent_workers=True if the waits are at the start of each epoch.");
  } else {
    finding->add_fix(
        "Try more workers (num_workers) and a larger prefetch_factor, and make each sample "
        "cheaper.");
  }
}

// Returns the gain of a step that does not wait for data.
GainRange InputGain(const AdviceFacts& facts, int64_t ns) {
  const bool is_replayed = HasWholeSteps(facts) && !facts.device->path.what_ifs().empty();
  return is_replayed ? Replayed(ns, "data is there at once") : Bound(ns, "waits for data");
}

// Says what to do about what works longest in the pipeline.
void AddIteratorFixes(const IteratorFacts& data, Finding* finding) {
  const bool is_python = data.busiest.ends_with("PyFunc") || data.busiest == "PyFuncStateless";
  const bool is_iterator = data.busiest.find("::") != std::string::npos;
  const auto reads = [&](const char* word) { return data.busiest.find(word) != std::string::npos; };
  if (is_python) {
    finding->add_fix(
        "Replace tf.py_function and tf.numpy_function by TensorFlow's operations: Python runs one "
        "call at a time, however many are asked for.");
  } else if (is_iterator && (reads("TFRecord") || reads("File") || reads("TextLine") ||
                             reads("FixedLength") || reads("Interleave"))) {
    finding->add_fix(
        "Read several files at once: interleave(..., num_parallel_calls=tf.data.AUTOTUNE), from a "
        "disk close by. Reading compressed files costs processor time.");
  } else if (!is_iterator && !data.busiest.empty()) {
    finding->add_fix("If the function of map() runs " + data.busiest +
                     ", make it cheaper, or keep its result with cache() if the result fits.");
  }
  if (data.has_serial_map)
    finding->add_fix("Run the map in parallel: num_parallel_calls=tf.data.AUTOTUNE.");
  if (!data.has_prefetch) {
    finding->add_fix("End the dataset with .prefetch(tf.data.AUTOTUNE), so that it works ahead.");
  } else if (finding->fix().empty()) {
    finding->add_fix("Make each element cheaper: store decoded or smaller samples.");
  }
}

}  // namespace

std::optional<Finding> InputBound(const AdviceFacts& facts) {
  const results::StepCategory* category = FindCategory(facts, "input");
  if (category == nullptr || category->share_ratio() < facts.limits("IN-001.min_share"))
    return std::nullopt;
  const InputState state = StateOf(facts);
  // What is left is the passing on of batches: more workers do not help.
  if (state.is_idle && category->share_ratio() < facts.limits("IN-001.min_share_idle"))
    return std::nullopt;
  const Cause cause = CauseOf(state);
  Finding finding = Make(cause.id, cause.name, results::LEVEL_HIGH,
                         "measured as the time inside the loader's next batch");
  finding.add_evidence(PartOfStep(facts, category->mean_ns()) +
                       " is spent waiting for the next batch; " +
                       FormatNumber(facts.overview->input().waiting_step_count()) + " of " +
                       FormatNumber(facts.overview->steps().count()) + " steps waited.");
  // A device that has work meanwhile loses less.
  int64_t gain = category->mean_ns();
  if (HasWholeSteps(facts) && !facts.device->path.what_ifs().empty())
    gain = std::min(gain, facts.device->SavedPerStep(results::WHAT_IF_INPUT));
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("all.min_gain"))
    return std::nullopt;
  SetGain(facts, InputGain(facts, gain), &finding);
  AddState(facts, state, &finding);
  AddInputFixes(facts, state, &finding);
  if (finding.caveat().empty()) {
    finding.set_caveat(
        "The gain is the time that a step waits now. It is reached only if loading is hidden "
        "completely.");
  }
  return finding;
}

std::optional<Finding> BatchesOnMainThread(const AdviceFacts& facts) {
  if (!facts.input.main_thread_ns) return std::nullopt;
  int64_t gain = *facts.input.main_thread_ns;
  if (HasWholeSteps(facts) && !facts.device->path.what_ifs().empty())
    gain = std::min(gain, facts.device->SavedPerStep(results::WHAT_IF_INPUT));
  const double part = Ratio(gain, facts.overview->steps().mean_ns());
  if (part < facts.limits("IN-006.min_share")) return std::nullopt;
  Finding finding =
      Make("IN-006", "The thread of the steps works on batches itself", results::LEVEL_MEDIUM,
           "time in the loader in which the thread did not wait");
  SetGain(facts, InputGain(facts, gain), &finding);
  finding.add_evidence(PartOfStep(facts, *facts.input.main_thread_ns) +
                       " the thread was in the loader's next batch, and did not wait.");
  finding.add_fix(
      "Let the workers do it: put collation into collate_fn, pass on few, large tensors, and use "
      "pin_memory=True, which copies on a thread of its own.");
  finding.add_fix("Prefetch to the device: copy the next batch on a stream of its own.");
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
  Finding finding = Make("IN-007", "The program waits for tf.data", results::LEVEL_HIGH,
                         "the calls of the iterators were timed");
  if (gain != 0)
    SetGain(facts, InputGain(facts, gain), &finding);
  else
    finding.set_severity(part >= facts.limits("IN-007.medium_share") ? results::SEVERITY_MEDIUM
                                                                     : results::SEVERITY_LOW);
  finding.add_evidence(FormatNumber(data.count) + " calls of " + data.root + " took " +
                       FormatDuration(data.mean_ns) + " in the mean, and " +
                       FormatDuration(data.total_ns) + " in all.");
  if (!data.busiest.empty()) {
    finding.add_evidence("Meanwhile " + data.busiest + " worked longest: " +
                         FormatDuration(data.busiest_ns) + ", summed over all threads.");
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
  Finding finding =
      Make("IN-008", "Files are read from a cold cache at first", results::LEVEL_MEDIUM,
           "reads became faster, and steps became shorter at the same time");
  SetGain(facts, Bound(gain, "what early steps take beyond late ones"), &finding);
  finding.add_evidence("Reads took " +
                       FormatDuration(static_cast<int64_t>(reads.first_ns_per_mib)) +
                       " for each MiB in the first third of the steps, and " +
                       FormatDuration(static_cast<int64_t>(reads.last_ns_per_mib)) +
                       " in the last third. Steps of the "
                       "last third take " +
                       FormatDuration(reads.last_step_ns) + ", the mean step " +
                       FormatDuration(steps.mean_ns()) + ".");
  finding.add_fix("Copy the data to a local disk first, or read the files once before the run.");
  finding.set_caveat(
      "Each run over new files starts cold. Warm steps are those of the last third.");
  return finding;
}

}  // namespace gpuprof::analysis
