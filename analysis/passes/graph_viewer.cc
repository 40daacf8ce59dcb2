// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `graph_viewer`: the graph of programs that XLA compiled. See passes.h.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/derived/row_details.h"
#include "analysis/hlo/graph.h"
#include "analysis/passes/device/op_costs.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/programs.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/graph_viewer.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kUsualDepth = 2;
constexpr size_t kMostGraphNodes = 1000;
constexpr int kMostTimedOperations = 10'000;
constexpr size_t kNamedOperations = 8;  // in an error
constexpr size_t kNamedOpcodes = 6;     // of a fusion

// Events of an operation.
struct EventSum {
  uint64_t count = 0;
  int64_t ns = 0;
};

// Events of all operations, by program and name.
class EventSums {
 public:
  explicit EventSums(PassContext& context) {
    for (const OpCost& op : OpCostsOf(context).ops)
      if (!op.program.empty()) Add(op.program, op.name, op.sums.count, op.sums.total_ns);
    for (const size_t index : context.selected()) AddHost(context, index);
  }

  // Returns the events of an operation. Null: it has none.
  const EventSum* Find(const HloModule& module, std::string_view name) const {
    for (const std::string& title : {TitleOf(module), "#" + std::to_string(module.program_id)}) {
      const auto found = sums_.find({title, std::string(name)});
      if (found != sums_.end()) return &found->second;
    }
    return nullptr;
  }
  // Returns the time of all events of programs.
  int64_t total_ns() const { return total_ns_; }

 private:
  void Add(const std::string& program, const std::string& name, uint64_t count, int64_t ns) {
    EventSum& sum = sums_[{program, name}];
    sum.count += count;
    sum.ns += ns;
    total_ns_ += ns;
  }

  // Programs of the host have their operations among those of frameworks.
  void AddHost(PassContext& context, size_t index) {
    const Process& process = context.process(index);
    RowDetails& details = context.details(index);
    for (const Track& track : process.tracks) {
      const OpTable& ops = track.op;
      for (size_t row = 0; row < ops.rows(); ++row) {
        const uint32_t id = DetailOf(ops, row);
        if (id == 0) continue;
        const RowDetail& detail = details.Of(id);
        if (detail.hlo_op.empty()) continue;
        std::string program = detail.hlo_module;
        if (detail.program_id) {
          const std::string number = std::to_string(*detail.program_id);
          program = program.empty() ? "#" + number : program + "(" + number + ")";
        }
        Add(program, detail.hlo_op, 1, ops.duration_ns[row]);
      }
    }
  }

  std::map<std::pair<std::string, std::string>, EventSum> sums_;
  int64_t total_ns_ = 0;
};

void FillProgramRow(const HloModule& module, const hlo::Program& program, const EventSums& events,
                    results::GraphViewerProgram* row) {
  row->set_name(TitleOf(module));
  row->set_program_id(module.program_id);
  row->set_computation_count(program.computations.size());
  uint64_t instructions = 0, fusions = 0, timed = 0;
  int64_t ns = 0;
  for (const hlo::Computation& computation : program.computations) {
    instructions += computation.instructions.size();
    for (const hlo::Instruction& instruction : computation.instructions) {
      fusions += instruction.opcode == "fusion";
      const EventSum* const sum = events.Find(module, instruction.name);
      if (sum == nullptr) continue;
      ++timed;
      ns += sum->ns;
    }
  }
  row->set_instruction_count(instructions);
  row->set_fusion_count(fusions);
  if (timed == 0) return;
  row->set_timed_count(timed);
  row->set_total_ns(ns);
}

// Returns what a fusion computes: "multiply x2, add". The most frequent opcodes come first.
std::string FusedOpcodes(const hlo::Computation& fused, uint64_t* count) {
  std::map<std::string_view, uint64_t> numbers;
  for (const hlo::Instruction& instruction : fused.instructions) {
    if (instruction.opcode == "parameter") continue;
    ++numbers[instruction.opcode];
    ++*count;
  }
  std::vector<std::pair<std::string_view, uint64_t>> order(numbers.begin(), numbers.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < order.size() && i <= kNamedOpcodes; ++i) {
    text += i == 0 ? "" : ", ";
    if (i == kNamedOpcodes) return text + "...";
    text += ShownText(order[i].first);
    if (order[i].second > 1) text += " x" + std::to_string(order[i].second);
  }
  return text;
}

// What an instruction looks like wherever it stands.
void FillInstruction(const HloModule& module, const hlo::Program& program,
                     const hlo::Computation& home, const hlo::Instruction& instruction,
                     const EventSums& events, results::GraphViewerNode* row) {
  row->set_program(TitleOf(module));
  row->set_name(ShownText(instruction.name));
  row->set_opcode(ShownText(instruction.opcode));
  row->set_shape(ShownShape(instruction.shape));
  row->set_computation(ShownText(home.name));
  row->set_root(hlo::Program::RootOf(home) == &instruction);
  if (instruction.opcode == "fusion") {
    row->set_fusion_kind(ShownText(instruction.fusion_kind));
    uint64_t count = 0;
    for (const int64_t id : instruction.called_computations) {
      const hlo::Computation* const fused = program.FindComputation(id);
      if (fused == nullptr) continue;
      row->set_fused_opcodes(FusedOpcodes(*fused, &count));
      break;
    }
    row->set_fused_count(count);
  }
  row->set_custom_call_target(ShownText(instruction.custom_call_target));
  if (instruction.opcode == "parameter" && instruction.parameter_number >= 0)
    row->set_parameter_number(static_cast<uint64_t>(instruction.parameter_number));
  row->set_op_name(ShownText(instruction.op_name));
  row->set_source(TextOf(hlo::SourceOf(program, instruction)));
  row->set_source_stack(StackText(program, instruction));
  const EventSum* const sum = events.Find(module, instruction.name);
  if (sum == nullptr) return;
  row->set_count(sum->count);
  row->set_total_ns(sum->ns);
  row->set_total_ratio(Ratio(sum->ns, events.total_ns()));
}

