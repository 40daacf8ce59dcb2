// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the JSON that `rocprofv3 --output-format json` writes. The source of the format are
// write_json() (generateJSON.cpp) and the serialisation (cxx/serialization.hpp) of ROCm's
// rocprofiler-sdk, releases 0.4 to 1.1, and docs/rocprofv3-schema.json there:
//
//   {"rocprofiler-sdk-tool": [                      one object for each process
//     {"metadata": {"pid", "node": {"hostname", "machine_id"}, "command"},
//      "agents": [{"id": {"handle"}, "type", "product_name", ...}],
//      "strings": {"buffer_records": [{"kind", "operations": [...]}],
//                  "marker_api": [{"key", "value"}]},
//      "kernel_symbols": [{"kernel_id", "formatted_kernel_name", ...}],
//      "buffer_records": {"kernel_dispatch": [...], "hip_api": [...], ...}}]}
//
// Members come in any order. Numbers are as in the file. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/import/byte_source.h"

namespace gpuprof::analysis::import {

struct RocprofProcess {
  int64_t pid = 0;
  std::string host, machine;  // empty: releases before 0.5 do not write it
  std::vector<std::string> command;
};

struct RocprofAgent {
  uint64_t handle = 0;
  bool is_gpu = false;
  uint64_t order = 0;  // among the agents
  std::string name, product;
  uint64_t target = 0;  // gfx_target_version: major * 10000 + minor * 100 + stepping
  uint64_t units = 0, clock_mhz = 0, wave_lanes = 0, waves_per_unit = 0, lds_kib = 0;
  uint64_t workgroup_most = 0, memory_bytes = 0;
};

struct RocprofKernel {
  uint64_t id = 0;
  std::string name;
  uint64_t vector_registers = 0;
  uint64_t lds_bytes = 0;
};

// A record of any kind. What a kind does not have is 0.
struct RocprofRecord {
  uint64_t kind = 0, operation = 0, thread = 0, correlation = 0;
  std::optional<int64_t> start_ns, end_ns;
  // Only dispatches and copies have these.
  uint64_t agent = 0, queue = 0, stream = 0, kernel = 0;
  uint64_t scratch_bytes = 0, lds_bytes = 0;
  std::array<uint64_t, 3> work_items{}, group{};
  uint64_t from_agent = 0, to_agent = 0;
  std::optional<uint64_t> bytes;
};

// Gets the parts in the order of the file, for one process after the other.
class RocprofHandler {
 public:
  virtual ~RocprofHandler() = default;
  virtual void OnProcess() = 0;  // what follows is of a further process
  virtual void OnFacts(const RocprofProcess& process) = 0;
  virtual void OnAgent(const RocprofAgent& agent) = 0;
  virtual void OnKernel(const RocprofKernel& kernel) = 0;
  // Gets the names of a kind of records and of its operations. `kind` counts from 0.
  virtual void OnKind(uint64_t kind, std::string_view name,
                      const std::vector<std::string>& operations) = 0;
  // Gets the text of a marker by the correlation id of its call.
  virtual void OnMessage(uint64_t correlation, std::string_view text) = 0;
  // Gets a record of a section, as "kernel_dispatch". False: records of the section are not
  // wanted; they are counted by OnUnread() then.
  virtual bool OnRecord(std::string_view section, const RocprofRecord& record) = 0;
  virtual void OnUnread(std::string_view section, uint64_t records) = 0;
  // Returns why no more is taken: the text then ends here. None: more is taken.
  virtual Error Refusal() = 0;
};

struct RocprofText {
  uint64_t bytes = 0;  // of JSON, after inflating
  uint64_t processes = 0;
  uint64_t bad_texts = 0;     // names with bytes that are not UTF-8
  uint64_t unreadable = 0;    // elements that are not an object, or are too large
  bool is_damaged = false;    // compressed bytes that are cut or cannot be inflated
  bool is_truncated = false;  // the text ends within the document
  bool is_broken = false;     // it is not JSON from `stopped_at` on
  uint64_t stopped_at = 0;
};

// Returns whether a text begins as a file of rocprofv3.
bool BeginsAsRocprof(std::string_view text);

// Reads a file. What came before a fault stays. Error: the source fails, nothing of the format is
// there, or the handler refused.
Error ReadRocprof(ByteSource* source, const std::string& name, RocprofHandler* handler,
                  RocprofText* text);

}  // namespace gpuprof::analysis::import
