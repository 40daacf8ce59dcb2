// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unpaired_spans.h.

#include "analysis/passes/unpaired_spans.h"

#include <algorithm>
#include <vector>

#include "analysis/base/units.h"
#include "proto/ring.h"

namespace gpuprof::analysis {
namespace {

// What the recorder keeps, which traces do not tell: pushed ranges that are open on a thread.
constexpr size_t kMostPushed = 128;
// Of started ranges it keeps thousands, but may find no place already beside so many others.
constexpr size_t kFewestStarted = 64;

// Spans gathered to find out how many were open at the busiest moment.
class OpenSpans {
 public:
  void Add(int64_t end_ns, int64_t duration_ns) {
    begins_.push_back(end_ns - duration_ns);
    ends_.push_back(end_ns);
  }

  bool Reach(size_t number) {
    if (begins_.size() < number) return false;
    std::sort(begins_.begin(), begins_.end());
    std::sort(ends_.begin(), ends_.end());
    // As i + number spans have begun, no more than i have ended.
    for (size_t i = 0; i + number <= begins_.size(); ++i) {
      if (begins_[i + number - 1] <= ends_[i]) return true;
    }
    return false;
  }

 private:
  std::vector<int64_t> begins_, ends_;
};

bool HasDeepestOp(const OpTable& ops) {
  return std::any_of(ops.operation.begin(), ops.operation.end(), [](uint32_t operation) {
    return proto::OpDepthOf(operation) + 1 >= proto::kMaxOpenOps;
  });
}

uint64_t CountOf(const Process& process, proto::LossKind kind) {
  uint64_t count = 0;
  for (const proto::Loss& loss : process.health.loss()) {
    if (loss.kind() == kind) count += loss.count();
  }
  return count;
}

// Started ranges that are open when a capture ends before the process have no row, and are counted
// as ends without a begin are.
bool EndsBeforeTheProcess(const Process& process) {
  return std::any_of(process.captures.begin(), process.captures.end(),
                     [](const CaptureWindow& capture) {
                       return capture.has_stop && capture.stop_trigger != "exit";
                     });
}

}  // namespace

bool MayLackSpans(const Process& process) {
  // What a flight recorder let go may have been the deepest.
  if (process.kept_from_ns != INT64_MIN) return true;
  OpenSpans started;
  bool has_started = false;
  for (const Track& track : process.tracks) {
    if (HasDeepestOp(track.op)) return true;
    OpenSpans pushed;
    for (size_t i = 0; i < track.range.rows(); ++i) {
      const proto::RangeKind kind = proto::RangeKindOf(track.range.operation[i]);
      if (kind == proto::RangeKind::kPushPop)
        pushed.Add(track.range.end_ns[i], track.range.duration_ns[i]);
      if (kind != proto::RangeKind::kStartEnd) continue;
      started.Add(track.range.end_ns[i], track.range.duration_ns[i]);
      has_started = true;
    }
    if (pushed.Reach(kMostPushed)) return true;
  }
  if (has_started && EndsBeforeTheProcess(process)) return true;
  return started.Reach(kFewestStarted);
}

uint64_t UnpairedSpans(const Process& process) {
  const uint64_t count = CountOf(process, proto::LOSS_UNPAIRED_SPAN);
  return count == 0 || MayLackSpans(process) ? 0 : count;
}

std::string UnpairedText(const Process& process) {
  const uint64_t count = UnpairedSpans(process);
  if (count == 0) return "";
  std::string text = FormatCount(count);
  if (OpEventsOf(process) == 0) {
    text += count == 1 ? " range" : " ranges";
    text += " ended that began before the capture, or never";
    return EndsBeforeTheProcess(process) ? text + ", or were started and open at a capture's end"
                                         : text;
  }
  text += count == 1 ? " operation or range" : " operations or ranges";
  return text + " ended that began before the capture, on another thread, or never";
}

void AddUnpairedNotes(const PassContext& context, SpanSubject subject, results::Meta* meta) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (subject == SpanSubject::kOperations && OpEventsOf(process) == 0) continue;
    const std::string text = UnpairedText(process);
    if (!text.empty()) meta->add_notes("pid " + std::to_string(process.pid) + ": " + text);
  }
}

}  // namespace gpuprof::analysis
