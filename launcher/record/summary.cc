// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See summary.h.

#include "launcher/record/summary.h"

#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/analysis.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

std::string EndOf(const ChildResult& child) {
  if (!WIFSIGNALED(child.wait_status))
    return "ended with status " + std::to_string(child.ExitStatus());
  const int number = WTERMSIG(child.wait_status);
  const char* name = sigabbrev_np(number);
  return "was killed by " +
         (name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name);
}

std::string PidList(const std::vector<int32_t>& pids) {
  constexpr size_t kMost = 8;
  std::string list;
  for (size_t i = 0; i < pids.size() && i < kMost; ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(pids[i]);
  return pids.size() > kMost ? list + ", ..." : list;
}

struct LossFix {
  const char* name;  // as analysis names the kind
  const char* words;
};

constexpr LossFix kLossFixes[] = {
    {"ring_full", "records, because a thread's ring was full (raise --ring-memory)"},
    {"reentered", "events in signal handlers that interrupted the recorder"},
    {"no_ring", "events of threads that got no ring (raise --ring-memory, or free disk space)"},
    {"sample_table_full",
     "heap samples, because too many were live (raise the period: --trace heap=sampled:16MiB)"},
    {"stack_table_full", "stacks, because too many were different (lower --stacks)"},
    {"string_table_full", "names, because too many were different"},
    {"write_error", "rows, because a trace could not be written"},
    {"corrupt_record", "damaged records of processes that died"},
    {"span",
     "spans that were nested too deep, too many at once, or still open when a capture ended"},
    {"range_value", "NVTX payloads of an unknown schema or size"},
    {"counter_sample", "samples of hardware counters (sample less often: a longer --gpu-pm)"},
    {"thread_edge", "events of threads that were just beginning or ending"},
    {"memory_limit", "capture ended early at the recorder's memory limit (raise --memory)"},
};

// Of spans that began before the capture, or never: no loss of its own, the tables tell of them.
constexpr std::string_view kUnpaired = "unpaired_span";

std::string LossWordsOf(const analysis::LossFact& loss) {
  for (const LossFix& fix : kLossFixes) {
    if (loss.name != fix.name) continue;
    std::string words = fix.words;
    // "1 event of ...": the noun is the first word that ends in s.
    const size_t plural = words.find_first_of(" ,");
    if (loss.count == 1 && plural != std::string::npos && words[plural - 1] == 's') {
      words.erase(plural - 1, 1);
    }
    return FormatCount(loss.count) + " " + words;
  }
  std::string words = loss.name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return FormatCount(loss.count) + " " + words;
}

constexpr std::string_view kNotWritten = "write_error";

constexpr const char* kLostNothing = "lost: nothing";

// `is_whole`: no trace is left for a later recovery, which finds out what it lost.
std::string LossLine(const analysis::BundleFacts& bundle, bool is_whole) {
  std::string line;
  if (bundle.lost_threads != 0) {
    line = "lost: the last records of " + Plural(bundle.lost_threads, "thread", "threads") +
           ", not counted";
  }
  if (bundle.activity_missing_ns != 0) {
    const uint64_t ms = bundle.activity_missing_ns / 1'000'000;
    line += std::string(line.empty() ? "lost: " : "; ") + "the CUPTI records of the last " +
            (ms == 0 ? "moments" : FormatCount(ms) + " ms") + " before a process ended";
  }
  for (const analysis::LossFact& loss : bundle.losses) {
    if (loss.name == kUnpaired) continue;
    line += (line.empty() ? "lost: " : "; ") + LossWordsOf(loss);
    if (loss.name != kNotWritten) continue;
    for (const std::string& cause : bundle.write_causes) line += " (" + cause + ")";
  }
  if (!line.empty()) return line;
  return is_whole ? kLostNothing : "lost: not known until the incomplete traces are recovered";
}

// A program that uses the signal itself switches recording without knowing, and without its user
// knowing.
std::string SwitchLine(uint64_t switches, const std::vector<Setting>& settings) {
  if (switches == 0) return "";
  int number = 0;
  ParseSignal(FindSetting(settings, proto::kEnvSignal).value, &number);
  const char* name = sigabbrev_np(number);
  return "switched: recording was started or stopped " + Plural(switches, "time", "times") +
         " by " +
         (name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name) +
         "; if the program itself uses that signal, choose another one or --signal=none";
}

std::string SurvivorLine(const std::vector<int32_t>& pids) {
  const bool one = pids.size() == 1;
  return "still running: " + Plural(pids.size(), "process", "processes") + " (" + PidList(pids) +
         "); " + (one ? "its trace" : "their traces") + " will be complete when " +
         (one ? "it ends" : "they end") +
         ". See 'gpuprof ps'; to stop its recording: gpuprof ctl stop " +
         std::to_string(pids.front());
}

}  // namespace

