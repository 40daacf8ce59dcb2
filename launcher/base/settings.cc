// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See settings.h.

#include "launcher/base/settings.h"

#include <cctype>
#include <cstring>

#include "launcher/base/limit_values.h"
#include "launcher/base/nearest.h"
#include "launcher/base/values.h"
#include "proto/contract.h"
#include "proto/obstacle.h"
#include "proto/python_option.h"
#include "proto/record.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

std::string CheckAnything(std::string_view) { return ""; }

std::string CheckPath(std::string_view value) {
  return value.empty() ? "the name is empty; leave the setting out or name a path" : "";
}

// Checks a value by the function that reads it.
template <typename Value, std::string (*kParse)(std::string_view, Value*)>
std::string Check(std::string_view value) {
  Value read = {};
  return kParse(value, &read);
}

std::string CheckStacks(std::string_view value) {
  uint64_t frames = 0;
  return ParseCount(value, proto::kMaxStackFrames, &frames);
}

std::string CheckRingMemory(std::string_view value) {
  uint64_t bytes = 0;
  const std::string error = ParseSize(value, &bytes);
  if (!error.empty()) return error;
  if (bytes < (1u << 20)) return "rings need at least 1MiB per process; the default is 32MiB";
  if (bytes > (uint64_t{16} << 30))
    return "rings may take at most 16GiB per process; the default is 32MiB";
  return "";
}

std::string CheckRing(std::string_view value) {
  uint64_t bytes = 0;
  const std::string error = ParseSize(value, &bytes);
  if (!error.empty()) return error;
  if (bytes < proto::kMinFlightBytes) return "a flight recorder keeps at least 1MiB per process";
  if (bytes > proto::kMaxFlightBytes) return "a flight recorder keeps at most 1TiB per process";
  return "";
}

std::string CheckMemory(std::string_view value) {
  uint64_t bytes = 0;
  const std::string error = ParseSize(value, &bytes);
  if (!error.empty()) return error;
  if (bytes < (8u << 20))
    return "the recorder needs at least 8MiB per process; the default is 64MiB";
  if (bytes > (uint64_t{16} << 30))
    return "the recorder may take at most 16GiB per process; the default is 64MiB";
  return "";
}

std::string CheckKeepFree(std::string_view value) {
  uint64_t bytes = 0;
  return value == "auto" ? "" : ParseSize(value, &bytes);
}

std::string CheckBundleLimit(std::string_view value) {
  uint64_t bytes = 0;
  const std::string error = ParseSize(value, &bytes);
  if (!error.empty()) return error;
  return bytes < (64u << 10) ? "a bundle needs at least 64KiB" : "";
}

std::string CheckGraphs(std::string_view value) { return ParseChoice(value, {"node", "whole"}); }

std::string CheckGpuRate(std::string_view value) {
  while (true) {
    const size_t comma = value.find(',');
    std::string_view part = value.substr(0, comma);
    for (const std::string_view name : {"calls=", "nodes="}) {
      if (part.substr(0, name.size()) != name) continue;
      part.remove_prefix(name.size());
      break;
    }
    uint64_t rows = 0;
    const std::string error = ParseCount(part, UINT32_MAX, &rows);
    if (!error.empty()) return error + "; write N, calls=N, nodes=N or calls=N,nodes=N";
    if (rows == 0)
      return "0 rows per second would record nothing; to record no GPU work, leave cuda out of "
             "--trace";
    if (comma == std::string_view::npos) return "";
    value.remove_prefix(comma + 1);
  }
}

// The injected object knows no signal names but two, no fractions and no hours.
std::string CanonicalSignal(std::string_view value) {
  int number = 0;
  ParseSignal(value, &number);
  return number == 0 ? "none" : std::to_string(number);
}

std::string Milliseconds(uint64_t nanoseconds) {
  return std::to_string(nanoseconds / 1'000'000) + "ms";
}

std::string CanonicalCapture(std::string_view value) {
  Capture capture;
  ParseCapture(value, &capture);
  if (capture.when == Capture::When::kOff) return "off";
  if (capture.when != Capture::When::kDelay) return std::string(value);
  return "delay:" + Milliseconds(capture.start_ns) +
         (capture.length_ns == 0 ? "" : "+" + Milliseconds(capture.length_ns));
}

std::string CanonicalSize(std::string_view value) {
  uint64_t bytes = 0;
  ParseSize(value, &bytes);
  return std::to_string(bytes);
}

