// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See special_values.h.

#include "analysis/dump/special_values.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "analysis/model/names.h"
#include "proto/matrix_ops.h"

namespace gpuprof::analysis {
namespace {

const proto::Signature& SignatureOf(uint64_t id, const ValueWriter& out) {
  static const proto::Signature kNone;
  const auto& signatures = out.process().signatures;
  const auto found = signatures.find(static_cast<uint32_t>(id));
  return found == signatures.end() ? kNone : found->second;
}

void WriteDetail(const Column<uint32_t>& detail, size_t row, ValueWriter* out) {
  if (!detail.empty() && detail[row] != 0) out->Text("detail", detail[row]);
}

}  // namespace

// The free half of a realloc carries realloc's code as well.
void WriteHeapCall(const DumpValue& value, ValueWriter* out) {
  const bool is_free = proto::HeapIsFree(value.row.track.heap.operation[value.row.number]);
  const bool is_realloc = value.value == static_cast<uint64_t>(proto::HeapFunction::kRealloc);
  if (is_free && is_realloc) return out->out().Pair(value.key, "realloc_free");
  out->Code(value.key, value.codes, value.value);
}

void WriteHeapSize(const DumpValue& value, ValueWriter* out) {
  if (!proto::HeapIsFree(value.row.track.heap.operation[value.row.number]))
    out->out().Pair(value.key, value.value);
}

void WriteThreadFacts(const DumpValue& value, ValueWriter* out) {
  const ThreadEventTable& table = value.row.track.thread_event;
  const uint64_t a = value.value, b = table.b[value.row.number];
  switch (static_cast<proto::ThreadEvent>(table.event[value.row.number])) {
    case proto::ThreadEvent::kStart:
      out->Pc("start_routine", a, PcKind::kExact);
      out->out().Pair("creator_tid", b);
      return;
    case proto::ThreadEvent::kName: {
      char name[17] = {};
      const uint64_t letters[] = {a, b};
      std::memcpy(name, letters, sizeof letters);
      out->out().Text("name", name);
      return;
    }
    case proto::ThreadEvent::kExit:
    case proto::ThreadEvent::kSeen:
      return;
  }
  out->out().Pair("a", a);
  out->out().Pair("b", b);
}

void WriteProcessFacts(const DumpValue& value, ValueWriter* out) {
  const ProcessEventTable& table = value.row.track.process_event;
  const uint64_t a = value.value, b = table.b[value.row.number];
  const uint32_t text = table.text[value.row.number];
  switch (static_cast<proto::ProcessEvent>(table.event[value.row.number])) {
    case proto::ProcessEvent::kFork:
    case proto::ProcessEvent::kVfork:
      out->out().Pair("child_pid", a);
      return;
    case proto::ProcessEvent::kSpawn:
      out->out().Pair("child_pid", a);
      out->Text("path", text);
      return;
    case proto::ProcessEvent::kExec:
      out->Text("path", text);
      out->out().Pair("errno", b);
      return;
    case proto::ProcessEvent::kExit:
      out->out().Pair("exit_status", static_cast<int64_t>(a));
      out->out().Code("exit_way", ExitWayName(static_cast<uint32_t>(b)), b);
      return;
  }
  out->out().Pair("a", a);
  out->out().Pair("b", b);
  out->Text("text", text);
}

void WriteRangePayload(const DumpValue& value, ValueWriter* out) {
  const proto::NvtxPayload type =
      proto::RangePayloadOf(value.row.track.range.operation[value.row.number]);
  if (type != proto::NvtxPayload::kNone)
    out->out().Pair(value.key, NvtxPayloadText(type, value.value));
}

void WriteRangeFlags(const DumpValue& value, ValueWriter* out) {
  if (proto::IsEarlierName(value.row.track.range.operation[value.row.number]))
    return out->out().Pair("earlier", 1);
  out->Flags(value.key, value.codes, value.value);
}

void WriteRangeValue(const DumpValue& value, ValueWriter* out) {
  const RangeValueTable& table = value.row.track.range_value;
  const size_t row = value.row.number;
  const uint32_t operation = table.operation[row];
  out->Code("kind", proto::Codes::kRangeKind, static_cast<uint64_t>(proto::RangeKindOf(operation)));
  if (table.domain[row] != 0) out->Text("domain", table.domain[row]);
  out->out().Pair("depth", proto::OpDepthOf(operation));
  out->Text("name", table.name[row]);
  const RangeValue type = RangeValueOf(operation);
  if (type == RangeValue::kText) return out->Text("value", static_cast<uint32_t>(table.value[row]));
  out->out().Pair("value", RangeValueText(type, table.value[row]));
}

void WriteReading(const DumpValue& value, ValueWriter* out) {
  const Process& process = out->process();
  const int64_t reading = value.row.track.counter.value[value.row.number];
  const auto device = process.sampled_devices.find(value.row.track.id);
  if (device != process.sampled_devices.end()) out->out().Pair("device", device->second.index());
  const auto found = process.counters.find(static_cast<uint32_t>(value.value));
  if (found == process.counters.end()) {
    out->out().Pair("counter", value.value);
    out->out().Pair("value", reading);
    return;
  }
  const proto::Counter& counter = found->second;
  out->out().Text("name", counter.name());
  if (counter.unit() == "mask") {
    out->out().Address("value", static_cast<uint64_t>(reading));
  } else {
    out->out().Pair("value", CounterValueText(reading, counter.divisor()));
  }
  out->out().Text("unit", counter.unit());
  out->out().Text("source", counter.source());
  if (counter.pid() != 0) out->out().Pair("of_pid", counter.pid());
}

void WriteKernelName(const DumpValue& value, ValueWriter* out) {
  out->Text(value.key, SignatureOf(value.value, *out).name());
}

void WriteKernelShape(const DumpValue& value, ValueWriter* out) {
  const proto::Signature& signature =
      SignatureOf(value.row.track.kernel.signature[value.row.number], *out);
  LineWriter& line = out->out();
  line.Pair("grid", DimensionsText(signature.grid()));
  line.Pair("block", DimensionsText(signature.block()));
  const bool has_cluster = std::any_of(signature.cluster().begin(), signature.cluster().end(),
                                       [](uint32_t n) { return n > 1; });
  if (has_cluster) line.Pair("cluster", DimensionsText(signature.cluster()));
  line.Pair("registers", signature.registers());
  line.Pair("static_shared_bytes", signature.static_shared_bytes());
  line.Pair("dynamic_shared_bytes", signature.dynamic_shared_bytes());
  if (signature.matrix_ops() == 0) return;
  const std::string ops = MatrixOpsText(signature.matrix_ops(), ",");
  const bool is_certain = (signature.matrix_ops() & proto::kCodeLookedAt) != 0;
  line.Pair("matrix_ops", std::string_view(!is_certain ? "differ" : ops.empty() ? "none" : ops));
}

// Memory outside of streams is on the track of a stream that CUPTI does not have.
void WriteStreamOfTrack(const DumpValue& value, ValueWriter* out) {
  const Track& track = value.row.track;
  if (!track.is_stream) return;
  out->out().Pair("device", track.device);
  out->out().Pair("context", track.context);
  if (track.stream != kNoCudaId) out->Stream(track, track.stream);
}

void WriteDeviceOfTrack(const DumpValue& value, ValueWriter* out) {
  out->out().Pair("device", value.row.track.device);
}

void WriteSyncStream(const DumpValue& value, ValueWriter* out) {
  out->out().Pair("context", value.row.track.context);
  out->Stream(value.row.track, static_cast<uint32_t>(value.value));
}

void WriteUnifiedMemoryCause(const DumpValue& value, ValueWriter* out) {
  const uint32_t operation = value.row.track.unified_memory.operation[value.row.number];
  const std::string_view cause = UnifiedMemoryCauseName(proto::UnifiedMemoryCounterOf(operation),
                                                        proto::UnifiedMemoryFlagsOf(operation));
  if (!cause.empty()) out->out().Pair(value.key, cause);
}

void WriteExternal(const Column<uint64_t>& external, size_t row, ValueWriter* out) {
  if (!external.empty() && external[row] != 0) out->out().Pair("external", external[row]);
}

void WriteImportedOp(const DumpValue& value, ValueWriter* out) {
  const OpTable& table = value.row.track.op;
  const size_t row = value.row.number;
  WriteExternal(table.external, row, out);
  if (!table.sequence.empty() && table.sequence[row] != 0)
    out->out().Pair("sequence", table.sequence[row] - 1);
  WriteDetail(table.detail, row, out);
}

void WriteImportedKernel(const DumpValue& value, ValueWriter* out) {
  WriteExternal(value.row.track.kernel.external, value.row.number, out);
  WriteDetail(value.row.track.kernel.detail, value.row.number, out);
}

}  // namespace gpuprof::analysis
