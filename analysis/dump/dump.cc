// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Dump: every row of a trace as one line of text, for `gpuprof dump`, for tests and for other
// programs. One thread.
//
//   time_ns pid tid track kind key=value ...
//
// Order: processes as in the model, their tracks by number, and within a track rows by time (the
// END of spans); rows of one kind stay in the order in which they were written, and of rows of one
// time the kinds go in the order of proto/schema.h. Keys of a kind always come in the same order;
// those in brackets only where there is something to say:
//
//   heap     call address [size] [stack [frames]] [flags] capture
//   wait     kind start_ns duration_ns object caller [caller_name] [owner_tid] [stack
//            [frames]] [flags]
//   op       name start_ns duration_ns scope depth [flags] [external] [sequence] [detail]
//            the last three of imported traces
//   tensor   device address bytes total_allocated_bytes total_reserved_bytes
//   thread   event, then start_routine [start_routine_name] creator_tid | name
//   process  event, then child_pid | text errno | exit_status exit_way
//   mapping  call address size [stack [frames]] [flags] capture
//   range    kind [domain] name start_ns duration_ns depth [category] [color] [payload]
//            [begin_tid] [earlier] [flags]   earlier: a name from before the capture
//   range_value  kind [domain] depth name value   behind the row of their range; a text in quotes
//   python   name start_ns duration_ns self_ns [stack]   calls of Python functions
//   launch   function correlation [stack [frames]]
//   file_read  [path] start_ns duration_ns bytes | errno, descriptor
//   and what the GPU did: analysis/dump/gpu_rows.h
//   counter  device name value unit source [of_pid]   behind all processes: pid and tid are those
//   of
//            gpuprof's sampler and 0, a value is a decimal number, of unit mask a hexadecimal one
//
// Addresses are hexadecimal with 0x, texts are in double quotes with the escapes of JSON, codes
// that this program does not know are numbers. frames and names of functions are left out where
// PassOptions::symbolize is false.

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/dump/gpu_rows.h"
#include "analysis/dump/line_writer.h"
#include "analysis/model/modules.h"
#include "analysis/model/names.h"
#include "analysis/model/trace.h"
#include "analysis/symbols/symbolizer.h"

namespace gpuprof::analysis {
namespace {

class ProcessDump {
 public:
  ProcessDump(const Trace& trace, const Process& process, const PassOptions& options,
              LineWriter* out)
      : process_(process),
        symbolizer_(process, PlacesOf(trace, process, options.symfs)),
        symbolize_(options.symbolize),
        out_(out),
        gpu_(process, out) {}

  // False: the sink wants no more.
  bool DumpTrack(const Track& track) {
    std::vector<size_t> at(kTableCount);
    while (const Table* next = NextTable(track, at)) {
      const size_t row = at[static_cast<size_t>(next - kTables)]++;
      out_->Number(next->times(track)[row]);
      out_->Number(process_.pid);
      out_->Number(track.tid);
      out_->Number(track.id);
      out_->Word(next->name);
      next->write(this, track, row);
      if (!out_->EndLine()) return false;
    }
    return true;
  }

 private:
  // One kind of event: its times, and how a row of it is written.
  struct Table {
    std::string_view name;
    const Column<int64_t>& (*times)(const Track& track);
    void (*write)(ProcessDump* dump, const Track& track, size_t row);
  };
  template <auto table, auto times>
  static const Column<int64_t>& Times(const Track& track) {
    return track.*table.*times;
  }
  template <auto table, auto write>
  static void Write(ProcessDump* dump, const Track& track, size_t row) {
    (dump->*write)(track.*table, row);
  }
  template <auto write>
  static void WriteTrack(ProcessDump* dump, const Track& track, size_t row) {
    (dump->*write)(track, row);
  }
  template <auto write>
  static void WriteGpu(ProcessDump* dump, const Track& track, size_t row) {
    (dump->gpu_.*write)(track, row);
  }
  // In the order of proto/schema.h.
  static const Table kTables[];
  static const size_t kTableCount;

  // The table whose next row comes first; null: all are done.
  static const Table* NextTable(const Track& track, const std::vector<size_t>& at);