std::string CheckGpuFinish(std::string_view value) {
  uint64_t nanoseconds = 0;
  const std::string error = ParseDuration(value, &nanoseconds);
  if (!error.empty()) return error;
  return nanoseconds > proto::kMostGpuFinishNs
             ? "the end of a capture waits at most 2m; the default is 500ms"
             : "";
}
std::string CanonicalBudget(std::string_view value) {
  Budget budget;
  ParseBudget(value, &budget);
  return budget.ppm != 0 ? std::to_string(budget.ppm) + "ppm"
                         : std::to_string(budget.step_ns) + "ns";
}

std::string CanonicalDuration(std::string_view value) {
  if (value == "off") return "off";
  uint64_t nanoseconds = 0;
  ParseDuration(value, &nanoseconds);
  return Milliseconds(nanoseconds);
}

std::string CanonicalTrigger(std::string_view value) {
  Triggers triggers;
  ParseTriggers(value, &triggers);
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (triggers.step_percent != 0) add("step:" + std::to_string(triggers.step_percent) + "%");
  if (triggers.stall_ns != 0) add("stall:" + Milliseconds(triggers.stall_ns));
  if (triggers.at_failed_exit) add("exit");
  return text;
}

std::string CheckSnapshots(std::string_view value) {
  uint64_t number = 0;
  const std::string error = ParseCount(value, 1'000'000, &number);
  if (!error.empty()) return error;
  return number == 0 ? "0 snapshots would keep nothing; leave --trigger out for that" : "";
}

std::string CheckClock(std::string_view value) {
  return ParseChoice(value, {"auto", "tsc", "monotonic"});
}
std::string CheckHeapTimes(std::string_view value) {
  return ParseChoice(value, {"coarse", "exact"});
}
std::string CheckOnFull(std::string_view value) {
  return ParseChoice(value, {"auto", "wait", "drop"});
}
std::string CheckArguments(std::string_view value) {
  return ParseChoice(value, {proto::kArgumentsMasked, proto::kArgumentsNone, proto::kArgumentsAll});
}
std::string CheckPython(std::string_view value) {
  proto::PythonOption option;
  const char* from = nullptr;
  const char* to = nullptr;
  const std::string text(value);
  const auto fault = proto::ReadPythonOption(text.c_str(), &option, &from, &to);
  const std::string item = fault == proto::PythonFault::kNone ? "" : std::string(from, to);
  switch (fault) {
    case proto::PythonFault::kNone:
      return "";
    case proto::PythonFault::kUnknown:
      return "'" + item +
             "' is neither trace:GLOBS nor gc; write trace:'mypkg.*' for the calls of " +
             "functions, or gc for the garbage collector";
    case proto::PythonFault::kEmpty:
      return "a pattern is empty; write trace:'mypkg.*', or trace:'*' for every function";
    case proto::PythonFault::kLong:
      break;
  }
  return "the patterns are longer than 510 letters; use fewer or shorter ones";
}
std::string CheckBoolean(std::string_view value) { return ParseChoice(value, {"0", "1"}); }

struct Extra {
  const char* variable;
  const char* flag;  // null: the variable's own name in small letters
  const char* type_name;
  std::string (*check)(std::string_view);
  std::string (*canonical)(std::string_view) = nullptr;
  const char* meaning = nullptr;  // where the flag means more than the variable
};

