// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_events.h.

#include "analysis/export/host_events.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/passes.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kDriverDomain = 1;  // CUPTI_CB_DOMAIN_DRIVER_API

// Kineto's words for CUPTI's kinds of overhead.
std::string_view KinetoOverhead(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"driver_compiler", "Driver Compiler"},
      {"cupti_buffer_flush", "Buffer Flush"},
      {"cupti_instrumentation", "Instrumentation"},
      {"cupti_resource", "Resource"},
      {"module_loading", "Runtime Triggered Module Loading"},
      {"lazy_function_loading", "Lazy Function Loading"},
      {"command_buffer_full", "Command Buffer Full"},
      {"cupti_buffer_request", "Activity Buffer Request"},
      {"cupti_unified_memory", "UVM Activity Init"}};
  for (const auto& [ours, theirs] : kWords) {
    if (name == ours) return theirs;
  }
  return name.empty() ? "<unrecognized>" : name;
}

// Returns rows of spans by their start, a caller before its callees. Readers that look at starts
// alone then find the right caller where two spans are equal. Tables have a caller behind its
// callees. Moments that are equal are not in each other.
template <typename Table>
std::vector<uint32_t> CallersFirst(const Table& table) {
  std::vector<uint32_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) {
    const int64_t x_start = table.end_ns[x] - table.duration_ns[x];
    const int64_t y_start = table.end_ns[y] - table.duration_ns[y];
    if (x_start != y_start) return x_start < y_start;
    if (table.end_ns[x] != table.end_ns[y]) return table.end_ns[x] > table.end_ns[y];
    return table.duration_ns[x] > 0 ? x > y : x < y;
  });
  return rows;
}

// Variants for per-thread streams, and the launch that nvcc's code calls since CUDA 13, have names
// of their own. Kineto's readers know the plain names.
std::string WithoutVariant(const std::string& name) {
  std::string_view plain = name;
  for (const std::string_view variant : {"_ptsz", "_ptds"}) {
    if (plain.ends_with(variant)) plain.remove_suffix(variant.size());
  }
  if (plain == "__cudaLaunchKernel") plain.remove_prefix(2);
  return std::string(plain);
}

}  // namespace

bool IsWritten(const RangeTable& ranges, size_t row) {
  return proto::RangeKindOf(ranges.operation[row]) <= proto::RangeKind::kMark;
}

bool HostEvents::Write(size_t index) {
  const Track& track = process_.tracks[index];
  return Ops(index) && Ranges(track) && PythonCalls(track) && Calls(index) && Overheads(track) &&
         Tensors(track);
}

std::string_view HostEvents::String(uint32_t id) {
  const auto found = process_.strings.find(id);
  if (found != process_.strings.end()) return found->second;
  unknown_ = process_.String(id);
  return unknown_;
}

bool HostEvents::Ops(size_t index) {
  const Track& track = process_.tracks[index];
  const OpTable& ops = track.op;
  const Place place = places_.Of(track);
  for (const uint32_t row : CallersFirst(ops)) {
    const proto::OpScope scope = proto::OpScopeOf(ops.operation[row]);
    out_->Span(scope == proto::OpScope::kUser ? "user_annotation" : "cpu_op", String(ops.name[row]),
               place, ops.end_ns[row] - ops.duration_ns[row], ops.duration_ns[row]);
    const uint64_t external = links_.OfOp(index, row);
    if (external != 0) out_->Arg("External id", external);
    // The forward thread is not recorded. Readers know the backward pass by a number other than 0.
    const bool is_backward = scope == proto::OpScope::kBackward;
    const uint64_t sequence = ops.sequence.empty() ? 0 : ops.sequence[row];
    if (sequence != 0) out_->Arg("Sequence number", sequence - 1);
    if (is_backward || sequence != 0) out_->Arg("Fwd thread id", is_backward ? 1 : 0);
    if (!ops.detail.empty()) out_->Members(members_.Of(ops.detail[row]));
    if (!out_->End()) return false;
    BackwardArrow(index, row, is_backward);
  }
  return true;
}

void HostEvents::BackwardArrow(size_t index, size_t row, bool is_backward) {
  const uint32_t arrow = backward_.Of(index, row);
  if (arrow == 0) return;
  const OpTable& ops = process_.tracks[index].op;
  const Place place = places_.Of(process_.tracks[index]);
  const int64_t start = ops.end_ns[row] - ops.duration_ns[row];
  if (is_backward) {
    out_->FlowEnd(kBackwardFlow, places_.FlowOf(arrow), place, start);
  } else {
    out_->FlowStart(kBackwardFlow, places_.FlowOf(arrow), place, start);
  }
}

bool HostEvents::Ranges(const Track& track) {
  for (const uint32_t row : CallersFirst(track.range)) {
    if (!IsWritten(track.range, row)) continue;
    Range(track, row);
    if (!out_->End()) return false;
  }
  return true;
}