std::string ShortPath(const std::string& path) {
  char here[PATH_MAX];
  if (getcwd(here, sizeof here) == nullptr) return path;
  const std::string prefix = std::string(here) + "/";
  if (path.compare(0, prefix.size(), prefix) != 0 || path.size() == prefix.size()) return path;
  const std::string rest = path.substr(prefix.size());
  return rest[0] == '-' ? "./" + rest : rest;
}

std::string WhyNothing(const RunFacts& facts) {
  if (facts.bundle_is_gone)
    return "the bundle was removed or renamed while the command ran; name a directory that the "
           "command leaves alone with -o DIR";
  std::vector<std::string> include, exclude;
  ParsePrograms(FindSetting(facts.settings, proto::kEnvInclude).value, &include);
  ParsePrograms(FindSetting(facts.settings, proto::kEnvExclude).value, &exclude);
  Capture capture;
  ParseCapture(FindSetting(facts.settings, proto::kEnvCapture).value, &capture);
  Sources sources;
  ParseSources(FindSetting(facts.settings, proto::kEnvTrace).value, &sources);
  const std::string name = BaseName(facts.program.binary);
  if (!facts.obstacles.empty()) return facts.obstacles.front();
  if (!facts.program.cannot_preload.empty()) return facts.program.cannot_preload;
  if (capture.when == Capture::When::kOff) {
    return "--capture=off, and no capture was started; while the command runs, start one with "
           "gpuprof ctl start PID, or kill -USR1 PID. A program that takes this signal by a system "
           "call of its own needs another --signal";
  }
  if (!facts.unrecorded.empty())
    return "no program that can be recorded did anything that --trace records";
  for (const std::string& excluded : {name, facts.program.script}) {
    if (excluded.empty() || !IsExcludedByName(excluded, include, exclude)) continue;
    return "programs named '" + excluded +
           "' are not recorded, nor was any program that it started; record it with --include " +
           analysis::ShellWord(excluded);
  }
  if (sources.bits == 0)
    return "--trace names no source; leave --trace out, or name sources: " GPUPROF_SOURCES(
        GPUPROF_SOURCE_NAME) "separated by commas";
  if (capture.when == Capture::When::kRange) {
    return "no process pushed or started an NVTX range named '" + capture.range +
           "'; 'gpuprof stats ranges' lists the ranges of a recording without --capture";
  }
  if (capture.when == Capture::When::kSteps) {
    return "no process came to step " + std::to_string(capture.first_step) +
           " (--capture). Steps are ranges named 'step' or 'iteration', with or without a "
           "number: of NVTX, ITT or record_function. Without ranges, steps are PyTorch's optimizer "
           "steps, or runs of TensorFlow's function. Name other ranges with steps:FIRST-LAST@RANGE";
  }
  if (capture.when == Capture::When::kProfilerCalls) {
    return "the program never called cudaProfilerStart (--capture=cuda-profiler), nor "
           "cuProfilerStart; leave --capture out to record all of the program. In PyTorch the call "
           "is torch.cuda.profiler.start()";
  }
  if (!FindSetting(facts.settings, proto::kEnvBudget).value.empty())
    return "no process ran long enough to earn a window (--budget). A larger budget records "
           "sooner: the first window waits until the time so far pays for it. Windows begin at "
           "steps, after eight of them, or after ten seconds without any";
  if (capture.when == Capture::When::kDelay && facts.child.wall_ns < capture.start_ns) {
    return "the command ended before the capture began (--capture); choose a shorter delay";
  }
  return "no process did anything that --trace records, or no process loaded the recorder "
         "(LD_PRELOAD may have been cleared); run 'gpuprof doctor'";
}

