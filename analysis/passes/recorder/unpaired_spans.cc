// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unpaired_spans.h.

#include "analysis/passes/recorder/unpaired_spans.h"

#include "analysis/base/units.h"

namespace gpuprof::analysis {

uint64_t UnpairedSpans(const Process& process) {
  uint64_t count = 0;
  for (const proto::Loss& loss : process.health.loss()) {
    if (loss.kind() == proto::LOSS_UNPAIRED_SPAN) count += loss.count();
  }
  return count;
}

std::string UnpairedText(const Process& process) {
  const uint64_t count = UnpairedSpans(process);
  if (count == 0) return "";
  std::string text = FormatCount(count);
  if (OpEventsOf(process) == 0) {
    text += count == 1 ? " range" : " ranges";
    return text + " ended that began before the capture or had no begin";
  }
  text += count == 1 ? " operation or range" : " operations or ranges";
  return text + " ended that began before the capture or on another thread, or had no begin";
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
