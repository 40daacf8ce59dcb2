// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of advice. See text.h.

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/render/text.h"
#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {
namespace {

const char* MissingWords(results::RuleNeed need) {
  switch (need) {
    case results::RULE_NEED_STEPS:
      return "fewer than three steps were found";
    case results::RULE_NEED_DEVICE_WORK:
      return "no work of a GPU was recorded";
    case results::RULE_NEED_CALLS:
      return "no calls of CUDA were recorded";
    case results::RULE_NEED_OPERATIONS:
      return "no operations of a framework were recorded";
    case results::RULE_NEED_HEAP:
      return "no allocations of the heap were recorded";
    case results::RULE_NEED_LOCKS:
      return "no waits for locks were recorded";
    case results::RULE_NEED_FILES:
      return "no reads of files were recorded";
    case results::RULE_NEED_THREADS:
      return "the processor time of threads was not recorded";
    case results::RULE_NEED_PYTHON:
      return "no Python functions were recorded";
    case results::RULE_NEED_PAGES:
      return "no pages of managed memory were recorded";
    case results::RULE_NEED_SHAPES:
      return "no shapes of operations were recorded";
    case results::RULE_NEED_DEVICE_MEMORY:
      return "no memory of a GPU was recorded";
    case results::RULE_NEED_SAMPLES:
      return "no samples of stacks were recorded";
    case results::RULE_NEED_PAUSES:
      return "no pauses of Python's garbage collector were recorded";
    case results::RULE_NEED_READINGS:
      return "no GPU was read by NVML";
    default:
      return "";
  }
}

std::string SeverityWord(results::Severity severity) {
  switch (severity) {
    case results::SEVERITY_HIGH:
      return "high";
    case results::SEVERITY_MEDIUM:
      return "medium";
    case results::SEVERITY_LOW:
      return "low";
    default:
      return "info";
  }
}

const char* BoundWords(results::Bound bound) {
  constexpr const char* kWords[] = {"",
                                    "its kernels",
                                    "the host, which launches work too late",
                                    "the input: the host waits for data",
                                    "compiling and loading of code",
                                    "collectives that nothing hides",
                                    "copies that nothing hides",
                                    "launches: the way of work to the GPU",
                                    "waits of streams for each other",
                                    "nothing that the recording explains",
                                    "the start of CUDA: no steady step was recorded",
                                    "a cause that cannot be known"};
  static_assert(std::size(kWords) == results::Bound_ARRAYSIZE);
  return kWords[bound];
}

// Findings that are told in full, and in a line each. The others are counted.
constexpr int kWholeFindings = 3, kShortFindings = 2;

// Sentences fit a terminal, also if nobody knows how wide it is.
constexpr int kUsualWidth = 100;

// Rules by the option that would let them look.
std::string UncheckedText(const results::Advice& result, const TextOptions& options) {
  if (result.not_checked().empty()) return "";
  struct Group {
    results::RuleNeed need = results::RULE_NEED_NONE;
    std::string rules;
  };
  std::map<std::string, Group> by_fix;
  const bool is_full = options.limit == 0;
  for (const results::UncheckedRule& rule : result.not_checked()) {
    const std::string key = rule.fix().empty() ? MissingWords(rule.need()) : rule.fix();
    const auto [at, is_new] = by_fix.try_emplace(key);
    if (is_new) at->second.need = rule.need();
    at->second.rules += (is_new    ? ""
                         : is_full ? "; "
                                   : ", ") +
                        (is_full ? rule.name() + " [" + rule.id() + "]" : rule.id());
  }
  std::string out = is_full ? "Not checked\n"
                            : "Not checked (`gpuprof advise --rules` says what each looks for)\n";
  const int width = options.width > 0 ? options.width : kUsualWidth;
  for (const auto& [fix, group] : by_fix) {
    const std::string missing = MissingWords(group.need);
    const std::string help = fix == missing ? "" : " (" + fix + ")";
    out += WrapText("Because " + missing + help + ": " + group.rules + ".", "  ", "    ", width);
  }
  return out + "\n";
}

// Returns whether gains are of the whole recording: no steps were found.
bool IsOfRecording(const results::Verdict* verdict) {
  return verdict != nullptr && verdict->window() == results::STEP_WINDOW_ALL;
}

// Returns "3.2 to 4.6 ms of 12 ms a step, 27 to 38 %", "at most 4.6 ms of ..." or "gain not
// computed".
std::string GainText(const results::Gain& gain, const results::Verdict* verdict) {
  if (gain.method() == results::GAIN_METHOD_NOT_COMPUTED) return "gain not computed";
  const std::string base =
      " of " + (gain.is_of_run()         ? "the run of " + FormatDuration(gain.base_ns())
                : IsOfRecording(verdict) ? "the recorded " + FormatDuration(gain.base_ns())
                                         : FormatDuration(gain.base_ns()) + " a step");
  if (gain.low_ns() == 0)
    return "at most " + FormatDuration(gain.high_ns()) + base + ", " +
           FormatPercent(gain.high_ratio());
  return FormatDuration(gain.low_ns()) + " to " + FormatDuration(gain.high_ns()) + base + ", " +
         FormatPercent(gain.low_ratio()) + " to " + FormatPercent(gain.high_ratio());
}

// Returns how the gain was found: "replayed: the copies take no time".
std::string MethodText(const results::Gain& gain) {
  if (gain.method() == results::GAIN_METHOD_NOT_COMPUTED) return "";
  return std::string(gain.method() == results::GAIN_METHOD_REPLAYED ? "replayed: " : "bound: ") +
         gain.change();
}

std::string HeadOf(const results::Finding& finding, const results::Verdict* verdict) {
  std::string head = finding.name() + " [" + finding.id() + ", " + SeverityWord(finding.severity());
  if (finding.has_gain()) head += ", " + GainText(finding.gain(), verdict);
  return head + "]";
}

const char* PlaceWords(results::PlaceKind kind) {
  constexpr const char* kWords[] = {"the place",
                                    "the longest gap",
                                    "the longest call",
                                    "the longest copy",
                                    "the longest wait",
                                    "the longest read",
                                    "a launch in the typical step",
                                    "the longest collective",
                                    "the longest run",
                                    "the longest move",
                                    "a typical step",
                                    "the longest step",
                                    "the peak",
                                    "the start"};
  static_assert(std::size(kWords) == results::PlaceKind_ARRAYSIZE);
  return kWords[kind];
}

// Returns "a typical step: 12.3 ms at 4.56 s, step 7". Empty: an evidence tells the moment.
std::string PlaceText(const results::Finding& finding) {
  if (!finding.has_place()) return "";
  const results::Place& place = finding.place();
  const std::string at = "at " + FormatDuration(place.start_ns());
  const auto tells = [&](const std::string& line) { return line.find(at) != std::string::npos; };
  if (std::any_of(finding.evidence().begin(), finding.evidence().end(), tells)) return "";
  std::string words = std::string(PlaceWords(place.kind())) + ": ";
  if (place.end_ns() > place.start_ns())
    words += FormatDuration(place.end_ns() - place.start_ns()) + " ";
  words += at;
  if (place.has_step()) words += ", step " + std::to_string(place.step());
  return words;
}

}  // namespace