// An imported range has its category in place of a domain.
void HostEvents::Range(const Track& track, size_t row) {
  const RangeTable& ranges = track.range;
  const proto::RangeKind kind = proto::RangeKindOf(ranges.operation[row]);
  const std::string name(String(ranges.name[row]));
  const std::string domain(ranges.domain[row] == 0 ? "" : String(ranges.domain[row]));
  std::string_view category = "user_annotation";
  if (is_imported_) category = domain;
  const int64_t start = ranges.end_ns[row] - ranges.duration_ns[row];
  const Place place = places_.Of(track);
  if (kind == proto::RangeKind::kMark) {
    out_->Instant("cpu_instant_event", name, place, ranges.end_ns[row]);
  } else if (kind == proto::RangeKind::kPushPop) {
    out_->Span(category, name, place, start, ranges.duration_ns[row]);
  } else {
    const int32_t begin = ranges.begin_thread[row];
    const uint64_t id = places_.FlowOf(static_cast<uint32_t>(++async_ids_));
    const Place begin_place = begin == 0 ? place : Place{place.pid, begin};
    out_->AsyncBegin(category, name, id, begin_place, start);
    if (!is_imported_ && !domain.empty()) out_->Arg("domain", domain);
    out_->End();
    out_->AsyncEnd(category, name, id, place, ranges.end_ns[row]);
    return;
  }
  if (!is_imported_ && !domain.empty()) out_->Arg("domain", domain);
}

bool HostEvents::PythonCalls(const Track& track) {
  const PythonTable& calls = track.python;
  const Place place = places_.Of(track);
  for (const uint32_t row : CallersFirst(calls)) {
    out_->Span("python_function", String(calls.name[row]), place,
               calls.end_ns[row] - calls.duration_ns[row], calls.duration_ns[row]);
    if (calls.parent[row] == PythonTable::kNoRow) {
      out_->JsonArg("Python parent id", "null");
    } else {
      out_->Arg("Python parent id", python_ids_ + calls.parent[row] + 1);
    }
    out_->Arg("Python id", python_ids_ + row + 1);
    if (!out_->End()) return false;
  }
  python_ids_ += calls.rows();
  return true;
}

std::string_view HostEvents::FunctionName(uint32_t function) {
  const auto [at, added] = functions_.try_emplace(function);
  if (added) at->second = WithoutVariant(ApiFunctionName(process_, function));
  return at->second;
}

bool HostEvents::Calls(size_t index) {
  const Track& track = process_.tracks[index];
  const ApiTable& calls = track.api;
  const Place place = places_.Of(track);
  for (size_t row = 0; row < calls.rows(); ++row) {
    const uint32_t function = calls.function[row];
    const int64_t start = calls.end_ns[row] - calls.duration_ns[row];
    out_->Span(proto::ApiDomainOf(function) == kDriverDomain ? "cuda_driver" : "cuda_runtime",
               FunctionName(function), place, start, calls.duration_ns[row]);
    const uint64_t external = links_.OfCall(index, row);
    if (external != 0) out_->Arg("External id", external);
    // Numbers of imported functions are the importer's own.
    if (!is_imported_) out_->Arg("cbid", proto::ApiCallbackOf(function));
    out_->Arg("correlation", calls.correlation[row]);
    if (calls.result[row] != 0) out_->Arg("result", calls.result[row]);
    if (!out_->End()) return false;
    if (links_.HasWork(index, row))
      out_->FlowStart(kLaunchFlow, places_.FlowOf(calls.correlation[row]), place, start);
  }
  return true;
}

// Overheads on a track of a device have no thread. The correlation is not written:
// HolisticTraceAnalysis would take the overhead for a second call of that number.
bool HostEvents::Overheads(const Track& track) {
  const OverheadTable& overheads = track.overhead;
  const Place place = track.is_stream ? Place{"-1", 0} : places_.Of(track);
  for (size_t row = 0; row < overheads.rows(); ++row) {
    out_->Span("overhead", KinetoOverhead(OverheadName(overheads.operation[row])), place,
               overheads.end_ns[row] - overheads.duration_ns[row], overheads.duration_ns[row]);
    if (!out_->End()) return false;
  }
  return true;
}

bool HostEvents::Tensors(const Track& track) {
  const TensorTable& tensors = track.tensor;
  const Place place = places_.Of(track);
  for (size_t row = 0; row < tensors.rows(); ++row) {
    out_->Instant("cpu_instant_event", "[memory]", place, tensors.time_ns[row]);
    out_->Arg("Total Reserved", tensors.total_reserved[row]);
    out_->Arg("Total Allocated", tensors.total_allocated[row]);
    if (tensors.bytes[row] != proto::kReturnedOfUnknownSize) out_->Arg("Bytes", tensors.bytes[row]);
    out_->Arg("Addr", tensors.address[row]);
    const uint32_t index = proto::DeviceIndexOf(tensors.device[row]);
    out_->Arg("Device Id", index == proto::kNoDeviceIndex ? int64_t{-1} : int64_t{index});
    out_->Arg("Device Type", proto::DeviceTypeOf(tensors.device[row]));
    if (!out_->End()) return false;
  }
  return true;
}

}  // namespace gpuprof::analysis
