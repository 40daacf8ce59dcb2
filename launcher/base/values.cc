// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See values.h.

#include "launcher/base/values.h"

#include <signal.h>
#include <algorithm>

#include <charconv>
#include <cmath>
#include <cstring>

#include "launcher/base/nearest.h"
#include "proto/number_text.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostRangeName = 250;  // what the injected object keeps of it

bool ParseDigits(std::string_view text, uint64_t* value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Signals that our handler could never see, or whose handling would hide a crash or break job
// control.
bool IsForbiddenSignal(int number) {
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
    case SIGCHLD:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGPIPE:
      return true;
    default:
      // Between the last classic signal and the first real-time one lie the C library's own.
      return number > 31 && number < SIGRTMIN;
  }
}

std::string ParseHeap(std::string_view value, Sources* sources) {
  if (value == "off") {
    sources->bits &= ~proto::kSourceHeap;
    sources->heap = proto::HeapMode::kOff;
    return "";
  }
  sources->bits |= proto::kSourceHeap;
  if (value == "exact") {
    sources->heap = proto::HeapMode::kExact;
    return "";
  }
  sources->heap = proto::HeapMode::kSampled;
  if (value == "sampled") return "";
  if (value.substr(0, 8) == "sampled:") {
    uint64_t bytes = 0;
    std::string error = ParseSize(value.substr(8), &bytes);
    if (!error.empty()) return error;
    if (bytes < 1024 || bytes > (1u << 30))
      return "a heap sampling period lies between 1KiB and 1GiB; the default is 2MiB";
    sources->heap_period = bytes;
    return "";
  }
  return Quoted(value) +
         " is not a heap mode; write heap=sampled, heap=sampled:BYTES, heap=exact or heap=off";
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string ParseSize(std::string_view text, uint64_t* bytes) {
  const std::string ended(text);
  if (proto::ParseSize(ended.c_str(), ended.c_str() + ended.size(), bytes)) return "";
  return Quoted(text) +
         " is not a size; write a whole number with an optional unit: 65536, 512KiB, 32MiB, 1GiB";
}

std::string ParseDuration(std::string_view text, uint64_t* nanoseconds) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = text.substr(end);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + end, value);
  const bool number = end > 0 && result.ec == std::errc() && result.ptr == text.data() + end;
  const double scale = unit == "ms"  ? 1e6
                       : unit == "s" ? 1e9
                       : unit == "m" ? 60e9
                       : unit == "h" ? 3600e9
                                     : 0;
  if (!number || scale == 0) {
    return Quoted(text) + " is not a duration; write a number and its unit: 500ms, 5s, 1.5m, 2h";
  }
  if (value * scale > 240 * 3600e9) return Quoted(text) + " is longer than ten days";
  *nanoseconds = static_cast<uint64_t>(std::llround(value * scale));
  return "";
}

