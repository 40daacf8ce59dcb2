// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_analysis.h. The sentences are XProf's: the pages must be equal.

#include "analysis/xprof/input_analysis.h"

#include <algorithm>
#include <string_view>

namespace gpuprof::analysis::xprof {
namespace {

// Shares of the steps' time, in percent, from which on XProf speaks of a kind of time.
constexpr double kMuchInput = 20, kSomeInput = 5;
constexpr double kMuch = 15, kSome = 3;

double MilliOf(const StepInfo& info, StepTime type) {
  const auto at = info.time_ps.find(type);
  return at == info.time_ps.end() ? 0 : PicoToMilli(at->second);
}

StepTimes TimesOf(const StepInfo& info) {
  StepTimes times;
  times.name = info.name.empty() ? std::to_string(info.number) : info.name;
  times.step = PicoToMilli(info.duration_ps);
  times.unknown = MilliOf(info, StepTime::kUnknown);
  times.wait_input = MilliOf(info, StepTime::kHostWaitInput);
  times.host_to_device = MilliOf(info, StepTime::kHostToDevice);
  times.output = MilliOf(info, StepTime::kDeviceToHost);
  times.device_compute =
      MilliOf(info, StepTime::kDeviceCompute16) + MilliOf(info, StepTime::kDeviceCompute32);
  times.device_to_device = MilliOf(info, StepTime::kDeviceToDevice);
  times.collectives = MilliOf(info, StepTime::kDeviceCollectives);
  times.host_compute = MilliOf(info, StepTime::kHostCompute);
  times.launch = MilliOf(info, StepTime::kHostPrepare);
  return times;
}

void AnalyzeSteps(const StepDb& db, InputAnalysis* analysis) {
  std::vector<double> longest;
  for (const Step& step : db.steps) {
    double most = 0;
    for (const auto& [core, info] : step.cores)
      most = std::max(PicoToMilli(info.duration_ps), most);
    longest.push_back(most);
    // The pages show the steps of the first host alone.
    const auto first = step.cores.find(kCore);
    if (first != step.cores.end()) analysis->steps.push_back(TimesOf(first->second));
  }
  analysis->step_time = Summarize(longest);
}

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

bool HasAny(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

constexpr std::string_view kEnqueue = "Enqueue", kDemanded = "Demanded file read",
                           kAdvanced = "Advanced file read", kPreprocessing = "Preprocessing",
                           kOtherInput = "Unknown";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Returns the kind of input that an operation brings. Empty: it brings none.
std::string_view KindOf(const OpMetrics& op) {
  const std::string told = Lower(op.category);
  if (told == "enqueue") return kEnqueue;
  if (told == "read") return kDemanded;
  if (told == "preprocessing") return kPreprocessing;
  if (told == "unknown") return kOtherInput;
  if (IsInfeedEnqueue(op.category) || op.category == "MemcpyHToD") return kEnqueue;
  if (op.category != "Dataset") return {};
  if (!EndsWithAny(op.name, {"::TFRecord", "::TextLine", "::FixedLengthRecord", "::SSTable",
                             "::RecordIO", "::ArrayRecord"}))
    return kPreprocessing;
  return HasAny(op.name,
                {"::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap"})
             ? kAdvanced
             : kDemanded;
}

// Returns which part of a step sends input to the device.
double SendingShare(const OpStats& stats, const InputAnalysis& analysis) {
  const OpMetricsDb& host = stats.host_ops;
  if (host.enqueue_begins_ps > 0) {
    return Divide(static_cast<double>(host.enqueue_ps),
                  static_cast<double>(host.enqueue_begins_ps));
  }
  if (!(analysis.step_time.average > 0)) return 0;
  std::vector<double> sending;
  for (const StepTimes& step : analysis.steps) sending.push_back(step.host_to_device);
  return Divide(Summarize(sending).average, analysis.step_time.average);
}

// Scales the host's own times so that they are to the enqueueing as the steps are.
void AnalyzeHost(const OpStats& stats, InputAnalysis* analysis) {
  std::vector<std::pair<const OpMetrics*, std::string_view>> found;
  uint64_t all_ps = 0;
  for (const OpMetrics* op : SortedOps(stats.host_ops)) {
    const std::string_view kind = KindOf(*op);
    if (kind.empty()) continue;
    found.emplace_back(op, kind);
    all_ps += op->self_time_ps;
  }
  if (found.empty()) return;
  InputTimes raw;
  for (const auto& [op, kind] : found) {
    const auto all = static_cast<double>(all_ps);
    analysis->ops.push_back({op->name, std::string(kind), op->occurrences, PicoToMilli(op->time_ps),
                             PicoToMilli(op->self_time_ps),
                             100.0 * Divide(static_cast<double>(op->time_ps), all),
                             100.0 * Divide(static_cast<double>(op->self_time_ps), all)});
    const double self_us = PicoToMicro(op->self_time_ps);
    if (kind == kEnqueue) raw.enqueue += self_us;
    if (kind == kDemanded) raw.demanded_read += self_us;
    if (kind == kAdvanced) raw.advanced_read += self_us;
    if (kind == kPreprocessing) raw.preprocessing += self_us;
  }
  const double sum = raw.demanded_read + raw.advanced_read + raw.preprocessing;
  const double share = std::min(1.0, SendingShare(stats, *analysis));
  const double rest = share != 0.0 ? raw.enqueue * (1.0 - share) / share : sum;
  InputTimes& times = analysis->times;
  times.enqueue = raw.enqueue;
  times.demanded_read = Divide(rest * raw.demanded_read, sum);
  times.advanced_read = Divide(rest * raw.advanced_read, sum);
  times.preprocessing = Divide(rest * raw.preprocessing, sum);
  times.unclassified =
      std::max(0.0, rest - times.demanded_read - times.advanced_read - times.preprocessing);
}

constexpr char kOfSteps[] = " % of the total step time sampled is spent on ";

// Says how much time is of a kind, if it is enough.
void Judge(double percent, std::string_view of_kind, std::string* level, std::string* statement) {
  if (!(percent >= kSome)) return;
  *level = percent >= kMuch ? "high" : "moderate";
  *statement = Digits(percent, 1) + kOfSteps + std::string(of_kind);
}

// Returns whether the other time was taken for input.
bool JudgeInput(double input, double other, Verdict* verdict) {
  std::string& statement = verdict->input_statement;
  const std::string percent = Digits(input, 1);
  if (input >= kMuchInput) {
    verdict->input = "host";
    statement =
        "Your program is HIGHLY input-bound because " + percent +
        "% of the total step time sampled is waiting for input. Therefore, you should first "
        "focus on reducing the input time.";
    return false;
  }
  if (input >= kSomeInput) {
    verdict->input = "both";
    statement = "Your program is MODERATELY input-bound because " + percent +
                "% of the total step time sampled is waiting for input. Therefore, you would need "
                "to reduce both the input time and other time.";
    return false;
  }
  if (other >= kSome) {
    verdict->input = "both";
    statement = "Your program is POTENTIALLY input-bound because " + Digits(other, 1) +
                "% of the total step time sampled is spent on 'All Others' time (which could be "
                "due to I/O or Python execution or both).";
    return true;
  }
  verdict->input = "device";
  statement = "Your program is NOT input-bound because only " + percent +
              "% of the total step time sampled is waiting for input. Therefore, you should focus "
              "on reducing other time.";
  return false;
}

Verdict VerdictOf(const std::vector<StepTimes>& steps, bool has_tf_data) {
  StepTimes sum;
  double input = 0;
  for (const StepTimes& step : steps) {
    sum.step += step.step;
    input += step.input();
    sum.launch += step.launch;
    sum.collectives += step.collectives;
    sum.unknown += step.unknown;
  }
  Verdict verdict;
  if (sum.step == 0) {
    verdict.input = "unknown";
    verdict.input_statement =
        "No step time measured. Therefore we cannot tell where the performance bottleneck is.";
    return verdict;
  }
  const auto percent = [&](double time) { return 100.0 * time / sum.step; };
  const bool is_other_said = JudgeInput(percent(input), percent(sum.unknown), &verdict);
  Judge(percent(sum.collectives), "'Device Collective Communication'.", &verdict.collectives,
        &verdict.collectives_statement);
  Judge(percent(sum.launch), "'Kernel Launch'.", &verdict.launch, &verdict.launch_statement);
  if (!verdict.launch_statement.empty() && has_tf_data) {
    verdict.launch_statement +=
        " It could be due to CPU contention with tf.data. In this case, you may try to set the "
        "environment variable TF_GPU_THREAD_MODE=gpu_private.";
  }
  if (!is_other_said) {
    Judge(percent(sum.unknown),
          "'All Others' time. This could be due to Python execution overhead.", &verdict.other,
          &verdict.other_statement);
  }
  return verdict;
}

std::string NextStep(const InputAnalysis& analysis) {
  if (analysis.verdict.input != "host" && analysis.verdict.input != "both")
    return "You may skip the rest of this page.";
  if (analysis.times.has_tf_data())
    return "Look at Section 3 for the breakdown of input time on the host.";
  return "Consider using " + Link("https://www.tensorflow.org/guide/data", "the tf.data API") +
         " to enable profiler's host-side analysis for input pipeline. Profiler currently does not "
         "support custom input pipeline (please ignore Section 3 below).";
}

}  // namespace

std::string HardwareName(Hardware hardware) {
  return hardware == Hardware::kGpu ? "GPU" : "CPU_ONLY";
}

std::string Link(std::string_view address, std::string_view text) {
  return "<a href=\"" + std::string(address) + "\" target=\"_blank\">" + std::string(text) + "</a>";
}

std::vector<std::string> StepWarnings(const StepDb& steps) {
  if (!steps.steps.empty()) return {};
  return {
      steps.has_no_common_step
          ? "Although there are steps observed on some host(s), the intersection of the steps "
            "over all hosts is empty (because the differences among individual host's step "
            "sequences are too big). Consequently, the overall step time is unknown."
          : "No step marker observed and hence the step time is unknown. This may happen if (1) "
            "training steps are not instrumented (e.g., if you are not using Keras) or (2) the "
            "profiling duration is shorter than the step time. For (1), you need to add step "
            "instrumentation; for (2), you may try to profile longer."};
}

InputAnalysis AnalyzeInput(const OpStats& stats) {
  InputAnalysis analysis;
  analysis.hardware = HardwareName(stats.hardware);
  AnalyzeSteps(stats.steps, &analysis);
  analysis.warnings = StepWarnings(stats.steps);
  AnalyzeHost(stats, &analysis);
  analysis.verdict = VerdictOf(analysis.steps, analysis.times.has_tf_data());
  analysis.next_step = NextStep(analysis);
  return analysis;
}

}  // namespace gpuprof::analysis::xprof