  void Heap(const HeapTable& t, size_t i) {
    const uint32_t operation = t.operation[i];
    const uint8_t function = proto::HeapFunctionOf(operation);
    // The free half of a realloc carries realloc's code as well.
    const bool is_free = proto::HeapIsFree(operation);
    const std::string_view name = HeapFunctionName(function);
    out_->Code("call", is_free && name == "realloc" ? "realloc_free" : name, function);
    out_->Address("address", t.address[i]);
    if (!is_free) out_->Pair("size", t.size[i]);
    Stack(t.stack[i]);
    Flags(proto::FlagsOf(operation));
    out_->Pair("capture", t.capture[i]);
  }

  void Mapping(const MappingTable& t, size_t i) {
    const uint8_t event = proto::LowByteOf(t.operation[i]);
    out_->Code("call", MapEventName(event), event);
    out_->Address("address", t.address[i]);
    out_->Pair("size", t.size[i]);
    Stack(t.stack[i]);
    Flags(proto::FlagsOf(t.operation[i]));
    out_->Pair("capture", t.capture[i]);
  }

  void Wait(const WaitTable& t, size_t i) {
    out_->Code("kind", WaitKindName(proto::LowByteOf(t.operation[i])),
               proto::LowByteOf(t.operation[i]));
    Span(t.end_ns[i], t.duration_ns[i]);
    out_->Address("object", t.object[i]);
    out_->Address("caller", TrueAddress(t.caller[i]));
    if (symbolize_ && t.caller[i] != 0) {
      out_->Text("caller_name", symbolizer_.Resolve(t.caller[i]).function);
    }
    if (t.owner[i] != 0) out_->Pair("owner_tid", t.owner[i]);
    Stack(t.stack[i]);
    // Its bit is another flag's in rows of other kinds.
    const uint8_t flags = proto::FlagsOf(t.operation[i]);
    if ((flags & proto::kFlagLimited) != 0) out_->Pair("limited", 1);
    Flags(static_cast<uint8_t>(flags & ~proto::kFlagLimited));
  }

  void Op(const OpTable& t, size_t i) {
    const auto name = process_.strings.find(t.name[i]);
    out_->Text("name", name != process_.strings.end() ? name->second : process_.String(t.name[i]));
    Span(t.end_ns[i], t.duration_ns[i]);
    const uint8_t scope = proto::LowByteOf(t.operation[i]);
    out_->Code("scope", OpScopeName(scope), scope);
    out_->Pair("depth", proto::OpDepthOf(t.operation[i]));
    Flags(proto::FlagsOf(t.operation[i]));
    gpu_.External(t.external, i);
    if (!t.sequence.empty() && t.sequence[i] != 0) out_->Pair("sequence", t.sequence[i] - 1);
    gpu_.Detail(t.detail, i);
  }

  void Range(const RangeTable& t, size_t i) {
    const uint32_t operation = t.operation[i];
    const auto kind = static_cast<uint32_t>(proto::RangeKindOf(operation));
    out_->Code("kind", RangeKindName(kind), kind);
    if (t.domain[i] != 0) out_->Text("domain", process_.String(t.domain[i]));
    out_->Text("name", process_.String(t.name[i]));
    Span(t.end_ns[i], t.duration_ns[i]);
    out_->Pair("depth", proto::OpDepthOf(operation));
    const auto category = static_cast<uint32_t>(t.style[i]);
    const uint64_t color = t.style[i] >> 32;
    if (category != 0) out_->Pair("category", category);
    if (color != 0) out_->Address("color", color);
    if (proto::RangePayloadOf(operation) != proto::NvtxPayload::kNone) {
      out_->Pair("payload", NvtxPayloadText(proto::RangePayloadOf(operation), t.payload[i]));
    }
    if (t.begin_thread[i] != 0) out_->Pair("begin_tid", t.begin_thread[i]);
    if (proto::IsEarlierName(operation)) {
      out_->Pair("earlier", 1);
    } else {
      Flags(proto::FlagsOf(operation));
    }
  }

