// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the fields of an event mean in the traces of torch.profiler (Kineto), from torch 1.8 to
// today, for CUDA and for ROCm. Pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/import/chrome_event.h"

namespace gpuprof::analysis::import {

enum class Category : uint8_t {
  kNone,  // the event has no category
  kOp,
  kAnnotation,
  kPython,
  kRuntime,
  kDriver,
  kKernel,
  kCopy,
  kSet,
  kGpuAnnotation,  // made by the profiler out of annotations and kernels
  kSync,
  kOverhead,
  kInstant,
  kSpan,  // the profiler's own span
  kFlow,
  kOther,
};
Category CategoryOf(std::string_view category);
// Returns whether rows of the category are work of a device.
inline bool IsDeviceWork(Category category) {
  return category >= Category::kKernel && category <= Category::kSet;
}

// A process or thread as the file names it: "[TP00] 83" has the prefix "[TP00]" and the number 83.
struct Entity {
  std::string prefix;
  int64_t number = 0;
  bool has_number = false;
  auto operator<=>(const Entity&) const = default;
};
Entity EntityOf(const JsonValue& value);

// Whether a device row is a copy or a memset, by the name. ROCm's runtime copies by kernels.
struct CopyName {
  bool is_copy = false;
  bool is_set = false;
  uint8_t kind = 0;                     // CUpti_ActivityMemcpyKind; 0: the name does not tell
  uint8_t source = 0, destination = 0;  // CUpti_ActivityMemoryKind
};
CopyName CopyOfName(std::string_view name);

// The arguments of calls and of device rows. Numbers: none, if the event does not have them.
struct WorkArgs {
  std::optional<int64_t> correlation, external, device, context, stream, bytes;
  std::optional<int64_t> graph, graph_node, from_device, to_device;
  std::optional<int64_t> registers, shared_bytes;
  std::array<uint32_t, 3> grid{}, block{};
  std::string collective;  // what the kernel communicates, as a JSON object; empty: nothing
};
WorkArgs WorkArgsOf(const ChromeEvent& event);

// The arguments of rows of threads. -1: the event does not have the number.
struct HostArgs {
  int64_t external = -1, correlation = -1;
  int64_t python_id = -1, python_parent = -1;
  int64_t forward_thread = -1, sequence = -1;
};
HostArgs HostArgsOf(const ChromeEvent& event);

// Returns the shapes, types and values of an operation's inputs as a JSON object, in one form
// whatever the profiler's release. Empty: the event tells no input.
std::string DetailOf(const ChromeEvent& event);

// Returns a correlation id in the 32 bits that the model has for it. 0: there is no id. Wider ids
// are folded.
uint32_t Correlation32(int64_t correlation);

// Returns whether a call of that name begins work on a device.
bool IsLaunchingCall(std::string_view name);

}  // namespace gpuprof::analysis::import
