// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// hlo_costs RULES FILE...: prints what the instructions of programs cost, for comparisons with XLA
// and XProf (tests/process/test_hlo_costs.py). RULES: gpu, xla or xprof. A file is a message
// xla.HloProto. Each program is a line of JSON: the sum of its entry, and all instructions.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/hlo/cost.h"

namespace {

using gpuprof::analysis::hlo::Cost;
using gpuprof::analysis::hlo::CostRules;

nlohmann::json JsonOf(const Cost& cost) {
  // What XLA does not know is -1.
  const auto known = [&](double value, bool is_known) {
    return is_known || value != 0 ? nlohmann::json(value) : nlohmann::json();
  };
  return {{"flops", known(cost.flops, cost.knows_flops)},
          {"transcendentals", cost.transcendentals},
          {"bytes", known(cost.bytes, cost.knows_bytes)},
          {"read", cost.read},
          {"written", cost.written}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string name = argv[1];
  const CostRules rules = name == "gpu"   ? CostRules::kGpu
                          : name == "xla" ? CostRules::kXla
                                          : CostRules::kXprofGpu;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const gpuprof::analysis::hlo::Program program(bytes);
    gpuprof::analysis::hlo::Costs costs(program, rules);
    nlohmann::json line;
    if (program.entry() != nullptr) line["sum"] = JsonOf(costs.Of(*program.entry()));
    for (const auto& computation : program.computations)
      for (const auto& instruction : computation.instructions)
        line["instructions"][std::string(instruction.name)] = JsonOf(costs.Of(instruction));
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}