// What proto/contract.h's table does not say: how each value looks. A variable without a row here
// does not compile away: it is shown without a type and accepted unchecked, and the unit test of
// this table fails.
constexpr Extra kExtras[] = {
    {proto::kEnvBundle, "output", "DIR", CheckPath, nullptr,
     "Directory for the traces, new or empty; default: ./gpuprof-PROGRAM-TIME-PID. The ranks of a "
     "job share it (default: ./gpuprof-PROGRAM-JOB). %h, %r, %j and %p stand for host, rank, job "
     "and process"},
    {proto::kEnvCapture, nullptr,
     "now|off|delay:START+LENGTH|steps:FIRST-LAST|nvtx:NAME|cuda-profiler",
     Check<Capture, ParseCapture>, CanonicalCapture},
    {proto::kEnvBudget, nullptr, "N%|DURATION", Check<Budget, ParseBudget>, CanonicalBudget},
    {proto::kEnvTrigger, nullptr, "step:N|stall:DURATION|exit", Check<Triggers, ParseTriggers>,
     CanonicalTrigger},
    {proto::kEnvTriggerPause, nullptr, "DURATION", Check<uint64_t, ParseDuration>,
     CanonicalDuration},
    {proto::kEnvSnapshots, nullptr, "N", CheckSnapshots},
    {proto::kEnvTrace, nullptr, "SOURCES", Check<Sources, ParseSources>},
    {proto::kEnvPython, "python", "trace:GLOBS|gc", CheckPython},
    {proto::kEnvOnFull, nullptr, "auto|wait|drop", CheckOnFull},
    {proto::kEnvStacks, nullptr, "N", CheckStacks},
    {proto::kEnvSignal, nullptr, "USR1|USR2|none|N", Check<int, ParseSignal>, CanonicalSignal},
    {proto::kEnvInclude, nullptr, "NAMES", Check<std::vector<std::string>, ParsePrograms>},
    {proto::kEnvExclude, nullptr, "NAMES", Check<std::vector<std::string>, ParsePrograms>},
    {proto::kEnvRing, nullptr, "SIZE", CheckRing, CanonicalSize},
    {proto::kEnvRingMemory, nullptr, "SIZE", CheckRingMemory, CanonicalSize},
    {proto::kEnvMemory, nullptr, "SIZE", CheckMemory, CanonicalSize},
    {proto::kEnvKeepFree, nullptr, "SIZE|auto", CheckKeepFree},
    {proto::kEnvBundleLimit, nullptr, "SIZE", CheckBundleLimit, CanonicalSize},
    {proto::kEnvGpuPeriod, nullptr, "DURATION|off", Check<uint64_t, ParseGpuPeriod>,
     CanonicalDuration},
    {proto::kEnvGpuPm, nullptr, "DURATION|off", Check<uint64_t, ParseGpuPm>},
    {proto::kEnvClock, nullptr, "auto|tsc|monotonic", CheckClock},
    {proto::kEnvGraphs, nullptr, "node|whole", CheckGraphs},
    {proto::kEnvGpuRate, nullptr, "[calls=]N|nodes=N", CheckGpuRate},
    {proto::kEnvGpuFinish, nullptr, "DURATION", CheckGpuFinish, CanonicalDuration},
    {proto::kEnvHeapTimes, nullptr, "coarse|exact", CheckHeapTimes},
    {proto::kEnvArguments, nullptr, "masked|none|all", CheckArguments},
    {proto::kEnvDebug, "", "0|1", CheckBoolean},
    {proto::kEnvTracer, "", "PATH", CheckPath},
    {proto::kEnvChainedInjection, "", "PATH", CheckPath},
    {proto::kEnvChainedNvtx, "", "PATH", CheckPath},
    {proto::kEnvInject, "", "PATH", CheckPath},
};

// No settings of a run, but they may stand in its environment: what the build, the set-up, the
// tests and deploy/slurm read, and what an outer `gpuprof run` has set.
constexpr const char* kForeignVariables[] = {"GPUPROF_LIBUNWIND_SOURCE", "GPUPROF_TORCH_INDEX_URL",
                                             "GPUPROF_PYTHON", "GPUPROF_SLURM",
                                             proto::kEnvLauncher};
constexpr const char* kForeignPrefixes[] = {"GPUPROF_TEST_", "GPUPROF_BUILD_"};

std::string FlagOf(const char* variable) {
  std::string flag(variable + std::strlen("GPUPROF_"));
  for (char& c : flag)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return flag;
}

std::vector<SettingInfo> MakeTable() {
  std::vector<SettingInfo> table;
#define GPUPROF_ROW(constant, variable, fallback, meaning) \
  table.push_back({variable, FlagOf(variable), fallback, meaning, "VALUE", CheckAnything, nullptr});
  GPUPROF_ENVIRONMENT(GPUPROF_ROW)
#undef GPUPROF_ROW
  for (SettingInfo& info : table) {
    for (const Extra& extra : kExtras) {
      if (std::strcmp(info.variable, extra.variable) != 0) continue;
      if (extra.flag != nullptr) info.flag = extra.flag;
      info.type_name = extra.type_name;
      info.check = extra.check;
      info.canonical = extra.canonical;
      if (extra.meaning != nullptr) info.meaning = extra.meaning;
    }
  }
  return table;
}

bool IsForeign(const std::string& name) {
  for (const char* foreign : kForeignVariables) {
    if (name == foreign) return true;
  }
  for (const char* prefix : kForeignPrefixes) {
    if (name.compare(0, std::strlen(prefix), prefix) == 0) return true;
  }
  return false;
}

}  // namespace

const std::vector<SettingInfo>& SettingTable() {
  static const std::vector<SettingInfo> table = MakeTable();
  return table;
}

std::vector<std::string> UnknownVariables(const Variables& environment) {
  std::vector<std::string> known, faults;
  for (const SettingInfo& info : SettingTable()) known.emplace_back(info.variable);
  for (const auto& [name, value] : environment) {
    if (name.compare(0, std::strlen("GPUPROF_"), "GPUPROF_") != 0 || IsForeign(name)) continue;
    bool found = false;
    for (const std::string& candidate : known) found = found || candidate == name;
    if (found) continue;
    faults.push_back("the environment has " + name + ", which is not a setting of gpuprof." +
                     DidYouMean(name, known) +
                     " Unset it, or see 'gpuprof help run' for the names");
  }
  return faults;
}