Summary Summarize(const RunFacts& facts) {
  Summary summary;
  const std::string bundle =
      facts.shown_bundle.empty() ? ShortPath(facts.bundle) : facts.shown_bundle;
  const std::string folder = facts.folder.empty() ? facts.bundle : facts.folder;
  const double seconds = static_cast<double>(facts.child.wall_ns) / 1e9;
  const std::string rank = facts.rank.empty() ? "" : facts.rank + ": ";
  summary.lines.push_back(facts.heading.empty()
                              ? rank + "'" + facts.command_name + "' " + EndOf(facts.child) +
                                    " after " + FormatSeconds(seconds)
                              : facts.heading);
  for (const std::string& failure : facts.finish.failures) summary.lines.push_back(failure);
  for (const std::string& words : facts.unrecorded) summary.lines.push_back(words);
  if (facts.bundle_is_gone || ListProcesses(folder).empty()) {
    summary.lines.push_back("nothing was recorded: " + WhyNothing(facts));
    for (size_t i = 1; i < facts.obstacles.size(); ++i) summary.lines.push_back(facts.obstacles[i]);
    if (!facts.survivors.empty()) {
      summary.lines.push_back("still running and ready to record: " + PidList(facts.survivors));
      summary.lines.push_back("bundle: " + analysis::ShellWord(bundle));
      summary.lines.push_back("next: gpuprof ctl start " + std::to_string(facts.survivors.front()));
    }
    return summary;
  }
  summary.recorded = true;
  std::shared_ptr<const analysis::Trace> trace;
  analysis::OpenOptions options;
  options.headers_only = true;
  const analysis::Error error = analysis::Open(folder, options, &trace);
  const analysis::BundleFacts read = error ? analysis::BundleFacts() : analysis::FactsOf(*trace);
  summary.lines.push_back("recorded: " +
                          (error ? error.message
                                 : Plural(read.events, "event", "events") + " of " +
                                       Plural(read.processes, "process", "processes")));
  if (!error) summary.lines.push_back(LossLine(read, facts.finish.failures.empty()));
  summary.lost = summary.lines.back() != kLostNothing || !facts.obstacles.empty();
  for (const std::string& line : facts.obstacles) summary.lines.push_back(line);
  const std::string switches = SwitchLine(read.signal_switches, facts.settings);
  if (!switches.empty()) summary.lines.push_back(switches);
  if (!facts.survivors.empty()) summary.lines.push_back(SurvivorLine(facts.survivors));
  summary.lines.push_back("bundle: " + analysis::ShellWord(bundle) + " (" +
                          FormatBytes(BundleBytes(folder)) +
                          (facts.is_joined ? " of this rank; each rank adds its own)" : ")"));
  summary.lines.push_back("next: gpuprof stats overview " + analysis::ShellWord(bundle));
  return summary;
}

std::vector<std::string> OfOtherRank(const RunFacts& facts, const Summary& summary, bool is_fine) {
  const bool has_failed = facts.child.ExitStatus() != 0;
  if (is_fine && !has_failed) return {};
  // Lines of many ranks come between each other.
  const std::string who =
      facts.rank.empty() ? "process " + std::to_string(facts.child.pid) : facts.rank;
  std::vector<std::string> lines = {summary.lines.front()};
  for (size_t i = 1; !is_fine && i < summary.lines.size(); ++i) {
    const std::string& line = summary.lines[i];
    if (!line.starts_with("next: ") && !line.starts_with("recorded: "))
      lines.push_back(who + ": " + line);
  }
  return lines;
}

}  // namespace gpuprof::launcher
