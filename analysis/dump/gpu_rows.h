// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The GPU's part of Dump: a row's keys and values. Keys in brackets only where there is something
// to say.
//
//   kernel   name start_ns duration_ns device context stream grid block [cluster] registers
//            static_shared_bytes dynamic_shared_bytes [matrix_ops] correlation [graph graph_node]
//            capture
//   memcpy   kind source destination start_ns duration_ns bytes device context stream [async]
//            correlation [graph graph_node] [from_device to_device]
//   memset   destination start_ns duration_ns bytes value device context stream [async] correlation
//            [graph graph_node]
//   api      function start_ns duration_ns correlation [result] [stack]
//   sync     kind start_ns duration_ns context stream [event] [event_record] correlation [result]
//   device_memory  operation kind address bytes device context [stream] [async] [pool] correlation
//            capture
//   memory_pool    operation pool size_bytes utilized_bytes threshold_bytes device [correlation]
//   graph_launch   graph start_ns duration_ns device context stream correlation
//   overhead       kind start_ns duration_ns [correlation] [bytes]
//   cuda_event     event [record] device context stream correlation
//   unified_memory kind start_ns duration_ns [cause] value address source destination
//
// Behind a stream that has a name: stream_name.
//
// Behind the keys of kernels, memcpy, memset, api, sync and graph_launch: [weight], how many the
// row stands for where only a part was recorded. Rows of imported traces have [external] and
// [detail]. Names of kernels are as CUPTI gives them, mangled. One thread.

#pragma once

#include <cstddef>

#include "analysis/dump/line_writer.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class GpuRows {
 public:
  GpuRows(const Process& process, LineWriter* out) : process_(process), out_(out) {}

  void Kernel(const Track& track, size_t row);
  void Copy(const Track& track, size_t row);
  void Set(const Track& track, size_t row);
  void Call(const Track& track, size_t row);
  void Wait(const Track& track, size_t row);
  void Memory(const Track& track, size_t row);
  void Pool(const Track& track, size_t row);
  void GraphLaunch(const Track& track, size_t row);
  void Overhead(const Track& track, size_t row);
  void Event(const Track& track, size_t row);
  void UnifiedMemory(const Track& track, size_t row);

  // Writes what only imported rows have: the id of their operation, and a JSON object.
  void External(const Column<uint64_t>& external, size_t row);
  void Detail(const Column<uint32_t>& detail, size_t row);
  // Of proto::ApiFunction; its number where the trace has no name for it.
  void Function(uint32_t function);

 private:
  template <typename Table>
  void Span(const Table& table, size_t row);
  void Stream(const Track& track);
  void StreamNumber(const Track& track, uint32_t stream);
  template <typename Table>
  void Weight(const Table& table, size_t row);
  template <typename Table>
  void Origin(const Table& table, size_t row);

  const Process& process_;
  LineWriter* out_;
};

}  // namespace gpuprof::analysis
