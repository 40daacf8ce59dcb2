// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OpsOfGpu: the work of a GPU by operation. Work that no annotation names is left out, as XProf
// leaves it out.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "analysis/xprof/gpu_event.h"
#include "analysis/xprof/op_metrics.h"

namespace gpuprof::analysis::xprof {
namespace {

// Kernels in a row of one operation of a compiled program: they are one record.
struct Run {
  const HloInstruction* instruction = nullptr;
  std::string_view op;
  uint64_t program_id = 0, group = 0;
  bool is_eager = false;
  uint64_t occurrences = 0, duration_ps = 0;
  uint64_t flops = 0, bytes = 0;  // that the events tell
};

class Collector {
 public:
  explicit Collector(const HloPrograms& programs) : programs_(programs) {}

  void Add(const Plane& gpu, const Event& event) {
    const GpuEvent work(gpu, event);
    if (work.is_xla_op()) {
      AddXla(gpu, event, work);
    } else if (!work.annotation.empty()) {
      CloseRun();
      AddAnnotated(gpu, event, work);
    }
  }
  void CloseRun();
  OpMetricsDb Take(uint64_t span_ps) {
    db_.Close(span_ps);
    return std::move(db_);
  }

 private:
  void AddXla(const Plane& gpu, const Event& event, const GpuEvent& work);
  void AddAnnotated(const Plane& gpu, const Event& event, const GpuEvent& work);

  const HloPrograms& programs_;
  Run run_;
  OpMetricsDb db_;
};

void Collector::AddXla(const Plane& gpu, const Event& event, const GpuEvent& work) {
  const HloInstruction* const instruction = work.InstructionIn(programs_);
  if (instruction == nullptr) return;
  const std::string_view op = work.innermost_op();
  // Work without a group never continues a run.
  if (op != run_.op || !event.has_group || static_cast<uint64_t>(event.group) != run_.group)
    CloseRun();
  if (run_.occurrences == 0) {
    run_.instruction = instruction;
    run_.op = op;
    run_.program_id = *work.program_id;
    if (event.has_group) run_.group = static_cast<uint64_t>(event.group);
    run_.is_eager = event.is_eager;
  }
  ++run_.occurrences;
  run_.duration_ps += static_cast<uint64_t>(event.duration);
  for (const Stat& stat : gpu.StatsOf(event)) {
    if (stat.key == StatKey::kFlops) run_.flops = stat.Whole();
    if (stat.key == StatKey::kBytesAccessed) run_.bytes = stat.Whole();
  }
}

// Costs count once for each kernel, though they are those of the operation. What the program does
// not tell, the events may tell.
void Collector::CloseRun() {
  if (run_.instruction == nullptr) return;
  OpMetrics& op = db_.Find(run_.program_id, run_.op);
  const HloInstruction& instruction = *run_.instruction;
  if (op.occurrences == 0) {
    op.category = instruction.category;
    op.provenance = instruction.framework_op;
    op.expression = programs_.ExpressionOf(run_.program_id, run_.op);
    op.shared_name = instruction.shared_name;
    op.source_file = instruction.source_file;
    op.source_line = instruction.source_line;
    op.stack = instruction.stack;
    op.is_eager = run_.is_eager;
  }
  const auto count = static_cast<double>(run_.occurrences);
  const auto either = [](int64_t analysed, uint64_t told) {
    return analysed > 0 ? analysed : static_cast<int64_t>(told);
  };
  const int64_t model_flops = either(instruction.flops, run_.flops);
  op.occurrences += static_cast<uint32_t>(run_.occurrences);
  op.time_ps += run_.duration_ps;
  op.self_time_ps += run_.duration_ps;
  op.flops += static_cast<double>(either(instruction.device_flops, run_.flops)) * count;
  op.model_flops =
      model_flops == 0 ? op.flops : op.model_flops + static_cast<double>(model_flops) * count;
  op.bytes += static_cast<uint64_t>(either(instruction.bytes, run_.bytes)) * run_.occurrences;
  if (instruction.bytes > 0) {
    op.read += static_cast<uint64_t>(instruction.read) * run_.occurrences;
    op.written += static_cast<uint64_t>(instruction.written) * run_.occurrences;
  }
  db_.op_time_ps += run_.duration_ps;
  run_ = {};
}

void Collector::AddAnnotated(const Plane& gpu, const Event& event, const GpuEvent& work) {
  const OpName name = ParseOpName(work.annotation);
  const std::string_view kernel = gpu.names[event.name].name;
  OpMetrics& op = db_.Find(0, std::string(name.name) + "/" + std::string(kernel));
  if (op.occurrences == 0 && op.category.empty() && op.provenance.empty()) {
    op.category = name.type.empty() ? "unknown" : name.type;
    op.provenance = work.annotation;
    op.is_eager = event.is_eager;
  }
  ++op.occurrences;
  op.time_ps += static_cast<uint64_t>(event.duration);
  op.self_time_ps += static_cast<uint64_t>(event.duration);
  db_.op_time_ps += static_cast<uint64_t>(event.duration);
}

}  // namespace

OpMetricsDb OpsOfGpu(const Plane& gpu, const HloPrograms& programs) {
  Collector collector(programs);
  // Since the begin of each line, as if all lines began together.
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const Line& line : gpu.lines) {
    if (IsDerivedLine(line.id)) continue;
    for (const Event& event : line.events) {
      first = std::min(first, event.offset);
      last = std::max(last, event.offset + event.duration);
      collector.Add(gpu, event);
    }
    collector.CloseRun();
  }
  return collector.Take(last != 0 ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : 0);
}

}  // namespace gpuprof::analysis::xprof