// Returns what is missing, as a clause that ends with a full stop.
std::string MissingText(const results::Verdict& verdict) {
  const results::MissingWork& missing = verdict.missing();
  if (missing.empty_graph_count() != 0)
    return "the kernels of " + FormatNumber(missing.empty_graph_count()) + " of " +
           FormatNumber(missing.graph_count()) + " launches of CUDA graphs were not recorded.";
  if (missing.is_sampled()) return "only a part of the GPU's work was recorded.";
  if (missing.is_selection()) return "nearly all calls are missing in the recording.";
  return "for " + FormatDuration(missing.unexplained_ns()) + " of " +
         FormatDuration(verdict.step_ns()) +
         " the GPU had work in its queue and shows none: work is missing in the recording.";
}

std::string VerdictText(const results::Verdict& verdict, const TextOptions& options) {
  const bool has_steps = verdict.window() != results::STEP_WINDOW_ALL;
  const std::string device =
      "device " + std::to_string(verdict.device()) + " of pid " + std::to_string(verdict.pid());
  std::string words;
  if (verdict.bound() == results::BOUND_UNKNOWN) {
    words =
        "Verdict: the cause that bounds " + device + " cannot be known: " + MissingText(verdict);
  } else {
    words = "Verdict: " + device + " is bound by " + BoundWords(verdict.bound()) + " (" +
            FormatPercent(verdict.bound_ratio()) +
            (has_steps ? " of a step of " : " of the recorded ") +
            FormatDuration(verdict.step_ns()) + "); busy " + FormatPercent(verdict.busy_ratio()) +
            ".";
    if (verdict.missing().empty_graph_count() != 0) words += " But " + MissingText(verdict);
  }
  if (verdict.has_sm_active_ratio()) {
    words += " Sampled: multiprocessors active " + FormatPercent(verdict.sm_active_ratio());
    if (verdict.has_tensor_active_ratio())
      words += ", tensor cores " + FormatPercent(verdict.tensor_active_ratio());
    if (verdict.has_dram_active_ratio())
      words += ", memory " + FormatPercent(verdict.dram_active_ratio());
    words += ".";
  }
  if (!verdict.confidence().reason().empty())
    words += " Confidence " + WordOf(verdict.confidence().level()) + ": " +
             verdict.confidence().reason() + ".";
  return WrapText(words, "", "", options.width);
}

