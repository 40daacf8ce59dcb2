// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See select_rows.h.

#include "analysis/passes/select_rows.h"

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/base/units.h"
#include "analysis/derived/selection.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {
namespace {

Error Usage(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }

// Passes that find the steps themselves need all of them.
bool LooksAtAllSteps(std::string_view pass) {
  return pass == "overview" || pass == "steps" || pass == "health";
}

// Passes that compare ranks choose the steps of each rank by its own clock.
bool ChoosesSteps(std::string_view pass) { return pass == "stragglers"; }

// Finds when the steps of these numbers ran.
Error FindSteps(Session* session, const PassOptions& options, TimeWindow* window) {
  PassOptions whole = options;
  whole.steps.reset();
  PassContext context(session, whole);
  if (Error error = context.Prepare()) return error;
  const std::optional<size_t> leading = context.Leading();
  if (!leading) return Usage("No steps were found, so --steps selects none; use --window.");
  const auto [first, last] = *options.steps;
  *window = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  uint64_t least = std::numeric_limits<uint64_t>::max(), most = 0;
  for (const Step& step : context.steps(*leading).steps) {
    least = std::min(least, step.number);
    most = std::max(most, step.number);
    if (step.number < first || step.number > last) continue;
    window->start_ns = std::min(window->start_ns, step.span.start);
    window->end_ns = std::max(window->end_ns, step.span.end);
  }
  if (window->start_ns >= window->end_ns) {
    return Usage("No step has a number from " + std::to_string(first) + " to " +
                 std::to_string(last) + "; there are " + std::to_string(least) + " to " +
                 std::to_string(most) + ".");
  }
  return {};
}

std::string Numbers(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (const uint32_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

Error CheckDevices(const Trace& trace, const std::vector<uint32_t>& devices) {
  std::set<uint32_t> known;
  for (const Process& process : trace.processes) {
    for (const Track& track : process.tracks) {
      if (track.is_stream && track.device != kNoCudaId) known.insert(track.device);
    }
  }
  for (const uint32_t device : devices) {
    if (known.count(device) != 0) continue;
    if (known.empty()) return Usage("No work on a device was recorded; leave --device out.");
    return Usage("No device " + std::to_string(device) +
                 " in this trace. Its devices are: " + Numbers({known.begin(), known.end()}) + ".");
  }
  return {};
}

}  // namespace

bool IsRefused(std::string_view pass, const PassOptions& options) {
  return options.steps && (LooksAtAllSteps(pass) || ChoosesSteps(pass));
}

Error SelectRows(std::string_view pass, Session* session, const PassOptions& options,
                 std::shared_ptr<const Trace>* part, std::string* words) {
  const Trace& trace = session->trace();
  Selection selection;
  selection.devices = options.devices;
  if (Error error = CheckDevices(trace, options.devices)) return error;
  if (options.steps && options.window) return Usage("--steps and --window exclude each other.");
  if (options.steps && !ChoosesSteps(pass)) {
    if (IsRefused(pass, options)) {
      return Usage("The pass '" + std::string(pass) +
                   "' looks at all steps; use --window, or another pass with --steps.");
    }
    selection.window.emplace();
    selection.by_launch = true;
    if (Error error = FindSteps(session, options, &*selection.window)) return error;
    const auto [first, last] = *options.steps;
    *words = first == last
                 ? "step " + std::to_string(first) + ": "
                 : "steps " + std::to_string(first) + " to " + std::to_string(last) + ": ";
  } else if (options.window) {
    selection.window = TimeWindow{options.window->first, options.window->second};
  }
  if (selection.is_all()) return {};
  if (selection.window) {
    *words += "only what began from " + FormatDuration(selection.window->start_ns) + " to " +
              FormatDuration(selection.window->end_ns) + " is in the figures";
    if (selection.by_launch) *words += "; work of a device counts when it was launched";
  }
  if (!options.devices.empty()) {
    *words += (words->empty() ? "" : "; ") + std::string("only work of device ") +
              Numbers(options.devices) + " is in the figures";
  }
  PassContext context(session, options);
  *part = Select(trace, selection,
                 [&](size_t index) -> const CallIndex& { return context.calls(index); });
  return {};
}

}  // namespace gpuprof::analysis
