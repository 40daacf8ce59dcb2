// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/launch_functions.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kGraphLaunches[] = {"cudaGraphLaunch", "cuGraphLaunch"};
constexpr std::string_view kKernelLaunches[] = {
    "cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",   "cuLaunchGrid",       "cuLaunchCooperativeKernel"};

template <size_t kCount>
bool BeginsWithOne(const std::string& name, const std::string_view (&starts)[kCount]) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [&name](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::unordered_map<uint32_t, bool> LaunchFunctions(const Process& process) {
  std::unordered_map<uint32_t, bool> functions;
  for (const auto& [function, id] : process.functions) {
    const std::string name = process.String(id);
    const bool is_graph = BeginsWithOne(name, kGraphLaunches);
    if (is_graph || BeginsWithOne(name, kKernelLaunches)) functions[function] = is_graph;
  }
  return functions;
}

}  // namespace gpuprof::analysis