std::string ParseGpuPeriod(std::string_view text, uint64_t* nanoseconds) {
  *nanoseconds = 0;
  if (text == "off") return "";
  const std::string error = ParseDuration(text, nanoseconds);
  if (!error.empty()) return error + ", or off";
  if (*nanoseconds < 10'000'000 || *nanoseconds > 60'000'000'000)
    return "the period is 10ms to 1m; the default is 100ms, and off reads no counters";
  return "";
}

std::string ParseGpuPm(std::string_view text, uint64_t* nanoseconds) {
  *nanoseconds = 0;
  if (text == "off") return "";
  // Microseconds are for this alone.
  const bool is_us = text.ends_with("us");
  const std::string number(is_us ? text.substr(0, text.size() - 2) : text);
  if (!ParseDuration(is_us ? number + "ms" : number, nanoseconds).empty())
    return Quoted(text) + " is not a duration; write a number and its unit: 100us, 1ms, 1s, or off";
  if (is_us) *nanoseconds /= 1000;
  if (*nanoseconds < 20'000 || *nanoseconds > 1'000'000'000)
    return "PM sampling takes a sample every 20us to 1s; start with 1ms; off takes no samples";
  return "";
}

std::string ParseSignal(std::string_view text, int* number) {
  if (text == "none") {
    *number = 0;
    return "";
  }
  uint64_t value = 0;
  std::vector<std::string> names = {"none"};
  if (!ParseDigits(text, &value)) {
    const std::string_view bare = text.substr(0, 3) == "SIG" ? text.substr(3) : text;
    for (int i = 1; i < 32; ++i) {
      const char* name = sigabbrev_np(i);
      if (name == nullptr) continue;
      names.emplace_back(name);
      if (bare == name) value = static_cast<uint64_t>(i);
    }
    if (value == 0) {
      return Quoted(text) + " is not a signal; write USR1, USR2, a number, or none." +
             DidYouMean(bare, names);
    }
  }
  if (value == 0 || value > static_cast<uint64_t>(SIGRTMAX)) {
    return Quoted(text) + " is not a signal number; write 1 to " + std::to_string(SIGRTMAX) +
           ", or none";
  }
  if (IsForbiddenSignal(static_cast<int>(value))) {
    return Quoted(text) +
           " cannot toggle a capture: it cannot be caught, reports a crash, or belongs to the "
           "system; write USR1, USR2 or none";
  }
  *number = static_cast<int>(value);
  return "";
}

namespace {

std::string CheckRangeName(std::string_view name) {
  if (name.empty())
    return "the name of the range is missing; write nvtx:NAME or steps:FIRST-LAST@NAME";
  return name.size() > kMostRangeName
             ? "the name of a range has at most " + std::to_string(kMostRangeName) + " bytes here"
             : "";
}

// What every process of the program reads, too.
constexpr uint64_t kMostStep = 1'000'000'000'000'000'000;

std::string ParseSteps(std::string_view text, Capture* capture) {
  capture->when = Capture::When::kSteps;
  const size_t at = text.find('@');
  const std::string_view steps = text.substr(0, at);
  const size_t dash = steps.find('-');
  const bool is_range = dash != std::string_view::npos;
  if (!ParseDigits(steps.substr(0, dash), &capture->first_step) ||
      !ParseDigits(is_range ? steps.substr(dash + 1) : steps, &capture->last_step))
    return Quoted(steps) +
           " is not a range of steps; write FIRST-LAST as in steps:10-15, or one step: steps:10";
  if (std::max(capture->first_step, capture->last_step) > kMostStep)
    return "steps are numbered up to " + std::to_string(kMostStep) + " here";
  if (capture->last_step < capture->first_step)
    return "the last step is before the first in " + Quoted(steps);
  if (at == std::string_view::npos) return "";
  capture->range = std::string(text.substr(at + 1));
  return CheckRangeName(capture->range);
}

}  // namespace

std::string ParseCapture(std::string_view text, Capture* capture) {
  *capture = Capture{};
  if (text == "now") return "";
  if (text == "cuda-profiler") {
    capture->when = Capture::When::kProfilerCalls;
    return "";
  }
  if (text.starts_with("nvtx:")) {
    capture->when = Capture::When::kRange;
    capture->range = std::string(text.substr(5));
    return CheckRangeName(capture->range);
  }
  if (text.starts_with("steps:")) return ParseSteps(text.substr(6), capture);
  if (text == "off" || text == "signal") {
    capture->when = Capture::When::kOff;
    return "";
  }
  if (text.substr(0, 6) == "delay:") {
    capture->when = Capture::When::kDelay;
    const std::string_view times = text.substr(6);
    const size_t plus = times.find('+');
    std::string error = ParseDuration(times.substr(0, plus), &capture->start_ns);
    if (!error.empty() || plus == std::string_view::npos) return error;
    error = ParseDuration(times.substr(plus + 1), &capture->length_ns);
    if (error.empty() && capture->length_ns < 1'000'000)
      return "a capture must last at least 1ms; write delay:START+LENGTH with a longer LENGTH";
    return error;
  }
  return Quoted(text) +
         " is not a value of --capture; write now, off, delay:START, delay:START+LENGTH "
         "(delay:5s+10s), steps:FIRST-LAST (steps:10-15), steps:FIRST-LAST@NAME, nvtx:NAME or "
         "cuda-profiler." +
         DidYouMean(text,
                    {"now", "off", "delay:5s+10s", "steps:10-15", "nvtx:NAME", "cuda-profiler"});
}

std::string ParseSources(std::string_view text, Sources* sources) {
  *sources = Sources{};
#define GPUPROF_NAME(constant, bit, name, ...) name,
  const std::vector<std::string> names = {GPUPROF_SOURCES(GPUPROF_NAME)};
#undef GPUPROF_NAME
#define GPUPROF_BITS(constant, bit, name, needs, ...) proto::constant | (needs),
  const uint32_t bits[] = {GPUPROF_SOURCES(GPUPROF_BITS)};
#undef GPUPROF_BITS
  for (const std::string& item : Split(text, ',')) {
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    size_t i = 0;
    while (i < names.size() && names[i] != name) ++i;
    if (i == names.size()) {
      return Quoted(name) +
             " is not a source; choose from " GPUPROF_SOURCES(
                 GPUPROF_SOURCE_NAME) "comma separated." +
             DidYouMean(name, names);
    }
    if (equals != std::string::npos && name == "ops") {
      const std::string value = item.substr(equals + 1);
      if (value != "shapes" && value != "names")
        return Quoted(value) +
               " is not a detail of operations; write ops=shapes (names, and shapes in windows) or "
               "ops=names";
    } else if (equals != std::string::npos && name != "heap") {
      return Quoted(name) + " takes no value; write " + name + " alone";
    }
    const std::string error =
        name == "heap"
            ? ParseHeap(equals == std::string::npos ? "sampled" : item.substr(equals + 1), sources)
            : "";
    if (!error.empty()) return error;
    if (name != "heap") sources->bits |= bits[i];
  }
  return "";
}

std::string ParseCount(std::string_view text, uint64_t most, uint64_t* count) {
  if (ParseDigits(text, count) && *count <= most) return "";
  return Quoted(text) + " is not a whole number from 0 to " + std::to_string(most);
}

std::string ParseChoice(std::string_view text, const std::vector<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) {
    if (choice == text) return "";
    list += (list.empty() ? "" : ", ") + choice;
  }
  return Quoted(text) + " is not one of " + list + "." + DidYouMean(text, choices);
}

std::string ParsePrograms(std::string_view text, std::vector<std::string>* names) {
  names->clear();
  if (text.empty()) return "";
  for (const std::string& name : Split(text, ',')) {
    if (name.empty()) return "a program name is missing between the commas of " + Quoted(text);
    if (name.find('/') != std::string::npos) {
      return Quoted(name) + " is a path; programs are compared by base name: write " +
             Quoted(name.substr(name.rfind('/') + 1));
    }
    names->push_back(name);
  }
  return "";
}

}  // namespace gpuprof::launcher