std::string FindingsText(const google::protobuf::RepeatedPtrField<results::Finding>& findings,
                         const results::Verdict* verdict, const TextOptions& options) {
  std::string out = "What to try\n";
  if (findings.empty()) {
    return out + "  No rule found anything worth trying in this recording.\n";
  }
  int number = 0;
  for (const results::Finding& finding : findings) {
    const std::string lead = "  " + std::to_string(++number) + ". ";
    const bool is_folded = options.limit != 0;
    if (is_folded && number > kWholeFindings + kShortFindings) {
      const int rest = findings.size() - kWholeFindings - kShortFindings;
      return out + "  " + std::to_string(rest) + " more: gpuprof advise --all\n";
    }
    out += WrapText(HeadOf(finding, verdict), lead, "     ", options.width);
    // What only informs is short behind what could be won.
    const bool is_short =
        number > kWholeFindings || (number > 1 && finding.severity() == results::SEVERITY_INFO);
    if (is_folded && is_short) continue;
    for (const std::string& line : finding.evidence()) {
      out += WrapText(line, "     - ", "       ", options.width);
    }
    if (const std::string place = PlaceText(finding); !place.empty())
      out += WrapText(place, "     see: ", "          ", options.width);
    for (const std::string& line : finding.fix()) {
      out += WrapText(line, "     try: ", "          ", options.width);
    }
    if (const std::string method = MethodText(finding.gain()); !method.empty())
      out += WrapText(method, "     gain: ", "           ", options.width);
    if (!finding.caveat().empty()) {
      out += WrapText(finding.caveat(), "     but: ", "          ", options.width);
    }
  }
  return out;
}

std::string AdviceText(const results::Advice& result, const TextOptions& options) {
  std::string out;
  if (result.has_verdict()) out += VerdictText(result.verdict(), options) + "\n";
  const results::Verdict* verdict = result.has_verdict() ? &result.verdict() : nullptr;
  return out + FindingsText(result.findings(), verdict, options) + "\n" +
         UncheckedText(result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
