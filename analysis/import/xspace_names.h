// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the names of planes, lines, events and stats of an XSpace mean. The files are those of
// TensorFlow and JAX from 2020 on, for CUDA, ROCm and TPU. Pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::analysis::import {

enum class PlaneKind : uint8_t {
  kHost,      // threads
  kGpu,       // streams and derived lines
  kTpu,       // XLA Ops, and lines that group them
  kMetadata,  // compiled modules
  kScopes,    // which scope lies in which
  kTask,      // when the recording began
  kOther,
};
struct PlaneName {
  PlaneKind kind = PlaneKind::kOther;
  uint32_t device = 0;
  std::string part;  // of the device: "SparseCore 0"; mostly empty
};
PlaneName PlaneNameOf(std::string_view name);

enum class DeviceLine : uint8_t {
  kWork,      // a stream, or the operations of a TPU
  kSteps,     // made of groups of work
  kDerived,   // other lines that repeat the time of work, or group it
  kAsync,     // transfers during the work; they overlap
  kCounters,  // samples of metrics
  kOverhead,  // of the profiler
};
DeviceLine DeviceLineOf(PlaneKind plane, int64_t id, std::string_view name);

enum class StatRole : uint8_t {
  kDetail,   // part of the detail
  kIgnored,  // another form of what is read elsewhere, or a detail of the profiler's own
  kLink,     // to the event of another thread that made this one possible, or the reverse
  kHloOp,    // part of the detail, and the name of an operation of the host
  kCorrelation,
  kContext,
  kKernelDetails,
  kCopyDetails,
  kSetDetails,
  kGraph,
  kGraphNode,
  kScope,
  kRoot,      // the event begins a step
  kStepName,  // likewise, in files that were grouped
  kStepNumber,
  kIteration,
  kGroup,
};
StatRole StatRoleOf(std::string_view name);

enum class HostEvent : uint8_t { kOp, kPython, kRange, kAllocation, kRelease, kStep };
HostEvent HostEventOf(std::string_view name);
// Returns whether a name is a function's of CUDA or HIP. `is_driver`: of CUDA's driver.
bool IsApiName(std::string_view name, bool* is_driver);
// Returns whether a call of CUDA or HIP begins work on a device.
bool IsLaunchOfXla(std::string_view name);

// Returns "file.py(12): function", as other profilers write it, of "$file.py:12 function".
std::string PythonNameOf(std::string_view name);
// A name with values in it: "Step#id=3,kind=x#".
struct EncodedName {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> values;
};
EncodedName EncodedNameOf(std::string_view name);
// "NVTX:domain:name"
struct NvtxName {
  std::string_view domain, name;
};
NvtxName NvtxNameOf(std::string_view name);
// Returns the thread of a line "Host Threads/123" or "Host Threads/123/NVTX"; otherwise the line's
// id.
int64_t ThreadOfLine(int64_t id, std::string_view name);
// Returns what a thread is called; empty: by its number alone.
std::string_view ThreadName(std::string_view line, int64_t id);

// Texts that pack numbers: "regs:32 grid:8,1,1 block:128,1,1", in older files by lines.
struct KernelShape {
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local_bytes = 0;
};
KernelShape KernelShapeOf(std::string_view packed);
struct CopyFacts {
  uint8_t kind = 0, source = 0, destination = 0;  // as CUPTI numbers them; 0: not known
  uint8_t memory = 0;                             // that a memset writes to
  std::optional<uint64_t> bytes;
};
CopyFacts CopyFactsOf(std::string_view packed);

// What the name of device work says.
struct WorkName {
  bool is_copy = false, is_set = false;
  std::optional<uint32_t> graph;  // its number: the event is all work of one launch of the graph
  uint8_t kind = 0;               // CUpti_ActivityMemcpyKind
};
WorkName WorkNameOf(std::string_view name);
// Returns the name of an operation of HLO: "fusion.3" of "%fusion.3 = f32[4] fusion(...)".
std::string_view HloNameOf(std::string_view text);

}  // namespace gpuprof::analysis::import