namespace {

std::string CheckTriggers(const std::vector<Setting>& settings, const Capture& capture,
                          const Sources& sources) {
  const bool has_ring = !FindSetting(settings, proto::kEnvRing).value.empty();
  const std::string& text = FindSetting(settings, proto::kEnvTrigger).value;
  if (text.empty()) return "";
  if (!has_ring)
    return "--trigger takes snapshots of a flight recorder, which --ring begins; add --ring SIZE, "
           "for example --ring 64MiB";
  Triggers triggers;
  ParseTriggers(text, &triggers);
  if (triggers.step_percent == 0 && triggers.stall_ns == 0) return "";
  if (capture.when == Capture::When::kRange)
    return "--trigger=step and --trigger=stall follow steps, and --capture=nvtx:NAME follows "
           "another range; leave one of them out";
  if ((sources.bits & (proto::kSourceNvtx | proto::kSourceItt | proto::kSourceOps)) == 0)
    return "--trigger=step and --trigger=stall need a source that shows steps, and --trace names "
           "none; add nvtx (ranges) or ops (PyTorch's optimizers) to it";
  return "";
}

std::string CheckTogether(const std::vector<Setting>& settings) {
  Capture capture;
  ParseCapture(FindSetting(settings, proto::kEnvCapture).value, &capture);
  Sources sources;
  ParseSources(FindSetting(settings, proto::kEnvTrace).value, &sources);
  if (capture.when == Capture::When::kRange &&
      (sources.bits & (proto::kSourceNvtx | proto::kSourceItt)) == 0)
    return "--capture=nvtx:NAME needs the program's ranges, which --trace leaves out; add nvtx to "
           "it";
  if (capture.when == Capture::When::kSteps &&
      (sources.bits & (proto::kSourceNvtx | proto::kSourceItt | proto::kSourceOps)) == 0)
    return "--capture=steps needs a source that shows steps, and --trace names none; add nvtx "
           "(ranges) or ops (PyTorch's optimizers) to it";
  const auto is_given = [&](const char* variable) {
    return FindSetting(settings, variable).source != Setting::Source::kDefault;
  };
  if (!is_given(proto::kEnvBudget)) return CheckTriggers(settings, capture, sources);
  if (is_given(proto::kEnvCapture) && capture.when != Capture::When::kNow)
    return "--budget chooses itself what is recorded; leave out --capture";
  if (is_given(proto::kEnvRing))
    return "a flight recorder records all the time, so it cannot keep to a --budget; leave out "
           "--ring or --budget";
  return CheckTriggers(settings, capture, sources);
}

}  // namespace

std::string ResolveSettings(const Variables& flags, const Variables& environment,
                            const Variables& file, std::vector<Setting>* settings) {
  settings->clear();
  const std::vector<std::string> unknown = UnknownVariables(environment);
  if (!unknown.empty()) return unknown.front();
  for (const SettingInfo& info : SettingTable()) {
    Setting setting{&info, info.fallback, Setting::Source::kDefault};
    std::string where;
    const auto take = [&](const Variables& from, const std::string& key, Setting::Source source,
                          const std::string& place) {
      const auto found = from.find(key);
      // An empty variable is the shell's way to unset one; an empty flag is a value to be checked.
      if (found == from.end() || (found->second.empty() && source == Setting::Source::kEnvironment))
        return false;
      setting.value = found->second;
      setting.source = source;
      where = place;
      return true;
    };
    const bool has_flag = !info.flag.empty();
    (has_flag && take(flags, info.flag, Setting::Source::kFlag, "--" + info.flag)) ||
        take(environment, info.variable, Setting::Source::kEnvironment,
             std::string("environment: ") + info.variable) ||
        (has_flag && take(file, info.flag, Setting::Source::kFile, "gpuprof.toml: " + info.flag));
    if (setting.source != Setting::Source::kDefault) {
      const std::string error = info.check(setting.value);
      if (!error.empty()) return where + ": " + error;
    }
    settings->push_back(std::move(setting));
  }
  return CheckTogether(*settings);
}

Variables CurrentEnvironment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals != nullptr)
      variables.emplace(std::string(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
  }
  return variables;
}

const Setting& FindSetting(const std::vector<Setting>& settings, std::string_view variable) {
  for (const Setting& setting : settings) {
    if (variable == setting.info->variable) return setting;
  }
  static const Setting none;
  return none;
}

}  // namespace gpuprof::launcher