void FillGraph(const HloModule& module, const hlo::Program& program, const hlo::Neighborhood& found,
               const EventSums& events, results::GraphViewer* out) {
  for (const hlo::GraphNode& node : found.nodes) {
    results::GraphViewerNode* const row = out->add_nodes();
    FillInstruction(module, program, *node.computation, *node.instruction, events, row);
    row->set_distance(node.distance);
    if (node.distance != 0)
      row->set_found_by(ShownText(found.nodes[node.parent].instruction->name));
    if (node.fusion != nullptr) row->set_fusion(ShownText(node.fusion->name));
    row->set_left_out_producer_count(node.left_out_producers);
    row->set_left_out_consumer_count(node.left_out_consumers);
  }
  for (const hlo::GraphEdge& edge : found.edges) {
    results::GraphViewerEdge* const row = out->add_edges();
    row->set_from(ShownText(found.nodes[edge.from].instruction->name));
    row->set_to(ShownText(found.nodes[edge.to].instruction->name));
    if (edge.operand >= 0) row->set_operand(static_cast<uint64_t>(edge.operand));
    row->set_control(edge.is_control);
  }
}

// Finds an operation by its own name, or by that of the framework.
const hlo::Instruction* FindOperation(const hlo::Program& program, std::string_view wanted) {
  if (const hlo::Instruction* const found = program.Find(wanted)) return found;
  // The operation that runs comes before its parts in a fusion.
  const hlo::Instruction* first = nullptr;
  for (const hlo::Computation& computation : program.computations) {
    for (const hlo::Instruction& instruction : computation.instructions) {
      if (instruction.op_name != wanted) continue;
      if (&computation == program.entry()) return &instruction;
      if (first == nullptr) first = &instruction;
    }
  }
  return first;
}

Error NoOperation(const HloModules& modules, const std::string& wanted) {
  std::string near;
  size_t named = 0;
  for (const auto& module : modules) {
    const hlo::Program program(module->proto);
    for (const hlo::Computation& computation : program.computations) {
      for (const hlo::Instruction& instruction : computation.instructions) {
        if (named == kNamedOperations || instruction.name.find(wanted) == std::string_view::npos)
          continue;
        near += (near.empty() ? "" : ", ") + ShownText(instruction.name);
        ++named;
      }
    }
  }
  const std::string text = "No program has an operation '" + ShownText(wanted) + "'";
  if (near.empty()) return UsageError(text + "; without --op, the pass lists those with time.");
  return UsageError(text + "; there are: " + near + ".");
}

// Adds the operations of a program that have time.
void AddTimed(const HloModule& module, const hlo::Program& program, const EventSums& events,
              results::GraphViewer* out) {
  for (const hlo::Computation& computation : program.computations) {
    for (const hlo::Instruction& instruction : computation.instructions)
      if (events.Find(module, instruction.name) != nullptr)
        FillInstruction(module, program, computation, instruction, events, out->add_nodes());
  }
}

}  // namespace

Error RunGraphViewer(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::GraphViewer>();
  const PassOptions& options = context.options();
  HloModules modules = ProgramsOf(context);
  if (!options.program.empty()) {
    const HloModule* chosen = nullptr;
    if (Error error = ChooseProgram(modules, options.program, &chosen)) return error;
    std::erase_if(modules, [&](const auto& module) { return module.get() != chosen; });
  }
  const EventSums events(context);
  std::string owners;
  for (const auto& module : modules) {
    const hlo::Program program(module->proto);
    FillProgramRow(*module, program, events, out->add_programs());
    if (options.op.empty()) {
      AddTimed(*module, program, events, out.get());
      continue;
    }
    const hlo::Instruction* const found = FindOperation(program, options.op);
    if (found == nullptr) continue;
    owners += (owners.empty() ? "" : ", ") + TitleOf(*module);
    if (!out->program().empty()) continue;  // said below
    out->set_program(TitleOf(*module));
    out->set_op(ShownText(found->name));
    out->set_depth(options.depth.value_or(kUsualDepth));
    const hlo::Neighborhood around =
        hlo::ProgramGraph(program).Around(*found, out->depth(), kMostGraphNodes);
    FillGraph(*module, program, around, events, out.get());
  }
  if (!options.op.empty()) {
    if (out->program().empty()) return NoOperation(modules, options.op);
    if (owners != out->program())
      return UsageError("Several programs have an operation '" + ShownText(options.op) +
                        "'; choose one with --program: " + owners + ".");
  } else {
    SortByTotal(out->mutable_nodes());
    if (out->nodes_size() > kMostTimedOperations)
      out->mutable_nodes()->DeleteSubrange(kMostTimedOperations,
                                           out->nodes_size() - kMostTimedOperations);
  }
  SortByTotal(out->mutable_programs());
  context.FillCountMeta("graph_viewer", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