  void RangeValue(const RangeValueTable& t, size_t i) {
    const uint32_t operation = t.operation[i];
    const auto kind = static_cast<uint32_t>(proto::RangeKindOf(operation));
    out_->Code("kind", RangeKindName(kind), kind);
    if (t.domain[i] != 0) out_->Text("domain", process_.String(t.domain[i]));
    out_->Pair("depth", proto::OpDepthOf(operation));
    out_->Text("name", process_.String(t.name[i]));
    const auto type = RangeValueOf(operation);
    if (type != analysis::RangeValue::kText)
      return out_->Pair("value", RangeValueText(type, t.value[i]));
    out_->Text("value", process_.String(static_cast<uint32_t>(t.value[i])));
  }

  void Launch(const LaunchTable& t, size_t i) {
    gpu_.Function(t.function[i]);
    out_->Pair("correlation", t.correlation[i]);
    Stack(t.stack[i]);
  }

  void FileRead(const FileReadTable& t, size_t i) {
    if (t.path[i] != 0) out_->Text("path", process_.String(t.path[i]));
    Span(t.end_ns[i], t.duration_ns[i]);
    out_->Pair(t.bytes[i] < 0 ? "errno" : "bytes", t.bytes[i] < 0 ? -t.bytes[i] : t.bytes[i]);
    out_->Pair("descriptor", t.descriptor[i]);
  }

  void Python(const PythonTable& t, size_t i) {
    out_->Text("name", process_.String(t.name[i]));
    Span(t.end_ns[i], t.duration_ns[i]);
    out_->Pair("self_ns", t.self_ns[i]);
    if (t.stack[i] != 0) out_->Pair("stack", t.stack[i]);
  }

  void Counter(const Track& track, size_t i) {
    const CounterTable& t = track.counter;
    const auto device = process_.sampled_devices.find(track.id);
    if (device != process_.sampled_devices.end()) out_->Pair("device", device->second.index());
    const auto counter = process_.counters.find(t.counter[i]);
    if (counter == process_.counters.end()) {
      out_->Pair("counter", t.counter[i]);
      out_->Pair("value", t.value[i]);
      return;
    }
    const proto::Counter& known = counter->second;
    out_->Text("name", known.name());
    if (known.unit() == "mask") {
      out_->Address("value", static_cast<uint64_t>(t.value[i]));
    } else {
      out_->Pair("value", CounterValueText(t.value[i], known.divisor()));
    }
    out_->Text("unit", known.unit());
    out_->Text("source", known.source());
    if (known.pid() != 0) out_->Pair("of_pid", known.pid());
  }

  void Tensor(const TensorTable& t, size_t i) {
    out_->Pair("device", DeviceName(t.device[i]));
    out_->Address("address", t.address[i]);
    out_->Pair("bytes", t.bytes[i]);
    out_->Pair("total_allocated_bytes", t.total_allocated[i]);
    out_->Pair("total_reserved_bytes", t.total_reserved[i]);
  }

  void ThreadRow(const ThreadEventTable& t, size_t i) {
    out_->Code("event", ThreadEventName(t.event[i]), t.event[i]);
    switch (static_cast<proto::ThreadEvent>(t.event[i])) {
      case proto::ThreadEvent::kStart:
        out_->Address("start_routine", TrueAddress(t.a[i]));
        if (symbolize_ && t.a[i] != 0) {
          out_->Text("start_routine_name", symbolizer_.Resolve(t.a[i], PcKind::kExact).function);
        }
        out_->Pair("creator_tid", t.b[i]);
        return;
      case proto::ThreadEvent::kName: {
        char name[17] = {};
        const uint64_t letters[] = {t.a[i], t.b[i]};
        std::memcpy(name, letters, sizeof letters);
        out_->Text("name", name);
        return;
      }
      case proto::ThreadEvent::kExit:
      case proto::ThreadEvent::kSeen:
        return;
    }
    out_->Pair("a", t.a[i]);
    out_->Pair("b", t.b[i]);
  }

