// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launch_site.h.

#include "analysis/passes/kernels/launch_site.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/passes.h"

namespace gpuprof::analysis {
namespace {

// Returns whether a frame is of CUDA itself: below it is the program.
bool IsOfCuda(const results::Frame& frame) {
  constexpr std::array<std::string_view, 8> kLibraries = {"libcuda.",  "libcudart.", "libcupti.",
                                                          "libcublas", "libcudnn",   "libcufft",
                                                          "libnccl",   "libnvrtc"};
  constexpr std::array<std::string_view, 3> kFunctions = {"cudaLaunch", "cuLaunch",
                                                          "__device_stub"};
  const std::string_view module = frame.module();
  const std::string_view file = module.substr(module.rfind('/') + 1);
  const auto begins = [](std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
  };
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return begins(file, library); }) ||
         std::any_of(kFunctions.begin(), kFunctions.end(),
                     [&](std::string_view function) { return begins(frame.name(), function); });
}

}  // namespace

std::string LaunchSite(PassContext& context, size_t index, uint32_t stack) {
  const std::vector<uint64_t> pcs = context.StackPcs(index, stack);
  // The function that calls a built-in one tells more, if there is one.
  std::string builtin;
  for (const uint64_t pc : pcs) {
    if (!IsNamedFrame(pc)) continue;
    const std::string name = context.process(index).String(NameOfFrame(pc));
    if (!name.starts_with("<built-in")) return name;
    if (builtin.empty()) builtin = name;
  }
  if (!builtin.empty()) return builtin;
  for (const uint64_t pc : pcs) {
    results::Frame frame;
    context.Resolve(index, pc, PcKind::kReturnAddress, &frame);
    if (!frame.name().empty() && !IsOfCuda(frame)) return frame.name();
  }
  return "";
}

}  // namespace gpuprof::analysis