  void ProcessRow(const ProcessEventTable& t, size_t i) {
    out_->Code("event", ProcessEventName(t.event[i]), t.event[i]);
    switch (static_cast<proto::ProcessEvent>(t.event[i])) {
      case proto::ProcessEvent::kFork:
      case proto::ProcessEvent::kVfork:
        out_->Pair("child_pid", t.a[i]);
        return;
      case proto::ProcessEvent::kSpawn:
        out_->Pair("child_pid", t.a[i]);
        out_->Text("path", process_.String(t.text[i]));
        return;
      case proto::ProcessEvent::kExec:
        out_->Text("path", process_.String(t.text[i]));
        out_->Pair("errno", t.b[i]);
        return;
      case proto::ProcessEvent::kExit:
        out_->Pair("exit_status", static_cast<int64_t>(t.a[i]));
        out_->Code("exit_way", ExitWayName(static_cast<uint32_t>(t.b[i])), t.b[i]);
        return;
    }
    out_->Pair("a", t.a[i]);
    out_->Pair("b", t.b[i]);
    out_->Text("text", process_.String(t.text[i]));
  }

  void Span(int64_t end_ns, int64_t duration_ns) {
    out_->Pair("start_ns", end_ns - duration_ns);
    out_->Pair("duration_ns", duration_ns);
  }

  void Flags(uint8_t flags) {
    static constexpr std::string_view kNames[] = {"sampled",   "has_stack",  "coarse_time",
                                                  "timed_out", "incomplete", "no_unwinder",
                                                  "file",      "no_access"};
    // Whether there is a stack, the stack itself tells.
    flags &= static_cast<uint8_t>(~proto::kFlagHasStack);
    if (flags == 0) return;
    std::string text;
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((flags >> bit & 1) == 0) continue;
      if (!text.empty()) text += ',';
      text += bit < std::size(kNames) ? std::string(kNames[bit]) : "bit" + std::to_string(bit);
    }
    out_->Pair("flags", text);
  }

  void Stack(uint32_t id) {
    if (id == 0) return;
    out_->Pair("stack", id);
    if (symbolize_ && id != 1) out_->Text("frames", Frames(id));
  }

  // Function names, innermost first.
  const std::string& Frames(uint32_t id) {
    const auto known = frames_.find(id);
    if (known != frames_.end()) return known->second;
    std::string text;
    uint32_t node = id;
    for (uint32_t depth = 0; node != 0 && depth < proto::kMaxStackFrames; ++depth) {
      StackNode found;
      if (!process_.stacks.Find(node, &found)) break;
      if (!text.empty()) text += ';';
      text += IsNamedFrame(found.pc) ? process_.String(NameOfFrame(found.pc))
                                     : symbolizer_.Resolve(found.pc).function;
      node = found.parent;
    }
    return frames_.emplace(id, std::move(text)).first->second;
  }

  const Process& process_;
  Symbolizer symbolizer_;
  bool symbolize_;
  LineWriter* out_;
  GpuRows gpu_;
  std::unordered_map<uint32_t, std::string> frames_;  // by stack id
};

const ProcessDump::Table ProcessDump::kTables[] = {
    {"heap", Times<&Track::heap, &HeapTable::time_ns>, Write<&Track::heap, &ProcessDump::Heap>},
    {"wait", Times<&Track::wait, &WaitTable::end_ns>, Write<&Track::wait, &ProcessDump::Wait>},
    {"op", Times<&Track::op, &OpTable::end_ns>, Write<&Track::op, &ProcessDump::Op>},
    {"tensor", Times<&Track::tensor, &TensorTable::time_ns>,
     Write<&Track::tensor, &ProcessDump::Tensor>},
    {"thread", Times<&Track::thread_event, &ThreadEventTable::time_ns>,
     Write<&Track::thread_event, &ProcessDump::ThreadRow>},
    {"process", Times<&Track::process_event, &ProcessEventTable::time_ns>,
     Write<&Track::process_event, &ProcessDump::ProcessRow>},
    {"mapping", Times<&Track::mapping, &MappingTable::time_ns>,
     Write<&Track::mapping, &ProcessDump::Mapping>},
    {"range", Times<&Track::range, &RangeTable::end_ns>, Write<&Track::range, &ProcessDump::Range>},
    {"range_value", Times<&Track::range_value, &RangeValueTable::end_ns>,
     Write<&Track::range_value, &ProcessDump::RangeValue>},
    {"python", Times<&Track::python, &PythonTable::end_ns>,
     Write<&Track::python, &ProcessDump::Python>},
    {"counter", Times<&Track::counter, &CounterTable::time_ns>, WriteTrack<&ProcessDump::Counter>},
    {"launch", Times<&Track::launch, &LaunchTable::time_ns>,
     Write<&Track::launch, &ProcessDump::Launch>},
    {"file_read", Times<&Track::file_read, &FileReadTable::end_ns>,
     Write<&Track::file_read, &ProcessDump::FileRead>},
    {"kernel", Times<&Track::kernel, &KernelTable::end_ns>, WriteGpu<&GpuRows::Kernel>},
    {"memcpy", Times<&Track::memcpy, &MemcpyTable::end_ns>, WriteGpu<&GpuRows::Copy>},
    {"memset", Times<&Track::memset, &MemsetTable::end_ns>, WriteGpu<&GpuRows::Set>},
    {"api", Times<&Track::api, &ApiTable::end_ns>, WriteGpu<&GpuRows::Call>},
    {"sync", Times<&Track::sync, &SyncTable::end_ns>, WriteGpu<&GpuRows::Wait>},
    {"device_memory", Times<&Track::device_memory, &DeviceMemoryTable::time_ns>,
     WriteGpu<&GpuRows::Memory>},
    {"memory_pool", Times<&Track::memory_pool, &MemoryPoolTable::time_ns>,
     WriteGpu<&GpuRows::Pool>},
    {"graph_launch", Times<&Track::graph_launch, &GraphLaunchTable::end_ns>,
     WriteGpu<&GpuRows::GraphLaunch>},
    {"overhead", Times<&Track::overhead, &OverheadTable::end_ns>, WriteGpu<&GpuRows::Overhead>},
    {"cuda_event", Times<&Track::cuda_event, &CudaEventTable::time_ns>, WriteGpu<&GpuRows::Event>},
    {"unified_memory", Times<&Track::unified_memory, &UnifiedMemoryTable::end_ns>,
     WriteGpu<&GpuRows::UnifiedMemory>},
};
const size_t ProcessDump::kTableCount = std::size(kTables);

const ProcessDump::Table* ProcessDump::NextTable(const Track& track,
                                                 const std::vector<size_t>& at) {
  const Table* best = nullptr;
  int64_t first = 0;
  for (const Table& table : kTables) {
    const Column<int64_t>& times = table.times(track);
    const size_t row = at[static_cast<size_t>(&table - kTables)];
    if (row >= times.size() || (best != nullptr && times[row] >= first)) continue;
    best = &table;
    first = times[row];
  }
  return best;
}

}  // namespace

Error Dump(const Trace& trace, const PassOptions& options, Sink sink, void* context) {
  if (!trace.tables.Contains(TableSet::All())) {
    return Error{ErrorKind::kUsage,
                 "only a part of this trace was read: open it with all its tables"};
  }
  LineWriter out(sink, context);
  bool found = options.pid == 0;
  for (const Process& process : trace.processes) {
    if (options.pid != 0 && process.pid != options.pid) continue;
    found = true;
    ProcessDump dump(trace, process, options, &out);
    for (const Track& track : process.tracks) {
      if (!dump.DumpTrack(track)) return {};
    }
  }
  for (const Process& sampler : trace.samplers) {
    if (options.pid != 0) break;
    ProcessDump dump(trace, sampler, options, &out);
    for (const Track& track : sampler.tracks) {
      if (!dump.DumpTrack(track)) return {};
    }
  }
  out.Flush();
  if (!found) {
    return Error{ErrorKind::kUsage, "no process " + std::to_string(options.pid) + " in " +
                                        trace.path + "; `gpuprof info` lists the processes"};
  }
  return {};
}

}  // namespace gpuprof::analysis
